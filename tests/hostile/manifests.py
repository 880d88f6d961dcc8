# SPDX-License-Identifier: Apache-2.0
"""Manifests that a reader refuses: only the manifest is written, since nothing else may be opened before it is read."""

import json

from bundle import Bundle, line

# For each type, values that are of another.
WRONG = {
    bool: [0, "true", None, [], {}],
    int: [-1, 1.5, 1e30, "x", "07", 18446744073709551616, True, None, [], {}],
    str: [1, True, None, [], {}, "a\0b"],
    list: [1, "x", True, None, {}],
    dict: [1, "x", True, None, []],
}
NULLABLE = {"job.manifest", "checkpoint.rule", "checkpoint.rule_choice", "checkpoint.state_root", "delivery", "selection.epochs"}
OPTIONAL = {"checkpoint.state_root"}


def fields(doc, at=()):
    """Every member, and of each array its first element's."""
    if isinstance(doc, dict):
        for name, value in doc.items():
            yield at + (name,)
            if at + (name,) != ("delivery",):
                yield from fields(value, at + (name,))
    elif isinstance(doc, list) and doc:
        if not isinstance(doc[0], (dict, list)):
            yield at + (0,)
        yield from fields(doc[0], at + (0,))


def dotted(path):
    out = ""
    for p in path:
        out += f"[{p}]" if isinstance(p, int) else f".{p}" if out else p
    return out


def parent(doc, path):
    for p in path[:-1]:
        doc = doc[p]
    return doc


def twice(doc, path, at=()):
    """The document's text with the member at path written two times."""
    if isinstance(doc, dict):
        parts = []
        for name, value in doc.items():
            one = json.dumps(name) + ":" + twice(value, path, at + (name,))
            parts += [one, one] if at + (name,) == path else [one]
        return "{" + ",".join(parts) + "}"
    if isinstance(doc, list):
        return "[" + ",".join(twice(v, path, at + (i,)) for i, v in enumerate(doc)) + "]"
    return json.dumps(doc)


def field_cases(base):
    for path in fields(base.manifest):
        name = dotted(path)
        value = parent(base.manifest, path)[path[-1]]
        wrong = [w for w in WRONG[type(value)] if not (w is None and name in NULLABLE)]
        for i, w in enumerate(wrong):
            b = Bundle()
            parent(b.manifest, path)[path[-1]] = w
            yield f"bad-mistyped-{name}-{i}", f"{name} is {json.dumps(w)}", b.text(), "manifest.json"
        if isinstance(path[-1], int):
            continue
        if name not in OPTIONAL:
            b = Bundle()
            del parent(b.manifest, path)[path[-1]]
            yield f"bad-missing-{name}", f"{name} is left out", b.text(), path[-1]
        yield f"bad-doubled-{name}", f"{name} stands twice", (twice(base.manifest, path) + "\n").encode(), "duplicate name"


PATHS = {
    "dot-dot": "checkpoint/../x", "dot-dot-first": "../checkpoint/x", "dot-dot-last": "checkpoint/..", "dot": "checkpoint/./x",
    "dot-first": "./checkpoint/x", "absolute": "/etc/passwd", "absolute-inside": "/checkpoint/x", "empty": "", "slash": "/",
    "empty-component": "checkpoint//x", "trailing-slash": "checkpoint/x/", "directory-alone": "checkpoint", "backslash": "checkpoint\\x",
    "backslash-dot-dot": "checkpoint/..\\..\\x", "drive": "C:\\checkpoint\\x", "nul": "checkpoint/a\0b", "nul-last": "checkpoint/x\0",
    "overlong": "checkpoint/" + "x/" * 2100 + "x", "overlong-component": "checkpoint/" + "x" * 256, "space": "checkpoint/a b",
    "newline": "checkpoint/a\nb", "escape": "checkpoint/\x1b[2J", "percent": "checkpoint/%2e%2e/x", "tilde": "~/x", "star": "checkpoint/*",
    "nfc": "traces/premi\u00e8re.ndjson", "nfd": "traces/premie\u0300re.ndjson", "wide-letters": "traces/\uff4e", "right-to-left": "traces/\u202ex",
    "root-file": "notes.txt", "the-manifest": "manifest.json", "other-directory": "other/x", "directory-in-capitals": "CHECKPOINT/x",
    "prefix-of-a-directory": "checkpointed/x", "hidden-root": ".git/config",
}


def path_cases():
    for name, path in PATHS.items():
        b = Bundle()
        b.manifest["artifacts"][0]["path"] = path
        yield f"bad-path-{name}", f"an artifact's path is {json.dumps(path[:60])}", b.text(), "manifest.json.artifacts["
        if name not in ("root-file", "the-manifest", "other-directory", "directory-in-capitals", "prefix-of-a-directory", "hidden-root", "space",
                        "newline", "escape", "percent", "tilde", "star", "nfc", "nfd", "wide-letters", "right-to-left", "directory-alone"):
            b = Bundle()
            b.manifest["selection"]["excluded"][0]["path"] = path
            yield f"bad-excluded-path-{name}", f"an excluded path is {json.dumps(path[:60])}", b.text(), "manifest.json.selection.excluded[0]"
        b = Bundle()
        b.manifest["captured"][0]["path"] = path
        yield f"bad-captured-path-{name}", f"a captured epoch's path is {json.dumps(path[:60])}", b.text(), "manifest.json.captured[0]"
    for what, edit in {"operator": {"operator": "2"}, "operator-spelled-otherwise": {"operator": "03"}, "operator-signed": {"operator": "+3"},
                       "subtask": {"subtask": 1}, "epoch": {"epoch": 6}, "operator-past-64-bits": {"operator": "18446744073709551616"}}.items():
        b = Bundle()
        b.manifest["captured"][0].update(edit)
        yield f"bad-captured-other-{what}", f"a captured epoch is not where its {what} lies", b.text(), "manifest.json.captured[0]"
    b = Bundle()
    b.manifest["job"]["manifest"] = "../job.json"
    yield "bad-job-manifest-path", "the job's manifest lies outside", b.text(), "manifest.json.job.manifest"
    b = Bundle()
    b.manifest["checkpoint"]["state_root"] = "checkpoint/_external/2"
    yield "bad-state-root-of-another-job", "the state root is another job's mirror", b.text(), "manifest.json.checkpoint.state_root"
    b = Bundle()
    b.manifest["artifacts"].append(dict(b.manifest["artifacts"][0]))
    yield "bad-listed-twice", "a path is listed twice, alike", b.text(), "listed twice"
    b = Bundle()
    b.manifest["artifacts"].append(dict(b.manifest["artifacts"][0], sha256="0" * 64))
    yield "bad-listed-twice-two-digests", "a path is listed twice with two digests", b.text(), "listed twice"
    b = Bundle()
    b.manifest["artifacts"].append(dict(b.manifest["artifacts"][0], path=b.manifest["artifacts"][0]["path"].upper().replace("JOB/", "job/")))
    yield "bad-listed-in-two-cases", "two paths differ in their letters' case alone", b.text(), "other letters' case"


def whole_cases(base):
    text = base.text()
    many = {"path": "traces/x", "role": "trace", "bytes": 0, "sha256": "0" * 64}
    deep = text[:-2] + b',"more":' + b"[" * 64 + b"]" * 64 + b"}\n"
    for name, sentence, raw, expect in (
            ("no-json", "no JSON", b"PK\x03\x04", "manifest.json"), ("empty", "an empty file", b"", "manifest.json"),
            ("cut", "the last byte but the newline is gone", text[:-2], "manifest.json"), ("half", "the second half is gone", text[:len(text) // 2], "manifest.json"),
            ("two-documents", "two documents", text + text, "manifest.json"), ("array", "an array", b"[" + text + b"]", "not an object"),
            ("utf-16", "in UTF-16", text.decode().encode("utf-16"), "manifest.json"), ("byte-order-mark", "begins with a byte order mark", b"\xef\xbb\xbf" + text, "manifest.json"),
            ("not-utf-8", "bytes that are not UTF-8", text.replace(b"by-hand", b"by-\xff"), "manifest.json"),
            ("lone-surrogate", "half a surrogate pair", text.replace(b"by-hand", b"\\ud800"), "manifest.json"),
            ("other-format", "of another format", line(dict(base.manifest, format="bagit")), "manifest.json.format"),
            ("newer-version", "of a newer version", line(dict(base.manifest, version=2)), "manifest.json.version"),
            ("version-0", "of version 0", line(dict(base.manifest, version=0)), "manifest.json.version"),
            ("past-16-mib", "larger than 16 MiB", text + b" " * (16 << 20), "16777216"), ("nested-past-64", "nested past 64", deep, "manifest.json"),
            ("nested-10000", "nested 10000 deep", b"[" * 10000 + b"]" * 10000, "manifest.json"),
            ("too-many-values", "8 million values in 16 MB", b'{"x":[' + b"0," * 8000000 + b"0]}", "the bound is 2500000"),
            ("past-100000-artifacts", "100001 artifacts", line(dict(base.manifest, artifacts=[{"path": f"traces/{i}"} for i in range(100001)])), "100000"),
            ("past-100000-captured", "100001 captured epochs", line(dict(base.manifest, captured=[0] * 100001)), "100000"),
            ("unknown-role", "a role that nobody knows", line(dict(base.manifest, artifacts=[dict(many, role="secret")])), "role"),
            ("digest-in-capitals", "a digest in capitals", line(dict(base.manifest, artifacts=[dict(many, sha256="A" * 64)])), "sha256"),
            ("short-digest", "a digest of 63 digits", line(dict(base.manifest, artifacts=[dict(many, sha256="0" * 63)])), "sha256"),
            ("job-with-a-slash", "a job id with a slash", line(dict(base.manifest, job={"id": "a/b", "manifest": None})), "manifest.json.job.id"),
            ("job-dot-dot", "a job id of two dots", line(dict(base.manifest, job={"id": "..", "manifest": None})), "manifest.json.job.id"),
            ("three-epochs", "three epochs select", line(dict(base.manifest, selection=dict(base.manifest["selection"], epochs=[1, 2, 3]))), "epochs"),
            ("unknown-form", "state in a form that nobody knows", line(dict(base.manifest, selection=dict(
                base.manifest["selection"], participant_state=[{"subtask": 0, "form": "tape"}]))), "form"),
            ("unknown-rule", "a restore rule that nobody knows", line(dict(base.manifest, checkpoint=dict(base.manifest["checkpoint"], rule="newest"))), "rule")):
        yield f"bad-manifest-{name}", f"the manifest is {sentence}" if not sentence[0].isdigit() else f"the manifest has {sentence}", raw, expect


def cases():
    base = Bundle()
    yield from field_cases(base)
    yield from path_cases()
    yield from whole_cases(base)
