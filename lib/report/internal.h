/* SPDX-License-Identifier: Apache-2.0 */
/* Inside report only, in the order of its files. */
#ifndef OWED_REPORT_INTERNAL_H
#define OWED_REPORT_INTERNAL_H

#include "report/view.h"

/* ---- of what was gathered (collect.c) ---- */

/* True where a check is required, made and passed. */
bool report_passed(const struct report *r, enum check_name c);
/* The account of the reference that was bound, or NULL. */
const struct stream_account *report_reference(const struct report *r);
/* True where the expectation is a reference's: something of one is in the stream, or required. */
bool report_has_reference(const struct report *r);
/* True where an account of the stream, or one that the reference's file keeps, gives ranges that were read. */
bool report_reader_shown(const struct report *r);
/* How a range of the scope was read, as an account says it: NULL where none does. *only_recorded: only the
 * reference's file says so. */
const struct account_range *report_range(const struct report *r, const char *topic, uint64_t partition,
                                         bool *only_recorded);
uint64_t report_rows_read(const struct report *r); /* by the observation's first read */

/* ---- what a passed comparison rests on (sides.c) ---- */

/* ERR_TROUBLE where a side that a passed check needs has no line, ERR_REFUSED where it is not whole. */
int report_side_whole(const struct report *r, enum side side, const char *check, struct err *err);
/* Hold every comparison that passed against its sides, its summary, its findings and the observation. */
int report_hold_comparisons(const struct report *r, struct err *err);

/* ---- what else a check that passed rests on: ERR_TROUBLE where it is not there, ERR_REFUSED where it contradicts ----
 */

#define REPORT_QUIET 2 /* barriers after the checkpoint that each sink subtask must show empty */

int report_hold_intervals(const struct report *r, struct err *err); /* intervals.c, as the next */
int report_hold_quiet(const struct report *r, struct err *err);
int report_hold_observation(const struct report *r, struct err *err); /* observed.c, as the next */
int report_hold_coverage(const struct report *r, struct err *err);
int report_hold_engine(const struct report *r, struct err *err); /* engine.c, as the next */
int report_hold_definitions(const struct report *r, struct err *err);
int report_hold_expiry(const struct report *r, struct err *err);    /* expiry.c, as the next */
bool report_has_expiry(const struct report *r);                     /* a TTL that the table has was applied */
int report_hold_reference(const struct report *r, struct err *err); /* accounts.c */
int report_hold_counts(const struct report *r, struct err *err);    /* counts.c */
int report_hold_times(const struct report *r, struct err *err);     /* times.c: whatever passed */

/* ---- making the view (view.c, about.c, established.c) ---- */

void view_say(struct view *v, struct view_texts *to, const char *label, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A text as it is shown: masked, "-" where there is none. */
const char *view_shown(struct view *v, const char *s);
const char *view_json(struct view *v, const struct json *value);
const char *view_list(struct view *v, const struct json *texts); /* the items, comma separated */
/* Its name, and its version where it has one. */
const char *report_implementation(struct view *v, const struct stream_account *a);

void view_about(struct view *v); /* about, coverage (about.c) */
/* What reconcile.destination establishes of this table (destination.c). */
const char *view_destination(struct view *v);
void view_engine(struct view *v);      /* about and leads, of the table's engine (engine.c) */
void view_expiry(struct view *v);      /* about, leads and assumptions, of the table's TTL (expiry.c) */
void view_not_kept(struct view *v);    /* not_known, of rows that are missing (expiry.c) */
void view_established(struct view *v); /* recorded, declared, not_known, assumptions, not_given (established.c) */

/* ---- printing (findings.c) ---- */

/* The relations and their findings, at most list each (findings.c). */
void view_put_findings(const struct view *v, uint64_t list, struct buf *out);

#endif
