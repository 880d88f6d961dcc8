#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""traces.py DIR [EDIT]: traces of the job that tests/make-job.bash makes, as its processes would have left them, in DIR; with an EDIT,
traces that say something else. traces.py --list: the edits that are forbidden, one a line. traces.py --each DIR: a directory for the
whole job, each edit that is forbidden, and each of a job with a window."""

import json
import os
import sys

LANES = (0, 1)
P1, P2 = "ckpt-plan/a1", "ckpt-plan/a2"


def plan(run, checkpoint, first, **more):
    return [dict(event="planned", run=run, fresh=run == 1, checkpoint=checkpoint, first_epoch=first, generation=1, parallelism=2, windows=0,
                 commit_confirmation=False, **more)]


def attempt(name, restored, first, numbers, failed, completed):
    """failed: (checkpoint, lane) of states that could not be written."""
    t = {f"kafka-tail/{name}": [dict(event="restored", checkpoint=restored, first_epoch=first, ok=True)]}
    for n in numbers:
        t[f"kafka-tail/{name}"] += [dict(event="state", checkpoint=n, participant=s, ok=(n, s) not in failed) for s in LANES]
        t[f"kafka-tail/{name}"].append(dict(event="barrier", checkpoint=n, previous=n - 1 if n > first else 0))
    for s in LANES:
        passed = [dict(event="passed", checkpoint=n) for n in numbers]
        evidence = [dict(event="evidence", checkpoint=n, ok=True) for n in numbers]
        rows = [dict(event="acknowledged", checkpoint=n, rows=3) for n in numbers]
        for op in (2, 3):
            t[f"cap-tee-{op}-{s}/{name}"] = [e for pair in zip(evidence, passed) for e in pair]
        t[f"row-map-2-{s}/{name}"] = passed
        t[f"ch-sink-3-{s}/{name}"] = [e for all in zip(rows, evidence, passed) for e in all]
    t[f"lane-join/{name}"] = [dict(event="passed", checkpoint=n) for n in numbers]
    t[f"ckpt-mark/{name}"] = [dict(event="completed", checkpoint=n) for n in completed]
    return {k: list(v) for k, v in t.items()}


def job():
    t = {P1: plan(1, 0, 1) + [dict(event="ended", status=0)],
         P2: plan(2, 4, 6) + [dict(event="redeployed", checkpoint=4, first_epoch=6), dict(event="ended", status=0)]}
    t.update(attempt("a1", 0, 1, (1, 2, 3, 4, 5), {(2, 1), (5, 0)}, (1, 3, 4)))
    t.update(attempt("a2", 4, 6, (6, 7), set(), (6, 7)))
    for k in t:
        if k.endswith("/a2") and k != P2:
            t[k].append(dict(event="ended", status=0))
    return t


def drop(t, process, event, checkpoint=None):
    t[process] = [e for e in t[process] if e["event"] != event or (checkpoint and e["checkpoint"] != checkpoint)]


def forbidden_completed_without_every_snapshot(t):
    t["ckpt-mark/a1"].insert(1, dict(event="completed", checkpoint=2))


def forbidden_completed_with_one_lane(t):
    t["ch-sink-3-1/a1"] = t["ch-sink-3-1/a1"][:6]


def forbidden_completed_that_was_not_joined(t):
    drop(t, "lane-join/a1", "passed", 5)
    drop(t, "lane-join/a1", "passed", 4)
    drop(t, "lane-join/a1", "passed", 3)


def forbidden_completed_by_an_orphan_behind_the_next_plan(t):
    for e in t["kafka-tail/a1"]:
        e["ok"] = True
    t["ckpt-mark/a1"].append(dict(event="completed", checkpoint=5))


def forbidden_completion_passed_by(t):
    drop(t, "ckpt-mark/a1", "completed", 3)


def forbidden_barrier_that_nothing_carries(t):
    for e in t["kafka-tail/a1"]:
        if e["checkpoint"] == 5 and e["event"] == "state":
            e["ok"] = False


def forbidden_barrier_before_the_states(t):
    tail = t["kafka-tail/a1"]
    tail[2], tail[3] = tail[3], tail[2]


def forbidden_number_used_twice(t):
    for k in t:
        for e in t[k] if k.endswith("/a2") else []:
            for m in ("checkpoint", "first_epoch", "previous"):
                if m in e and e[m] > 4:
                    e[m] -= 1


def forbidden_number_left_out(t):
    for k in t:
        for e in t[k] if k.endswith("/a2") else []:
            for m in ("checkpoint", "first_epoch", "previous"):
                if m in e and e[m] > 4:
                    e[m] += 1


def restored_from(t, n):
    for k in (P2, "kafka-tail/a2"):
        for e in t[k]:
            if e["event"] in ("planned", "redeployed", "restored"):
                e["checkpoint"] = n


def forbidden_restore_that_passes_over_a_completed_one(t):
    restored_from(t, 3)


def forbidden_restore_of_another_behind_a_plan_that_died(t):
    t["ckpt-plan/a1b"] = plan(2, 4, 6)
    t[P2][0]["run"] = 3
    restored_from(t, 3)


def forbidden_restore_of_one_that_never_completed(t):
    restored_from(t, 2)


def forbidden_restore_that_is_not_recorded(t):
    drop(t, P2, "redeployed")


def forbidden_restore_of_another_than_planned(t):
    t["kafka-tail/a2"][0]["checkpoint"] = 3


def forbidden_passed_before_the_rows_were_acknowledged(t):
    drop(t, "ch-sink-3-0/a1", "acknowledged", 3)


def forbidden_passed_before_the_evidence(t):
    tee = t["cap-tee-3-0/a1"]
    tee[0], tee[1] = tee[1], tee[0]


def forbidden_two_acts_unsaid(t):
    t["ch-sink-3-0/a1"] = t["ch-sink-3-0/a1"][:-2]
    t["ckpt-mark/a1"].append(dict(event="ended", status=3))
    t["lane-join/a1"].append(dict(event="ended", status=3))


def forbidden_end_before_the_last_barrier(t):
    del t["row-map-2-0/a2"][1]


def last_unsaid(t, process):
    t[process + "/a1"].pop()


def rescaled(t):
    t[P2][0]["parallelism"] = 3


def both_families(t):
    t[P2][0]["commit_confirmation"] = True


def later(t):
    for k in [k for k in t if k.endswith("/a1")]:
        del t[k]


def renumbered(t):
    later(t)
    t[P2][0]["run"] = 1


def unknown(t):
    t["row-group-4-0/a1"] = [dict(event="passed", checkpoint=1)]


def unknown_operator(t):
    t["cap-tee-4-0/a1"] = [dict(event="evidence", checkpoint=1, ok=True)]


# ---- of a job with a window: behind the join its operator 3, which stores state as participant 2, and the sink, now 4 ----

WINDOW = "row-window-3-0"


def windowed(t):
    t[P1][0]["windows"] = t[P2][0]["windows"] = 1
    for a in ("a1", "a2"):
        end = t[f"lane-join/{a}"][-1:] if a == "a2" else []
        numbers = [e["checkpoint"] for e in t[f"lane-join/{a}"] if e["event"] == "passed"]
        t[f"{WINDOW}/{a}"] = [e for n in numbers for e in (dict(event="state", checkpoint=n, participant=2, ok=n != 2), dict(event="passed", checkpoint=n))] + end
        t[f"ch-sink-4-0/{a}"] = t.pop(f"ch-sink-3-0/{a}")
        t[f"cap-tee-4-0/{a}"] = t.pop(f"cap-tee-3-1/{a}")
        del t[f"ch-sink-3-1/{a}"]


def windowed_without_its_state(t):
    windowed(t)
    t[f"{WINDOW}/a1"][4]["ok"] = False


def windowed_in_a_lanes_place(t):
    windowed(t)
    t[f"{WINDOW}/a1"][4]["participant"] = 1


def windowed_passed_before_its_state(t):
    windowed(t)
    del t[f"{WINDOW}/a1"][4]


def windowed_before_the_join(t):
    windowed(t)
    drop(t, "lane-join/a1", "passed", 5)
    drop(t, "lane-join/a1", "passed", 4)


# ---- writing ----

def write(t, where, name="1"):
    os.makedirs(where, exist_ok=True)
    for k, events in t.items():
        process, of = k.split("/")
        first = dict(event="opened", format="owed-trace", version=1, armed=True)
        with open(f"{where}/{process}-{of}.ndjson", "w") as f:
            for i, e in enumerate([first] + events):
                f.write(json.dumps(dict(seq=i + 1, job=name, attempt=of, process=process, **e), separators=(",", ":")) + "\n")


def main():
    prefix = "forbidden_"
    if sys.argv[1] == "--list":
        print("\n".join(n[len(prefix):] for n in globals() if n.startswith(prefix)))
        return
    if sys.argv[1] == "--each":
        for name, edit in [("whole", lambda t: None), *globals().items()]:
            if name == "whole" or name.startswith((prefix, "windowed")):
                t = job()
                edit(t)
                write(t, os.path.join(sys.argv[2], name))
        return
    t = job()
    if len(sys.argv) > 2:
        edit = globals().get(prefix + sys.argv[2]) or globals()[sys.argv[2]]
        edit(t, *sys.argv[3:])
    write(t, sys.argv[1])


main()
