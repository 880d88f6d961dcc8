/* SPDX-License-Identifier: Apache-2.0 */
/* What the ledgers cannot vouch for: rows of which a server that was killed can have kept no more than the token. */
#include "cut/internal.h"

#define SHOWN 3

void cut_note_kept(struct cut *c)
{
    size_t found = 0;
    for (size_t i = 0; i < c->n_intervals; i++) {
        const struct cut_interval *iv = &c->intervals[i];
        for (size_t k = 0; k < iv->iv.n_ledger; k++) {
            const struct ledger_entry *e = &iv->iv.ledger[k];
            if (!ledger_may_lack(e) || found++ >= SHOWN)
                continue;
            buf_printf(&c->note, "%s'%s': rows %" PRIu64 " to %" PRIu64,
                       c->note.len == 0 ? ""
                       : found == 1     ? "; "
                                        : ", ",
                       iv->path, e->first + 1, (e->first + e->rows));
        }
    }
    if (found > SHOWN)
        buf_printf(&c->note, " and the rows of %zu more INSERTs", found - SHOWN);
    if (found > 0)
        buf_adds(&c->note, " were in doubt and sent again under one token, and nothing shows that the server ran on "
                           "meanwhile: one that was killed can have kept the token and lost the rows, so that a row of "
                           "these that is missing is of this kind");
}
