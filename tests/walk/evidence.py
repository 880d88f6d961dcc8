# SPDX-License-Identifier: Apache-2.0
"""Changes every statement of every file of a bundle, one at a time, mends every size and digest, and asks the checks.

evidence.py BIN WORK SHARE BUNDLE:CHECKPOINT...: each bundle is whole; SHARE is the part of the changes that is tried, in percent. A
change is found where bundle-check, scope-cut, or rows-diff and verdict against the destination as it was saved do not pass; else LEFT
has it with its reason. Exit 1 names each that is neither, and with SHARE 100 each line of LEFT that nothing needs.

Each statement is changed alone, and in every file of its kind at once ("all"): then nothing of the same kind contradicts it."""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "hostile"))
from bundle import crc32c, sha256  # noqa: E402

from left import LEFT  # noqa: E402

BIN, WORK, SHARE = sys.argv[1], sys.argv[2], float(sys.argv[3])
DRAW = random.Random(os.environ.get("SEED", "1"))


class Files:
    """A bundle's files in memory, by path, as documents or as lines."""

    def __init__(self, root):
        self.manifest = json.load(open(os.path.join(root, "manifest.json")))
        self.bytes = {a["path"]: open(os.path.join(root, a["path"]), "rb").read() for a in self.manifest["artifacts"]}
        self.role = {a["path"]: a["role"] for a in self.manifest["artifacts"]}


def keyed(data):
    return [line.split("=", 1) for line in data.decode().splitlines()]


def dump(doc):
    return (json.dumps(doc, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def parse(role, data):
    """The file as a document of named statements, and what makes a file of it again."""
    if role in ("marker", "confirmed", "restored", "sidecar"):
        return dict(keyed(data)), lambda d: "".join(f"{k}={v}\n" for k, v in d.items()).encode()
    if role == "capture":
        lines = data.split(b"\n")
        doc = {"header": json.loads(lines[0]), "lines": [json.loads(x) for x in lines[1:] if x]}

        def again(d):
            head = json.dumps(d["header"], separators=(",", ":"))
            return head[:-1].encode().ljust(510) + b"}\n" + b"".join(dump(x) for x in d["lines"])

        return doc, again
    return json.loads(data), dump


def leaves(doc, at=()):
    if isinstance(doc, dict) and doc:
        for k, v in doc.items():
            yield from leaves(v, at + (k,))
    elif isinstance(doc, list) and doc:
        for i, v in enumerate(doc):
            yield from leaves(v, at + (i,))
    else:
        yield at, doc


def others(v):
    """Other values of the type."""
    if isinstance(v, bool):
        return [not v]
    if isinstance(v, int):
        return [v + 1] + ([v - 1] if v > 0 else [])
    if isinstance(v, str) and v.isdigit():
        return [str(int(v) + 1)] + ([str(int(v) - 1)] if int(v) > 0 else [])
    if isinstance(v, str):
        return [v + "x"]
    if v is None:
        return ["x"]
    return [["x"]] if isinstance(v, list) else [{"x": "x"}]


REMOVED = object()


def put(doc, at, value):
    for k in at[:-1]:
        doc = doc[k]
    if value is REMOVED:
        del doc[at[-1]]
    else:
        doc[at[-1]] = value


def statement(role, at):
    """One name for a statement wherever it stands: "interval ledger.#.token"."""
    return role + " " + ".".join("#" if isinstance(k, int) else k for k in at)


def mended(files, changed):
    """All files with what speaks of their bytes brought up to date: captures in intervals, states in sidecars."""
    out = dict(files.bytes)
    out.update(changed)
    for path in changed:
        role = files.role[path]
        beside = path[: -len(".cap")] + ".sink.json" if role == "capture" else path + ".meta"
        if role == "capture" and beside in out:
            doc = json.loads(out[beside])
            if "sha256" in doc["capture"]:
                doc["capture"].update(bytes=len(out[path]), sha256=sha256(out[path]))
            out[beside] = dump(doc)
        elif role in ("snapshot", "interval_state", "run_start") and beside in out:
            side = dict(keyed(out[beside]))
            side.update(payload_bytes=len(out[path]), payload_crc32c=f"{crc32c(out[path]):08x}", payload_sha256=sha256(out[path]))
            out[beside] = "".join(f"{k}={v}\n" for k, v in side.items()).encode()
    return out


def save(files, data, root):
    manifest = json.loads(json.dumps(files.manifest))
    for a in manifest["artifacts"]:
        a.update(bytes=len(data[a["path"]]), sha256=sha256(data[a["path"]]))
        if data[a["path"]] is not files.bytes[a["path"]]:
            with open(os.path.join(root, a["path"]), "wb") as f:
                f.write(data[a["path"]])
    with open(os.path.join(root, "manifest.json"), "wb") as f:
        f.write(dump(manifest))


def run(program, stdin=b"", *args):
    return subprocess.run([os.path.join(BIN, program), *args], input=stdin, capture_output=True, check=False)


def stream(lines):
    counts = {}
    for text in lines:
        kind = json.loads(text)["type"]
        counts[kind] = counts.get(kind, 0) + 1
    return b"".join(x + b"\n" for x in lines) + dump({"type": "end", "lines": counts})


def cut(root, checkpoint):
    checked = run("bundle-check", b"", root)
    return checked, run("scope-cut", checked.stdout, "--key=id", f"--checkpoint={checkpoint}")


def destination(captured):
    """The table as it was saved: what the job's rows made of it, as two whole reads."""
    rows = [json.loads(x) for x in captured.splitlines() if x.startswith(b'{"type":"row"')]
    out = []
    for read in (1, 2):
        out += [dump({"type": "row", "side": "destination", "read": read, "cells": r["cells"]}).strip() for r in rows]
        out.append(dump({"type": "side", "side": "destination", "read": read, "rows": len(rows), "whole": True}).strip())
    return out


def found(root, checkpoint, table):
    """How the change was found, or None."""
    checked, scope = cut(root, checkpoint)
    if checked.returncode != 0:
        return "bundle-check"
    if scope.returncode != 0:
        return "scope-cut"
    lines = [x for x in scope.stdout.splitlines() if not x.startswith(b'{"type":"end"')]
    diff = run("rows-diff", stream(lines + table))
    return "rows-diff" if diff.returncode != 0 else None


def of_scope(role, path, scope):
    """Whether the file speaks of the scope. Others are of other checkpoints' scopes, or of what went into the job's map."""
    part = path.split("/")
    number = int("".join(c for c in part[-1] if c.isdigit()) or 0)
    if role in ("interval", "capture"):
        return f"op-{scope['sink']['operator']}" in part and number in scope["epochs"]
    ends = {scope["checkpoint"], scope["since"], scope["restored_from"]}
    if role in ("snapshot", "interval_state", "sidecar", "run_start"):
        return number in ({scope["epochs"][0]} if "start-" in part[-1] else ends)
    if role == "marker":
        return number in ends - {scope["restored_from"]}
    return role != "restored" or scope["start"] == "restore"


def changes(files, scope):
    """Every change: its name, how, and the files that it makes."""
    kinds = {}
    for path in sorted(p for p in files.bytes if of_scope(files.role[p], p, scope)):
        doc, _ = parse(files.role[path], files.bytes[path])
        for at, value in leaves(doc):
            kinds.setdefault(statement(files.role[path], at), []).append((path, at, value))
    for name, places in kinds.items():
        for which, group in [("alone", [p]) for p in places] + [("all", places)]:
            for n, how in enumerate(["up", "down", "removed"]):
                new = {}
                for path, at, value in group:
                    values = [REMOVED] if how == "removed" else others(value)[n : n + 1]
                    if values:
                        new.setdefault(path, []).append((at, values[0]))
                if new:
                    yield f"{which} {name}", how, new


def applied(files, new):
    out = {}
    for path, edits in new.items():
        doc, again = parse(files.role[path], files.bytes[path])
        for at, value in sorted(edits, key=lambda e: [str(k).zfill(9) for k in e[0]], reverse=True):
            put(doc, at, value)
        out[path] = again(doc)
    return out


def restore(files, new, root):
    """The files as they were, those that were mended with them too."""
    with open(os.path.join(root, "manifest.json"), "wb") as f:
        f.write(dump(files.manifest))
    for path in new:
        for p in (path, path + ".meta", path.removesuffix(".cap") + ".sink.json"):
            if p in files.bytes:
                with open(os.path.join(root, p), "wb") as f:
                    f.write(files.bytes[p])


def walk(bundle, checkpoint, missed, needed):
    """Try the changes of one bundle; how many were tried."""
    files = Files(bundle)
    root = os.path.join(WORK, "b")
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(bundle, root)
    _, whole = cut(root, checkpoint)
    table = destination(whole.stdout)
    assert whole.returncode == 0 and found(root, checkpoint, table) is None, whole.stderr
    scope = next(json.loads(x)["document"]["bundle"] for x in whole.stdout.splitlines() if x.startswith(b'{"type":"scope"'))
    tried = 0
    for name, how, new in changes(files, scope):
        if DRAW.random() * 100 >= SHARE:
            continue
        tried += 1
        save(files, mended(files, applied(files, new)), root)
        if not found(root, checkpoint, table):
            reason = next((p for p in LEFT if fits(p, name, how, new)), None)
            needed.add(reason)
            if not reason:
                missed.setdefault(f"{name} {how}", []).append(", ".join(sorted(new))[:120])
        restore(files, new, root)
    return tried


def main():
    missed, needed = {}, set()
    tried = sum(walk(*arg.rsplit(":", 1), missed, needed) for arg in sys.argv[4:])
    for name, places in missed.items():
        print(f"passed: {name}: {len(places)}, one of them {places[0]}")
    unneeded = [p for p in LEFT if p not in needed] if SHARE >= 100 else []
    for p in unneeded:
        print(f"found everywhere, and yet left out: {p}")
    print(f"{tried} changes, {len(needed - {None})} of {len(LEFT)} left out")
    return 1 if missed or unneeded else 0


def fits(pattern, name, how, new):
    which, where, hows = pattern
    kind, rest = name.split(" ", 1)
    said, _, part = where.partition("@")
    same = rest.startswith(said[:-1]) if said.endswith("*") else rest == said
    return which in (kind, "any") and same and (hows == "any" or how in hows.split(",")) and all(part in path for path in new)


if __name__ == "__main__":
    sys.exit(main())
