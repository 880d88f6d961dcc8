# SPDX-License-Identifier: Apache-2.0
"""opened.py COMMAND…: run it, and print the files beneath the current directory that were opened meanwhile, one a line.

Its standard input is the command's; its output goes to /dev/null, its messages to standard error. The exit status is the command's.
The kernel itself tells of each open (inotify), whoever made it and by whatever call."""

import ctypes
import os
import struct
import subprocess
import sys

IN_OPEN, IN_ISDIR, IN_Q_OVERFLOW, IN_NONBLOCK = 0x20, 0x40000000, 0x4000, 0o4000
EVENT = struct.Struct("iIII")


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(IN_NONBLOCK)
    places = {}
    for directory, _, _ in os.walk("."):
        watch = libc.inotify_add_watch(fd, os.fsencode(directory), IN_OPEN)
        if fd < 0 or watch < 0:
            sys.exit(f"opened: cannot watch {directory}: {os.strerror(ctypes.get_errno())}")
        places[watch] = directory
    status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
    seen = set()
    while True:
        try:
            events = os.read(fd, 1 << 20)
        except BlockingIOError:
            break
        at = 0
        while at < len(events):
            watch, mask, _, length = EVENT.unpack_from(events, at)
            name = events[at + EVENT.size : at + EVENT.size + length].rstrip(b"\0")
            at += EVENT.size + length
            if mask & IN_Q_OVERFLOW:
                sys.exit("opened: too many to be told")
            if not mask & IN_ISDIR:
                seen.add(os.path.normpath(os.path.join(places[watch], os.fsdecode(name))))
    print("\n".join(sorted(seen)))
    return status


sys.exit(main())
