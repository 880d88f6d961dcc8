/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of rows-diff: what a stream asked of its rows, and the answer as finding, summary and check lines. */
#ifndef OWED_MULTISET_DECIDE_H
#define OWED_MULTISET_DECIDE_H

#include "multiset/multiset.h"

/* What is known of one side (or one read of it). */
struct multiset_side_seen {
    bool seen, closed, whole;
    uint64_t rows, said; /* that came; that its side line says */
    char *reason;        /* why it is not whole */
};

struct multiset_question {
    struct multiset_side_seen side[SIDES];
    bool required[CHECK_NAMES];
    char *unsettled;  /* why the destination as it was read decides nothing, or NULL */
    bool table_whole; /* the observation says that the table was read whole */
    char *uncovered;  /* why the whole table decides nothing though it may have been read, or NULL */
    bool declared;    /* the scope is one that no bundle shows: nothing was captured */
    bool repeats;     /* it says that equal captured rows are meant */
};

/* Compare what is to be compared and write what it came to. rows NULL: none came. */
void multiset_decide(const struct multiset_question *q, struct multiset *rows, const struct columns *columns,
                     struct stream_out *out);

#endif
