/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table's engine, as the server names it: which rows of equal keys it merges
 * into one, and by which columns. A Replicated one is of the kind that it
 * replicates. Texts live in the caller's arena.
 */
#ifndef OWED_TYPES_ENGINE_H
#define OWED_TYPES_ENGINE_H

#include "base/base.h"

struct column;
struct columns;

/* clang-format off */
#define ENGINE_TABLE(X) \
    X(PLAIN, "MergeTree") \
    X(REPLACING, "ReplacingMergeTree") \
    X(COLLAPSING, "CollapsingMergeTree") \
    X(VERSIONED, "VersionedCollapsingMergeTree") \
    X(VIEW, "View") \
    X(MERGE, "Merge") \
    X(OTHER, "")

enum engine_kind {
#define X(id, text) ENGINE_##id,
    ENGINE_TABLE(X)
#undef X
    ENGINE_KINDS
};
/* clang-format on */

struct engine {
    enum engine_kind kind;
    bool replicated;
    const char *version, *deleted, *sign; /* columns; NULL: the engine names none */
    const char *database, *tables;        /* of a Merge: where its tables are, and the expression of their names */
};

/* The engine of a name and a definition (system.tables.engine, engine_full). ENGINE_OTHER for one whose rows are not
 * read here, and where the definition is none of the name's. */
void engine_parse(const char *name, const char *full, struct arena *a, struct engine *out);
const char *engine_name(const struct engine *e);
/* The kind of that name, and whether it is replicated, in *out; ENGINE_OTHER for any other. */
void engine_named(const char *name, struct engine *out);
/* True where the engine makes one row of several of a key when it merges. */
bool engine_merges(const struct engine *e);
/* True where every row that stands can be read: what the table keeps, or a view or a Merge shows. */
bool engine_shows_rows(const struct engine *e);
bool engine_same(const struct engine *a, const struct engine *b);
/* "ReplacingMergeTree(ver, is_deleted)" */
void engine_say(const struct engine *e, struct buf *out);

/* Why the engine's columns do not tell which row of a key is the last, in *why; false: they do. Each is among the
 * columns, and the version's order is that of its cells. */
bool engine_lacks(const struct engine *e, const struct columns *c, struct buf *why);

/* True where the table's sorting key, whatever its order, is of exactly the columns that are a key: without an
 * expression, and but for a version that the engine itself appends. */
bool engine_sorts_by(const struct engine *e, const char *sorting_key, const struct columns *c);
/* True where every column that the expression names is a key. */
bool engine_within_key(const char *expression, const struct columns *c);

#endif
