/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one view of what a stream establishes. Every decision is taken while it is
 * made; text and JSON only print it. Its texts are masked, and live in its own
 * arena until view_free, as what it took from the report lives in the report's.
 */
#ifndef OWED_REPORT_VIEW_H
#define OWED_REPORT_VIEW_H

#include "report/report.h"

/* Sentences; of those with a label each stands under its own. */
struct view_text {
    const char *label, *text;
};
struct view_texts {
    struct view_text *at;
    size_t n, cap;
};

struct view_check {
    enum check_name name;
    enum relation relation; /* RELATION_TYPES where it is of none */
    bool required, made;
    enum status status;
    struct cause cause;     /* its code is CODE_NONE where it passed */
    const char *means;      /* what passing it means here */
    struct view_texts said; /* by whom and why, of the lines that decided; none where it passed without a word */
};

struct view_coverage {
    bool asked;       /* of the whole table */
    bool established; /* and it is so */
    bool read;        /* the table was read */
    bool whole;       /* and every row of it */
    uint64_t keys;    /* selected */
    uint64_t rows;    /* of the whole table, where it was read whole */
};

struct view {
    struct arena arena;
    const struct report *report;
    int exit;
    const char *word;    /* "passed", "failed", "partial", "refused" */
    const char *answer;  /* what failed, or why nothing is decided; NULL where all passed */
    const char *meaning; /* what a failure says of the job and the table, what a pass is of; or NULL */
    struct cause cause;  /* that the answer leads with; its code is CODE_NONE where all passed */
    struct cause *next;  /* the others that ask for something */
    size_t n_next;
    struct view_check check[CHECK_NAMES]; /* those required or made, in the table's order */
    size_t n_checks;
    bool any_required;
    enum check_name failed_first;  /* CHECK_NAMES: none failed */
    struct view_texts leads;       /* what the answer must not be read without */
    struct view_texts about;       /* asked, scope, reference, observed, coverage */
    struct view_texts stopped;     /* refused, unfinished */
    struct view_texts verified;    /* by check */
    struct view_texts recorded;    /* in the reference, and held against nothing */
    struct view_texts declared;    /* by the operator */
    struct view_texts not_known;   /* not established */
    struct view_texts assumptions; /* on which all of it rests */
    const char *assurance;         /* of which kind it is */
    struct view_coverage coverage;
    const struct destination *table_recorded; /* the table as the sink's evidence has it, or NULL */
    const char *not_given;                    /* every id that a declared scope does not give, comma separated; "" */
};
extern const char *const view_method[]; /* the first lacks the version of the cells at its end; NULL-terminated */

/* r is decided (report_decide), and outlives v. */
void view_make(struct view *v, const struct report *r);
void view_free(struct view *v);
/* For a person; list bounds the findings shown a relation. */
void report_text(const struct view *v, uint64_t list, struct buf *out);
/* As clink-reconcile-report, version 1, with its final newline. */
void report_json(const struct view *v, struct buf *out);
/* Which guarantee a finding breaks, or why none. */
const char *view_breaks(enum relation r, enum finding_kind k);
/* The check's view, or NULL. */
const struct view_check *view_check(const struct view *v, enum check_name c);

#endif
