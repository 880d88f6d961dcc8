/* SPDX-License-Identifier: Apache-2.0 */
/* cells (private): what the module knows of each kind of type, instants, and the form of a cell. */
#ifndef OWED_CELLS_INTERNAL_H
#define OWED_CELLS_INTERNAL_H

#include "cells/cells.h"
#include "json/decimal.h"

/* ---- kinds (kinds.c) ---- */

typedef enum cells_result owed_fn(const struct column *c, const struct json *v, struct buf *out, const char **why);
typedef bool check_fn(const struct type *t, const char *p, size_t n, const char **why);
typedef void human_fn(const struct type *t, const char *p, size_t n, struct buf *out);

enum kind_is {
    IS_PLAIN,
    IS_SIGNED, /* an integer with a sign */
    IS_BYTES,  /* a cell may be b64 */
    IS_EXACT,  /* as much, and not any bytes are one: check gets the bytes themselves */
    IS_NAMES,  /* as much, and a cell may be unnamed */
    IS_DAYS,   /* a time whose ticks are days */
    IS_CLOCK,  /* a time of no day */
    IS_HELD    /* a cell is an array: n is the length of what stands between its brackets */
};

/* What cells know of one kind of type. n is the length of a string cell's content, which is still escaped. */
struct kind {
    /* Append the cell of an owed value that is not null. */
    owed_fn *owed;
    /* Is the content of a string cell one that the type can have? */
    check_fn *check;
    cells_put_fn *put;
    /* Append the content as a person reads it; it was checked. */
    human_fn *human;
    enum kind_is is;
    int64_t min, max; /* the least and the greatest ticks of a time, of one with a clock seconds */
};

const struct kind *cell_kind(const struct type *t);

owed_fn owed_integer, owed_decimal, owed_float, owed_time, owed_bool, owed_string, owed_fixed, owed_enum, owed_uuid,
    owed_ip, owed_held;
check_fn check_integer, check_decimal, check_float, check_time, check_bool, check_string, check_fixed, check_enum,
    check_unnamed, check_uuid, check_ip, check_held;
cells_put_fn put_signed, put_unsigned, put_float, put_bool, put_bytes, put_enum, put_uuid, put_ipv4, put_ipv6;
human_fn human_plain, human_decimal, human_float, human_time, human_string, human_held;

/* The BFloat16 that is nearest to d, whose nearest double is near. */
float bfloat_nearest(const struct decimal *d, double near);

/* ---- owed values (owed.c) ---- */

extern const char not_number[];

/* A JSON number or a string that holds a decimal. */
bool read_number(const struct json *v, struct decimal *d);
/* Append an unfit cell, with *reason = why: of a value of the wrong kind as it came, of a number and its unit (such as
 * " s", or ""), of a text that needs no escape. */
enum cells_result wrong_kind(struct buf *out, const struct json *v, const char *why, const char **reason);
enum cells_result unfit_number(struct buf *out, const struct decimal *d, const char *unit, const char *why,
                               const char **reason);
enum cells_result unfit_text(struct buf *out, const char *text, const char *why, const char **reason);

/* A whole number in its one spelling. */
bool is_whole(const char *p, size_t n);

/* ---- instants (instant.c) ---- */

/* secs since the epoch, rounded down, and the digits of the fraction that is added, without trailing zeros. */
struct instant {
    int64_t secs;
    const char *frac;
    size_t nfrac;
    char own[40]; /* where frac points when it is not the caller's text */
};

/* Days from 1970-01-01 to a date of a year from 0 on; the date of a day, false outside the years 0 to 9999. */
int64_t calendar_days(int64_t year, int month, int day);
bool calendar_date(int64_t days, int *year, int *month, int *day);
/* ISO text with its zone, or of the zone of that name (NULL or "": none); for a column of days a date alone is midnight
 * UTC, and a time has its zone. False with *why set. */
bool instant_from_iso(struct instant *t, const char *p, size_t n, bool days, const char *zone, const char **why);
/* [-]h:mm[:ss[.fraction]] of up to three digits of hours, for a time of no day. */
bool instant_from_clock(struct instant *t, const char *p, size_t n, const char **why);
/* A number in a unit; ticks is the precision of FROM_TICKS. False where it is no instant that has a calendar text
 * (out of 64-bit seconds, or more than 37 digits of fraction): such a one fits no column either. */
bool instant_from_number(struct instant *t, const struct decimal *d, enum type_from from, const struct type *type);
/* The least and the greatest ticks that a time may have. */
void instant_range(const struct type *type, int64_t *min, int64_t *max);
/* The instant in the column's ticks. False with *why set where it has none. */
bool instant_ticks(const struct instant *t, const struct type *type, int64_t *ticks, const char **why);
/* Append UTC text; only for years 0 to 9999, else false. date_only drops a time of midnight. */
bool instant_text(const struct instant *t, bool date_only, struct buf *out);

/* ---- writing ---- */

/* Append a whole string cell. False, with out as it was, where the bytes are not UTF-8. */
bool put_string(struct buf *out, const char *p, size_t n);

/* ---- scanning (scan.c) ---- */

enum cell_form { CELL_FORM_STRING, CELL_FORM_NULL, CELL_FORM_B64, CELL_FORM_UNFIT, CELL_FORM_UNNAMED, CELL_FORM_ARRAY };

/* The cell that starts at p: its form, and just past it. NULL with *why set where it is not canonical. The content
 * (between the inner quotes, still escaped, or the brackets) is *in, *in_len. */
const char *scan_cell(const char *p, const char *end, enum cell_form *form, const char **in, size_t *in_len,
                      const char **why);

#endif
