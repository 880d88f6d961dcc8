/* SPDX-License-Identifier: Apache-2.0 */
/* The interval line: a sink subtask's interval, or where a source subtask stood at both ends of the scope. */
#ifndef OWED_EVIDENCE_LINE_H
#define OWED_EVIDENCE_LINE_H

#include "evidence/interval.h"
#include "evidence/snapshot.h"
#include "stream/stream.h"

/* Where a source subtask stood at one end. */
struct interval_stand {
    bool known;
    struct log_id log; /* its ids may be NULL: not known */
    const struct position *positions;
    size_t n_positions;
};

struct interval_line {
    uint64_t line_no;
    bool source;          /* the stands are given; else iv, without its job */
    bool has_destination; /* of iv: a line of before has none */
    const char *operator_id;
    uint64_t subtask;
    struct interval iv;
    struct interval_stand from, to;
};

/* Parse an interval line; everything lives in arena. ERR_REFUSED, with the line's number. */
int stream_interval(const struct stream_line *line, struct arena *arena, struct interval_line *out, struct err *err);
/* Of a sink's: what is known of it, and no member of a file that nobody here reads. Without a destination where it has
 * none. */
void stream_put_interval(struct stream_out *out, const struct interval *iv);
/* Of a source's. */
void stream_put_interval_stands(struct stream_out *out, const struct interval_line *l);

#endif
