/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table's form: which tables can be reconciled, whether the columns are
 * still those of the evidence, and what changed between two looks.
 */
#include <string.h>

#include "chread/session.h"
#include "stream/observation.h"
#include "types/engine.h"

/* ---- the form ---- */

void chread_names(const struct chread_table *t, struct map *names)
{
    for (size_t i = 0; i < t->n_columns; i++)
        map_add(names, t->columns[i].name, strlen(t->columns[i].name), i);
}

static const char *how_filled(const char *kind)
{
    return kind && *kind ? kind : "filled by its writers";
}

static int form_of_column(const struct chread_table *t, const struct map *names, const struct column *c,
                          struct chread_why *why)
{
    const uint64_t *place = map_find(names, c->name, c->name_len);
    const struct chread_column *found = place ? &t->columns[*place] : NULL;
    struct type type;
    const char *what;
    enum code lacks = column_lacks(c, &what);
    if (lacks != CODE_NONE)
        return chread_say(why, STATUS_UNSUPPORTED, BECAUSE(lacks, {"column", c->name}), "column '%s' is %s, %s",
                          c->name, c->type.name, what);
    if (!found)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_COLUMN_MISSING, {"column", c->name}),
                          "column '%s' is not in the table any more", c->name);
    bool same = type_parse(found->type, strlen(found->type), &type, NULL) == 0 && type_same(&type, &c->type);
    type_free(&type);
    if (!same)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_COLUMN_TYPE_CHANGED, {"column", c->name}),
                          "column '%s' was %s and is %s", c->name, c->type.name, found->type);
    enum column_kind kind;
    if (!column_kind_parse(found->kind, &kind) || kind != c->kind)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_COLUMN_TYPE_CHANGED, {"column", c->name}),
                          "column '%s' was %s and is %s now", c->name, how_filled(column_kind_name(c->kind)),
                          how_filled(found->kind));
    return 0;
}

static bool no_uuid(const char *uuid)
{
    return uuid[strspn(uuid, "0-")] == '\0';
}

/* FINAL shows what the scope says that it does only on the engine that the scope names, over that sorting key. */
static int form_of_final(const struct chread_table *t, const struct engine *found, const struct engine *meant,
                         const struct columns *cols, struct chread_why *why)
{
    struct buf a = BUF_INIT, b = BUF_INIT;
    int status = 0;
    engine_say(meant, &a);
    engine_say(found, &b);
    if (!engine_same(found, meant))
        status = chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_FINAL_UNSUPPORTED),
                            "the scope is of the last rows of a %s, and the table's engine is %s", buf_str(&a),
                            buf_str(&b));
    else if (!engine_sorts_by(found, t->sorting_key, cols))
        status = chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_FINAL_UNSUPPORTED),
                            "the table's sorting key is '%s', and the scope's key is another", t->sorting_key);
    buf_free(&a);
    buf_free(&b);
    return status;
}

static bool expires(const struct chread_table *t)
{
    return definition_has_ttl(t->create_table_query) || definition_has_ttl(t->engine_full);
}

/* A table under a Merge is held to what a table is that is read alone, and has each column as the Merge has it: of
 * another type the Merge converts it, and of one that lacks it shows defaults. */
static int form_of_under(const struct chread_under *u, const struct columns *cols, struct chread_why *why)
{
    struct arena arena = ARENA_INIT;
    struct map names = MAP_INIT;
    struct chread_why own;
    struct engine e;
    int status = 0;
    engine_parse(u->look.engine, u->look.engine_full, &arena, &e);
    chread_names(&u->look, &names);
    if (e.kind != ENGINE_PLAIN || e.replicated)
        status = chread_say(&own, STATUS_UNSUPPORTED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
                            "its engine is %s, and only a plain MergeTree is read through a Merge",
                            *u->look.engine != '\0' ? u->look.engine : "unknown");
    else if (no_uuid(u->look.table_uuid))
        status = chread_say(&own, STATUS_UNSUPPORTED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
                            "it has no UUID, so that it cannot be told from a recreated one");
    else if (expires(&u->look))
        status = chread_say(&own, STATUS_UNSUPPORTED, BECAUSE(CODE_TABLE_EXPIRES),
                            "its definition has a TTL, by which rows or values vanish");
    for (size_t i = 0; i < cols->n && status == 0; i++)
        status = form_of_column(&u->look, &names, &cols->at[i], &own);
    if (status != 0)
        chread_say(why, own.status, &own.cause, "table '%s' under the Merge: %s", u->name, own.reason);
    map_free(&names);
    arena_free(&arena);
    return status;
}

static int form_of_merge(const struct chread_table *t, const struct columns *cols, struct chread_why *why)
{
    int status = 0;
    if (t->n_under == 0)
        return chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
                          "the table is a Merge, and this user sees no table under it");
    for (size_t i = 0; i < t->n_under && status == 0; i++)
        status = form_of_under(&t->under[i], cols, why);
    return status;
}

static int form_of_engine(const struct chread_table *t, const struct chread_expect *expect, const struct columns *cols,
                          struct chread_why *why)
{
    struct arena arena = ARENA_INIT;
    struct engine e, named;
    int status = 0;
    engine_parse(t->engine, t->engine_full, &arena, &e);
    engine_named(t->engine, &named);
    if (expect->final && e.kind != ENGINE_OTHER)
        status = form_of_final(t, &e, expect->final, cols, why);
    else if (e.kind == ENGINE_OTHER && named.kind == ENGINE_MERGE)
        status = chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
                            "the table is a Merge that does not name one database and an expression of tables: %s",
                            t->engine_full);
    else if (e.kind == ENGINE_MERGE && expect->every_row)
        status = form_of_merge(t, cols, why);
    else if ((e.kind != ENGINE_PLAIN || e.replicated) && !(expect->every_row && engine_shows_rows(&e)))
        status = chread_say(
            why, STATUS_UNSUPPORTED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
            "the table's engine is %s, and only a %s can be judged", *t->engine != '\0' ? t->engine : "unknown",
            expect->every_row
                ? "MergeTree that is plain, replacing or collapsing, replicated or not, a view or a Merge,"
                : "plain MergeTree");
    arena_free(&arena);
    return status;
}

void chread_ttl(const struct chread_table *t, struct arena *a, struct ttl *out)
{
    definition_ttl_of_both(t->create_table_query, t->engine_full, a, out);
}

/* Which rows the TTL may have taken away can be told where the owed rows show its column. */
static int form_of_ttl(const struct chread_table *t, const struct map *names, const struct columns *cols,
                       struct chread_why *why)
{
    struct arena arena = ARENA_INIT;
    struct buf lacks = BUF_INIT;
    struct ttl ttl;
    int status = 0;
    chread_ttl(t, &arena, &ttl);
    const uint64_t *place = ttl.column ? map_find(names, ttl.column, strlen(ttl.column)) : NULL;
    struct type type = {0};
    if (place)
        type_parse(t->columns[*place].type, strlen(t->columns[*place].type), &type, NULL);
    if (ttl.kind == TTL_OTHER || (ttl.kind == TTL_DELETES && !type_is_expiry(&type)))
        status = chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_TABLE_EXPIRES),
                            "which rows or values of the table have vanished cannot be told: %s",
                            ttl.kind == TTL_OTHER ? ttl.why : "its TTL's column is none of a date or a time");
    else if (cols->n > 0 && ttl_lacks(&ttl, cols, &lacks))
        status = chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_TTL_COLUMN_LEFT_OUT, {"column", ttl.column}), "%s",
                            buf_str(&lacks));
    buf_free(&lacks);
    type_free(&type);
    arena_free(&arena);
    return status;
}

int chread_form(const struct chread_table *t, const struct chread_expect *expect, const struct columns *cols,
                struct chread_why *why)
{
    if (no_uuid(t->server_uuid))
        return chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_SERVER_UNSUPPORTED),
                          "the server has no UUID, so that it cannot be told from another");
    if (form_of_engine(t, expect, cols, why) != 0)
        return -1;
    if (no_uuid(t->table_uuid))
        return chread_say(
            why, STATUS_UNSUPPORTED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
            "the table has no UUID (its database is not Atomic), so that it cannot be told from a recreated one");
    struct map names = MAP_INIT;
    chread_names(t, &names);
    int status = form_of_ttl(t, &names, cols, why);
    for (size_t i = 0; i < cols->n && status == 0; i++)
        status = form_of_column(t, &names, &cols->at[i], why);
    map_free(&names);
    return status;
}

/* ---- two looks ---- */

static void differs(struct buf *out, const char *what, const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return;
    buf_printf(out, "%sthe %s changed from '%s' to '%s'", out->len > 0 ? "; " : "", what, a, b);
}

bool table_same_definition(const struct chread_table *a, const struct chread_table *b)
{
    bool same = a->n_columns == b->n_columns && strcmp(a->create_table_query, b->create_table_query) == 0 &&
                strcmp(a->engine_full, b->engine_full) == 0;
    for (size_t i = 0; same && i < a->n_columns; i++)
        same = strcmp(a->columns[i].name, b->columns[i].name) == 0 &&
               strcmp(a->columns[i].type, b->columns[i].type) == 0 &&
               strcmp(a->columns[i].kind, b->columns[i].kind) == 0;
    return same;
}

bool chread_same(const struct chread_table *a, const struct chread_table *b, struct buf *out)
{
    size_t had = out->len;
    struct buf x = BUF_INIT;
    differs(&x, "server's UUID", a->server_uuid, b->server_uuid);
    differs(&x, "server's version", a->server_version, b->server_version);
    differs(&x, "table's UUID", a->table_uuid, b->table_uuid);
    differs(&x, "engine", a->engine, b->engine);
    if (a->replica.shown && b->replica.shown) {
        differs(&x, "replica's path", a->replica.path, b->replica.path);
        differs(&x, "replica", a->replica.name, b->replica.name);
    }
    if (!table_same_definition(a, b) && x.len == 0)
        buf_adds(&x, "the table's definition changed");
    under_same(a, b, &x);
    buf_add(out, x.p, x.len);
    buf_free(&x);
    return out->len == had;
}
