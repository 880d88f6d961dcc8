#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""limits.py PROGRAM: what the program takes of memory on some megabytes of input, beyond what it takes on next to nothing, as a
multiple of the input; held against the LIMITS of its page. For one that the page says does not grow: on that and on four times as
much. For one that is given its memory: no more than that, on more input than it."""

import hashlib
import os
import re
import subprocess
import sys
import tempfile

import growth

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "man")
GIVEN = 16 << 20  # what --memory asks for
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


def answered_in_process(n):
    records(n)
    return ["ref-jq", "--rules=."]


def joined(n):
    events(n)
    return ["lane-join", "in"]


def marked(n):
    events(n)
    return ["ckpt-mark", "--job=1", "--checkpoint-dir=.", "--parallelism=1"]


def crc32c(data):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        table.append(byte)
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return f"{crc ^ 0xffffffff:08x}"


def snapshot_planned(n):
    """A completed checkpoint whose one snapshot holds n positions."""
    os.makedirs("_state/1/v1/0")
    os.makedirs("_jobs/1")
    body = growth.text({
        "format": "owed-state", "version": 1, "job": "1", "operator": "1", "kind": "kafka-source", "subtask": 0, "checkpoint": 1,
        "log": {"topic": "t", "cluster_id": "c", "topic_id": "i"}, "isolation": "read_committed", "watermark": None,
        "positions": [{"partition": i, "offset": 5} for i in range(n)], "declared": list(range(n)), "partition_max": []}).encode() + b"\n"
    path = "_state/1/v1/0/checkpoint-1.snap"
    open(path, "wb").write(body)
    os.link(path, "in")
    open(path + ".meta", "w").write(f"clink_checkpoint_meta=1\ncheckpoint_id=1\npayload_bytes={len(body)}\n"
                                    f"payload_sha256={hashlib.sha256(body).hexdigest()}\npayload_crc32c={crc32c(body)}\n")
    open("_jobs/1/COMPLETED-1", "w").write("job=1\ncheckpoint=1\ngeneration=1\nsubtasks=0\n")
    return ["ckpt-plan", "--checkpoint-dir=.", "--job=1", "--parallelism=1"]


def described(n):
    """A job whose manifest has n operators."""
    snapshot_planned(1)
    os.remove("in")
    os.mkdir("ha")
    graph = {"operators": [{"id": str(i), "uid": "u", "type": "map", "parallelism": 1, "parameters": {}} for i in range(n)],
             "edges": [[str(i), str(i + 1)] for i in range(n - 1)]}
    open("in", "w").write(growth.text({
        "format": "owed-job", "version": 1, "job": "1", "name": "orders", "submitted_ms": 1, "generation": 1, "parallelism": 1,
        "requires_commit_confirmation": False, "alignment": "aligned", "checkpoint_interval_ms": 1000, "retain": 2, "graph": graph,
        "delivery": {"guarantee": "at-least-once"}}))
    os.link("in", "ha/job-1.json")
    return ["bundle-pack", "--checkpoint-dir=.", "--job=1", "--ha-dir=ha", "--out=bundle"]


def traced(n):
    """A job with many files; what it makes of them is as long as what it reads of names."""
    snapshot_planned(1)
    os.remove("in")
    os.mkdir("traces")
    for i in range(n // 8):
        open(f"traces/{'t' * 40}{i}.ndjson", "w").close()
    command = ["bundle-pack", "--checkpoint-dir=.", "--job=1", "--commit-confirmation=no", "--trace-dir=traces"]
    subprocess.run([*command, "--out=once"], stdout=subprocess.DEVNULL, check=True)
    os.link("once/manifest.json", "in")
    return [*command, "--out=bundle"]


def told(n):
    """The traces of a job that keeps to its protocol through n checkpoints."""
    snapshot_planned(1)
    os.remove("in")
    os.mkdir("traces")
    acts = {
        "kafka-tail": [{"event": "restored", "checkpoint": 0, "first_epoch": 1, "ok": True}],
        "lane-join": [{"event": "passed", "checkpoint": k} for k in range(1, n + 1)],
        "ckpt-mark": [{"event": "completed", "checkpoint": k} for k in range(1, n + 1)],
        "ckpt-plan": [{"event": "planned", "run": 1, "fresh": True, "checkpoint": 0, "first_epoch": 1, "generation": 1, "parallelism": 1,
                       "windows": 0, "commit_confirmation": False}, {"event": "ended", "status": 0}]}
    for k in range(1, n + 1):
        acts["kafka-tail"] += [{"event": "state", "checkpoint": k, "participant": 0, "ok": True},
                               {"event": "barrier", "checkpoint": k, "previous": k - 1}]
    for process in acts:
        begin = {"event": "opened", "format": "owed-trace", "version": 1, "armed": True}
        with open(f"traces/{process}-a.ndjson", "w") as f:
            for i, e in enumerate([begin] + acts[process]):
                f.write(growth.text({"seq": i + 1, "job": "1", "attempt": "a", "process": process, **e}) + "\n")
    subprocess.run(["bundle-pack", "--checkpoint-dir=.", "--job=1", "--commit-confirmation=no", "--trace-dir=traces", "--out=bundle"],
                   stdout=subprocess.DEVNULL, check=True)
    for process, name in zip(("kafka-tail", "lane-join", "ckpt-mark"), ("in", "other", "reference")):
        os.link(f"bundle/traces/{process}-a.ndjson", name)
    return ["trace-check", "bundle"]


def compared(n):
    """Rows of which each is missing, so that all are kept, and more of them than the memory that is given."""
    long = "x" * 600
    rows = ({"type": "row", "side": "captured", "cells": [str(i), long + str(i)], "at": f"t/0/{i}"} for i in range(n))
    growth.stream("in", [{"type": "columns", "cells": "clink-canonical-cells-v1",
                          "columns": [{"name": "id", "type": "Int64", "key": True}, {"name": "s", "type": "String", "key": False}]},
                         *rows, {"type": "side", "side": "captured", "rows": n, "whole": True}, {"type": "observation", "stable": True},
                         *({"type": "side", "side": "destination", "read": r, "rows": 0, "whole": True} for r in (1, 2))])
    return ["rows-diff", f"--memory={GIVEN >> 20}M"]


# Of each program, what asks for most of a byte of its input that it must hold.
INPUTS = {
    "verdict": [growth.ranges_read, growth.topics_read, findings, growth.many_checks],
    "scope-declare": [growth.logs_declared, growth.topics_declared, growth.wide_table],
    "ref-seal": [growth.ranges_sealed, growth.topics_sealed],
    "ref-bind": [growth.ranges_bound, growth.topics_bound],
    "bundle-check": [listed],
    "scope-cut": [cut],
    "trace-check": [told],
    "ckpt-plan": [snapshot_planned],
    "bundle-pack": [described, traced],
    "rows-diff": [compared],
    "lane-join": [joined],
    "cap-tee": [teed],
    "row-map": [mapped],
    "ref-run": [answered],
    "ref-jq": [answered_in_process],
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
    given = "Memory: at most what --memory gives" in page.replace(".Fl -memory", "--memory").replace("\n", " ")
    if not said and not constant and not given:
        sys.exit(f"{program}: its page says nothing of memory")
    wrong = False
    for make in INPUTS[program]:
        least, _ = peak(make, 12)
        many, size = peak(make, 48000)
        times = max(0, many - least - ROOM) / size
        if given:
            wrong |= many - least > GIVEN + ROOM or size <= GIVEN + ROOM
            print(f"{program} ({make.__name__}): {(many - least) / 1e6:.1f} MB of {size / 1e6:.1f} MB, given {GIVEN / 1e6:.1f}")
        elif constant:
            more, size = peak(make, 4 * 48000)
            wrong |= more - many > ROOM
            print(f"{program} ({make.__name__}): {(many - least) / 1e6:.1f} MB, of four times as much {(more - least) / 1e6:.1f} MB")
        else:
            wrong |= times > int(said.group(1))
            print(f"{program} ({make.__name__}): {times:.1f} times {size / 1e6:.1f} MB, its page says {said.group(1)}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
