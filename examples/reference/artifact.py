# SPDX-License-Identifier: Apache-2.0
"""The reference artifact (clink-reference-result, version 1): a header with the scope, a line a row, an end line with hashes."""
import hashlib
import json
import os
import tempfile

import cells


def line(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class UnknownColumn(Exception):
    """A name that no column has: the rules are wrong, and so is every row of theirs."""


class Artifact:
    """Written beside its name and renamed into place when it is whole."""

    def __init__(self, path, scope, name, version, configuration):
        self.path, self.rows, self.hash = path, 0, hashlib.sha256()
        self.columns = scope["columns"]
        self.names = [c["name"] for c in self.columns]
        header = line({"format": "clink-reference-result", "version": 1, "scope": scope,
                       "implementation": {"name": name, "version": version, "configuration": configuration}})
        self.header_hash = hashlib.sha256(header).hexdigest()
        fd, self.part = tempfile.mkstemp(prefix=".reference.", dir=os.path.dirname(path) or ".")
        self.file = os.fdopen(fd, "wb")
        self.file.write(header)

    def put(self, values, at, ts=None):
        """A row, by the names of the scope's columns; a name that no column has is an error of the rules. ts: the record's time."""
        extra = [k for k in values if k not in self.names]
        if extra:
            raise UnknownColumn("the table's scope has no column " + extra[0])
        row = [cells.cell(c, values.get(c["name"])) for c in self.columns]
        time = ',"ts":%d' % ts if ts is not None and 0 <= ts <= 1 << 53 else ""
        data = ('{"cells":%s,"at":"%s"%s}\n' % (cells.text(row), at, time)).encode()
        self.hash.update(data)
        self.file.write(data)
        self.rows += 1

    def finish(self, reasons, verified, recorded, code=None, facts=None):
        """code and facts: of the first of the reasons why it is not complete, if there are any."""
        cause = {"code": code, "facts": facts} if code else {}
        nearest = {"nearest": cells.Count.nearest} if cells.Count.nearest else {}
        self.file.write(line({"end": True, "rows": self.rows, **nearest, "header_sha256": self.header_hash,
                              "rows_sha256": self.hash.hexdigest(), "complete": not reasons, **cause, "reasons": reasons,
                              "verified": verified, "recorded": recorded}))
        self.file.flush()
        os.fsync(self.file.fileno())
        os.fchmod(self.file.fileno(), 0o644)
        self.file.close()
        os.rename(self.part, self.path)

    def discard(self):
        """Nothing is left of one that was not finished."""
        self.file.close()
        if os.path.exists(self.part):
            os.unlink(self.part)
