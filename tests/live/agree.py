#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""agree.py DIR: the reader of examples/reference beside kafka-read, in one process for a whole file of tests: starting it takes
longer than most of its reads. Through DIR/ask comes a request a line (a test's directory, the exit status that is wanted, the
reader's options); what it says is left there, in theirs.err. Through DIR/answer goes a line for each, empty where both readers
agree, else what differs.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import signal
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/reference")
IDLE_S = 600  # without a request for so long, the tests are gone


def reader():
    """The example as a module: its file is a program, without the name of one."""
    sys.path.insert(0, HERE)
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("reference", os.path.join(HERE, "reference"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("reference", loader))
    loader.exec_module(module)
    return module


def ordered(path):
    """Records as one form, by partition and offset: what escapes a writer chose, and what partitions it mixed, is no matter."""
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f if '"offset"' in line]
    records = [r for r in lines if r.pop("type", "record") == "record"]
    return sorted(records, key=lambda r: (r["topic"], r["partition"], r["offset"]))


def read(main, options, out):
    """The example's exit status and what it said."""
    said = io.StringIO()
    sys.argv = ["reference"] + options
    with open(out, "w", encoding="utf-8") as f, contextlib.redirect_stdout(f), contextlib.redirect_stderr(said):
        try:
            status = main()
        except SystemExit as e:
            status = e.code
    return status, said.getvalue()


def differs(main, directory, want, options):
    ours, theirs = (os.path.join(directory, name) for name in ("out", "theirs"))
    status, said = read(main, ["--scope=" + os.path.join(directory, "scope.json")] + options, theirs)
    with open(theirs + ".err", "w", encoding="utf-8") as err:
        err.write(said)
    if status != want:
        return f"the reference's reader ends with {status}, not {want}: {said}"
    if (want == 0) != (said == ""):
        return f"the reference's reader says: {said or 'nothing'}"
    if want == 0:
        for a, b in zip(ordered(ours), ordered(theirs)):
            if a != b:
                return f"a record of kafka-read {a} of the reference's reader {b}"
        if len(ordered(ours)) != len(ordered(theirs)):
            return f"{len(ordered(ours))} records of kafka-read, {len(ordered(theirs))} of the reference's reader"
    return ""


def main(directory):
    example = reader()
    while True:
        signal.alarm(IDLE_S)
        with open(os.path.join(directory, "ask"), encoding="utf-8") as ask:
            requests = ask.read().splitlines()
        for request in requests:
            place, want, *options = json.loads(request)
            try:
                why = differs(example.main, place, want, options)
            except Exception as e:  # whatever it is, the test that asked shows it
                why = f"{type(e).__name__}: {e}"
            with open(os.path.join(directory, "answer"), "w", encoding="utf-8") as answer:
                print(why.replace("\n", " "), file=answer)


main(sys.argv[1])
