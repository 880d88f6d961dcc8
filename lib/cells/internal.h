/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells (private): decimals read by value, instants, and the ranges of the
 * integer types, shared by the module's files.
 */
#ifndef OWED_CELLS_INTERNAL_H
#define OWED_CELLS_INTERNAL_H

#include "cells/cells.h"
#include "json/decimal.h"

/* ---- ranges (range.c) ---- */

/* The greatest magnitude, in decimal, of an integer of so many bits; neg: that of a negative one. */
const char *range_limit(unsigned bits, bool is_signed, bool neg);
/* The least and the greatest ticks of Date, Date32, DateTime and DateTime64. */
void range_ticks(const struct type *t, int64_t *min, int64_t *max);

/* ---- instants (instant.c) ---- */

/* secs since the epoch, rounded down, and the digits of the fraction that is added, without trailing zeros. */
struct instant {
    int64_t secs;
    const char *frac;
    size_t nfrac;
    char own[40]; /* where frac points when it is not the caller's text */
};

/* ISO text with a zone; for a column of days a date alone is midnight UTC. False with *why set. */
bool instant_from_iso(struct instant *t, const char *p, size_t n, bool days, const char **why);
/* A number in a unit; ticks is the precision of FROM_TICKS. False where it is no instant that has a calendar text
 * (out of 64-bit seconds, or more than 37 digits of fraction): such a one fits no column either. */
bool instant_from_number(struct instant *t, const struct decimal *d, enum type_from from, const struct type *type);
/* The instant in the column's ticks. False with *why set where it has none. */
bool instant_ticks(const struct instant *t, const struct type *type, int64_t *ticks, const char **why);
/* Append UTC text; only for years 0 to 9999, else false. date_only drops a time of midnight. */
bool instant_text(const struct instant *t, bool date_only, struct buf *out);

/* ---- writing ---- */

/* Append a whole string cell. False, with out as it was, where the bytes are not UTF-8. */
bool put_string(struct buf *out, const char *p, size_t n);

/* ---- scanning (scan.c) ---- */

enum cell_form { CELL_FORM_STRING, CELL_FORM_NULL, CELL_FORM_B64, CELL_FORM_UNFIT };

/* The cell that starts at p: its form, and just past it. NULL with *why set where it is not canonical. The content
 * (between the inner quotes, still escaped) is *in, *in_len. */
const char *scan_cell(const char *p, const char *end, enum cell_form *form, const char **in, size_t *in_len,
                      const char **why);

#endif
