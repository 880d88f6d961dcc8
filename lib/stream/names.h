/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of names: line types, checks, statuses and finding kinds;
 * codes.h has the codes, relation.h the relations and side.h the sides. A program
 * can write only what stands there: the functions that write take these enums.
 */
#ifndef OWED_STREAM_NAMES_H
#define OWED_STREAM_NAMES_H

#include <stddef.h>

/* ---- line types ---- */

/* clang-format off */
#define LINE_TABLE(X) \
    X(STREAM, "stream") X(BUNDLE, "bundle") X(REQUIRE, "require") X(SCOPE, "scope") X(COLUMNS, "columns") \
    X(LOG, "log") X(TABLE, "table") X(INTERVAL, "interval") X(RECORD, "record") X(ACCOUNT, "account") \
    X(EVENT, "event") X(WATERMARK, "watermark") X(BARRIER, "barrier") X(ROW, "row") X(SIDE, "side") \
    X(EXCLUDED, "excluded") X(ABSENT, "absent") X(CHECK, "check") X(OBSERVATION, "observation") X(FINDING, "finding") \
    X(SUMMARY, "summary") X(STOP, "stop") X(END, "end")

enum line_type {
#define X(id, text) LINE_##id,
    LINE_TABLE(X)
#undef X
    LINE_UNKNOWN,
    LINE_TYPES
};
/* clang-format on */
const char *line_type_name(enum line_type t);
enum line_type line_type_of(const char *p, size_t n); /* LINE_UNKNOWN for any other name */

/* ---- checks: name, and what passing means, in one sentence for a person ---- */

/* clang-format off */
#define CHECK_TABLE(X) \
    X(BUNDLE_MANIFEST, "bundle.manifest", "the manifest parses, is a known format and version, and lists only plain relative paths") \
    X(BUNDLE_ARTIFACTS, "bundle.artifacts", "every listed file is there with its size and SHA-256, and nothing unlisted lies beside them") \
    X(BUNDLE_COMPLETENESS, "bundle.completeness", "the checkpoint's marker, its participants' sidecars and all that the manifest claims are listed") \
    X(CHECKPOINT_MARKER, "checkpoint.marker", "the completion marker parses and names this job, checkpoint and generation") \
    X(CHECKPOINT_RESTORE_RULE, "checkpoint.restore_rule", "the restore choice, computed again over the bundle's markers, is the one recorded") \
    X(CHECKPOINT_PARTICIPANTS, "checkpoint.participants", "every participant of the marker has its checkpoint in the bundle, verified against its sidecar") \
    X(STATE_DECODE, "state.decode", "every included snapshot is read by the code that a restart uses") \
    X(PROTOCOL_TRACE_STRUCTURE, "protocol.trace_structure", "every trace is of one process and numbered without a gap") \
    X(PROTOCOL_CONFORMANCE, "protocol.conformance", "the job's protocol events are a behaviour of the model") \
    X(REPLAY_DETERMINISM, "replay.determinism", "every selected epoch, replayed twice from its start, gave the same rows") \
    X(REPLAY_RECORDED_OUTPUT, "replay.recorded_output", "the replayed rows are those that the job handed on") \
    X(REPLAY_EXPECTED_OUTPUT, "replay.expected_output", "the replayed rows are the expectation's") \
    X(REPLAY_GOLDEN_OUTPUT, "replay.golden_output", "the replayed rows are the golden ones of the regression case") \
    X(RECONCILE_SCOPE, "reconcile.scope", "the rows that the sink received in the scope are there whole") \
    X(RECONCILE_DESTINATION, "reconcile.destination", "the table is the one that the scope names, of a form that can be read whole, its columns unchanged, and it stood still while it was read") \
    X(RECONCILE_ROWS, "reconcile.rows", "the key names one row of the scope, the table holds exactly its rows, each once and value for value, and two reads agreed") \
    X(REFERENCE_SCOPE, "reference.scope", "the reference is complete and bound to this very scope") \
    X(REFERENCE_SEMANTICS, "reference.semantics", "the job's window rules are the reference's") \
    X(REFERENCE_WATERMARK, "reference.watermark", "the recorded watermark never ran ahead of the source") \
    X(REFERENCE_FINALITY, "reference.finality", "every window of the reference is decided, and final where it gives a row") \
    X(REFERENCE_CAPTURE, "reference.capture", "the rows that the sink received are the reference's: the transformation") \
    X(REFERENCE_DESTINATION, "reference.destination", "the table holds what the reference computes, over the keys of either") \
    X(DESTINATION_COVERAGE, "destination.coverage", "the whole table holds the expected rows and nothing else")

enum check_name {
#define X(id, text, means) CHECK_##id,
    CHECK_TABLE(X)
#undef X
    CHECK_NAMES
};
/* clang-format on */
const char *check_name_text(enum check_name c);
const char *check_name_means(enum check_name c);
enum check_name check_name_of(const char *p, size_t n); /* CHECK_NAMES for any other */

/* ---- statuses, from best to worst as rule 5 orders them ---- */

#define STATUS_TABLE(X) \
    X(PASSED, "passed") X(UNSUPPORTED, "unsupported") X(UNAVAILABLE, "unavailable") X(FAILED, "failed")

enum status {
#define X(id, text) STATUS_##id,
    STATUS_TABLE(X)
#undef X
        STATUS_TYPES
};
const char *status_name(enum status s);
enum status status_of(const char *p, size_t n); /* STATUS_TYPES for any other */

/* ---- findings ---- */

#define KIND_TABLE(X) \
    X(MISSING, "missing") X(CHANGED, "changed") X(DUPLICATED, "duplicated") X(UNEXPECTED, "unexpected")

enum finding_kind {
#define X(id, text) KIND_##id,
    KIND_TABLE(X)
#undef X
        KIND_TYPES
};
const char *finding_kind_name(enum finding_kind k);
enum finding_kind finding_kind_of(const char *p, size_t n);

/* Why a row may stand more often than owed, or not at all, from the row's own `again`. */
#define AGAIN_RESENT "resent"
#define AGAIN_REPLAYED "replayed"
#define AGAIN_KEPT "kept"

/* What programs of the reference say that they checked: a claim that rests on what their accounts give. Without the
 * first, which is ref-run's --strict, a report says that it is not established. */
#define VERIFIED_EVERY_RECORD "every record that could be read was answered"
#define VERIFIED_CLUSTER_ID "cluster id"
#define VERIFIED_TOPIC_ID "topic id"
#define VERIFIED_POLICY "cleanup policy"
#define VERIFIED_LOG_START "log start before and after"
#define VERIFIED_RANGES "the ranges read are the scope's"
#define VERIFIED_RECORDS "records delivered and records given to the program, by their counts"
#define VERIFIED_ROWS "rows of the program and rows sealed, by their counts"

#endif
