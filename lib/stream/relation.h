/* SPDX-License-Identifier: Apache-2.0 */
/* The relations: what is held against what, which check says so, and what each needs. The one table of them. */
#ifndef OWED_STREAM_RELATION_H
#define OWED_STREAM_RELATION_H

#include "stream/names.h"
#include "stream/side.h"

/* id, name, check, owed side, found side (SIDE_READ1: the destination, both reads), what its owed and its found rows
 * are called, what it means that it failed. The owed rows of coverage are the captured ones where there is no
 * reference. */
/* clang-format off */
#define RELATION_TABLE(X) \
    X(DELIVERY, "delivery", RECONCILE_ROWS, CAPTURED, READ1, "rows owed", "found", \
      "the table does not hold what the sink received") \
    X(TRANSFORMATION, "transformation", REFERENCE_CAPTURE, REFERENCE, CAPTURED, "rows of the reference", "received by the sink", \
      "the job computed other rows than the reference, before any write") \
    X(REFERENCE_DESTINATION, "reference-destination", REFERENCE_DESTINATION, REFERENCE, READ1, "rows of the reference", "found", \
      "the table does not hold what the reference computes") \
    X(COVERAGE, "coverage", DESTINATION_COVERAGE, REFERENCE, READ1, "rows expected", "in the whole table", \
      "the table holds rows that nothing here accounts for, or lacks some")
/* clang-format on */

enum relation {
#define X(id, name, check, owed, found, owed_rows, found_rows, failed) RELATION_##id,
    RELATION_TABLE(X)
#undef X
        RELATION_TYPES
};

struct relation_row {
    const char *name;
    enum check_name check;
    enum side owed, found;
    const char *owed_rows, *found_rows, *failed;
};
extern const struct relation_row relation_table[RELATION_TYPES];
/* The order in which a fault is looked for: what comes first explains what comes after. */
extern const enum relation relation_order[RELATION_TYPES];

const char *relation_name(enum relation r);
enum relation relation_of(const char *p, size_t n); /* RELATION_TYPES for any other name */
enum relation relation_of_check(enum check_name c); /* RELATION_TYPES for a check of none */

/* What a relation holds against what in one run, and which sides it must have whole for that. */
struct relation_sides {
    enum side owed, found;
    bool need[SIDES];
};
/* reference: the expectation is a reference's; captured: the run has a sink's rows, whose keys are looked at too. */
struct relation_sides relation_sides(enum relation r, bool reference, bool captured);

#endif
