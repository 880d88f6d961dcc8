/* SPDX-License-Identifier: Apache-2.0 */
/* The replica that answers: which one it is of which table, what it lacks, and whether its server refuses to be read
 * where it lacks something. */
#include <stdlib.h>
#include <string.h>

#include "chread/session.h"

#define TEXTS 4 /* before the numbers */

bool chread_replicated(const struct chread_table *t)
{
    struct engine e;
    engine_named(t->engine, &e);
    return e.replicated;
}

void replica_ask(struct buf *sql)
{
    buf_adds(sql, "SELECT zookeeper_path, replica_name, zookeeper_exception, last_queue_update_exception");
    for (size_t i = 0; i < REPLICA_NUMBERS; i++)
        buf_printf(sql, ", toString(%s)", replica_numbers[i].column);
    buf_adds(sql, " FROM system.replicas");
}

size_t replica_asked(void)
{
    return TEXTS + REPLICA_NUMBERS;
}

int replica_take(const struct texts *x, struct chread_table *t, struct chread_why *why)
{
    struct chread_replica *r = &t->replica;
    char **const to[TEXTS] = {&r->path, &r->name, &r->exception, &r->queue_exception};
    r->shown = x->n == 1;
    if (!r->shown)
        return 0;
    for (size_t i = 0; i < TEXTS; i++)
        *to[i] = xstrdup(x->rows[0][i]);
    r->state.exception = r->exception;
    r->state.queue_exception = r->queue_exception;
    for (size_t i = 0; i < REPLICA_NUMBERS; i++) {
        const char *text = x->rows[0][TEXTS + i];
        if (!scan_u64(text, strlen(text), replica_number(&r->state, i)))
            return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                              "reading system.replicas: '%s' is no %s", text, replica_numbers[i].column);
    }
    return 0;
}

void replica_free(struct chread_replica *r)
{
    free(r->path);
    free(r->name);
    free(r->exception);
    free(r->queue_exception);
    *r = (struct chread_replica){0};
}

int replica_not_shown(const struct chread_expect *e, struct chread_why *why)
{
    struct buf name = BUF_INIT;
    http_quote_ident(&name, e->database, strlen(e->database));
    buf_addc(&name, '.');
    http_quote_ident(&name, e->table, strlen(e->table));
    chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_REPLICA_NOT_SHOWN, {"table", buf_str(&name)}),
               "the table is replicated, and system.replicas shows this user no replica of %s", buf_str(&name));
    buf_free(&name);
    return -1;
}

struct replica chread_replica(const struct chread *c, const struct chread_table *first, const struct chread_table *last)
{
    const struct chread_replica *a = &first->replica, *b = last ? &last->replica : NULL;
    return (struct replica){.path = a->path,
                            .name = a->name,
                            .max_delay_s = c->o->max_delay_s,
                            .has_before = a->shown,
                            .has_after = b && b->shown,
                            .before = a->state,
                            .after = b ? b->state : (struct replica_state){0}};
}

int chread_replica_ready(struct chread *c, const struct chread_expect *e, const struct chread_table *t,
                         struct chread_why *why)
{
    if (!chread_replicated(t))
        return 0;
    if (!t->replica.shown)
        return replica_not_shown(e, why);
    struct buf lacks = BUF_INIT;
    enum code code = replica_lacks(&t->replica.state, c->o->max_delay_s, &lacks);
    if (code != CODE_NONE)
        chread_say(why, STATUS_UNAVAILABLE, BECAUSE(code, {"replica", t->replica.name}),
                   "replica '%s' of %s cannot stand for the table: %s%s%s", t->replica.name, t->replica.path,
                   buf_str(&lacks), *t->replica.exception ? ": " : "", t->replica.exception);
    buf_free(&lacks);
    return code == CODE_NONE ? session_offer(c, e, t, REPLICA_SETTING, "1", why) : -1;
}
