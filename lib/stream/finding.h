/* SPDX-License-Identifier: Apache-2.0 */
/* The finding line: one difference that a relation shows. */
#ifndef OWED_STREAM_FINDING_H
#define OWED_STREAM_FINDING_H

#include "stream/absent.h"
#include "stream/again.h"
#include "stream/relation.h"
#include "stream/ts.h"

#include "base/base.h"

struct stream_line;
struct stream_out;

/* An array of cells as it stands; p NULL: null. */
struct finding_cells {
    const char *p;
    size_t n;
};

struct finding_name {
    const char *p;
    size_t n;
};

struct finding {
    enum relation relation;
    enum finding_kind kind;
    struct finding_cells key, owed, found;
    uint64_t owed_copies, found_copies, rows;
    const struct finding_name *differ; /* the columns; NULL: the line does not say */
    size_t n_differ;
    const char *at;            /* or NULL */
    struct stream_ts ts;       /* of the record there */
    struct again explained;    /* by what: each word once */
    uint64_t explained_copies; /* so many of its rows, where not all that it explains any of; else 0 */
    bool cut;                  /* its rows are too long to be shown */
    bool others;               /* other rows are owed or found under the key */
    enum absent_why absent;    /* of an unexpected row: why its key must be absent; else ABSENT_TYPES */
    const char *absent_at;     /* where that says so, or NULL */
    bool undecided; /* seen in one of two reads that differ, or above what a reference owes that may owe more */
    uint64_t read;  /* then: in which read */
};

/* Parse a finding line; everything lives in arena. ERR_REFUSED, with the line's number. */
int stream_finding(const struct stream_line *line, struct arena *arena, struct finding *out, struct err *err);
void stream_put_finding(struct stream_out *out, const struct finding *f);

#endif
