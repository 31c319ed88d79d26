#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gate_seal.py - what somebody who has a key could send to a gate, or find in a process

	gate_seal.py seal KEY-FILE [NAME [AGE]]	seals standard input with the file's first key, under another name, or as AGE
						seconds ago
	gate_seal.py find KEY-FILE PID...	prints each process in whose memory that key is, as bytes or digits
"""
import ctypes
import ctypes.util
import os
import sys
import time


def first_key(path):
    for line in open(path):
        if not line.startswith("#"):
            name, digits = line.split()[:2]
            return name.encode(), bytes.fromhex(digits)
    sys.exit(f"{path}: no key")


def seal(path, name=None, age="0"):
    own, key = first_key(path)
    name = name.encode() if name else own
    nonce, plain = os.urandom(24), sys.stdin.buffer.read()
    head = b"OSPK\x01" + bytes([len(name)]) + name + (int(time.time()) - int(age)).to_bytes(8, "big") + nonce
    sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))
    sealed, count = ctypes.create_string_buffer(len(plain) + 16), ctypes.c_ulonglong()
    size = ctypes.c_ulonglong
    sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
        sealed, ctypes.byref(count), plain, size(len(plain)), head, size(len(head)), None, nonce, key)
    sys.stdout.buffer.write(head + sealed.raw[:count.value])


def holds(pid, wanted):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            if not line.split()[1].startswith("rw"):
                continue
            begin, end = (int(number, 16) for number in line.split()[0].split("-"))
            try:
                memory.seek(begin)
                found = memory.read(end - begin)
            except (OSError, ValueError, OverflowError):
                continue
            if any(word in found for word in wanted):
                return True
    return False


def find(path, *pids):
    _, key = first_key(path)
    for pid in pids:
        try:
            if holds(pid, (key, key.hex().encode())):
                print(pid)
        except (FileNotFoundError, ProcessLookupError):
            pass


if __name__ == "__main__":
    {"seal": seal, "find": find}[sys.argv[1]](*sys.argv[2:])
