#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth.py CASE [N]: the processor time that a program takes on an input of N things and on one of 4 N. Prints both and their
ratio, and fails where four times the input takes more than nine times as long: then something is searched from its start."""

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile

text = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
canonical = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, sort_keys=True).encode
SHA = "0" * 64
HEAD = {"type": "stream", "format": "owed-stream", "version": 1, "stages": [{"name": "t", "version": "1"}]}


def stream(path, lines, head=None):
    """The lines as a whole stream: its header before them, its end behind."""
    counts = {}
    with open(path, "w") as out:
        for line in [head or HEAD, *lines]:
            counts[line["type"]] = counts.get(line["type"], 0) + 1
            out.write(text(line) + "\n")
        out.write(text({"type": "end", "lines": counts}) + "\n")


def scope(n, topics=1, columns=None, **more):
    """A scope over n ranges, of one topic or of as many."""
    per = n // topics
    doc = {
        "format": "clink-audit-scope", "version": 1, "origin": "declared", "declared": {"gone": []},
        "destination": {"server_uuid": "s", "server_version": "26.5.3.1", "database": "shop", "table": "orders", "table_uuid": None},
        "sources": [{"topic": f"t{t}", "cluster_id": "c", "topic_id": None, "isolation": "read_committed",
                     "partitions": [{"partition": p, "from": 0, "to": 1} for p in range(per)]} for t in range(topics)],
        "columns": columns or [{"name": "id", "type": "Int64", "key": True}], "cells": "clink-canonical-cells-v1"}
    doc.update(more)
    doc["scope_sha256"] = hashlib.sha256(canonical(doc).encode()).hexdigest()
    return doc


def account(doc):
    ranges = [{"topic": s["topic"], "partition": p["partition"], "from": 0, "to": 1, "position": 1, "offsets": 1, "delivered": 1,
               "null_values": 0, "not_delivered": 0, "complete": True, "reason": ""} for s in doc["sources"] for p in s["partitions"]]
    return {"type": "account", "stage": "kafka-read", "role": "reader", "complete": True, "reasons": [], "client": "c",
            "isolation": "read_committed", "delivered": len(ranges), "verified": ["cluster id"], "recorded": {},
            "logs": [{"topic": s["topic"], "cluster_id": "c"} for s in doc["sources"]], "ranges": ranges}


def checks(n, status="failed"):
    return [{"type": "check", "stage": f"stage-{i}", "name": "bundle.artifacts", "status": status, "code": "server-failed",
             "facts": {"topic": f"t{i}"}, "reason": f"because {i}", "evidence": [f"file-{i}"]} for i in range(n)]


def left(n):
    return [{"operator": f"{i % 7}", "subtask": i, "kind": "snapshot", "file": f"_state/1/v1/{i}/checkpoint-1.snap", "bytes": 1,
             "sha256": SHA} for i in range(n)]


def barrier(entries):
    return {"type": "barrier", "job": "1", "checkpoint": 1, "previous": 0, "attempt": "a", "left": entries}


def columns(n):
    return [{"name": f"c{i}", "type": "Int64", "key": i == 0} for i in range(n)]


def manifest(n, **more):
    """A bundle's manifest that lists what is not there, or not all."""
    doc = {
        "format": "clink-incident-bundle", "version": 1, "collector": {"name": "t", "version": "1"},
        "job": {"id": "1", "manifest": "job/manifest.json"},
        "checkpoint": {"id": 1, "rule": "completed", "rule_choice": 1, "named": False, "generation": 1, "subtasks": list(range(4)),
                       "state_root": "checkpoint/_state"},
        "delivery": None, "contains": {"job": True, "state": True, "captures": True, "traces": False},
        "bounds": {"max_bytes": 1, "max_files": 1, "timeout_s": 1},
        "captured": [{"operator": "3", "subtask": i, "epoch": 1, "path": f"capture/op-3/subtask-{i}/epoch-1.cap"} for i in range(n)],
        "selection": {"operators": [], "epochs": None, "participant_state": [{"subtask": i, "form": "file"} for i in range(4)],
                      "excluded": [{"path": f"capture/op-9/subtask-{i}/epoch-1.cap", "why": "outside"} for i in range(n)]},
        "absent": [],
        "artifacts": [{"path": f"capture/op-3/subtask-{i}/epoch-1.{end}", "role": role, "bytes": 1, "sha256": SHA}
                      for end, role in (("cap", "capture"), ("sink.json", "interval")) for i in range(n // 3)]}
    doc.update(more)
    return doc


# ---- cases: what is run in a directory of its own, and on what ----


def annotations(n):
    stream("in", ({"type": f"note-{i}"} for i in range(n)))
    return ["verdict"]


def annotations_passed(n):
    stream("in", ({"type": f"note-{i}"} for i in range(n)))
    return ["rows-diff"]


def many_checks(n):
    head = dict(HEAD, stages=[{"name": f"stage-{i}", "version": "1"} for i in range(n)])
    stream("in", checks(n), head)
    return ["verdict"]


def many_stops(n):
    stream("in", [{"type": "stop", "stage": f"s{i}", "kind": "refused", "code": "interrupted", "reason": f"r{i}",
                   "facts": {"topic": f"t{i}"}} for i in range(n)])
    return ["verdict"]


def ranges_read(n):
    doc = scope(n)
    stream("in", [{"type": "scope", "document": doc}, {"type": "columns", "cells": doc["cells"], "columns": doc["columns"]}, account(doc)])
    return ["verdict"]


def topics_read(n):
    doc = scope(n, topics=n)
    stream("in", [{"type": "scope", "document": doc}, {"type": "columns", "cells": doc["cells"], "columns": doc["columns"]}, account(doc)])
    return ["verdict"]


def ranges_sealed(n, topics=1):
    doc = scope(n, topics)
    open("scope", "w").write(text(doc))
    stream("in", [{"type": "scope", "document": doc}, account(doc)])
    return ["ref-seal", "--scope=scope", "--reference-name=x", "--reference-version=1", "--out=reference"]


def topics_sealed(n):
    return ranges_sealed(n, n)


def ranges_bound(n, topics=1):
    doc = scope(n, topics)
    command = ranges_sealed(n, topics)
    subprocess.run(command, stdin=open("in"), stdout=open("sealed", "w"), stderr=subprocess.DEVNULL, check=False)
    stream("in", [{"type": "scope", "document": doc}, {"type": "columns", "cells": doc["cells"], "columns": doc["columns"]}])
    return ["ref-bind", "--reference=reference"]


def topics_bound(n):
    return ranges_bound(n, n)


def records_of_partitions(n):
    stream("in", [{"type": "record", "topic": f"t{i}", "partition": i % 3, "offset": 0, "tstype": "create", "ts": 0, "headers": [],
                   "key": None, "payload": "{}"} for i in range(n)])
    return ["ref-run", "--", "jq", "-c", '{at: "\\(.topic)/\\(.partition)/\\(.offset)", values: {id: 1}}']


def rows_of_topics(n):
    rows = [{"type": "row", "side": "captured", "cells": [str(i)], "at": f"t{i}/0/1"} for i in range(n)]
    stream("in", [{"type": "columns", "cells": "clink-canonical-cells-v1", "columns": columns(1)}, *rows,
                  {"type": "side", "side": "captured", "rows": n, "whole": True},
                  {"type": "observation", "stable": True},
                  {"type": "side", "side": "destination", "read": 1, "rows": 0, "whole": True},
                  {"type": "side", "side": "destination", "read": 2, "rows": 0, "whole": True}])
    return ["rows-diff"]


def observed(n):
    """A table that was read with so many settings, and has so many mutations."""
    stream("in", [{"type": "observation", "stable": True, "settings": {f"s{i}": "1" for i in range(n)},
                   "mutations": [{"id": f"mutation_{i}.txt", "command": "(DELETE WHERE k = 1)", "created": "2026-01-01T00:00:00.000Z",
                                  "done": True} for i in range(n)]}])
    return ["verdict"]


def findings_read(n):
    rows_of_topics(n)
    with open("in") as source, open("compared", "w") as out:
        subprocess.run(["rows-diff"], stdin=source, stdout=out, stderr=subprocess.DEVNULL, check=False)
    os.rename("compared", "in")
    return ["verdict"]


def wide_rows(n):
    cells = [str(i) for i in range(n)]
    other = ["0"] + ["7"] * (n - 1)
    stream("in", [{"type": "columns", "cells": "clink-canonical-cells-v1", "columns": columns(n)},
                  {"type": "row", "side": "captured", "cells": cells, "at": "t/0/1"},
                  {"type": "side", "side": "captured", "rows": 1, "whole": True},
                  {"type": "observation", "stable": True},
                  {"type": "row", "side": "destination", "read": 1, "cells": other},
                  {"type": "side", "side": "destination", "read": 1, "rows": 1, "whole": True},
                  {"type": "row", "side": "destination", "read": 2, "cells": other},
                  {"type": "side", "side": "destination", "read": 2, "rows": 1, "whole": True}])
    return ["rows-diff"]


def wide_findings(n):
    wide_rows(n)
    with open("in") as source, open("compared", "w") as out:
        subprocess.run(["rows-diff"], stdin=source, stdout=out, stderr=subprocess.DEVNULL, check=False)
    os.rename("compared", "in")
    return ["verdict"]


def wide_reference(n):
    doc = scope(1, columns=columns(n))
    open("scope", "w").write(text(doc))
    stream("in", [{"type": "scope", "document": doc},
                  *[{"type": "event", "at": f"t0/0/{i}", "values": {f"c{n - 1 - k}": k for k in range(n)}} for i in range(1)], account(doc)])
    return ["ref-seal", "--scope=scope", "--reference-name=x", "--reference-version=1", "--out=reference"]


def wide_table(n):
    stream("in", [{"type": "table", "database": "shop", "table": "orders", "server_uuid": "s", "server_version": "26.5.3.1",
                   "table_uuid": "u", "engine": "MergeTree", "engine_full": "MergeTree ORDER BY c0",
                   "columns": [{"name": f"c{i}", "type": "Int64", "kind": ""} for i in range(n)]}])
    return ["scope-declare", "--key=c0", "--range=t/0:0-1", "--isolation=read_committed", "--cluster-id=c"]


def logs_declared(n, topics=1):
    stream("in", [{"type": "log", "topic": f"t{t}", "cluster_id": "c", "topic_id": f"i{t}", "cleanup_policy": "delete",
                   "partitions": [{"partition": p, "low": 0, "high": 1, "stable": 1} for p in range(n // topics)]} for t in range(topics)])
    return ["scope-declare", "--key=c0", "--column=c0:Int64", "--range=ALL", "--isolation=read_committed", "--table=shop.orders", "--server-uuid=s", "--server-version=26.5.3.1"]


def topics_declared(n):
    return logs_declared(n, n)


def left_joined(n):
    half = left(n)
    stream("other", [barrier(half[n // 2:])])
    stream("in", [barrier(half[:n // 2])])
    return ["lane-join", "in", "other"]


def left_marked(n):
    stream("in", [barrier([dict(entry, subtask=i % 4) for i, entry in enumerate(left(n))])])
    return ["ckpt-mark", "--job=1", "--checkpoint-dir=.", "--parallelism=4"]


def left_teed(n):
    stream("in", [barrier(left(n))])
    return ["cap-tee", "--capture-dir=.", "--operator=3", "--subtask=0", "--job=1", "--attempt=a", f"--capture-records={n}"]


def partitions_teed(n):
    stream("in", [*[{"type": "event", "at": f"t{i}/0/1", "ts": 1, "values": {"id": i}} for i in range(n)], barrier([])])
    return ["cap-tee", "--capture-dir=.", "--operator=3", "--subtask=0", "--job=1", "--attempt=a", f"--capture-records={n}"]



def files_listed(n):
    os.mkdir("bundle")
    open("bundle/manifest.json", "w").write(text(manifest(n)))
    open("in", "w").close()
    return ["bundle-check", "bundle"]


CASES = {name: one for name, one in list(globals().items()) if callable(one) and getattr(one, "__code__", None) and
         one.__code__.co_varnames[:1] == ("n",) and name not in ("scope", "left", "columns", "manifest", "checks")}


def seconds(case, n):
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        command = CASES[case](n)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open("in") as source, open("out", "w") as out:
            done = subprocess.run(command, stdin=source, stdout=out, stderr=subprocess.PIPE, timeout=600, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = (done.stderr.decode() + open("out").read()[-300:])[:600]
        os.chdir("/")
        return after.ru_utime - before.ru_utime, done.returncode, said


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return 0
    case, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    few, _, _ = seconds(case, n)
    many, status, said = seconds(case, 4 * n)
    ratio = many / max(few, 0.02)
    print(f"{case}: {n} {few:.2f} s, {4 * n} {many:.2f} s, ratio {ratio:.1f}, exit {status}")
    if "-v" in sys.argv:
        print(said)
    return ratio > 9


if __name__ == "__main__":
    sys.exit(main())
