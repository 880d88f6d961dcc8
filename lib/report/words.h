/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of the report share: standing texts, what was covered and what was only recorded, and how a member is
 * printed. */
#ifndef OWED_REPORT_WORDS_H
#define OWED_REPORT_WORDS_H

#include "report/report.h"

/* Which kind of assurance the required checks are about, in a sentence. */
const char *report_assurance(const struct report *r);
extern const char *const report_method[]; /* NULL-terminated */
/* The assumptions of this report, one call of fn each. */
void report_assumptions(const struct report *r, void (*fn)(void *ctx, const char *text), void *ctx);

/* What passing a check means in this report: what a declared scope establishes is less than what a bundle's does. */
const char *report_means(const struct report *r, enum check_name c);

/* The first required check that failed (or else is not passed): in the order in which the stages made them, the
 * relations in theirs, and one that follows from another only where nothing else is. CHECK_NAMES where there is none.
 */
enum check_name report_first(const struct report *r, bool failed);
/* The cause that the answer leads with; its code is CODE_NONE where everything passed. */
struct cause report_cause(const struct report *r);
/* The reason that a check's worst line gives, or NULL. */
const struct json *report_reason(const struct report *r, enum check_name c);
/* What a failed check says of the job and the table, with what the others say beside it. */
void report_meaning(const struct report *r, enum check_name c, struct buf *out);

/* ---- what the answer is about ---- */

struct report_coverage {
    bool asked;       /* of the whole table */
    bool established; /* and it is so */
    bool read;        /* the table was read */
    uint64_t keys;    /* selected */
    uint64_t rows;    /* of the whole table, where it was read whole */
};
struct report_coverage report_coverage(const struct report *r);
/* The account of the reference that was bound, or NULL. */
const struct account *report_reference(const struct report *r);
/* How a range of the scope was read, as an account says it: NULL where none does. *only_recorded: only the
 * reference's file says so. */
const struct account_range *report_range(const struct report *r, const char *topic, uint64_t partition,
                                         bool *only_recorded);
/* Every id that a declared scope does not give, as "topic id of orders", comma separated. */
void report_not_given(const struct report *r, struct buf *out);

/* ---- printing ---- */

void report_put(struct buf *out, const struct json *v); /* masked; "-" where it is not there */
void report_put_member(struct buf *out, const struct json *doc, const char *name);
uint64_t report_number(const struct json *doc, const char *a,
                       const char *b); /* of doc.a, or doc.a.b; 0 where it is none */
/* The items of an array of texts, comma separated. */
void report_put_texts(struct buf *out, const struct json *list);

/* The scope, its ranges, the reference, the observation and what is covered (about.c). */
void report_put_about(const struct report *r, struct buf *out);
/* What was verified here, what is only recorded or declared, and what is not established (about.c). */
void report_put_established(const struct report *r, struct buf *out);
/* The relations and their findings, at most list each (findings.c). */
void report_put_findings(const struct report *r, uint64_t list, struct buf *out);

#endif
