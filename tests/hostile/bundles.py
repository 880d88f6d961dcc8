# SPDX-License-Identifier: Apache-2.0
"""Whole bundles: good ones, and each way to be bad, not to be decided or not to be supported. Each is a name, a sentence, the
bundle, the exit status, and the check that decides with a text of its reason (None: the program refuses, and says the text)."""

import os

from bundle import Bundle, capture, changelog, handle, line, marker, members, sha256, sidecar, start, state

HERE = os.path.dirname(os.path.abspath(__file__))
ARTIFACTS, MANIFEST, COMPLETE = "bundle.artifacts", "bundle.manifest", "bundle.completeness"
MARKER, RULE, PARTICIPANTS, DECODE = "checkpoint.marker", "checkpoint.restore_rule", "checkpoint.participants", "state.decode"


# ---- on disk ----

def instead(path, make):
    """Something else at a path once the bundle is written."""
    def act(root):
        full = os.path.join(root, path)
        if os.path.lexists(full):
            os.remove(full)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        make(full)
    return act


def moved_behind_a_link(directory):
    def act(root):
        os.rename(os.path.join(root, directory), os.path.join(root, "moved"))
        os.symlink(os.path.join(root, "moved"), os.path.join(root, directory))
    return act


def flip(data):
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


DAMAGE = {
    "byte-flipped": (flip, "another SHA-256: '{}'"), "first-byte-flipped": (lambda d: bytes([d[0] ^ 128]) + d[1:], "another SHA-256: '{}'"),
    "byte-appended": (lambda d: d + b"\n", "longer: '{}': expected {n} bytes, got {n1}"),
    "last-byte-cut": (lambda d: d[:-1], "truncated: '{}': expected {n} bytes, got"), "half-cut": (lambda d: d[:len(d) // 2], "truncated: '{}'"),
    "emptied": (lambda d: b"", "truncated: '{}'"),
}
INSTEAD = {
    "gone": (os.remove, "missing: '{}'"), "a-directory": (lambda p: (os.remove(p), os.mkdir(p)), "no regular file: '{}' (directory)"),
    "a-fifo": (lambda p: (os.remove(p), os.mkfifo(p)), "no regular file: '{}' (fifo)"),
}


def damaged():
    for path, role in with_every_role().roles.items():
        if role in seen_roles:
            continue
        seen_roles.add(role)
        for how, (edit, said) in DAMAGE.items():
            b = with_every_role()
            n = len(b.files[path])
            b.files[path] = edit(b.files[path])
            yield f"bad-{role}-{how}", f"a {role} has a {how}", b, 1, ARTIFACTS, said.format(path, n=n, n1=n + 1)
        for how, (act, said) in INSTEAD.items():
            b = with_every_role()
            b.links.append(lambda root, p=path, act=act: act(os.path.join(root, p)))
            yield f"bad-{role}-is-{how}", f"a {role} is {how}", b, 1, ARTIFACTS, said.format(path)
        b = with_every_role()
        b.links.append(lambda root, p=path: (os.rename(os.path.join(root, p), os.path.join(root, "moved")), os.symlink(os.path.join(root, "moved"), os.path.join(root, p))))
        yield f"bad-{role}-is-a-link", f"a {role} is a symbolic link to what is listed", b, 2, None, f"symbolic link on a listed path: '{path[:60]}"


seen_roles = set()


def with_every_role():
    b = Bundle()
    doc = state(0, 7)
    m = line(members(doc))
    b.put(f"{b.root}/1/v1/0/materializations/m.json", "materialization", m)
    b.put(f"{b.root}/1/v1/0/changelog-7.snap", "changelog", changelog(0, 7, [handle("1/v1/0/materializations/m.json", m)], []))
    b.put(f"{b.root}/1/v1/0.cp-6/CURRENT", "rocksdb", b"MANIFEST-000001\n")
    return b


def on_disk():
    for name, path in {"file": "capture/notes.txt", "file-deep": "checkpoint/_state/1/v1/0/deep/er/x", "marker": "checkpoint/_jobs/1/COMPLETED-8",
                       "name-in-nfc": "traces/premi\u00e8re.ndjson", "name-in-nfd": "traces/premie\u0300re.ndjson",
                       "name-in-capitals": "traces/KAFKA-TAIL.ndjson", "backup": "traces/kafka-tail.ndjson~", "temporary": "checkpoint/_jobs/1/.COMPLETED-9.tmp-1",
                       "name-that-is-not-text": "traces/\udcff\udcfe", "name-with-a-newline": "traces/a\nb", "name-with-an-escape": "traces/\x1b[2J",
                       "almost-DS_Store": "capture/.DS_Store2", "almost-macos": "capture/.x"}.items():
        b = Bundle()
        b.links.append(instead(path, lambda p: open(p, "wb").close()))
        yield f"bad-unlisted-{name}", "a file lies there that is not listed", b, 1, ARTIFACTS, "unlisted: '"
    for name, make, said in (("link", lambda p: os.symlink("/etc/passwd", p), "(symbolic link)"), ("dangling-link", lambda p: os.symlink("nowhere", p), "(symbolic link)"),
                             ("fifo", os.mkfifo, "(fifo)"), ("socket", make_socket, "(socket)")):
        b = Bundle()
        b.links.append(instead("traces/z", make))
        yield f"bad-unlisted-{name}", f"a {name} lies there", b, 1, ARTIFACTS, said
    for directory in ("checkpoint", "capture", "job", "traces", "capture/op-3", "checkpoint/_state/1/v1"):
        b = Bundle()
        b.links.append(moved_behind_a_link(directory))
        yield f"bad-link-{directory.replace('/', '-')}", f"{directory} is a symbolic link", b, 2, None, f"symbolic link on a listed path: '{directory}'"
    b = Bundle()
    b.links.append(lambda root: (os.rename(root + "/manifest.json", root + "/m"), os.symlink("m", root + "/manifest.json")))
    yield "bad-link-manifest", "manifest.json is a symbolic link", b, 2, None, "symbolic link"
    b = Bundle()
    b.links.append(lambda root: (os.remove(root + "/manifest.json"), os.mkdir(root + "/manifest.json")))
    yield "bad-manifest-is-a-directory", "manifest.json is a directory", b, 2, None, "no regular file"
    b = Bundle()
    b.links.append(lambda root: (os.remove(root + "/manifest.json"), os.mkfifo(root + "/manifest.json")))
    yield "bad-manifest-is-a-fifo", "manifest.json is a fifo", b, 2, None, "no regular file"
    b = Bundle()
    b.links.append(lambda root: os.remove(root + "/manifest.json"))
    yield "bad-manifest-is-gone", "there is no manifest.json", b, 2, None, "manifest.json"
    b = Bundle()
    b.links.append(lambda root: os.makedirs(os.path.join(root, "traces", *["d"] * 70)))
    yield "bad-nested-directories", "directories nested past what is walked", b, 1, ARTIFACTS, "nested too deep"
    if os.geteuid() == 0:
        for name, mode in (("device", 0o020666), ("block-device", 0o060666)):
            b = Bundle()
            b.links.append(instead("traces/z", lambda p, m=mode: os.mknod(p, m, os.makedev(1, 3))))
            yield f"bad-unlisted-{name}", f"a {name} lies there", b, 1, ARTIFACTS, "(device)"
            b = Bundle()
            b.links.append(instead("traces/kafka-tail.ndjson", lambda p, m=mode: os.mknod(p, m, os.makedev(1, 3))))
            yield f"bad-listed-{name}", f"a {name} lies where a trace is listed", b, 1, ARTIFACTS, "device"
    b = Bundle("b")
    b.raw = Bundle("a").text()
    yield "bad-manifest-of-another-bundle", "the manifest is that of another good bundle", b, 1, ARTIFACTS, "another SHA-256: 'job/manifest.json'"


def make_socket(path):
    import socket
    here = os.getcwd()
    os.chdir(os.path.dirname(path))  # the address of a socket is short
    s = socket.socket(socket.AF_UNIX)
    s.bind(os.path.basename(path))
    s.close()
    os.chdir(here)


# ---- good ones ----

def good():
    yield "good-file", "snapshots as files, captures, a trace", Bundle(), 0, DECODE, "kafka-source version 1, subtask 1 at checkpoint 7, fingerprint "
    b = Bundle()
    for path in ("capture/.DS_Store", "checkpoint/._COMPLETED-7", "traces/._.DS_Store"):
        b.links.append(instead(path, lambda p: open(p, "wb").close()))
    yield "good-macos-leftovers", ".DS_Store and ._* are no evidence, and named", b, 0, ARTIFACTS, "not evidence and left out: capture/.DS_Store; checkpoint/._COMPLETED-7; traces/._.DS_Store"
    b = Bundle()
    b.links.append(instead("report.txt", lambda p: open(p, "wb").close()))
    b.links.append(lambda root: os.mkdir(root + "/capture/empty"))
    yield "good-report-beside", "a report beside the manifest and an empty directory are no matter", b, 0, ARTIFACTS, ""
    yield "good-absence-said", "what is absent is said beside the pass", Bundle(), 0, COMPLETE, "recorded as absent: capture/op-2/subtask-0/op.json (not on disk)"
    b = Bundle()
    b.manifest["checkpoint"].update(rule="confirmed", rule_choice=4, named=True)
    yield "good-confirmed", "the confirmed checkpoint that the rule chooses, beside a named one", b, 0, RULE, "offline nothing says how far"
    b = Bundle()
    b.manifest["checkpoint"]["id"] = "7"
    b.manifest["artifacts"][0]["bytes"] = str(b.manifest["artifacts"][0]["bytes"])
    b.manifest["later"] = {"more": [1]}
    yield "good-numbers-as-text", "numbers as decimal text and a member of later versions", b, 0, MANIFEST, ""
    b = Bundle()
    b.manifest["captured"].clear()
    b.manifest["artifacts"] = [a for a in b.manifest["artifacts"] if not a["path"].startswith("capture/")]
    b.files = {p: d for p, d in b.files.items() if not p.startswith("capture/")}
    b.manifest["contains"]["captures"] = False
    yield "good-no-captures", "collected without captures", b, 0, DECODE, "checkpoint 7"
    b = Bundle()
    b.raw = b.text().rstrip().ljust((16 << 20) - 1) + b"\n"
    yield "good-manifest-of-16-mib", "a manifest of exactly 16 MiB", b, 0, MANIFEST, ""
    b = Bundle()
    b.raw = b.text()[:-2] + b',"more":' + b"[" * 63 + b"]" * 63 + b"}\n"
    yield "good-nested-64", "a manifest nested 64 deep", b, 0, MANIFEST, ""
    for name, materialized in (("good-changelog", True), ("good-changelog-alone", False)):
        yield name, "written by a changelog over files", changelogs(materialized), 0, DECODE, "subtask 1 at checkpoint 7"
    b = Bundle()
    external(b)
    yield "good-external-root", "state mirrored from a root of its own", b, 0, DECODE, "checkpoint 7"


def external(b):
    for path in [p for p in b.files if p.startswith("checkpoint/_state/")]:
        data, role = b.files[path], b.roles[path]
        b.drop(path)
        b.put(path.replace("checkpoint/_state/", "checkpoint/_external/1/"), role, data)
    b.root = b.manifest["checkpoint"]["state_root"] = "checkpoint/_external/1"
    b.put(b.marker(7), "marker", marker(7, more="state_root=file:///srv/state\n"))


def without_state(b):
    b.drop(*[p for p, r in b.roles.items() if r in ("snapshot", "interval_state", "run_start") and p in b.files])
    b.manifest["contains"]["state"] = False
    return b


def changelogs(materialized=True):
    b = Bundle()
    b.form("changelog")
    for s in (0, 1):
        b.drop(b.snap(s), b.snap(s) + ".meta")
        have = members(state(s, 7))
        path = f"1/v1/{s}/materializations/m-5.json"
        m = line({k: have[k] for k in ("log", "isolation", "declared")} | {"positions": "old"})
        changes = [{"put": k, "value": v} for k, v in have.items() if not materialized or k not in ("log", "isolation", "declared")]
        if materialized:
            b.put(f"{b.root}/{path}", "materialization", m)
        b.put(f"{b.root}/1/v1/{s}/changelog-7.snap", "changelog",
              changelog(s, 7, [handle(path, m)] if materialized else [], changes + [{"put": "gone", "value": 1}, {"delete": "gone"}]))
    return b


# ---- the manifest contradicts itself, or lacks what it claims ----

def contradicting():
    def case(name, sentence, edit, said, check=MANIFEST):
        b = Bundle()
        edit(b, b.manifest)
        return f"bad-{name}", sentence, b, 1, check, said

    yield case("captures-denied", "contains.captures is false and captures are listed", lambda b, m: m["contains"].update(captures=False), "contains.captures is false")
    yield case("state-denied", "contains.state is false and state is listed", lambda b, m: m["contains"].update(state=False), "contains.state is false")
    yield case("traces-denied", "contains.traces is false and a trace is listed", lambda b, m: m["contains"].update(traces=False), "contains.traces is false")
    yield case("job-denied", "contains.job is false and job.manifest is given", lambda b, m: m["contains"].update(job=False), "contains.job is false")
    yield case("chosen-otherwise", "the rule chose another checkpoint", lambda b, m: m["checkpoint"].update(rule_choice=6), "the restore rule chose 6")
    yield case("chosen-by-nothing", "neither named nor chosen", lambda b, m: m["checkpoint"].update(rule=None, rule_choice=None), "no restore rule chose it")
    yield case("choice-without-a-rule", "a choice and no rule", lambda b, m: m["checkpoint"].update(rule=None, named=True), "a restore choice without a rule")
    yield case("no-participants", "nobody took part", lambda b, m: m["checkpoint"].update(subtasks=[]), "no participants")
    yield case("participants-backwards", "participants are not ascending", lambda b, m: m["checkpoint"].update(subtasks=[1, 0]), "not ascending")
    yield case("epochs-backwards", "the epochs run backwards", lambda b, m: m["selection"].update(epochs=[8, 7]), "runs backwards")
    yield case("form-of-nobody", "a form for somebody who took no part", lambda b, m: m["selection"]["participant_state"].append({"subtask": 9, "form": "file"}), "does not name each")
    yield case("form-missing", "no form for a participant", lambda b, m: m["selection"]["participant_state"].pop(), "does not name each")
    yield case("form-twice", "a participant in two forms", lambda b, m: m["selection"]["participant_state"][1].update(subtask=0), "does not name each")
    yield case("form-remote-and-a-root", "state in a store, and a root in the bundle", lambda b, m: b.form("remote"), "subtask 0's state is remote")
    yield case("form-of-another-backend", "said to be a changelog's, and a snapshot is listed", lambda b, m: b.form("changelog"), "subtask 0's state is said to be changelog")
    yield case("role-elsewhere", "a capture is listed as a marker", lambda b, m: b.artifact("capture/op-3/subtask-0/epoch-7.cap").update(role="marker"), "cannot be a marker of job '1'")
    yield case("marker-path-of-another-job", "a marker of another job's directory", lambda b, m: b.put("checkpoint/_jobs/2/COMPLETED-7", "marker", marker(7, job="2")), "cannot be a marker of job '1'")
    yield case("generation-mixed-in", "a snapshot of another generation", lambda b, m: b.put(f"{b.root}/1/v2/0/checkpoint-7.snap", "snapshot", state(0, 7)), "is listed as the state of checkpoint 7, generation 1")
    yield case("checkpoint-mixed-in", "a snapshot of another checkpoint", lambda b, m: b.artifact(b.snap(0, 6)).update(role="snapshot"), "is listed as the state of checkpoint 7")
    yield case("root-mixed-in", "a snapshot below another root", lambda b, m: b.put("checkpoint/_external/1/1/v1/0/checkpoint-7.snap", "snapshot", state(0, 7)), "does not lie under checkpoint.state_root")
    yield case("past-max-bytes", "more bytes than its own bound", lambda b, m: m["bounds"].update(max_bytes=100), "past bounds.max_bytes 100")
    yield case("past-max-files", "more files than its own bound", lambda b, m: m["bounds"].update(max_files=3), "past bounds.max_files 3")
    yield case("captured-as-another-role", "a captured epoch is listed as a trace", lambda b, m: b.artifact("capture/op-3/subtask-0/epoch-7.cap").update(role="trace"), "cannot be a trace")
    yield case("captured-twice", "a captured epoch stands twice", lambda b, m: m["captured"].append(dict(m["captured"][0])), "stands twice")
    yield case("captured-outside-the-operators", "a captured epoch of an operator not selected", lambda b, m: m["selection"].update(operators=["2"]), "is outside the selection")
    yield case("captured-outside-the-epochs", "a captured epoch outside the epochs", lambda b, m: m["selection"].update(epochs=[1, 2]), "is outside the selection")
    yield case("capture-that-is-no-epoch", "a capture is listed that is no captured epoch", lambda b, m: m["captured"].pop(), "1 captures are listed that are no captured epoch")
    yield case("listed-and-excluded", "a file is listed and excluded", lambda b, m: m["selection"]["excluded"].append({"path": b.snap(0), "why": "x"}), "excluded by the selection")
    yield case("listed-and-absent", "a file is listed and absent", lambda b, m: m["absent"].append({"what": b.snap(0), "why": "x"}), "recorded as absent")

    yield case("marker-not-listed", "the selected marker is not listed", lambda b, m: b.drop(b.marker(7)), "COMPLETED-7', the selected checkpoint's marker", COMPLETE)
    yield case("sidecar-not-listed", "a sidecar is not listed", lambda b, m: b.drop(b.snap(1) + ".meta"), "a participant's sidecar", COMPLETE)
    yield case("snapshot-not-listed", "a snapshot is not listed", lambda b, m: b.drop(b.snap(1)), "a participant's snapshot", COMPLETE)
    yield case("job-not-listed", "the job's manifest is not listed", lambda b, m: b.drop("job/manifest.json"), "job/manifest.json", COMPLETE)
    yield case("trace-not-listed", "no trace is listed and traces are claimed", lambda b, m: b.drop("traces/kafka-tail.ndjson"), "contains.traces is true", COMPLETE)

    def epoch_gone(b, m):
        captured = list(m["captured"])
        b.drop("capture/op-3/subtask-0/epoch-7.cap")
        m["captured"] = captured
    yield case("captured-not-listed", "a captured epoch is not listed", epoch_gone, "a captured epoch", COMPLETE)
    b = changelogs()
    b.drop(f"{b.root}/1/v1/0/changelog-7.snap")
    yield "bad-changelog-not-listed", "a participant's changelog is not listed", b, 1, COMPLETE, "a participant's changelog"


# ---- evidence that is as listed, and wrong ----

def inconsistent():
    def case(name, sentence, edit, check, said, status=1):
        b = Bundle()
        edit(b)
        return name, sentence, b, status, check, said

    def is_marker(**what):
        return lambda b: b.put(b.marker(7), "marker", marker(**({"checkpoint": 7} | what)))

    yield case("bad-marker-of-another-job", "the marker is another job's", is_marker(job="2"), MARKER, "the marker is of job '2'")
    yield case("bad-marker-of-another-checkpoint", "the marker is of another checkpoint", is_marker(checkpoint=6), MARKER, "the marker is of checkpoint 6")
    yield case("bad-marker-of-another-generation", "the marker is of another generation", is_marker(generation=2), MARKER, "the marker is of generation 2")
    yield case("bad-marker-of-another-generation-state", "the marker's generation has no state here", is_marker(generation=2), PARTICIPANTS, "v2/0/checkpoint-7.snap.meta")
    yield case("bad-marker-of-other-participants", "one more took part", is_marker(subtasks="0,1,2"), MARKER, "participants are not the manifest's")
    yield case("bad-marker-of-a-participant-without-state", "one more took part and has nothing here", is_marker(subtasks="0,1,2"), PARTICIPANTS, "v1/2/checkpoint-7.snap.meta")
    yield case("bad-marker-job-twice", "the marker gives its job twice", is_marker(more="job=1\n"), MARKER, "gives 'job' twice")
    yield case("bad-marker-cut", "the marker ends in the middle of a line", lambda b: b.put(b.marker(7), "marker", marker(7)[:-1]), MARKER, "cut in the middle")
    yield case("bad-marker-empty", "the marker is empty", lambda b: b.put(b.marker(7), "marker", b""), MARKER, "is empty")
    yield case("bad-marker-root-in-a-store", "the marker's state lies in a store", is_marker(more="state_root=s3://b/x\n"), MARKER, "the marker's state root is s3://b/x")
    yield case("bad-marker-root-with-credentials", "the marker's state lies in a store, with a password in its address", is_marker(more="state_root=s3://me:hunter2@b/x\n"), MARKER, "root is s3://<redacted>@b/x")
    yield case("bad-marker-root-relative-with-credentials", "the marker's state root is none, with a password in it", is_marker(more="state_root=x password=hunter2\n"), MARKER, "'x password=<redacted>'")
    yield case("bad-marker-root-relative", "the marker's state root is relative", is_marker(more="state_root=../x\n"), MARKER, "../x")

    yield case("bad-restored-passes-over", "a restart passed the checkpoint over", lambda b: b.put("checkpoint/_jobs/1/RESTORED", "restored", b"job=1\ncheckpoint=4\nnext=8\n"), RULE, "the rule chooses 4")
    yield case("bad-restored-of-another-job", "RESTORED is another job's", lambda b: b.put("checkpoint/_jobs/1/RESTORED", "restored", b"job=2\ncheckpoint=4\nnext=6\n"), RULE, "of job '2'")
    yield case("bad-restored-backwards", "RESTORED's next is not past its checkpoint", lambda b: b.put("checkpoint/_jobs/1/RESTORED", "restored", b"job=1\ncheckpoint=4\nnext=4\n"), RULE, "not past")
    yield case("bad-newer-marker", "a newer marker is listed", lambda b: b.put(b.marker(9), "marker", marker(9)), RULE, "the rule chooses 9")

    def swapped(b, what):
        x, y = b.snap(0) + what, b.snap(1) + what
        b.files[x], b.files[y] = b.files[y], b.files[x]
        b.list(x, y)
    yield case("bad-sidecar-of-another-snapshot", "two subtasks' sidecars are swapped", lambda b: swapped(b, ".meta"), PARTICIPANTS, "CRC32C")
    yield case("bad-sidecar-of-another-snapshot-decode", "a restart reads no snapshot under another's sidecar", lambda b: swapped(b, ".meta"), DECODE, "CRC32C")
    yield case("bad-state-of-another-subtask", "two subtasks' snapshots are swapped, sidecars and all", lambda b: (swapped(b, ""), swapped(b, ".meta")), DECODE, "is the state of subtask 1")
    yield case("bad-state-of-another-checkpoint", "an older snapshot under this checkpoint's name", lambda b: b.snapshot(0, 7, data=state(0, 6)), DECODE, "is of checkpoint 6")
    yield case("bad-interval-state-of-another-checkpoint", "a bounding snapshot under another's name", lambda b: b.snapshot(0, 6, role="interval_state", data=state(0, 3)), DECODE, "is of checkpoint 3")
    yield case("bad-state-of-another-job", "another job's snapshot", lambda b: b.snapshot(0, 7, data=state(0, 7, job="2")), DECODE, "is of job '2'")
    yield case("bad-state-is-a-start", "a run's start under a checkpoint's name", lambda b: b.snapshot(0, 7, data=start(0, 8, 7)), DECODE, "is the start of a run")
    yield case("bad-state-without-positions", "a snapshot without positions", lambda b: b.snapshot(0, 7, data=state(0, 7, positions=None)), DECODE, "positions")
    yield case("bad-state-with-an-offset-below-zero", "a position that would read from the beginning", lambda b: b.snapshot(0, 7, data=state(0, 7, positions=[{"partition": 0, "offset": -2}])), DECODE, "positions[0].offset: below zero")
    yield case("bad-state-no-json", "a snapshot that is no document", lambda b: b.snapshot(0, 7, data=b"{\n"), DECODE, "checkpoint-7.snap")

    def with_sidecar(data):
        return lambda b: b.put(b.snap(0) + ".meta", "sidecar", data)
    right = state(0, 7)
    yield case("bad-sidecar-of-another-checkpoint", "the sidecar is of another checkpoint", with_sidecar(sidecar(6, right)), PARTICIPANTS, "is of checkpoint 6")
    yield case("bad-sidecar-of-another-size", "the sidecar says another size", with_sidecar(sidecar(7, right).replace(f"bytes={len(right)}".encode(), b"bytes=1")), PARTICIPANTS, "its sidecar says 1")
    yield case("bad-sidecar-of-another-digest", "the sidecar says another digest", with_sidecar(sidecar(7, right).replace(sha256(right).encode(), b"0" * 64)), PARTICIPANTS, "another SHA-256 than its sidecar")
    yield case("bad-sidecar-version", "the sidecar is of a later version", with_sidecar(sidecar(7, right).replace(b"meta=1", b"meta=2")), PARTICIPANTS, "version 2 of a sidecar")

    def changed_log(edit):
        b = changelogs()
        edit(b)
        return b
    log = "checkpoint/_state/1/v1/0/changelog-7.snap"
    m = "checkpoint/_state/1/v1/0/materializations/m-5.json"
    yield "bad-changelog-count", "a changelog with fewer changes than it says", changed_log(lambda b: b.put(log, "changelog", b.files[log] + b.files[log].split(b"\n")[1] + b"\n")), 1, DECODE, "its header says"
    yield "bad-changelog-first-line", "a changelog whose first line is longer than any header", changed_log(lambda b: b.put(log, "changelog", b" " * (8 << 20) + b.files[log])), 1, DECODE, "the bound is 8388608"
    yield "bad-changelog-cut", "a changelog that ends in the middle of a line", changed_log(lambda b: b.put(log, "changelog", b.files[log][:-3])), 1, DECODE, "cut in the middle"
    yield "bad-changelog-no-change", "a changelog with a line that is no change", changed_log(lambda b: b.put(log, "changelog", b.files[log].replace(b'"put"', b'"set"', 1))), 1, DECODE, "neither"
    yield "bad-changelog-of-another-subtask", "a changelog of another subtask", changed_log(lambda b: b.put(log, "changelog", b.files[log].replace(b'"subtask":0', b'"subtask":1', 1))), 1, DECODE, "is the state of subtask 1"
    yield "bad-materialization-of-another-digest", "a materialisation that its handle does not describe", changed_log(lambda b: b.put(m, "materialization", b.files[m].replace(b"old", b"odd"))), 1, DECODE, "another SHA-256 than its handle's"
    yield "unavailable-materialization", "a materialisation that was not on disk", changed_log(lambda b: b.drop(m)), 3, DECODE, "is not in the bundle"
    yield "unavailable-materialization-outside", "a materialisation outside of the state root", changed_log(
        lambda b: b.put(log, "changelog", b.files[log].replace(b"1/v1/0/mat", b"/elsewhere/mat"))), 3, DECODE, "lies outside the state root"
    yield "unavailable-materialization-in-a-store", "a materialisation in a store, with a password in its address", changed_log(
        lambda b: b.put(log, "changelog", b.files[log].replace(b"1/v1/0/mat", b"s3://me:hunter2@b/mat"))), 3, DECODE, "'s3://<redacted>@b/mat"
    yield "unsupported-state-of-many-values", "a changelog whose tree would take fifty times its text", changed_log(
        lambda b: b.put(log, "changelog", changelog(0, 7, [], [{"put": "x", "value": [0] * 2500000}]))), 3, DECODE, "2500000 values"
    yield "unsupported-state-named-over-and-over", "a changelog that names one file until it is larger than any memory", named_over_and_over(), 3, DECODE, "larger than the bound, 268435456 bytes"
    yield "unavailable-materialization-dot-dot", "a materialisation by way of two dots", changed_log(
        lambda b: b.put(log, "changelog", b.files[log].replace(b"1/v1/0/mat", b"1/../../mat"))), 3, DECODE, "lies outside the state root"


def named_over_and_over():
    b = changelogs()
    padding = b'{"x":"' + b"x" * 1000000 + b'"}\n'
    b.put(f"{b.root}/1/v1/0/materializations/x.json", "materialization", padding)
    b.put(f"{b.root}/1/v1/0/changelog-7.snap", "changelog", changelog(0, 7, [handle("1/v1/0/materializations/x.json", padding)] * 10000, []))
    return b


# ---- nothing wrong, and not everything could be told ----

def undecided():
    b = without_state(Bundle())
    yield "unavailable-state", "collected without state", b, 3, DECODE, "the bundle holds no state"
    b = without_state(Bundle())
    yield "unavailable-state-participants", "without state the sidecars alone are read", b, 3, PARTICIPANTS, "passed:subtask 0 by its sidecar alone"
    b = without_state(Bundle())
    b.put(f"{b.root}/1/v1/0/start-6.snap", "run_start", start(0, 6, 4))
    b.put(f"{b.root}/1/v1/0/start-6.snap.meta", "sidecar", sidecar(5, start(0, 6, 4)))
    yield "unavailable-state-but-a-start", "without state, but with what a run started with", b, 3, DECODE, "the bundle holds no state"
    b = Bundle()
    b.manifest["checkpoint"].update(rule=None, rule_choice=None, named=True)
    yield "unavailable-rule", "nobody says by which rule the job restores", b, 3, RULE, "does not say whether"
    b = Bundle()
    b.drop(b.snap(0, 6) + ".meta")
    yield "unavailable-interval-state", "a bounding snapshot without its sidecar", b, 3, DECODE, "has no sidecar in the bundle"
    b = changelogs()
    b.drop(*[p for p in b.roles if b.roles[p] in ("changelog", "materialization", "snapshot", "interval_state", "run_start") and p in b.files])
    b.manifest["contains"]["state"] = False
    yield "unavailable-changelog", "a changelog's participant without state", b, 3, PARTICIPANTS, "keeps no sidecar, and the bundle holds no state"
    b = without_state(Bundle())
    b.drop(*[p for p in b.files if b.roles[p] == "sidecar"])
    b.form("remote")
    b.manifest["checkpoint"]["state_root"] = None
    b.put(b.marker(7), "marker", marker(7, more="state_root=s3://bucket/state\n"))
    yield "unavailable-remote", "state in an object store", b, 3, PARTICIPANTS, "lies in an object store"
    b = Bundle()
    b.snapshot(0, 7, data=state(0, 7, version=9))
    yield "unsupported-state-version", "state of a later version", b, 3, DECODE, "version 9"
    b = Bundle()
    b.snapshot(0, 7, data=state(0, 7, kind="tape"))
    yield "unsupported-state-kind", "state of a kind that this build has no operator for", b, 3, DECODE, "kind 'tape'"
    b = Bundle()
    b.snapshot(0, 7, data=state(0, 7, kind="tape"))
    b.snapshot(1, 7, data=b"{}\n")
    yield "bad-state-beside-unsupported", "damage is not hidden by state that is not supported", b, 1, DECODE, "v1/1/checkpoint-7.snap"


# ---- RocksDB ----

def database(b, subtask, checkpoint, edit=None):
    """The saved database as this subtask's checkpoint. It is state(0, 7), each member under its name: `ldb batchput`, then `ldb
    compact`, of Debian's rocksdb-tools 7.8."""
    for name in sorted(os.listdir(os.path.join(HERE, "rocksdb"))):
        with open(os.path.join(HERE, "rocksdb", name), "rb") as f:
            data = f.read()
        b.put(f"{b.root}/1/v1/{subtask}.cp-{checkpoint}/{name}", "rocksdb", edit(name, data) if edit else data)


def rocks(has_rocksdb):
    def case(edit=None, subtask=0):
        b = Bundle()
        b.manifest["checkpoint"]["subtasks"] = [subtask]
        b.manifest["selection"]["participant_state"] = [{"subtask": subtask, "form": "rocksdb"}]
        b.put(b.marker(7), "marker", marker(7, subtasks=str(subtask)))
        for s in (0, 1):
            b.drop(b.snap(s), b.snap(s) + ".meta")
        database(b, subtask, 7, edit)
        return b

    def broken(name, data):
        return flip(data) if name.endswith(".sst") else data

    if not has_rocksdb:
        yield "unsupported-rocksdb", "a RocksDB checkpoint, and no RocksDB here", case(), 3, DECODE, "was written by RocksDB, and this build has none"
        return
    yield "good-rocksdb", "a RocksDB checkpoint", case(), 0, DECODE, "kafka-source version 1, subtask 0 at checkpoint 7"
    yield "bad-rocksdb-of-another-subtask", "a RocksDB checkpoint of another subtask", case(subtask=1), 1, DECODE, "is the state of subtask 0"
    yield "bad-rocksdb-damaged", "a RocksDB checkpoint that was damaged before it was collected", case(broken), 1, DECODE, "RocksDB: "
    yield "bad-rocksdb-current-elsewhere", "CURRENT names a file outside", case(lambda n, d: b"../../x\n" if n == "CURRENT" else d), 1, DECODE, "names no manifest beside it"
    b, holes = case(), (256 << 20) + 1
    b.put("checkpoint/_state/1/v1/0.cp-7/000001.sst", "rocksdb", b"")
    b.artifact("checkpoint/_state/1/v1/0.cp-7/000001.sst").update(bytes=holes, sha256=sha256(bytes(holes)))
    b.links.append(lambda root: os.truncate(root + "/checkpoint/_state/1/v1/0.cp-7/000001.sst", holes))
    yield "unsupported-rocksdb-of-holes", "a file of nothing but holes, which a copy would fill", b, 3, DECODE, "is larger than the bound, 268435456 bytes"
    yield "bad-rocksdb-no-database", "a directory that is no database", case(lambda n, d: d if n == "CURRENT" else b"x"), 1, DECODE, "RocksDB: "


def cases(has_rocksdb):
    seen_roles.clear()
    for family in (good, damaged, on_disk, contradicting, inconsistent, undecided):
        yield from family()
    yield from rocks(has_rocksdb)
