/* SPDX-License-Identifier: Apache-2.0 */
/* What a passed comparison rests on: its sides, its summary, and that they count the same rows (sides.c). */
#ifndef OWED_REPORT_SIDES_H
#define OWED_REPORT_SIDES_H

#include "report/report.h"

/* True where a check is required, made and passed. */
bool report_passed(const struct report *r, enum check_name c);
/* True where the expectation is a reference's: something of one is in the stream, or required. */
bool report_has_reference(const struct report *r);

/* ERR_TROUBLE where a side that a passed check needs has no line, ERR_REFUSED where it is not whole. */
int report_side_whole(const struct report *r, enum side side, const char *check, struct err *err);
/* Hold every comparison that passed against its sides, its summary, its findings and the observation. */
int report_compared(const struct report *r, struct err *err);

#endif
