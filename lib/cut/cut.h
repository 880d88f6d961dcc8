/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut: from a bundle's evidence to the scope of one completed checkpoint and
 * the rows that its sink received. Everything that is used is read through the
 * bundle's manifest and held against it.
 *
 * A request that does not fit the bundle is refused (ERR_REFUSED); evidence that
 * is missing, partial or contradicts itself is said in the cut's own status, with
 * every reason found, and never passes.
 */
#ifndef OWED_CUT_H
#define OWED_CUT_H

#include "base/hash.h"
#include "bundle/bundle.h"
#include "cells/cells.h"
#include "evidence/interval.h"
#include "evidence/marker.h"
#include "evidence/snapshot.h"
#include "scope/scope.h"
#include "stream/stream.h"

struct cut_request {
    bool has_checkpoint;
    uint64_t checkpoint; /* else the bundle's own */
    const char **keys;
    size_t n_keys;
    bool from_run_start;
    bool repeats;        /* the operator's word that equal rows are meant */
    bool complete_table; /* the operator's word that the table is dedicated to this run; implies from_run_start */
    const char *job, *sink, *database, *table; /* NULL: as the bundle has it */
};

/* One interval of the scope: one sink subtask's. */
struct cut_interval {
    const char *path;    /* of its evidence in the bundle */
    const char *capture; /* of its capture */
    struct interval iv;
};

/* Where one source subtask stood at both ends. */
struct cut_end {
    uint64_t subtask;
    bool has_from, has_to;
    const char *from_where, *to_where;
    struct snapshot from, to;
};

/* One attempt's part of the scope: what it did between two barriers. A scope of one run has one; rows and ranges are
 * computed leg by leg, so that a lineage through restores is a list of them. */
struct cut_leg {
    const char *attempt;
    uint64_t since; /* the barrier before its first epoch; 0: the run's start */
    uint64_t first, last;
    struct cut_interval *intervals; /* its own of the cut's, by epoch, then subtask */
    size_t n_intervals;
    struct marker marker; /* of last */
    struct cut_end *ends; /* by the marker's participants */
    size_t n_ends;
    const char *topic;          /* of its ranges; NULL: they are not all known */
    struct scope_range *ranges; /* by partition */
    size_t n_ranges;
    uint64_t replays; /* so many attempts before it, at most, can have written rows of it */
};

struct cut {
    const struct bundle *b;
    const struct cut_request *r;
    struct arena a;
    enum status status; /* of reconcile.scope so far; the worst counts */
    struct buf reason;  /* every reason, "; " between them */
    struct cause cause; /* of the first, which leads */
    unsigned reasons;
    struct buf note;              /* what is said and changes no verdict */
    struct buf uncovered;         /* with complete_table: what the bundle does not show of it; "" where it shows all */
    struct cause uncovered_cause; /* of the first */
    unsigned uncovered_reasons;
    struct buf broken;          /* files that are not what the manifest lists: bundle.artifacts fails */
    struct cause broken_cause;  /* of the first */
    struct markers markers;     /* those that the bundle lists */
    struct map excluded;        /* what the manifest says was left out, once it is asked */
    const char *excluded_bound; /* the bound that left out more than it lists */
    struct marker marker;       /* of the checkpoint */
    struct scope scope;         /* whole once has_scope */
    bool has_columns, has_scope;
    struct buf unknown; /* operators on the rows' way that are not record-wise: no reference can be held to it */
    const struct job_manifest *job;                       /* NULL: none in the bundle, or none that can be read */
    const struct graph_operator *sink_node, *source_node; /* of it */
    uint64_t windows;                                     /* participants beside the source's lanes: its windows */
    const char *sink;
    struct cut_interval *intervals; /* by epoch, then subtask */
    size_t n_intervals, cap_intervals;
    const struct interval *
        *quiet; /* with complete_table: those after the checkpoint that show the sink quiet, by subtask and epoch */
    size_t n_quiet;
    struct cut_leg *legs; /* from the scope's start on */
    size_t n_legs;
    uint64_t rows, owed_rows;     /* captured lines read; rows that the ledgers acknowledge */
    uint64_t outside, without_at; /* rows that say that they are of no record of the scope; that do not say of which */
    uint64_t nearest;             /* fractions in those lines that no float of their column's width is */
};

/* Find the sink, walk the intervals, read both ends. 0 whatever the status; -1 for a request that does not fit. */
int cut_scope(struct cut *c, const struct bundle *b, const struct cut_request *r, struct err *err);
/* Read the captures, an interval after another: every row goes to out as it is read. Sets the status where one is not
 * whole, or holds an event that does not fit the columns. Each row goes to expected
 * too, where that is not NULL, as one JSON object a line; -1 with *err where it cannot be written. */
int cut_rows(struct cut *c, struct stream_out *out, struct file_out *expected, struct err *err);
/* The lines before the rows: scope, columns and interval. */
void cut_put_head(struct cut *c, struct stream_out *out);
void cut_free(struct cut *c);

#endif
