/* SPDX-License-Identifier: Apache-2.0 */
/* What was observed, for the report: whether the table stood still, and the observation line's members. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "chread/chread.h"
#include "http/lines.h"
#include "json/redact.h"
#include "stream/observation.h"

static void add_unstable(struct chread_unstable *u, const struct cause *cause, const char *what)
{
    if ((u->n & (u->n - 1)) == 0) /* full: the room is a power of two */
        u->why = xrealloc(u->why, (u->n == 0 ? 1 : 2 * u->n) * sizeof(*u->why));
    u->why[u->n++] = xstrdup(what);
    buf_printf(&u->reason, "%s%s", u->reason.len > 0 ? "; " : "", what);
    if (u->cause.code == CODE_NONE)
        u->cause = *cause;
}

/* What a replica that fell behind meanwhile lacked at the second read alone, nobody knows. */
static void find_replica(const struct chread *c, const struct chread_table *first, const struct chread_table *last,
                         struct chread_unstable *u)
{
    struct buf text = BUF_INIT;
    const struct replica r = chread_replica(c, first, last);
    enum code code = chread_replicated(first) ? replica_unfit(&r, &text) : CODE_NONE;
    if (code != CODE_NONE)
        add_unstable(u, BECAUSE(code, {"replica", r.name}), buf_str(&text));
    buf_free(&text);
}

void chread_find_unstable(const struct chread *c, const struct chread_table *first, const struct chread_table *last,
                          struct chread_unstable *u)
{
    struct buf text = BUF_INIT, shown = BUF_INIT;
    for (size_t i = 0; i < first->n_mutations; i++)
        if (!first->mutations[i].done) {
            buf_reset(&text);
            buf_printf(&text, "mutation %s in progress", first->mutations[i].id);
            add_unstable(u, BECAUSE(CODE_MUTATION_RUNNING, {"mutation", first->mutations[i].id}), buf_str(&text));
        }
    struct map before = MAP_INIT;
    for (size_t i = 0; i < first->n_mutations; i++)
        map_add(&before, first->mutations[i].id, strlen(first->mutations[i].id), i);
    for (size_t i = 0; i < last->n_mutations; i++)
        if (!map_find(&before, last->mutations[i].id, strlen(last->mutations[i].id))) {
            buf_reset(&text);
            buf_printf(&text, "mutation %s began while the table was read", last->mutations[i].id);
            add_unstable(u, BECAUSE(CODE_MUTATION_RUNNING, {"mutation", last->mutations[i].id}), buf_str(&text));
        }
    map_free(&before);
    buf_reset(&text);
    if (!chread_same(first, last, &text)) {
        msg_mask(&shown, text.p, text.len);
        add_unstable(u, BECAUSE(CODE_DEFINITION_CHANGED), buf_str(&shown));
    }
    find_replica(c, first, last, u);
    buf_free(&text);
    buf_free(&shown);
}

void chread_unstable_free(struct chread_unstable *u)
{
    for (size_t i = 0; i < u->n; i++)
        free(u->why[i]);
    free(u->why);
    buf_free(&u->reason);
}

/* Other engines' arguments may be a remote user's. */
static bool shows_definition(const char *engine)
{
    struct engine named;
    size_t n = strlen(engine);
    engine_named(engine, &named);
    return (n >= 9 && strcmp(engine + n - 9, "MergeTree") == 0) || named.kind == ENGINE_MERGE;
}

static const struct observed_under *tables_of(const struct chread_table *t, struct arena *arena)
{
    struct observed_under *u = arena_alloc(arena, (t->n_under + 1) * sizeof *u);
    for (size_t i = 0; i < t->n_under; i++) {
        const struct chread_table *of = &t->under[i].look;
        bool shown = shows_definition(of->engine);
        u[i] = (struct observed_under){.table = t->under[i].name,
                                       .table_uuid = of->table_uuid,
                                       .engine = of->engine,
                                       .engine_full = shown ? of->engine_full : "",
                                       .create_table_query = shown ? of->create_table_query : "",
                                       .partition_key = of->partition_key,
                                       .sorting_key = of->sorting_key};
    }
    return u;
}

/* ---- a table line ---- */

static void put_columns(struct json_w *w, const struct chread_table *t)
{
    jw_arr(w, "columns");
    for (size_t i = 0; i < t->n_columns; i++) {
        jw_obj(w, NULL);
        jw_shown(w, "name", t->columns[i].name);
        jw_shown(w, "type", t->columns[i].type);
        jw_shown(w, "kind", t->columns[i].kind);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_definition(struct json_w *w, const struct chread_table *t)
{
    jw_shown(w, "engine", t->engine);
    if (shows_definition(t->engine)) {
        jw_redacted(w, "engine_full", t->engine_full);
        jw_redacted(w, "create_table_query", t->create_table_query);
    }
    jw_shown(w, "partition_key", t->partition_key);
    jw_shown(w, "sorting_key", t->sorting_key);
    jw_shown(w, "dedup_window", t->dedup_window);
    if (t->n_under > 0) {
        struct arena arena = ARENA_INIT;
        observed_tables_put(w, tables_of(t, &arena), t->n_under);
        arena_free(&arena);
    }
}

void chread_describe(struct buf *out, const struct chread *c, const struct chread_expect *e,
                     const struct chread_table *t, const struct chread_why *unfit)
{
    struct buf members = BUF_INIT;
    struct json_w w;
    jw_init(&w, &members);
    jw_obj(&w, NULL);
    jw_shown(&w, "endpoint", http_endpoint(c->http));
    jw_shown(&w, "server_uuid", t->server_uuid);
    jw_shown(&w, "server_version", t->server_version);
    jw_shown(&w, "database", e->database);
    jw_shown(&w, "table", e->table);
    jw_shown(&w, "table_uuid", t->table_uuid);
    put_definition(&w, t);
    put_columns(&w, t);
    if (t->replica.shown) {
        jw_obj(&w, "replica");
        jw_shown(&w, "path", t->replica.path);
        jw_shown(&w, "name", t->replica.name);
        jw_end_obj(&w);
    }
    jw_shown(&w, "unfit", unfit ? unfit->reason : NULL);
    jw_shown(&w, "unfit_code", unfit ? code_word(unfit->cause.code) : NULL);
    jw_end_obj(&w);
    buf_addc(out, ',');
    buf_add(out, members.p + 1, members.len - 2);
    buf_free(&members);
}

/* ---- the observation ---- */

static void copy_lists(const struct chread *c, const struct chread_table *columns, const struct chread_table *mutations,
                       struct arena *arena, struct observation *o)
{
    struct observed_column *column = arena_alloc(arena, (columns->n_columns + 1) * sizeof *column);
    struct observed_mutation *mutation = arena_alloc(arena, (mutations->n_mutations + 1) * sizeof *mutation);
    struct observed_setting *setting = arena_alloc(arena, (c->n_settings + 3) * sizeof *setting);
    char *created = arena_alloc(arena, (mutations->n_mutations + 1) * 32), *max = arena_alloc(arena, 24),
         *size = arena_alloc(arena, 24);
    for (size_t i = 0; i < columns->n_columns; i++)
        column[i] = (struct observed_column){columns->columns[i].name, columns->columns[i].type};
    for (size_t i = 0; i < mutations->n_mutations; i++) {
        const struct chread_mutation *m = &mutations->mutations[i];
        time_iso_ms(m->created_ms, created + 32 * i);
        mutation[i] = (struct observed_mutation){m->id, m->command, created + 32 * i, m->done};
    }
    setting[0] = (struct observed_setting){"wait_end_of_query", "1"}; /* with every statement, by http */
    for (size_t i = 0; i < c->n_settings; i++)
        setting[i + 1] = (struct observed_setting){c->settings[i].name, c->settings[i].value};
    setting[c->n_settings + 1] = (struct observed_setting){"max_result_rows", fact_number(max, c->o->max_rows)};
    if (c->raised > 0) /* with the statements that need it */
        setting[c->n_settings + 2] = (struct observed_setting){"max_query_size", fact_number(size, c->raised)};
    o->columns = column;
    o->n_columns = columns->n_columns;
    o->mutations = mutation;
    o->n_mutations = mutations->n_mutations;
    o->settings = setting;
    o->n_settings = c->n_settings + 2 + (c->raised > 0);
}

static void copy_reads(const struct chread *c, const struct chread_reads *r, struct arena *arena, struct observation *o)
{
    struct observed_read *read = arena_alloc(arena, (r->n + 1) * sizeof *read);
    for (unsigned i = 0; i < r->n; i++)
        read[i] = (struct observed_read){i + 1,       r->rows[i],   r->queries[i],
                                         r->bytes[i], r->ranges[i], r->passed_over[i]};
    o->reads = read;
    o->n_reads = r->n;
    o->keys = r->keys;
    o->unfit_keys = r->unfit;
    o->table_whole = r->table_whole;
    o->max_table_rows = c->o->max_table_rows;
    o->parts_before = r->parts[0];
    o->parts_after = r->parts[1];
    o->parts_same = r->parts_same;
    o->undetermined_keys = r->undetermined;
    o->unpaired = r->unpaired;
}

static void copy_expiry(const struct chread_table *t, const struct chread_reads *r, struct arena *arena,
                        struct observation *o)
{
    struct ttl ttl;
    struct buf text = BUF_INIT;
    chread_ttl(t, arena, &ttl);
    if (ttl.kind != TTL_DELETES)
        return;
    ttl_say(&ttl, &text);
    o->ttl = arena_strndup(arena, text.p, text.len);
    o->expired_rows = r->expired.rows;
    o->expired_keys = r->expired.keys;
    o->expired_mixed = r->expired.mixed;
    o->expired_ignored = r->expired_ignored;
    buf_free(&text);
}

void chread_observe(struct stream_out *out, const struct chread *c, const struct chread_expect *e,
                    const struct chread_table *first, const struct chread_table *last, const struct chread_reads *reads,
                    const struct chread_unstable *u, bool stable)
{
    struct arena arena = ARENA_INIT;
    bool shown = shows_definition(first->engine);
    const struct chread_options *o = c->o;
    struct observation seen = {
        .endpoint = http_endpoint(c->http),
        .user = o->http.user,
        .server_uuid = first->server_uuid,
        .server_version = first->server_version,
        .line_tested = http_line_tested(first->server_version),
        .server_host = first->server_host,
        .timezone = first->timezone,
        .database = e->database,
        .table = e->table,
        .table_uuid = first->table_uuid,
        .engine = first->engine,
        .engine_full = shown ? first->engine_full : NULL,
        .create_table_query = shown ? first->create_table_query : NULL,
        .final = e->final != NULL,
        .partition_key = first->partition_key,
        .sorting_key = first->sorting_key,
        .dedup_window = first->dedup_window,
        .tables = tables_of(first, &arena),
        .n_tables = first->n_under,
        .format = chread_format_word(o->format),
        .query_timeout_ms = o->http.timeout_ms,
        .max_rows_per_query = o->max_rows,
        .keys_per_query = o->keys_per_query,
        .settle_ms = o->settle_ms,
        .started = {true, first->client_ms, first->server_ms},
        .finished = {last != NULL, last ? last->client_ms : 0, last ? last->server_ms : 0},
        .has_replica = chread_replicated(first) && first->replica.shown,
        .stable = stable,
        .unstable = u->why,
        .n_unstable = u->n,
    };
    if (seen.has_replica)
        seen.replica = chread_replica(c, first, last);
    copy_lists(c, first, last ? last : first, &arena, &seen);
    copy_reads(c, reads, &arena, &seen);
    copy_expiry(first, reads, &arena, &seen);
    stream_put_observation(out, &seen);
    arena_free(&arena);
}
