#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""report_say.py - an uninvited guest at the watch's port

usage: report_say.py [--from ADDRESS] [--user] [--munge SOCKET | --by COMMAND] [--uid UID] [--recorded FILE] [--announce BYTES] PORT <REPORT

Connects from a reserved port (--user: from any), reads the greeting, puts its challenge in the place of CHALLENGE in the
report of standard input, seals it with munge for the user UID (0), or by COMMAND from its input to its output, and sends it.
Without both it sends the bytes as they are. --recorded sends a sealed report of before, or records this one there. Prints the watch's answer: its byte, "closed"
or "no greeting". For tests alone.
"""
import argparse
import os
import socket
import subprocess
import sys


def connect(arguments):
    for port in range(1023, 600, -1):
        guest = socket.socket()
        guest.settimeout(10)
        try:
            guest.bind((arguments.from_, 0 if arguments.user else port))
            guest.connect(("127.0.0.1", arguments.port))
            return guest
        except OSError:
            guest.close()
    raise SystemExit("no connection")


def hear(guest, count):
    heard = b""
    try:
        while len(heard) < count:
            more = guest.recv(count - len(heard))
            if not more:
                break
            heard += more
    except OSError:
        pass
    return heard


def seal(arguments, report):
    if arguments.recorded and os.path.exists(arguments.recorded):
        with open(arguments.recorded, "rb") as file:
            return file.read()
    if arguments.munge:
        report = subprocess.run(
            ["munge", "-S", arguments.munge, "-u", arguments.uid], input=report, stdout=subprocess.PIPE, check=True
        ).stdout.strip()
    if arguments.by:
        report = subprocess.run(arguments.by, shell=True, input=report, stdout=subprocess.PIPE, check=True).stdout
    if arguments.recorded:
        with open(arguments.recorded, "wb") as file:
            file.write(report)
    return report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="from_", default="127.0.0.1")
    parser.add_argument("--user", action="store_true")
    parser.add_argument("--munge")
    parser.add_argument("--by")
    parser.add_argument("--uid", default="0")
    parser.add_argument("--recorded")
    parser.add_argument("--announce", type=int)
    parser.add_argument("port", type=int)
    arguments = parser.parse_args()
    guest = connect(arguments)
    greeting = hear(guest, 25)
    if len(greeting) != 25 or greeting[:4] != b"OSPR":
        print("no greeting")
        return
    report = sys.stdin.buffer.read().replace(b"CHALLENGE", greeting[9:].hex().encode())
    sealed = seal(arguments, report)
    length = arguments.announce if arguments.announce is not None else len(sealed)
    try:
        guest.sendall(length.to_bytes(4, "big") + sealed)
    except OSError:
        pass
    answer = hear(guest, 1)
    print(answer.decode(errors="replace") if answer else "closed")


main()
