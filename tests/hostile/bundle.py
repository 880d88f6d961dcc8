# SPDX-License-Identifier: Apache-2.0
"""A bundle made from owed-bundle(5) and owed-evidence(5) alone, without the programs under test, to be damaged one way a case.

A Bundle holds its files and its manifest in memory; save() writes it. list() makes the manifest say what a file holds now, so
that a case chooses whether the manifest lies or the file does."""

import copy
import hashlib
import json
import os

TABLE = []
for i in range(256):
    c = i
    for _ in range(8):
        c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    TABLE.append(c)


def crc32c(data):
    c = 0xFFFFFFFF
    for byte in data:
        c = TABLE[(c ^ byte) & 255] ^ c >> 8
    return c ^ 0xFFFFFFFF


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def line(doc):
    return (json.dumps(doc, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def marker(checkpoint, job="1", generation=1, subtasks="0,1", more=""):
    return f"job={job}\ncheckpoint={checkpoint}\ngeneration={generation}\nsubtasks={subtasks}\n{more}".encode()


def state(subtask, checkpoint, **changed):
    doc = {"format": "owed-state", "version": 1, "job": "1", "operator": "1", "kind": "kafka-source", "subtask": subtask,
           "checkpoint": checkpoint, "log": {"topic": "orders", "cluster_id": "c1", "topic_id": "t1"}, "isolation": "read_committed",
           "positions": [{"partition": subtask, "offset": checkpoint * 10}], "declared": [subtask], "watermark": None, "partition_max": []}
    doc.update(changed)
    return line(doc)


def start(subtask, epoch, restored_from):
    return state(subtask, epoch - 1, run={"first_epoch": epoch, "restored_from": restored_from, "attempt": "a2"})


def sidecar(checkpoint, payload):
    return (f"clink_checkpoint_meta=1\ncheckpoint_id={checkpoint}\npayload_bytes={len(payload)}\n"
            f"payload_crc32c={crc32c(payload):08x}\npayload_sha256={sha256(payload)}\n").encode()


def capture(operator, subtask, epoch):
    rows = b'{"type":"event","at":"orders/0/1","ts":null,"values":{"id":1}}\n'
    head = json.dumps({"format": "owed-capture", "version": 1, "job": "1", "operator": operator, "subtask": subtask, "epoch": epoch,
                       "attempt": "a2", "seen": 1, "stored": 1, "control": 0, "truncated": False}, separators=(",", ":"))
    return head[:-1].encode().ljust(510) + b"}\n" + rows


def changelog(subtask, checkpoint, materializations, changes):
    head = {"format": "owed-changelog", "version": 1, "job": "1", "operator": "1", "kind": "kafka-source", "subtask": subtask,
            "checkpoint": checkpoint, "materializations": materializations, "changes": len(changes)}
    return line(head) + b"".join(line(c) for c in changes)


def handle(location, data):
    return {"location": location, "bytes": len(data), "sha256": sha256(data)}


def members(document):
    """The state's own members: what a changelog and a database hold."""
    doc = json.loads(document)
    return {k: v for k, v in doc.items() if k not in ("format", "version", "job", "operator", "kind", "subtask", "checkpoint")}


class Bundle:
    def __init__(self, tag="a"):
        self.files = {}
        self.roles = {}
        self.links = []  # callables that get the directory once it is written
        self.raw = None  # the manifest's bytes, where a case writes them itself
        self.root = "checkpoint/_state"
        self.manifest = {
            "format": "clink-incident-bundle", "version": 1, "collector": {"name": "by-hand", "version": "1"},
            "job": {"id": "1", "manifest": "job/manifest.json"},
            "checkpoint": {"id": 7, "rule": "completed", "rule_choice": 7, "named": False, "generation": 1, "subtasks": [0, 1],
                           "state_root": self.root},
            "delivery": {"guarantee": "at-least-once"},
            "contains": {"job": True, "state": True, "captures": True, "traces": True},
            "bounds": {"max_bytes": 1 << 30, "max_files": 10000, "timeout_s": 600},
            "captured": [], "artifacts": [],
            "absent": [{"what": "capture/op-2/subtask-0/op.json", "why": "not on disk"}],
            "selection": {"operators": ["2", "3"], "epochs": [6, 7],
                          "participant_state": [{"subtask": 0, "form": "file"}, {"subtask": 1, "form": "file"}],
                          "excluded": [{"path": "capture/op-2/subtask-0/epoch-5.cap", "why": "outside the epochs"}]},
        }
        self.put("job/manifest.json", "job_manifest", line({"format": "owed-job", "version": 1, "job": "1", "name": tag}))
        for n in (3, 4, 6, 7):
            self.put(self.marker(n), "marker", marker(n))
        self.put("checkpoint/_jobs/1/CONFIRMED-4", "confirmed", marker(4))
        self.put("checkpoint/_jobs/1/RESTORED", "restored", b"job=1\ncheckpoint=4\nnext=6\n")
        for s in (0, 1):
            self.snapshot(s, 7)
            self.snapshot(s, 6, role="interval_state")
            self.put(f"{self.root}/1/v1/{s}/start-6.snap", "run_start", start(s, 6, 4))
            self.put(f"{self.root}/1/v1/{s}/start-6.snap.meta", "sidecar", sidecar(5, start(s, 6, 4)))
            self.capture("3", s, 7)
            self.put(f"capture/op-3/subtask-{s}/op.json", "operator", line({"format": "owed-operator", "tag": tag}))
            self.put(f"capture/op-3/subtask-{s}/epoch-7.sink.json", "interval", line({"format": "owed-sink-interval", "tag": tag}))
        self.put("traces/kafka-tail.ndjson", "trace", line({"seq": 1, "tag": tag}))

    def marker(self, checkpoint):
        return f"checkpoint/_jobs/1/COMPLETED-{checkpoint}"

    def snap(self, subtask, checkpoint=7):
        return f"{self.root}/1/v1/{subtask}/checkpoint-{checkpoint}.snap"

    def put(self, path, role, data):
        self.files[path] = data
        self.roles[path] = role
        self.list(path)

    def list(self, *paths):
        """The manifest lists the files as they are now."""
        for path in paths:
            self.manifest["artifacts"] = [a for a in self.manifest["artifacts"] if a["path"] != path]
            self.manifest["artifacts"].append({"path": path, "role": self.roles[path], "bytes": len(self.files[path]),
                                               "sha256": sha256(self.files[path])})

    def drop(self, *paths):
        """Neither on disk nor listed."""
        for path in paths:
            del self.files[path]
            self.manifest["artifacts"] = [a for a in self.manifest["artifacts"] if a["path"] != path]
            self.manifest["captured"] = [c for c in self.manifest["captured"] if c["path"] != path]

    def snapshot(self, subtask, checkpoint, role="snapshot", data=None):
        data = data or state(subtask, checkpoint)
        self.put(self.snap(subtask, checkpoint), role, data)
        self.put(self.snap(subtask, checkpoint) + ".meta", "sidecar", sidecar(checkpoint, data))

    def capture(self, operator, subtask, epoch):
        path = f"capture/op-{operator}/subtask-{subtask}/epoch-{epoch}.cap"
        self.put(path, "capture", capture(operator, subtask, epoch))
        self.manifest["captured"].append({"operator": operator, "subtask": subtask, "epoch": epoch, "path": path})

    def form(self, form):
        for p in self.manifest["selection"]["participant_state"]:
            p["form"] = form

    def artifact(self, path):
        return next(a for a in self.manifest["artifacts"] if a["path"] == path)

    def copy(self):
        links, self.links = self.links, []
        other = copy.deepcopy(self)
        self.links, other.links = links, list(links)
        return other

    def text(self):
        return line(self.manifest)

    def save(self, root):
        made = set()
        for path, data in self.files.items():
            full = os.path.join(root, path)
            if os.path.dirname(full) not in made:
                os.makedirs(os.path.dirname(full), exist_ok=True)
                made.add(os.path.dirname(full))
            with open(full, "wb") as f:
                f.write(data)
        os.makedirs(root, exist_ok=True)
        with open(os.path.join(root, "manifest.json"), "wb") as f:
            f.write(self.raw if self.raw is not None else self.text())
        for act in self.links:
            act(root)
