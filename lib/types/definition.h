/* SPDX-License-Identifier: Apache-2.0 */
/* What the text of a table's definition says. */
#ifndef OWED_TYPES_DEFINITION_H
#define OWED_TYPES_DEFINITION_H

#include "base/base.h"

struct columns;

/* True where it sets a TTL, of the table or of a column; strings, quoted names and the word as an operand do not count.
 */
bool definition_has_ttl(const char *definition);

/* True where a table's definition has the engine that engine_full has, to the letter: the server prints both from one.
 */
bool definition_has_engine(const char *create, const char *engine_full);

/* What a table's TTL does to its rows. */
enum ttl_kind {
    TTL_NONE,
    TTL_KEEPS,   /* it moves or compresses them */
    TTL_DELETES, /* it deletes those whose time, a column plus a constant, has passed */
    TTL_OTHER,   /* anything else: which rows or values vanish is not known */
};
struct ttl {
    enum ttl_kind kind;
    const char *column;   /* of TTL_DELETES */
    const char *interval; /* `toIntervalDay(30)`, as it stands in a statement; NULL: the column's own time */
    const char *why;      /* of TTL_OTHER, a sentence's part about the table */
};

/* The TTL of a definition as the server prints it; texts live in the arena. */
void definition_ttl(const char *definition, struct arena *a, struct ttl *out);
/* The same of the two texts that the server has of a table, which must say the same. */
void definition_ttl_of_both(const char *create, const char *engine_full, struct arena *a, struct ttl *out);
/* Why nobody can tell which owed rows of these columns have expired, in *why; false: they show the TTL's own column, or
 * it deletes no rows. */
bool ttl_lacks(const struct ttl *t, const struct columns *c, struct buf *why);
/* `t + toIntervalDay(30)`, of TTL_DELETES. */
void ttl_say(const struct ttl *t, struct buf *out);

#endif
