/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a table's rows, whichever of them a statement names: its text before the condition and behind it. */
#ifndef OWED_CHREAD_STATEMENT_H
#define OWED_CHREAD_STATEMENT_H

#include "chread/chread.h"

struct statement {
    struct buf head, tail;
    const struct columns *cols; /* of the answer's rows, in their order */
    const char *what;           /* names it in a reason */
};
#define STATEMENT_INIT ((struct statement){BUF_INIT, BUF_INIT, NULL, "reading the rows"})

/* Append column c as it is to be selected of t: LowCardinality is cast away. */
void statement_column(struct buf *sql, const struct chread_table *t, const struct map *names, const struct column *c);
/* Ask it for the keys by the plan, or of every row of the table where that is NULL; as chread_rows. keys are of the
 * answer's columns. */
int statement_read(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                   const struct statement *s, const struct chread_keys *keys, const struct chread_plan *plan,
                   chread_row_fn *fn, void *ctx, uint64_t *rows, struct chread_why *why);
void statement_free(struct statement *s);

#endif
