# SPDX-License-Identifier: Apache-2.0
"""Changes that no check of a bundle and a saved destination finds, each with the reason.

By (which, statement, how): which is "alone", "all" or "any"; a statement may end in *, and @ names a part of the path; how is any
of "up", "down" and "removed", with commas, or "any"."""

SERVER = "names the server or the table: whoever reads the table holds it against the server's own word"
TIME = "event time and watermarks decide nothing of a record-wise scope"
NAME = "a name for people"
POINT = "a run that was restored may read another log, or otherwise: the first is said, and neither decides"
UNRECORDED = "removing null says the same as null"

LEFT = {
    ("all", "interval destination.server_uuid", "up"): SERVER,
    ("all", "interval destination.server_version", "up"): SERVER,
    ("all", "interval destination.database", "up"): SERVER,
    ("all", "interval destination.table", "up"): SERVER,
    ("all", "interval destination.table_uuid", "up"): SERVER,
    ("all", "interval destination.create_table_query", "up"): SERVER,
    ("all", "interval destination.partition_key", "any"): SERVER,
    ("all", "interval destination.dedup_window", "any"): SERVER,
    ("any", "interval destination.server_host", "any"): NAME + ": the server is known by its UUID, and a restart may rename its host",
    ("any", "interval watermark", "removed"): UNRECORDED,
    ("any", "snapshot watermark", "removed"): UNRECORDED,
    ("any", "interval_state watermark", "removed"): UNRECORDED,
    ("any", "run_start watermark", "removed"): UNRECORDED,
    ("any", "interval_state log.*@checkpoint-4", "any"): POINT,
    ("any", "interval_state isolation@checkpoint-4", "any"): POINT,
    ("any", "capture lines.#.ts", "any"): TIME,
    ("any", "capture lines.#.idle", "any"): TIME,
    ("any", "capture lines.#.at", "removed"): "a row need not say of which record it is: it is counted",
    ("any", "interval ledger.#.token", "up"): "the end of a token is a digest of bytes that are kept nowhere",
    ("any", "interval ledger.#.blocks", "up"): "how many blocks an INSERT had decides nothing once its resend is judged",
    ("any", "interval ledger.#.attempts", "up"): "an attempt that left no doubt, as one that was never sent, is counted nowhere else",
    ("any", "interval ledger.#.tokens", "down"): "which attempt took a fresh token is counted nowhere else",
    ("any", "interval ledger.#.restarted", "up"): "that the server was started anew is recorded nowhere else",
    ("any", "snapshot positions.#.offset", "up"): "past the last captured row, how many records owe none is for a reference to read",
    ("any", "interval_state positions.#.offset", "down"): "before the first captured row, how many records owe none is for a reference to read",
    ("any", "sidecar payload_sha256", "removed"): "a sidecar need not have it: the CRC is held",
    ("all", "operator name", "up"): NAME,
    ("any", "job_manifest name", "any"): NAME,
    ("any", "job_manifest submitted_ms", "any"): "says nothing of the scope",
    ("any", "job_manifest checkpoint_interval_ms", "any"): "says nothing of the scope",
    ("any", "job_manifest retain", "any"): "says nothing of the scope",
    ("any", "job_manifest requires_commit_confirmation", "removed"): "a job need not say it: the rule chose the checkpoint, and the scope is of a named one",
    ("any", "job_manifest graph.operators.#.uid", "any"): "the source leaves no description of its own",
    ("any", "job_manifest graph.operators.#.parameters", "any"): "the source leaves no description of its own",
    ("any", "job_manifest graph.edges.#.#", "any"): "what does not lead to the sink is another branch",
}
