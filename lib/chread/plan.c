/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the keys are read. For every so many keys the rows of their span are
 * counted, no further than decides: where a key has few rows beside it, reading
 * all of them is quicker than looking each key up.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/keys.h"
#include "chread/session.h"

static void add_stretch(struct chread_plan *p, uint64_t from, uint64_t to, bool range)
{
    if (p->n > 0 && !range && !p->at[p->n - 1].range) {
        p->at[p->n - 1].to = to;
        return;
    }
    if ((p->n & (p->n - 1)) == 0) /* full: the room is a power of two */
        p->at = xrealloc(p->at, (p->n == 0 ? 1 : 2 * p->n) * sizeof *p->at);
    p->at[p->n++] = (struct chread_stretch){from, to, range};
}

/* Has the span of these keys fewer rows than a range may have? A count that is not had is no reason to stop. 1 yes, 0
 * no, -1 with *why. */
static int is_dense(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                    const struct chread_keys *k, uint64_t from, uint64_t to, struct chread_why *why)
{
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    uint64_t rows = 0, most = keys_break_even(k) * (to - from);
    buf_adds(&sql, "SELECT toString(count()) FROM (SELECT 1");
    session_from(&sql, expect);
    buf_adds(&sql, " WHERE ");
    int status = 1;
    if (keys_span(k, from, to, &sql)) {
        buf_printf(&sql, " LIMIT %" PRIu64 ")", most);
        if (sql.len + SESSION_FORMAT_ROOM < c->limits.bytes)
            status = session_ask(c, expect, t, buf_str(&sql), 1, HTTP_ASKED_WORDS, &x, "counting the keys' rows", why);
    }
    bool told = status == 0 && x.n == 1 && scan_u64(x.rows[0][0], strlen(x.rows[0][0]), &rows);
    texts_free(&x);
    buf_free(&sql);
    return status < 0 ? -1 : told && rows < most;
}

int chread_plan(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                const struct chread_keys *k, struct chread_plan *plan, struct chread_why *why)
{
    *plan = (struct chread_plan)CHREAD_PLAN_INIT;
    if (c->o->keys_only && k->n > 0)
        add_stretch(plan, 0, k->n, false);
    for (uint64_t from = 0, to; !c->o->keys_only && from < k->n; from = to) {
        to = k->n - from > c->o->keys_per_query ? from + c->o->keys_per_query : k->n;
        int dense = is_dense(c, expect, t, k, from, to, why);
        if (dense < 0)
            return -1;
        add_stretch(plan, from, to, dense == 1);
    }
    return 0;
}

void chread_plan_free(struct chread_plan *plan)
{
    free(plan->at);
    *plan = (struct chread_plan)CHREAD_PLAN_INIT;
}
