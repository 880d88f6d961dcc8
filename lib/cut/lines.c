/* SPDX-License-Identifier: Apache-2.0 */
/* The lines before the rows: what the run needs, the scope, its columns, its intervals and both ends. */
#include "cut/internal.h"
#include "evidence/line.h"
#include "scope/line.h"
#include "types/line.h"

static struct interval_stand stand_of(bool has, const struct snapshot *s)
{
    return (struct interval_stand){has, s->log, s->positions, s->n_positions};
}

static void put_end(struct stream_out *out, const struct cut_end *e)
{
    const char *op = e->has_to ? e->to.operator_id : e->has_from ? e->from.operator_id : NULL;
    if (!op)
        return;
    stream_put_interval_stands(out, &(struct interval_line){.operator_id = op,
                                                            .subtask = e->subtask,
                                                            .from = stand_of(e->has_from, &e->from),
                                                            .to = stand_of(e->has_to, &e->to)});
}

void cut_put_head(struct cut *c, struct stream_out *out)
{
    if (c->has_scope) {
        struct buf text = BUF_INIT;
        scope_put(&text, &c->scope);
        stream_put_scope(out, text.p, text.len);
        buf_free(&text);
    }
    if (c->has_columns)
        stream_put_columns(out, &c->scope.columns);
    for (size_t i = 0; i < c->n_legs; i++)
        for (size_t k = 0; k < c->legs[i].n_intervals; k++)
            stream_put_interval(out, &c->legs[i].intervals[k].iv);
    for (size_t i = 0; i < c->n_quiet; i++)
        stream_put_interval(out, c->quiet[i]);
    for (size_t i = 0; i < c->n_legs; i++)
        for (size_t k = 0; k < c->legs[i].n_ends; k++)
            put_end(out, &c->legs[i].ends[k]);
}
