#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""limits.py PROGRAM: what the program takes of memory on some megabytes of input, beyond what it takes on next to nothing, as a
multiple of the input; held against the LIMITS of its page. For one that the page says does not grow: on that and on four times as
much."""

import os
import re
import subprocess
import sys
import tempfile

import growth

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "man")
ROOM = 3 << 20  # what is kept whatever the input is: buffers, and blocks of an arena


def rows(n):
    growth.stream("in", [{"type": "columns", "cells": "clink-canonical-cells-v1", "columns": growth.columns(1)},
                         *({"type": "row", "side": "captured", "cells": [str(i)], "at": f"t/0/{i}"} for i in range(n))])


def events(n):
    growth.stream("in", [{"type": "event", "at": f"t/0/{i}", "ts": i, "values": {"id": i}} for i in range(n)])


def records(n):
    growth.stream("in", [{"type": "record", "topic": "t", "partition": 0, "offset": i, "tstype": "create", "ts": 0, "headers": [],
                          "key": None, "payload": "{\"id\":1}"} for i in range(n)])


def findings(n):
    growth.stream("in", [{"type": "finding", "relation": "delivery", "kind": "missing", "key": [str(i)], "owed": [str(i), "x"],
                          "found": None, "rows": 1, "owed_copies": 1, "found_copies": 0, "at": f"t/0/{i}"} for i in range(n)])
    return ["verdict", "--json"]


def listed(n):
    command = growth.files_listed(n)
    os.replace("bundle/manifest.json", "in")
    os.link("in", "bundle/manifest.json")
    return command


def cut(n):
    listed(n)
    return ["scope-cut", "--key=id", "bundle"]


def teed(n):
    events(n)
    return ["cap-tee", "--capture-dir=.", "--job=1", "--operator=3", "--subtask=0", "--attempt=a"]


def mapped(n):
    records(n)
    open("op.json", "w").write('{"program":".","numbers":"text"}')
    return ["row-map", "--parameters=op.json"]


def answered(n):
    records(n)
    return ["ref-run", "--", "cat"]


def joined(n):
    events(n)
    return ["lane-join", "in"]


def marked(n):
    events(n)
    return ["ckpt-mark", "--job=1", "--checkpoint-dir=.", "--parallelism=1"]


# Of each program, what asks for most of a byte of its input that it must hold.
INPUTS = {
    "verdict": [growth.ranges_read, growth.topics_read, findings, growth.many_checks],
    "scope-declare": [growth.logs_declared, growth.topics_declared, growth.wide_table],
    "ref-seal": [growth.ranges_sealed, growth.topics_sealed],
    "ref-bind": [growth.ranges_bound, growth.topics_bound],
    "bundle-check": [listed],
    "scope-cut": [cut],
    "lane-join": [joined],
    "cap-tee": [teed],
    "row-map": [mapped],
    "ref-run": [answered],
    "ckpt-mark": [marked],
}


def peak(make, n):
    """Bytes that the program took at most, and bytes of its input."""
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        command = make(n)
        size = sum(os.path.getsize(f) for f in ("in", "other", "reference") if os.path.exists(f))
        # Through a pipe: the pages of a file that is mapped are no memory of the program's.
        # time stands between: what this program takes itself would count as its child's.
        with open("in") as source:
            feeder = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE)
            subprocess.run(["/usr/bin/time", "-q", "-o", "peak", "-f", "%M", *command], stdin=feeder.stdout, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            feeder.stdout.close()
            feeder.wait()
        most = int(open("peak").read()) << 10
        os.chdir("/")
        return most, size


def main():
    program = sys.argv[1]
    page = open(os.path.join(PAGES, program + ".1")).read()
    said = re.search(r"Memory: at most (\d+) times what it reads", page)
    constant = "Memory: what it reads does not make it grow" in page
    if not said and not constant:
        sys.exit(f"{program}: its page says nothing of memory")
    wrong = False
    for make in INPUTS[program]:
        least, _ = peak(make, 12)
        many, size = peak(make, 48000)
        times = max(0, many - least - ROOM) / size
        if constant:
            more, size = peak(make, 4 * 48000)
            wrong |= more - many > ROOM
            print(f"{program} ({make.__name__}): {(many - least) / 1e6:.1f} MB, of four times as much {(more - least) / 1e6:.1f} MB")
        else:
            wrong |= times > int(said.group(1))
            print(f"{program} ({make.__name__}): {times:.1f} times {size / 1e6:.1f} MB, its page says {said.group(1)}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
