/* SPDX-License-Identifier: Apache-2.0 */
/* What reconcile.destination establishes, of the table as it was observed: which table, of which form, what its TTL
 * does, and what stood still. */
#include "report/internal.h"

#include "types/definition.h"
#include "types/engine.h"

static void put_form(const struct engine *e, struct buf *out)
{
    if (e->kind == ENGINE_VIEW) {
        buf_adds(out, "a view");
        return;
    }
    if (e->kind == ENGINE_MERGE) {
        buf_adds(out, "a Merge of plain MergeTrees without TTL that each have the scope's columns");
        return;
    }
    buf_adds(out, e->kind == ENGINE_PLAIN && !e->replicated ? "a plain " : "a ");
    engine_say(e, out);
}

/* Behind a form of its own parts: a view shows no TTL, and under a Merge no table has one. */
static void put_ttl(const struct observation *o, const struct engine *e, struct arena *a, struct buf *out)
{
    struct ttl ttl;
    if (e->kind == ENGINE_VIEW || e->kind == ENGINE_MERGE)
        return;
    definition_ttl_of_both(o->create_table_query ? o->create_table_query : "", o->engine_full ? o->engine_full : "", a,
                           &ttl);
    if (ttl.kind == TTL_NONE) {
        buf_adds(out, " without TTL");
    } else if (ttl.kind == TTL_KEEPS) {
        buf_adds(out, " whose TTL deletes no rows");
    } else if (ttl.kind == TTL_DELETES) {
        buf_adds(out, " with the TTL ");
        ttl_say(&ttl, out);
    }
}

const char *view_destination(struct view *v)
{
    const struct report *r = v->report;
    const struct observation *o = &r->observation;
    const struct scope *s = &r->scope;
    struct arena a = ARENA_INIT;
    struct buf text = BUF_INIT;
    struct engine e = {.kind = ENGINE_OTHER};
    if (r->observed)
        engine_parse(o->engine ? o->engine : "", o->engine_full ? o->engine_full : o->engine ? o->engine : "", &a, &e);
    bool named = r->has_scope && s->origin == SCOPE_DECLARED && !s->server_uuid && !s->table_uuid;
    buf_adds(&text,
             named ? "the table has the declared name and columns" : "the table is the one that the scope names");
    if (e.kind != ENGINE_OTHER) {
        buf_adds(&text, named ? ", is " : ", ");
        put_form(&e, &text);
        put_ttl(o, &e, &a, &text);
        if (engine_merges(&e))
            buf_adds(&text, o->final ? ", read with FINAL" : ", read with every row that stands");
    } else {
        buf_adds(&text, named ? ", is of a form that can be read whole" : ", of a form that can be read whole");
    }
    buf_adds(&text, named ? "" : ", its columns unchanged");
    if (o->has_replica)
        buf_adds(&text, ", the replica that was read held all that the table's log did");
    if (e.kind == ENGINE_VIEW)
        buf_adds(&text, ", and its definition was the same before the reads and behind them");
    else if (e.kind == ENGINE_MERGE)
        buf_adds(&text, ", and all of them stood still while it was read");
    else
        buf_adds(&text, named ? ", and stood still while it was read" : ", and it stood still while it was read");
    const char *kept = view_shown(v, buf_str(&text));
    buf_free(&text);
    arena_free(&a);
    return kept;
}
