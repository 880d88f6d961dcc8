/* SPDX-License-Identifier: Apache-2.0 */
/* Which captured epochs a run answers for: each of the bundle that the request matches, but for what sinks received. */
#include "replay/internal.h"

#include <stdlib.h>
#include <string.h>

/* Operator ids are decimals of 64 bits without leading zeros. */
static int by_id(const char *a, const char *b)
{
    size_t x = strlen(a), y = strlen(b);
    return x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

static int by_place(const void *a, const void *b)
{
    const struct replay_epoch *x = a, *y = b;
    int id = by_id(x->operator_id, y->operator_id);
    if (id != 0)
        return id;
    if (x->subtask != y->subtask)
        return x->subtask < y->subtask ? -1 : 1;
    return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

static bool matches(const struct replay_request *r, const struct bundle_captured *c)
{
    return (!r->op || strcmp(r->op, c->operator_id) == 0) && (r->subtask == REPLAY_ANY || r->subtask == c->subtask) &&
           (r->epoch == REPLAY_ANY || r->epoch == c->epoch);
}

void replay_select(struct replay *p)
{
    const struct bundle_manifest *m = &p->b->m;
    size_t kept = 0;
    p->epochs = arena_zalloc(&p->a, (m->n_captured + 1) * sizeof *p->epochs);
    for (size_t i = 0; i < m->n_captured; i++) {
        const struct bundle_captured *c = &m->captured[i];
        if (matches(p->r, c))
            p->epochs[p->n_epochs++] = (struct replay_epoch){c->operator_id, c->path, c->subtask, c->epoch, NULL};
    }
    qsort(p->epochs, p->n_epochs, sizeof *p->epochs, by_place);
    for (size_t i = 0; i < p->n_epochs; i++)
        p->epochs[i].op = replay_operator(p, p->epochs[i].operator_id, p->epochs[i].subtask);
    for (size_t i = 0; i < p->n_epochs; i++)
        if (!p->epochs[i].op->parameters || !replay_is_sink(p->epochs[i].op->spec.kind))
            p->epochs[kept++] = p->epochs[i];
    p->n_epochs = kept;
}
