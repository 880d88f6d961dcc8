/* SPDX-License-Identifier: Apache-2.0 */
/* ops (private): what a kind of operator gives, and what map.c asks of value.c (values in and out of libjq) and
 * answer.c. */
#ifndef OWED_OPS_INTERNAL_H
#define OWED_OPS_INTERNAL_H

#include "guard/guard.h"
#include "ops/ops.h"

#include <jv.h>

/* ---- kinds ---- */

enum { OP_AT_MAX = 320 }; /* a topic's name has at most 249 bytes */

/* Every operator begins with this. */
struct op {
    const struct op_kind *kind;
    char at[OP_AT_MAX];
};

/* What a kind does. A function that is NULL: record and event are not taken, a watermark or a barrier moves nothing,
 * no state is kept. */
struct op_kind {
    const char *name;
    int (*open)(struct op **out, const struct json *parameters, struct err *err);
    void (*close)(struct op *op);
    int (*record)(struct op *op, const char *line, size_t n, const struct op_output *out, struct err *err);
    int (*event)(struct op *op, const char *line, size_t n, const struct op_output *out, struct err *err);
    int (*watermark)(struct op *op, int64_t ms, const struct op_output *out, struct err *err);
    bool (*time)(const struct op *op, int64_t *ms);
    int (*barrier)(struct op *op, uint64_t checkpoint, const struct op_output *out, struct err *err);
    int (*snapshot)(const struct op *op, struct buf *out, struct err *err);
    int (*restore)(struct op *op, const char *p, size_t n, struct err *err);
};

extern const struct op_kind op_map, op_window;

enum ops_numbers {
    OPS_DOUBLE, /* numbers are doubles; one that a double does not hold stops the job */
    OPS_TEXT    /* every number of the record is a string: its text */
};

/* ---- values ---- */

/* A jq value of v. -1 where a number is no double: the text names its field and its byte in the document. */
int value_from_json(const struct json *v, enum ops_numbers numbers, const char *const *without, jv *out,
                    struct err *err);
/* Append v as JSON. Numbers past 2^53 and those that JSON has no number for (nan, inf, -inf) are written as text.
 * v is not consumed. -1 past `depth` levels. */
int value_put(struct buf *out, jv v, unsigned depth, struct err *err);

/* ---- programs ---- */

/* Answer what the definitions of program_wrap ask: question is [name, value], consumed. Where jq's own answer would
 * have lost something in silence, *lost says so. */
jv program_answer(jv question, enum ops_numbers numbers, struct err *lost);

#endif
