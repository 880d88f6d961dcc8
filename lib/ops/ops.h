/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops: the job's operators. One implementation serves the running job and a
 * replay of its evidence, so both give the same rows.
 *
 * map runs a jq program (libjq) over each record and makes event lines of what
 * the program gives. A program sees its record and nothing else: whatever
 * reaches the clock, the environment, files or other records is refused when
 * the program is compiled, by name.
 */
#ifndef OWED_OPS_H
#define OWED_OPS_H

#include "base/base.h"
#include "json/json.h"

/* What one record's events may come to; a program that gives more has run away. */
#define OPS_MAX_OUTPUT ((size_t)64 << 20)

enum ops_numbers {
    OPS_DOUBLE, /* numbers are doubles; one that a double does not hold stops the job */
    OPS_TEXT    /* every number of the record is a string: its text */
};

struct ops_map;

/* "double" or "text". */
int ops_numbers_parse(const char *s, enum ops_numbers *out, struct err *err);

/* Compile a program. ERR_REFUSED where jq refuses it, where it reaches outside the record, or where a number in it is
 * no double; the text names the line. Sets TZ to UTC for this process, since strftime asks for the zone. */
int ops_map_new(struct ops_map **out, const char *program, size_t n, enum ops_numbers numbers, struct err *err);
void ops_map_free(struct ops_map *m);

/* Called with one event line (no newline), which lives until it returns. */
typedef void ops_event_fn(void *ctx, const char *p, size_t n);

/* Run the program over one record line. `.` is the payload, parsed (null for a null value); $record is the record
 * without it. All of the record's events are handed to emit, or, on error, none. ERR_REFUSED names topic, partition and
 * offset: a payload that is not strict JSON, a number that a double does not hold, an error of the program, an output
 * that is no object. ERR_BOUND past OPS_MAX_OUTPUT. */
int ops_map_record(struct ops_map *m, const char *line, size_t n, ops_event_fn *emit, void *ctx, struct err *err);

/* topic/partition/offset of the record that ops_map_record is at, NUL-terminated; "" before the first. Safe to read
 * from a signal handler: libjq aborts the process on a few values that its own checks forget. */
const char *ops_map_at(const struct ops_map *m);

#endif
