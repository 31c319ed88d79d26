#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""silent_fuse.py FOLDER [swallow]: mounts a FUSE file system there that never answers, until it is ended. Needs root.

It does not even begin, so whoever waits for it can be killed. With "swallow" it begins and takes each question: whoever
asked waits in the kernel until it ends, and no signal reaches him.
"""
import ctypes
import os
import select
import signal
import struct
import sys

INIT = 26  # linux/fuse.h
REQUEST_BYTES = 1 << 20

libc = ctypes.CDLL(None, use_errno=True)
ending, end = os.pipe()
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *_: os.write(end, b"x"))
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if libc.mount(b"silent", sys.argv[1].encode(), b"fuse", 6, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print("mounted", flush=True)
while True:
    ready, _, _ = select.select([ending] + [device] * (len(sys.argv) > 2), [], [])
    if ending in ready:
        break
    request = os.read(device, REQUEST_BYTES)
    _, opcode, unique = struct.unpack_from("=IIQ", request)
    if opcode == INIT:
        answer = struct.pack("=IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0)
        os.write(device, struct.pack("=IiQ", 16 + len(answer), 0, unique) + answer)
libc.umount2(sys.argv[1].encode(), 2)
