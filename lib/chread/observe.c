/* SPDX-License-Identifier: Apache-2.0 */
/* What was observed, for the report: whether the table stood still, and the observation line's members. */
#include <string.h>

#include "base/hash.h"
#include "chread/chread.h"
#include "json/json.h"

static void add_unstable(struct chread_unstable *u, const struct cause *cause, const char *what)
{
    buf_adds(&u->list, u->list.len > 0 ? "," : "");
    json_put_s(&u->list, what);
    buf_printf(&u->reason, "%s%s", u->reason.len > 0 ? "; " : "", what);
    if (u->cause.code == CODE_NONE)
        u->cause = *cause;
}

void chread_find_unstable(const struct chread_table *first, const struct chread_table *last, struct chread_unstable *u)
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
    buf_free(&text);
    buf_free(&shown);
}

static void put_text(struct json_w *w, const char *name, const char *s)
{
    struct buf b = BUF_INIT;
    if (s && !utf8_valid(s, strlen(s))) {
        msg_mask(&b, s, strlen(s));
        s = buf_str(&b);
    }
    jw_str(w, name, s);
    buf_free(&b);
}

static void put_columns(struct json_w *w, const struct chread_table *t, bool kinds)
{
    jw_arr(w, "columns");
    for (size_t i = 0; i < t->n_columns; i++) {
        jw_obj(w, NULL);
        put_text(w, "name", t->columns[i].name);
        put_text(w, "type", t->columns[i].type);
        if (kinds)
            put_text(w, "kind", t->columns[i].kind);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_definition(struct json_w *w, const struct chread_table *t)
{
    size_t n = strlen(t->engine);
    put_text(w, "engine", t->engine);
    /* Other engines' arguments may be a remote user's. */
    if (n >= 9 && strcmp(t->engine + n - 9, "MergeTree") == 0) {
        put_text(w, "engine_full", t->engine_full);
        put_text(w, "create_table_query", t->create_table_query);
    }
    put_text(w, "partition_key", t->partition_key);
    put_text(w, "sorting_key", t->sorting_key);
    put_text(w, "dedup_window", t->dedup_window);
}

static void put_mutations(struct json_w *w, const struct chread_table *t)
{
    jw_arr(w, "mutations");
    for (size_t i = 0; i < t->n_mutations; i++) {
        char created[32];
        time_iso_ms(t->mutations[i].created_ms, created);
        jw_obj(w, NULL);
        put_text(w, "id", t->mutations[i].id);
        put_text(w, "command", t->mutations[i].command);
        jw_str(w, "created", created);
        jw_bool(w, "done", t->mutations[i].done);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_clocks(struct json_w *w, const char *name, const struct chread_table *t)
{
    jw_obj(w, name);
    jw_i64(w, "client_ms", t->client_ms);
    jw_i64(w, "server_ms", t->server_ms);
    jw_end_obj(w);
}

static void put_reads(struct json_w *w, const struct chread_reads *r)
{
    jw_arr(w, "reads");
    for (unsigned i = 0; i < r->n; i++) {
        jw_obj(w, NULL);
        jw_u64(w, "read", i + 1);
        jw_u64(w, "rows", r->rows[i]);
        jw_u64(w, "queries", r->queries[i]);
        jw_u64(w, "bytes", r->bytes[i]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_u64(w, "keys", r->keys);
    jw_u64(w, "unfit_keys", r->unfit);
}

static void put_whole(struct json_w *w, const struct chread *c, const struct chread_reads *r)
{
    if (!r->table_whole)
        return;
    jw_bool(w, "table_whole", true);
    jw_u64(w, "max_table_rows", c->o->max_table_rows);
    jw_obj(w, "parts");
    jw_u64(w, "before", r->parts[0]);
    jw_u64(w, "after", r->parts[1]);
    jw_bool(w, "same", r->parts_same);
    jw_end_obj(w);
}

static void put_request(struct json_w *w, const struct chread *c)
{
    const struct chread_options *o = c->o;
    jw_obj(w, "settings");
    put_text(w, "wait_end_of_query", "1"); /* with every statement, by http */
    for (size_t i = 0; i < c->n_settings; i++)
        put_text(w, c->settings[i].name, c->settings[i].value);
    jw_u64(w, "max_result_rows", o->max_rows);
    jw_end_obj(w);
    jw_str(w, "format", o->format == CHREAD_NATIVE ? "native" : "rowbinary");
    jw_obj(w, "bounds");
    jw_u64(w, "query_timeout_ms", o->http.timeout_ms);
    jw_u64(w, "max_rows_per_query", o->max_rows);
    jw_u64(w, "keys_per_query", o->keys_per_query);
    jw_u64(w, "settle_ms", o->settle_ms);
    jw_end_obj(w);
}

static void put_identity(struct json_w *w, const struct chread *c, const struct chread_expect *e,
                         const struct chread_table *t)
{
    bool tested = false;
    put_text(w, "endpoint", http_endpoint(c->http));
    put_text(w, "user", c->o->http.user);
    put_text(w, "server_uuid", t->server_uuid);
    put_text(w, "server_version", t->server_version);
    jw_bool(w, "line_tested", chread_line_supported(t->server_version, &tested) && tested);
    put_text(w, "server_host", t->server_host);
    put_text(w, "timezone", t->timezone);
    put_text(w, "database", e->database);
    put_text(w, "table", e->table);
    put_text(w, "table_uuid", t->table_uuid);
}

void chread_describe(struct buf *out, const struct chread *c, const struct chread_expect *e,
                     const struct chread_table *t, const char *unfit)
{
    struct buf members = BUF_INIT;
    struct json_w w;
    jw_init(&w, &members);
    jw_obj(&w, NULL);
    put_text(&w, "endpoint", http_endpoint(c->http));
    put_text(&w, "server_uuid", t->server_uuid);
    put_text(&w, "server_version", t->server_version);
    put_text(&w, "database", e->database);
    put_text(&w, "table", e->table);
    put_text(&w, "table_uuid", t->table_uuid);
    put_definition(&w, t);
    put_columns(&w, t, true);
    put_text(&w, "unfit", unfit);
    jw_end_obj(&w);
    buf_addc(out, ',');
    buf_add(out, members.p + 1, members.len - 2);
    buf_free(&members);
}

void chread_observe(struct buf *out, const struct chread *c, const struct chread_expect *e,
                    const struct chread_table *first, const struct chread_table *last, const struct chread_reads *reads,
                    const struct chread_unstable *u, bool stable)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    put_identity(&w, c, e, first);
    put_definition(&w, first);
    put_columns(&w, first, false);
    put_request(&w, c);
    put_mutations(&w, last ? last : first);
    put_clocks(&w, "started", first);
    if (last)
        put_clocks(&w, "finished", last);
    put_reads(&w, reads);
    put_whole(&w, c, reads);
    jw_bool(&w, "stable", stable);
    jw_arr(&w, "unstable");
    buf_add(out, u->list.p, u->list.len);
    jw_end_arr(&w);
    jw_end_obj(&w);
}
