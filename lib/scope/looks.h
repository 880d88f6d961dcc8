/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looks: what was found of the logs before a table was read and after it. A
 * declared scope of a whole table rests on them: nothing but its ranges can have
 * written a row only where they are all that the log ever held, and still are.
 */
#ifndef OWED_SCOPE_LOOKS_H
#define OWED_SCOPE_LOOKS_H

#include "scope/declare.h"

struct stream_line;

enum scope_when { LOOKED_BEFORE, LOOKED_AFTER, LOOKS };

struct scope_looks {
    struct arena arena;
    struct declare at[LOOKS];
    uint64_t last_before, first_after; /* numbers of these lines; 0: none */
};

void scope_looks_init(struct scope_looks *l);
void scope_looks_free(struct scope_looks *l);
/* Take a log line. ERR_REFUSED, with the line's number. */
int scope_looks_take(struct scope_looks *l, const struct stream_line *line, struct err *err);
/* Whether the scope's ranges were all of their logs before and after the observation on the line (0: there is none):
 * else false with why. */
bool scope_looks_cover(const struct scope_looks *l, const struct scope *s, uint64_t observed, struct cause *cause,
                       struct buf *why);
/* Whether they were all that the logs held when they were looked at first. */
bool scope_looks_all(const struct scope_looks *l, const struct scope *s);

#endif
