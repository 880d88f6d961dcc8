/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last row of each key, as the table's engine keeps it (scope's `final`): by
 * its version, and where there is none by its place in the log.
 *
 * Rows go to a scratch file; keys are held in memory, up to a bound.
 */
#ifndef OWED_REFERENCE_LAST_H
#define OWED_REFERENCE_LAST_H

#include "base/base.h"
#include "stream/stream.h"
#include "types/engine.h"
#include "types/types.h"

struct reference_last;

/* columns must outlive it. memory: bytes that the keys may take. */
struct reference_last *reference_last_new(const struct engine *e, const struct columns *columns, const char *scratch,
                                          uint64_t memory, struct err *err);
/* Take a row: its cells, canonical, its at and its ts. */
int reference_last_add(struct reference_last *l, const struct stream_row *row, struct err *err);

struct reference_last_found {
    uint64_t kept, superseded; /* rows */
    uint64_t deleted;          /* keys whose last row is a delete */
    uint64_t tied;   /* keys (of a versioned engine: versions) of which nothing tells the last row of several */
    const char *tie; /* the first of these, its cells without brackets; NULL: none */
};
/* Give the last rows to fn in the order in which they came, and those whose last row is a delete to gone, with the
 * cells of the key alone; and count. A key that is tied is in neither. Not 0 from either: give up. */
typedef int reference_row_fn(void *ctx, const struct stream_row *row, struct err *err);
int reference_last_rows(struct reference_last *l, reference_row_fn *fn, reference_row_fn *gone, void *ctx,
                        struct reference_last_found *found, struct err *err);
void reference_last_free(struct reference_last *l);

#endif
