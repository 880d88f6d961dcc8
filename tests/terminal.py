#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terminal.py [--output] [--file] INPUT COMMAND…: run it with standard error on a terminal of 60 columns, with --output standard output
too, and print what the terminal showed, each escape as it is. Its input is the file (--file), or the file's lines through a pipe: all
but the last at once, then one kind of line after the other until the terminal shows something or 30 s have gone, then the rest."""
import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
import time

args = sys.argv[1:]
both = "--output" in args and not args.remove("--output")
whole = "--file" in args and not args.remove("--file")
lines = open(args[0], "rb").read().splitlines(keepends=True)
ours, theirs = os.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
tty = termios.tcgetattr(theirs)
tty[1] &= ~termios.OPOST
termios.tcsetattr(theirs, termios.TCSANOW, tty)
p = subprocess.Popen(args[1:], stdin=open(args[0], "rb") if whole else subprocess.PIPE, stdout=theirs if both else open("out", "wb"), stderr=theirs)
os.close(theirs)
shown = b""


def look(seconds):
    global shown
    while select.select([ours], [], [], seconds)[0]:
        try:
            got = os.read(ours, 65536)
        except OSError:
            return False
        shown += got
        seconds = 0
    return True


if not whole:
    end = time.monotonic() + float(os.environ.get("TERMINAL_SECONDS", "30"))
    rest = iter(lines)
    for line in rest:
        p.stdin.write(line)
        p.stdin.flush()
        if b'"row"' in line or b'"record"' in line:
            look(0.1)
            if b"\r" in shown or time.monotonic() > end:
                break
    p.stdin.writelines(rest)
    p.stdin.close()
while look(None):
    pass
status = p.wait()
sys.stdout.write(repr(shown)[2:-1] + "\n")
sys.exit(status)
