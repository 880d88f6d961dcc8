/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops: the job's operators, behind one interface. One implementation serves
 * the running job and a replay of its evidence, so that both give the same rows.
 *
 * An operator is opened from the parameters of its description (op.json,
 * owed-evidence(5)), takes what its input carries in order, and hands on events.
 * It sees what it is given and nothing else: no clock, environment or file.
 *
 * Kinds:
 * map    a jq program (libjq) over each record or event: {"program": TEXT, "numbers": "double" | "text"}. Whatever in
 * the program reaches outside its record is refused when it is compiled, by name. Keeps no state.
 * window one keyed tumbling window over events: {"size_ms": N, "allowed_lateness_ms": N (0), "partition_by": [COLUMN],
 * "aggregates": [{"function": "count" | "sum", "column": COLUMN, "as": NAME, "scale": N (0)}]}. A row for each key of a
 * window once the watermark reaches its end plus the lateness, in the order of windows and then of keys; none at the
 * end of the input. Its state is evidence/window_state.h's.
 */
#ifndef OWED_OPS_H
#define OWED_OPS_H

#include "base/base.h"
#include "json/json.h"

/* What one line's events may come to; an operator that gives more has run away. */
#define OPS_MAX_OUTPUT ((size_t)64 << 20)

struct op;

/* What an operator hands on: one event line (no newline) a call, which lives until it returns. */
struct op_output {
    void (*event)(void *ctx, const char *p, size_t n);
    void *ctx;
};

/* Open an operator of a kind from its parameters (an object, which need not outlive the call). ERR_REFUSED for a kind
 * that is not known, a parameter that is not the kind's, and what the kind says of its own. Sets TZ to UTC for this
 * process: what asks for the zone gets that. */
bool op_kind_known(const char *kind);
int op_open(struct op **out, const char *kind, const struct json *parameters, struct err *err);
void op_close(struct op *op); /* NULL is fine */

/* Take one line of the input. All that comes of it goes to out or, on error, nothing. ERR_REFUSED names the record's
 * topic, partition and offset: a payload that is not strict JSON, a number that a double does not hold, an error of the
 * program, an output that is no object, a line that the kind does not take. ERR_BOUND past OPS_MAX_OUTPUT. */
int op_record(struct op *op, const char *line, size_t n, const struct op_output *out, struct err *err);
int op_event(struct op *op, const char *line, size_t n, const struct op_output *out, struct err *err);
/* Event time has reached ms. */
int op_watermark(struct op *op, int64_t ms, const struct op_output *out, struct err *err);
/* True where it keeps a watermark, which never falls, and has one: a restored run hands on that one first. */
bool op_time(const struct op *op, int64_t *ms);
/* Checkpoint `checkpoint` passes: what the operator holds back until then is handed on. */
int op_barrier(struct op *op, uint64_t checkpoint, const struct op_output *out, struct err *err);

/* True where the operator keeps state over a barrier, and so is a participant of the checkpoint. */
bool op_keeps_state(const struct op *op);
/* Append its state, as a JSON text of one line; and take it back, into an operator just opened. ERR_REFUSED for a text
 * that is not a state of this kind. Not to be called where none is kept. */
int op_snapshot(const struct op *op, struct buf *out, struct err *err);
int op_restore(struct op *op, const char *p, size_t n, struct err *err);

/* topic/partition/offset of the record that op_record is at, NUL-terminated; "" before the first. Safe to read from a
 * signal handler: libjq aborts the process on a few values that its own checks forget. */
const char *op_at(const struct op *op);

#endif
