/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of rows-diff: what a stream asked of its rows, and the answer as finding, summary and check lines. */
#ifndef OWED_MULTISET_DECIDE_H
#define OWED_MULTISET_DECIDE_H

#include "multiset/multiset.h"
#include "stream/log.h"

/* What is known of one side (or one read of it). */
struct multiset_side_seen {
    bool seen, closed, whole;
    uint64_t rows, said; /* that came; that its side line says */
    char *reason;        /* why it is not whole */
};

/* Why something decides nothing. */
struct multiset_doubt {
    char *why; /* NULL: nothing speaks against it */
    struct cause cause;
};

struct multiset_question {
    struct multiset_side_seen side[SIDES];
    bool required[CHECK_NAMES];
    struct multiset_doubt unsettled; /* of the destination as it was read */
    struct multiset_doubt uncovered; /* of the whole table, though it may have been read */
    struct multiset_doubt left_out;  /* keys that are left out of the comparison, though the answer is of them too */
    const char *merges;              /* the engine, where merges may have taken away rows that are compared; or NULL */
    const char *deletion;            /* the newest mutation that is done and deletes rows of the table; NULL: none */
    const char *deletion_created;    /* when it began */
    const char *ttl;                 /* by which rows of the table expire, and those that have are left out; or NULL */
    bool expired_ignored;            /* keys are left out for that alone, and of no matter on the operator's word */
    const struct stream_log *logs;   /* what was found of the topics, one a topic */
    size_t n_logs;
    bool table_whole; /* the observation says that the table was read whole */
    bool declared;    /* the scope is one that no bundle shows: nothing was captured */
    bool repeats;     /* it says that equal captured rows are meant */
    uint64_t absent;  /* keys that the reference says must be absent */
    bool subrange;    /* the logs were looked at, and the ranges are not all that they held */
    bool unplaced;    /* and which rows deletions take away is not known: multiset_unplaced */
    bool unreadable;  /* all that the reference lacks is what records owe that nobody could read */
};

/* Compare what is to be compared and write what it came to. rows NULL: none came. offsets: a file for the places of all
 * missing rows, published where the relation that tells them was decided; or NULL. */
void multiset_decide(const struct multiset_question *q, struct multiset *rows, const struct columns *columns,
                     const char *offsets, struct stream_out *out);

#endif
