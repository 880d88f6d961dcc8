/* SPDX-License-Identifier: Apache-2.0 */
/* What a passed comparison rests on: its sides, its summary, and that they count the same rows (sides.c). */
#ifndef OWED_REPORT_SIDES_H
#define OWED_REPORT_SIDES_H

#include "report/report.h"

struct report_side {
    const struct report_line *line; /* NULL: there is none */
    uint64_t rows;
    bool whole;
};
struct report_sides {
    struct report_side of[SIDES];
};

/* True where a check is required, made and passed. */
bool report_passed(const struct report *r, enum check_name c);
/* True where the expectation is a reference's: something of one is in the stream, or required. */
bool report_has_reference(const struct report *r);

/* Gather the side lines. ERR_REFUSED for two of one side. */
int report_sides(const struct report *r, struct report_sides *out, struct err *err);
/* ERR_TROUBLE where a side that a passed check needs has no line, ERR_REFUSED where it is not whole. */
int report_side_whole(const struct report_sides *s, enum side side, const char *check, struct err *err);
/* Hold every comparison that passed against its sides, its summary, its findings and the observation. */
int report_compared(const struct report *r, const struct report_sides *s, struct err *err);

#endif
