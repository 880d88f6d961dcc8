#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""runs.py ORACLE ROUNDS [SEED]: generated runs of jobs, and of each the traces with one event dropped, doubled, swapped or renumbered,
or one process's last ones cut off; trace-check and the oracle (oracle.pml, compiled) must say the same of each, and accept what was not
changed. At the end, by change, how many both accepted and both refused. Round k is of seed SEED + k alone: --round SEED makes it again.
runs.py ORACLE --traces DIR…: what the oracle says of the traces in each."""

import copy
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

PROCESSES, NUMBERS, LANES = 24, 14, 3  # of oracle.pml
SOURCE, TEE, MAP, SINK, JOIN, WINDOW, MARK = range(7)
KINDS = {"cap-tee": TEE, "row-map": MAP, "ch-sink": SINK, "row-window": WINDOW}
EVENTS = {e: i + 1 for i, e in enumerate(("redeployed", "restored", "restored not", "state", "state not", "barrier", "acknowledged",
                                          "evidence", "passed", "completed", "confirmed", "ended", "trouble", "other", "absent"))}


# ---- a job's processes ----

class Shape:
    """Which processes there are: each a name, a kind, what its barriers come from, and its number among its kind."""

    def __init__(self, lanes, stages, behind):
        """stages, behind: (program, operator) of every lane, and behind the join."""
        self.lanes, self.names, self.kinds, self.before, self.place, self.last = lanes, [], [], [], [], []
        self.windows, self.sinks = 0, 0
        self.add("kafka-tail", SOURCE, 0)
        for lane in range(lanes):
            at = 0
            for program, op in stages:
                at = self.add(f"{program}-{op}-{lane}", KINDS[program], at)
            self.last.append(at)
        at = self.add("lane-join", JOIN, 0)
        for program, op in behind:
            at = self.add(f"{program}-{op}-0", KINDS[program], at)
        self.add("ckpt-mark", MARK, at)

    def add(self, name, kind, before):
        self.names.append(name)
        self.kinds.append(kind)
        self.before.append(before)
        self.place.append(self.lanes + self.windows if kind == WINDOW else self.sinks)
        self.windows += kind == WINDOW
        self.sinks += kind == SINK
        return len(self.names) - 1


def shape_of(traces):
    """The shape that the names of the traces say."""
    named, lanes = set(), 0
    for key, events in traces.items():
        process = key.split("/")[0]
        program, _, rest = process.rpartition("-") if process in ("ckpt-plan", "ckpt-mark", "kafka-tail", "lane-join") else ("", "", "")
        if not program:
            program, op, _ = process.rsplit("-", 2)
            named.add((int(op), program != "cap-tee", program))
        if process == "ckpt-plan" and events:
            lanes = events[0]["parallelism"]
    chain = [(program, op) for op, _, program in sorted(named)]
    first = min([op for program, op in chain if program == "row-window"], default=1 << 60)
    return Shape(lanes, [s for s in chain if s[1] < first], [s for s in chain if s[1] >= first])


# ---- what the oracle reads ----

def told(e, behind):
    """behind: the process's end."""
    cap = lambda n: min(n, NUMBERS + 1)
    if behind:
        return [EVENTS["other"], 0, 0]
    kind, number, more = e["event"], e.get("checkpoint", 0), 0
    if kind in ("state", "restored") and not e["ok"]:
        kind += " not"
    if kind == "ended":
        kind = "trouble" if e["status"] else "ended"
    if kind in ("redeployed", "restored", "restored not"):
        number, more = e["first_epoch"], e["checkpoint"]
    more = e.get("participant", e.get("previous", more))
    return [EVENTS.get(kind, EVENTS["other"]), cap(number), cap(more)]


def oracle(verifier, traces):
    """True where some order of what the traces tell is a behaviour of the model."""
    shape = shape_of(traces)
    plans = sorted((k for k in traces if k.startswith("ckpt-plan/") and traces[k]), key=lambda k: traces[k][0]["run"])
    planned = [traces[k][0] for k in plans]
    words = [len(shape.names), shape.lanes, shape.lanes + shape.windows, shape.sinks, int(planned[0]["commit_confirmation"]), len(plans)]
    for of_process in zip(shape.kinds, shape.before, shape.place):
        words += of_process
    words += (shape.last + [shape.last[0]] * LANES)[:LANES]
    for plan, key in zip(planned, plans):
        words += [min(plan["checkpoint"], NUMBERS + 1), min(plan["first_epoch"], NUMBERS + 1), int(plan["fresh"])]
        attempt = key.split("/")[1]
        for events in [traces.get(f"{name}/{attempt}", [dict(event="absent")]) for name in shape.names] + [traces[key][1:]]:
            words.append(len(events))
            for i, e in enumerate(events):
                words += told(e, i > 0 and events[i - 1]["event"] == "ended")
    said = subprocess.run([verifier, "-m100000", "-w12", "-E"], input=" ".join(map(str, words)), capture_output=True, text=True,
                          check=False).stdout
    if said == "accepted\n":
        return True
    if "errors: 0" not in said or "Full statespace search" not in said or "max search depth too small" in said:
        sys.exit(f"the oracle decided nothing: {said}")
    return False


# ---- a run ----

class Killed(Exception):
    pass


class Run:
    """A job's attempts one after another, each act of a process at random among those that can be made."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lanes = self.r.choice((1, 2, 2, 2, 3))
        windows = self.r.choice((0, 0, 0, 1, 1, 2))
        self.confirming = self.r.random() < 0.3
        self.shape = self.make_shape(windows)
        self.traces = {}
        self.carried, self.completed, self.confirmed, self.restored = 0, set(), set(), None
        self.snapshots = set()  # (participant, number)
        self.most = 9 if self.lanes < 3 else 6
        self.number = 0
        attempts = self.r.choice((1, 2, 2, 3, 4))
        for i in range(attempts):
            self.plan(f"a{i + 1}")
            if self.carried >= self.most:
                break

    def make_shape(self, windows):
        op = 1

        def some(program, always):
            nonlocal op
            op += 1
            if not always and self.r.random() < 0.5:
                return []
            return ([("cap-tee", op)] if self.r.random() < 0.6 else []) + [(program, op)]
        stages = some("row-map", False)
        behind = []
        for _ in range(windows):
            behind += some("row-window", True)
        if windows:
            behind += some("row-map", False)
        (behind if windows else stages).extend(some("ch-sink", True))
        return Shape(self.lanes, stages, behind)

    # -- planning --

    def plan(self, attempt):
        key = f"ckpt-plan/{attempt}"
        self.attempt, self.traces[key] = attempt, []
        if self.r.random() < 0.05:
            return
        restorable = self.confirmed if self.confirming else self.completed
        passed_over = lambda n: self.restored and self.restored[0] < n < self.restored[1]
        chosen = max((n for n in restorable if not passed_over(n)), default=0)
        self.first = self.carried + 1
        self.number += 1
        fresh = self.carried == 0 and not self.restored
        self.traces[key] = [dict(event="planned", run=self.number, fresh=fresh, checkpoint=chosen, first_epoch=self.first, generation=1,
                                 parallelism=self.lanes, windows=self.shape.windows, commit_confirmation=self.confirming)]
        self.chosen = chosen
        if self.r.random() < 0.05:
            return
        if not fresh:
            self.restored = (chosen, self.first)
            if self.r.random() < 0.05:
                return
            self.traces[key].append(dict(event="redeployed", checkpoint=chosen, first_epoch=self.first))
        if self.r.random() < 0.03:
            self.traces[key].append(dict(event="ended", status=3))
            return
        self.traces[key].append(dict(event="ended", status=0))
        self.run()

    # -- an attempt --

    def run(self):
        n = len(self.shape.names)
        self.passed, self.phase, self.ended, self.alive = [0] * n, [0] * n, [False] * n, [True] * n
        self.begun, self.asked, self.durable, self.ending = False, 0, 0, False
        self.whole = {}
        for name in self.shape.names:
            self.traces[f"{name}/{self.attempt}"] = []
        dying = False
        barriers = self.r.randrange(1, 5 if self.lanes < 3 else 3)
        kill = self.r.choice((0, 0.01, 0.03))
        while any(self.alive):
            can = {p: acts for p in range(n) if self.alive[p] and (acts := self.acts(p, barriers))}
            if not any(self.alive):
                break
            if not can or (dying and self.r.random() < 0.1):
                dying = True
                self.die(self.r.choice([p for p in range(n) if self.alive[p]]))
                continue
            p = self.r.choice(sorted(can))
            dies = self.r.random() < (0.15 if dying else kill)
            self.act(p, self.r.choice(can[p]), silent=dies and self.r.random() < 0.6)
            if dies:
                dying = True
                self.die(p)

    def die(self, p):
        if self.alive[p] and not self.ended[p] and self.r.random() < 0.2:
            self.say(p, dict(event="ended", status=3))
        self.alive[p] = False

    def say(self, p, event):
        self.traces[f"{self.shape.names[p]}/{self.attempt}"].append(event)

    def came(self, p):
        if self.shape.kinds[p] == JOIN:
            return min(self.passed[q] for q in self.shape.last)
        return self.passed[self.shape.before[p]]

    def no_more(self, p):
        if self.shape.kinds[p] == JOIN:
            return all(self.ended[q] for q in self.shape.last)
        return self.ended[self.shape.before[p]]

    def participants(self):
        return self.lanes + self.shape.windows

    def acts(self, p, barriers):
        """What the process can do now."""
        kind = self.shape.kinds[p]
        if self.ended[p]:
            self.alive[p] = False
            return []
        if kind == SOURCE:
            if not self.begun:
                return ["restored"]
            if self.asked == self.lanes and self.durable == 0:
                self.asked = 0
            if self.asked == self.lanes:
                return ["barrier"]
            full = self.passed[0] >= barriers or self.first + self.passed[0] > self.most
            return ["ended"] if self.asked == 0 and full else ["state"]
        if kind == MARK:
            able = ["confirmed"] if self.confirming and self.completed - self.confirmed and self.r.random() < 0.3 else []
            while self.passed[p] < self.came(p) and not self.is_whole(self.first + self.passed[p]):
                self.passed[p] += 1
            if self.passed[p] < self.came(p):
                return able + ["completed"]
            return able + (["ended"] if self.no_more(p) else [])
        if self.passed[p] < self.came(p):
            return [{TEE: ["evidence", "passed"], MAP: ["passed"], SINK: ["acknowledged", "evidence", "passed"], JOIN: ["passed"],
                     WINDOW: ["state", "passed"]}[kind][self.phase[p]]]
        return ["ended"] if self.no_more(p) else []

    def is_whole(self, number):
        return all((i, number) in self.snapshots for i in range(self.participants()))

    def act(self, p, what, silent):
        event, number = dict(event=what), self.first + self.passed[p]
        if what not in ("ended", "restored", "confirmed"):
            event["checkpoint"] = number
        ok = self.r.random() > 0.1
        if what == "restored":
            event.update(checkpoint=self.chosen, first_epoch=self.first, ok=ok)
            self.begun = True
            if ok or self.r.random() < 0.5:
                self.carried = max(self.carried, self.first)
        elif what == "state":
            event.update(participant=self.asked if p == 0 else self.shape.place[p], ok=ok)
            if ok:
                self.snapshots.add((event["participant"], number))
            if ok or self.r.random() < 0.5:
                self.carried = max(self.carried, number)
            if p == 0:
                self.asked += 1
                self.durable += ok
            else:
                self.phase[p] += 1
        elif what == "barrier":
            event["previous"] = number - 1 if self.passed[0] else 0
            self.passed[0] += 1
            self.asked = self.durable = 0
        elif what == "acknowledged":
            event["rows"] = self.r.randrange(5)
            self.phase[p] += 1
        elif what == "evidence":
            event["ok"] = ok
            self.phase[p] += 1
        elif what == "passed":
            self.phase[p] = 0
            self.passed[p] += 1
        elif what == "completed":
            self.completed.add(number)
            self.passed[p] += 1
        elif what == "confirmed":
            event["checkpoint"] = self.r.choice(sorted(self.completed - self.confirmed))
            self.confirmed.add(event["checkpoint"])
        else:
            event["status"] = 0
            self.ended[p] = True
        if not silent:
            self.say(p, event)


# ---- a change ----

def changed(traces, how, r):
    """The traces with that change somewhere, or None where there is no place for it."""
    t = copy.deepcopy(traces)
    of_plan = lambda k, i: k.startswith("ckpt-plan/") and i == 0
    places = [(k, i) for k in t for i in range(len(t[k]))]
    if how == "renumbered":
        places = [(k, i) for k, i in places if t[k][i]["event"] != "ended"]
    elif how == "swapped":
        places = [(k, i) for k, i in places if i + 1 < len(t[k]) and not of_plan(k, i) and t[k][i] != t[k][i + 1]]
    elif how in ("dropped", "cut"):
        places = [(k, i) for k, i in places if not of_plan(k, i)]
    if not places:
        return None
    # Of whatever says more of the protocol there is less: first what, then where.
    what = r.choice(sorted({t[k][i]["event"] for k, i in places}))
    k, i = r.choice([(k, i) for k, i in places if t[k][i]["event"] == what])
    e = t[k][i]
    if how == "dropped":
        del t[k][i]
    elif how == "cut":
        del t[k][max(len(t[k]) - r.randrange(1, 4), k.startswith("ckpt-plan/")):]
    elif how == "doubled":
        t[k].insert(i, copy.deepcopy(e))
    elif how == "swapped":
        t[k][i], t[k][i + 1] = t[k][i + 1], e
    else:
        member = r.choice([m for m in ("checkpoint", "checkpoint", "first_epoch", "previous", "participant") if m in e])
        least = 0 if member != "checkpoint" or e["event"] in ("planned", "redeployed", "restored") else 1
        least = 1 if member == "first_epoch" else least
        e[member] = r.choice([n for n in (e[member] - 1, e[member] + 1) if n >= least])
    return t


# ---- trace-check ----

def bundle(where, run, traces):
    """A bundle of the traces, and of the markers that the run left; of changed ones, those that they tell of."""
    shutil.rmtree(where, ignore_errors=True)
    participants = ",".join(map(str, range(run.participants())))
    completed = run.completed if traces is run.traces else {
        e["checkpoint"] for k in traces for e in traces[k] if e["event"] in ("completed", "confirmed", "planned") and e["checkpoint"] > 0}
    files = {f"checkpoint/_jobs/1/COMPLETED-{n}": ("marker", f"job=1\ncheckpoint={n}\ngeneration=1\nsubtasks={participants}\n")
             for n in completed}
    if run.restored:
        files["checkpoint/_jobs/1/RESTORED"] = ("restored", "job=1\ncheckpoint=%d\nnext=%d\n" % run.restored)
    for key in traces:
        process, attempt = key.split("/")
        first = dict(event="opened", format="owed-trace", version=1, armed=True)
        files[f"traces/{process}-{attempt}.ndjson"] = ("trace", "".join(
            json.dumps(dict(seq=i + 1, job="1", attempt=attempt, process=process, **e)) + "\n" for i, e in enumerate([first] + traces[key])))
    artifacts = []
    for path in sorted(files):
        role, text = files[path]
        os.makedirs(os.path.dirname(f"{where}/{path}"), exist_ok=True)
        with open(f"{where}/{path}", "w") as f:
            f.write(text)
        artifacts.append(dict(path=path, role=role, bytes=len(text), sha256=hashlib.sha256(text.encode()).hexdigest()))
    with open(f"{where}/manifest.json", "w") as f:
        json.dump({"format": "clink-incident-bundle", "version": 1, "collector": {"name": "runs", "version": "0"}, "job": {"id": "1", "manifest": None},
                   "checkpoint": {"id": 1, "rule": "completed", "rule_choice": 1, "named": False, "generation": 1, "subtasks": [0],
                                  "state_root": "checkpoint/_state"}, "delivery": {"guarantee": "at-least-once"},
                   "contains": {"job": False, "state": False, "captures": False, "traces": True},
                   "bounds": {"max_bytes": 1 << 30, "max_files": 10000, "timeout_s": 600}, "captured": [], "absent": [],
                   "selection": {"operators": [], "epochs": None, "participant_state": [], "excluded": []}, "artifacts": artifacts}, f)


def trace_check(where):
    """True, False, or what it says instead."""
    with open(f"{where}/manifest.json", "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    lines = [dict(type="stream", format="owed-stream", version=1, stages=[dict(name="runs", version="0")]),
             dict(type="bundle", path=where, manifest_sha256=digest, job="1", checkpoint=1),
             dict(type="check", stage="runs", name="bundle.artifacts", status="passed", reason="", evidence=[]),
             dict(type="end", lines=dict(stream=1, bundle=1, check=1))]
    said = subprocess.run(["trace-check"], input="".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), capture_output=True, text=True,
                          check=False)
    checks = {}
    for line in said.stdout.splitlines():
        line = json.loads(line)
        if line["type"] == "check":
            checks[line["name"]] = (line["status"], line["reason"])
    structure, conformance = (checks.get(f"protocol.{n}", ("none", said.stderr)) for n in ("trace_structure", "conformance"))
    if structure[0] == "failed" and "behind the process's end" in structure[1]:
        return False
    if structure[0] != "passed":
        return " ".join(structure)
    return {"passed": True, "failed": False}.get(conformance[0], " ".join(conformance))


# ---- the comparison ----

def read(where):
    traces = {}
    for name in sorted(os.listdir(where)):
        with open(os.path.join(where, name)) as f:
            lines = [json.loads(line) for line in f]
        if lines:
            traces[f"{lines[0]['process']}/{lines[0]['attempt']}"] = lines[1:]
    return traces


HOW = ("whole", "dropped", "doubled", "swapped", "renumbered", "cut")


def one_round(verifier, seed, counts, where):
    run, r = Run(seed), random.Random(-seed - 1)
    for how in HOW:
        traces = run.traces if how == "whole" else changed(run.traces, how, r)
        if not traces or not any(k.startswith("ckpt-plan/") and traces[k] for k in traces):
            continue
        bundle(where, run, traces)
        mine, its = trace_check(where), oracle(verifier, traces)
        if mine is not its or (how == "whole" and not mine):
            print(f"seed {seed}, {how}: trace-check says {mine}, the oracle {its}")
            return False
        counts[how][mine] = counts[how].get(mine, 0) + 1
    return True


def main():
    verifier = os.path.abspath(sys.argv[1])
    if sys.argv[2] == "--traces":
        for where in sys.argv[3:]:
            print("accepted" if oracle(verifier, read(where)) else "refused", os.path.basename(where))
        return 0
    one = sys.argv[2] == "--round"
    rounds = 1 if one else int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 31)
    print(f"seed {seed}", flush=True)
    counts = {how: {} for how in HOW}
    wrong = 0
    with tempfile.TemporaryDirectory() as home:
        for k in range(rounds):
            where = os.path.join("." if one else home, "b")
            wrong += not one_round(verifier, seed + k, counts, where)
    for how, n in counts.items():
        print(f"{how}: {n.get(True, 0)} accepted, {n.get(False, 0)} refused")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
