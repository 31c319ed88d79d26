#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""caching_fuse.py FOLDER SERVED: mounts a FUSE file system at FOLDER that has the files of SERVED, until it is ended.

It behaves as a client of NFS: the kernel may remember a name and its attributes (here for an hour), and a file that was replaced
meanwhile is ESTALE where it is opened, after which the kernel looks its name up again. Its server's clock is behind, so no
file looks as if it had just changed. Needs root.
"""
import ctypes
import errno
import os
import select
import signal
import stat
import struct
import sys

# linux/fuse.h
LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, INTERRUPT, BATCH_FORGET = 1, 2, 3, 14, 15, 18, 25, 26, 36, 42
REQUEST_BYTES = 1 << 20
REMEMBER_S = 3600
BEHIND_S = 60
ROOT = 1

folder, served = sys.argv[1:]
names, remembered = {}, {}  # of each file that was looked up, by its inode: its name and attributes
libc = ctypes.CDLL(None, use_errno=True)
ending, end = os.pipe()
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *_: os.write(end, b"x"))
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if libc.mount(b"caching", folder.encode(), b"fuse", 6, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print("mounted", flush=True)


def attributes(status):
    return struct.pack("=6Q10I", status.st_ino, status.st_size, status.st_blocks, int(status.st_atime), int(status.st_mtime) - BEHIND_S,
                       int(status.st_ctime) - BEHIND_S, status.st_atime_ns % 10**9, status.st_mtime_ns % 10**9,
                       status.st_ctime_ns % 10**9, status.st_mode, status.st_nlink, status.st_uid, status.st_gid, 0, 4096, 0)


def open_file(node):
    path = os.path.join(served, names[node])
    if os.stat(path).st_ino != node:
        raise OSError(errno.ESTALE, "replaced")
    return os.open(path, os.O_RDONLY)


def look_up(name):
    status = os.stat(os.path.join(served, name))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ENOENT, "not served")
    names[status.st_ino] = name
    remembered[status.st_ino] = attributes(status)
    return struct.pack("=4Q2I", status.st_ino, 0, REMEMBER_S, REMEMBER_S, 0, 0) + attributes(status)


def answer(opcode, node, body):
    if opcode == INIT:
        return struct.pack("=IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0)
    if opcode == LOOKUP:
        return look_up(body.rstrip(b"\0").decode())
    if opcode == GETATTR:
        return struct.pack("=QII", REMEMBER_S, 0, 0) + (attributes(os.stat(served)) if node == ROOT else remembered[node])
    if opcode == OPEN:
        return struct.pack("=QII", open_file(node), 0, 0)
    if opcode == READ:
        handle, offset, size = struct.unpack_from("=QQI", body)
        return os.pread(handle, size, offset)
    if opcode == RELEASE:
        os.close(struct.unpack_from("=Q", body)[0])
        return b""
    if opcode == FLUSH:
        return b""
    raise OSError(errno.ENOSYS, "not made")


while True:
    ready, _, _ = select.select([ending, device], [], [])
    if ending in ready:
        break
    request = os.read(device, REQUEST_BYTES)
    _, opcode, unique, node = struct.unpack_from("=IIQQ", request)
    if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
        continue
    try:
        code, body = 0, answer(opcode, node, request[40:])
    except OSError as wrong:
        code, body = wrong.errno, b""
    os.write(device, struct.pack("=IiQ", 16 + len(body), -code, unique) + body)
libc.umount2(folder.encode(), 2)
