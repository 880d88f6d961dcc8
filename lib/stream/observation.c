/* SPDX-License-Identifier: Apache-2.0 */
/* The observation line, read and written. */
#include "stream/observation.h"

#include "json/redact.h"
#include "stream/stream.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char here[] = "observation";

/* ---- members, each once for its reader and its writer, in the order in which they are written ---- */

enum kind { TEXT, OPTIONAL, QUERY, TRUTH, NUMBER, TABLES, COLUMNS, SETTINGS, BOUNDS, MUTATIONS, CLOCKS, READS };

struct member {
    const char *name;
    enum kind
        kind; /* a TEXT that is NULL is written as null, an OPTIONAL left out; a QUERY is one without credentials */
    size_t at;
};

#define OF(member, kind) \
    { \
#member, kind, offsetof(struct observation, member) \
    }

static const struct member members[] = {
    OF(endpoint, TEXT),
    OF(user, TEXT),
    OF(server_uuid, TEXT),
    OF(server_version, TEXT),
    OF(line_tested, TRUTH),
    OF(server_host, TEXT),
    OF(timezone, TEXT),
    OF(database, TEXT),
    OF(table, TEXT),
    OF(table_uuid, TEXT),
    OF(engine, TEXT),
    OF(engine_full, QUERY),
    OF(create_table_query, QUERY),
    OF(partition_key, TEXT),
    OF(sorting_key, TEXT),
    OF(dedup_window, TEXT),
    OF(tables, TABLES),
    OF(columns, COLUMNS),
    OF(settings, SETTINGS),
    OF(format, TEXT),
    {"bounds", BOUNDS, 0},
    OF(mutations, MUTATIONS),
    OF(started, CLOCKS),
    OF(finished, CLOCKS),
    OF(reads, READS),
    OF(keys, NUMBER),
    OF(unfit_keys, NUMBER),
};

static const struct {
    const char *name;
    size_t at;
} bounds[] = {
    {"query_timeout_ms", offsetof(struct observation, query_timeout_ms)},
    {"max_rows_per_query", offsetof(struct observation, max_rows_per_query)},
    {"keys_per_query", offsetof(struct observation, keys_per_query)},
    {"settle_ms", offsetof(struct observation, settle_ms)},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

bool observed_deletes(const struct observed_mutation *m)
{
    const char *command = m->command ? m->command + strspn(m->command, "( ") : "";
    return strncasecmp(command, "DELETE", 6) == 0 || strstr(command, "_row_exists");
}

/* ---- reading ---- */

/* The array doc.name, or one of no items where it is not given. */
static int list_parse(const struct json *doc, const char *name, const struct json **list, size_t *n, struct err *err)
{
    struct json *v;
    *n = 0;
    if (!json_get(doc, name))
        return 0;
    if (json_need(doc, name, JSON_ARRAY, &v, here, err) != 0)
        return -1;
    *list = v;
    *n = v->len;
    return 0;
}

static int tables_parse(const struct json *doc, struct arena *arena, struct observation *o, struct err *err)
{
    static const char where[] = "observation.tables";
    const struct json *list = NULL;
    if (list_parse(doc, "tables", &list, &o->n_tables, err) != 0)
        return -1;
    struct observed_under *u = arena_zalloc(arena, (o->n_tables + 1) * sizeof *u);
    o->tables = u;
    const struct json *v = json_first(list);
    for (size_t i = 0; i < o->n_tables; i++, v = json_next(list, v))
        if (json_need_str(v, "table", arena, &u[i].table, where, err) != 0 ||
            json_need_str(v, "table_uuid", arena, &u[i].table_uuid, where, err) != 0 ||
            json_need_str(v, "engine", arena, &u[i].engine, where, err) != 0 ||
            json_need_str(v, "engine_full", arena, &u[i].engine_full, where, err) != 0 ||
            json_need_str(v, "create_table_query", arena, &u[i].create_table_query, where, err) != 0 ||
            json_opt_str(v, "partition_key", arena, &u[i].partition_key, where, err) != 0 ||
            json_opt_str(v, "sorting_key", arena, &u[i].sorting_key, where, err) != 0)
            return -1;
    return 0;
}

static int columns_parse(const struct json *doc, struct arena *arena, struct observation *o, struct err *err)
{
    const struct json *list = NULL;
    if (list_parse(doc, "columns", &list, &o->n_columns, err) != 0)
        return -1;
    struct observed_column *c = arena_zalloc(arena, (o->n_columns + 1) * sizeof *c);
    o->columns = c;
    const struct json *v = json_first(list);
    for (size_t i = 0; i < o->n_columns; i++, v = json_next(list, v))
        if (json_need_str(v, "name", arena, &c[i].name, "observation.columns", err) != 0 ||
            json_need_str(v, "type", arena, &c[i].type, "observation.columns", err) != 0)
            return -1;
    return 0;
}

static int settings_parse(const struct json *doc, struct arena *arena, struct observation *o, struct err *err)
{
    struct json *all;
    if (!json_get(doc, "settings"))
        return 0;
    if (json_need(doc, "settings", JSON_OBJECT, &all, here, err) != 0)
        return -1;
    struct observed_setting *s = arena_zalloc(arena, (all->len + 1) * sizeof *s);
    o->settings = s;
    o->n_settings = all->len;
    const struct json *m = json_first(all);
    for (size_t i = 0; i < all->len; i++, m = json_next(all, m)) {
        const struct json *v = json_value(m);
        if ((v->type != JSON_STRING && v->type != JSON_NUMBER) || memchr(v->str, '\0', v->len) ||
            memchr(m->str, '\0', m->len))
            return err_set(err, ERR_REFUSED, "observation.settings[%zu]: no text and no number", i);
        s[i].name = arena_strndup(arena, m->str, m->len);
        s[i].value = arena_strndup(arena, v->str, v->len);
    }
    return 0;
}

static int bounds_parse(const struct json *doc, struct observation *o, struct err *err)
{
    struct json *of;
    if (!json_get(doc, "bounds"))
        return 0;
    if (json_need(doc, "bounds", JSON_OBJECT, &of, here, err) != 0)
        return -1;
    for (size_t i = 0; i < COUNT(bounds); i++) {
        uint64_t *to = (uint64_t *)(void *)((char *)o + bounds[i].at);
        if (json_opt_u64(of, bounds[i].name, to, "observation.bounds", err) != 0)
            return -1;
    }
    return 0;
}

static int mutations_parse(const struct json *doc, struct arena *arena, struct observation *o, struct err *err)
{
    static const char where[] = "observation.mutations";
    const struct json *list = NULL;
    if (list_parse(doc, "mutations", &list, &o->n_mutations, err) != 0)
        return -1;
    struct observed_mutation *m = arena_zalloc(arena, (o->n_mutations + 1) * sizeof *m);
    o->mutations = m;
    const struct json *v = json_first(list);
    for (size_t i = 0; i < o->n_mutations; i++, v = json_next(list, v))
        if (json_need_str(v, "id", arena, &m[i].id, where, err) != 0 ||
            json_opt_str(v, "command", arena, &m[i].command, where, err) != 0 ||
            json_opt_str(v, "created", arena, &m[i].created, where, err) != 0 ||
            json_need_bool(v, "done", &m[i].done, where, err) != 0)
            return -1;
    return 0;
}

static int clocks_parse(const struct json *doc, const char *name, struct observed_clocks *out, struct err *err)
{
    struct json *of;
    out->has = json_get(doc, name) != NULL;
    if (!out->has)
        return 0;
    if (json_need(doc, name, JSON_OBJECT, &of, here, err) != 0)
        return -1;
    return json_need_i64(of, "client_ms", &out->client_ms, name, err) == 0
               ? json_need_i64(of, "server_ms", &out->server_ms, name, err)
               : -1;
}

static int reads_parse(const struct json *doc, struct arena *arena, struct observation *o, struct err *err)
{
    static const char where[] = "observation.reads";
    const struct json *list = NULL;
    if (list_parse(doc, "reads", &list, &o->n_reads, err) != 0)
        return -1;
    struct observed_read *r = arena_zalloc(arena, (o->n_reads + 1) * sizeof *r);
    o->reads = r;
    const struct json *v = json_first(list);
    for (size_t i = 0; i < o->n_reads; i++, v = json_next(list, v))
        if (json_need_u64(v, "read", &r[i].read, where, err) != 0 ||
            json_need_u64(v, "rows", &r[i].rows, where, err) != 0 ||
            json_need_u64(v, "queries", &r[i].queries, where, err) != 0 ||
            json_need_u64(v, "bytes", &r[i].bytes, where, err) != 0 ||
            json_opt_u64(v, "ranges", &r[i].ranges, where, err) != 0 ||
            json_opt_u64(v, "passed_over", &r[i].passed_over, where, err) != 0)
            return -1;
    return 0;
}

static int member_parse(const struct json *doc, const struct member *m, struct arena *arena, struct observation *o,
                        struct err *err)
{
    void *to = (char *)o + m->at;
    switch (m->kind) {
    case TEXT:
    case OPTIONAL:
    case QUERY: return json_opt_str(doc, m->name, arena, (const char **)to, here, err);
    case TRUTH: return json_opt_bool(doc, m->name, (bool *)to, here, err);
    case NUMBER: return json_opt_u64(doc, m->name, (uint64_t *)to, here, err);
    case TABLES: return tables_parse(doc, arena, o, err);
    case COLUMNS: return columns_parse(doc, arena, o, err);
    case SETTINGS: return settings_parse(doc, arena, o, err);
    case BOUNDS: return bounds_parse(doc, o, err);
    case MUTATIONS: return mutations_parse(doc, arena, o, err);
    case CLOCKS: return clocks_parse(doc, m->name, to, err);
    case READS: return reads_parse(doc, arena, o, err);
    }
    return -1;
}

static int whole_parse(const struct json *doc, struct observation *o, struct err *err)
{
    struct json *parts;
    o->has_max_table_rows = json_get(doc, "max_table_rows") != NULL;
    o->has_parts = json_get(doc, "parts") != NULL;
    if (json_opt_bool(doc, "table_whole", &o->table_whole, here, err) != 0 ||
        (o->has_max_table_rows && json_need_u64(doc, "max_table_rows", &o->max_table_rows, here, err) != 0))
        return -1;
    if (!o->has_parts)
        return 0;
    if (json_need(doc, "parts", JSON_OBJECT, &parts, here, err) != 0 ||
        json_need_u64(parts, "before", &o->parts_before, "observation.parts", err) != 0 ||
        json_need_u64(parts, "after", &o->parts_after, "observation.parts", err) != 0)
        return -1;
    return json_need_bool(parts, "same", &o->parts_same, "observation.parts", err);
}

static int final_parse(const struct json *doc, struct observation *o, struct err *err)
{
    struct json *of;
    o->final = json_get(doc, "final") != NULL;
    if (!o->final)
        return 0;
    if (json_need(doc, "final", JSON_OBJECT, &of, here, err) != 0 ||
        json_need_u64(of, "undetermined_keys", &o->undetermined_keys, "observation.final", err) != 0)
        return -1;
    return json_need_u64(of, "unpaired", &o->unpaired, "observation.final", err);
}

static int expiry_parse(const struct json *doc, struct arena *arena, struct observation *o, struct err *err)
{
    static const char where[] = "observation.expiry";
    struct json *of;
    if (!json_get(doc, "expiry"))
        return 0;
    if (json_need(doc, "expiry", JSON_OBJECT, &of, here, err) != 0 ||
        json_need_str(of, "ttl", arena, &o->ttl, where, err) != 0 ||
        json_need_u64(of, "rows", &o->expired_rows, where, err) != 0 ||
        json_need_u64(of, "keys", &o->expired_keys, where, err) != 0 ||
        json_need_u64(of, "mixed_keys", &o->expired_mixed, where, err) != 0)
        return -1;
    return json_need_bool(of, "ignored", &o->expired_ignored, where, err);
}

static int stable_parse(const struct json *doc, struct arena *arena, struct observation *o, struct err *err)
{
    const struct json *list = NULL;
    if (json_need_bool(doc, "stable", &o->stable, here, err) != 0 ||
        list_parse(doc, "unstable", &list, &o->n_unstable, err) != 0)
        return -1;
    char **why = arena_zalloc(arena, (o->n_unstable + 1) * sizeof *why);
    o->unstable = why;
    const struct json *v = json_first(list);
    for (size_t i = 0; i < o->n_unstable; i++, v = json_next(list, v)) {
        if (v->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "observation.unstable[%zu]: not a string", i);
        why[i] = arena_strndup(arena, v->str, v->len);
    }
    return 0;
}

int stream_observation(const struct stream_line *line, struct arena *arena, struct observation *out, struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err);
    *out = (struct observation){.line_no = line->line_no};
    if (!doc)
        return -1;
    for (size_t i = 0; i < COUNT(members); i++)
        if (member_parse(doc, &members[i], arena, out, err) != 0)
            return stream_misfit(line, err);
    out->has_keys = json_get(doc, "keys") != NULL;
    if (whole_parse(doc, out, err) != 0 || final_parse(doc, out, err) != 0 || expiry_parse(doc, arena, out, err) != 0 ||
        replica_parse(doc, arena, &out->has_replica, &out->replica, err) != 0 ||
        stable_parse(doc, arena, out, err) != 0)
        return stream_misfit(line, err);
    return 0;
}

/* ---- writing ---- */

void observed_tables_put(struct json_w *w, const struct observed_under *tables, size_t n)
{
    jw_arr(w, "tables");
    for (const struct observed_under *u = tables; u < tables + n; u++) {
        jw_obj(w, NULL);
        jw_shown(w, "table", u->table);
        jw_shown(w, "table_uuid", u->table_uuid);
        jw_shown(w, "engine", u->engine);
        jw_redacted(w, "engine_full", u->engine_full);
        jw_redacted(w, "create_table_query", u->create_table_query);
        jw_shown(w, "partition_key", u->partition_key);
        jw_shown(w, "sorting_key", u->sorting_key);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void columns_put(struct json_w *w, const struct observation *o)
{
    jw_arr(w, "columns");
    for (size_t i = 0; i < o->n_columns; i++) {
        jw_obj(w, NULL);
        jw_shown(w, "name", o->columns[i].name);
        jw_shown(w, "type", o->columns[i].type);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void settings_put(struct json_w *w, const struct observation *o)
{
    jw_obj(w, "settings");
    for (size_t i = 0; i < o->n_settings; i++)
        jw_shown(w, o->settings[i].name, o->settings[i].value);
    jw_end_obj(w);
}

static void bounds_put(struct json_w *w, const struct observation *o)
{
    jw_obj(w, "bounds");
    for (size_t i = 0; i < COUNT(bounds); i++)
        jw_u64(w, bounds[i].name, *(const uint64_t *)(const void *)((const char *)o + bounds[i].at));
    jw_end_obj(w);
}

static void mutations_put(struct json_w *w, const struct observation *o)
{
    jw_arr(w, "mutations");
    for (size_t i = 0; i < o->n_mutations; i++) {
        jw_obj(w, NULL);
        jw_shown(w, "id", o->mutations[i].id);
        jw_redacted(w, "command", o->mutations[i].command);
        jw_str(w, "created", o->mutations[i].created);
        jw_bool(w, "done", o->mutations[i].done);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void clocks_put(struct json_w *w, const char *name, const struct observed_clocks *c)
{
    if (!c->has)
        return;
    jw_obj(w, name);
    jw_i64(w, "client_ms", c->client_ms);
    jw_i64(w, "server_ms", c->server_ms);
    jw_end_obj(w);
}

static void reads_put(struct json_w *w, const struct observation *o)
{
    jw_arr(w, "reads");
    for (size_t i = 0; i < o->n_reads; i++) {
        jw_obj(w, NULL);
        jw_u64(w, "read", o->reads[i].read);
        jw_u64(w, "rows", o->reads[i].rows);
        jw_u64(w, "queries", o->reads[i].queries);
        jw_u64(w, "bytes", o->reads[i].bytes);
        jw_u64(w, "ranges", o->reads[i].ranges);
        jw_u64(w, "passed_over", o->reads[i].passed_over);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void member_put(struct json_w *w, const struct member *m, const struct observation *o)
{
    const void *from = (const char *)o + m->at;
    switch (m->kind) {
    case TEXT: jw_shown(w, m->name, *(const char *const *)from); break;
    case OPTIONAL:
        if (*(const char *const *)from)
            jw_shown(w, m->name, *(const char *const *)from);
        break;
    case QUERY:
        if (*(const char *const *)from)
            jw_redacted(w, m->name, *(const char *const *)from);
        break;
    case TRUTH: jw_bool(w, m->name, *(const bool *)from); break;
    case NUMBER: jw_u64(w, m->name, *(const uint64_t *)from); break;
    case TABLES:
        if (o->n_tables > 0)
            observed_tables_put(w, o->tables, o->n_tables);
        break;
    case COLUMNS: columns_put(w, o); break;
    case SETTINGS: settings_put(w, o); break;
    case BOUNDS: bounds_put(w, o); break;
    case MUTATIONS: mutations_put(w, o); break;
    case CLOCKS: clocks_put(w, m->name, from); break;
    case READS: reads_put(w, o); break;
    }
}

static void whole_put(struct json_w *w, const struct observation *o)
{
    if (!o->table_whole)
        return;
    jw_bool(w, "table_whole", true);
    jw_u64(w, "max_table_rows", o->max_table_rows);
    jw_obj(w, "parts");
    jw_u64(w, "before", o->parts_before);
    jw_u64(w, "after", o->parts_after);
    jw_bool(w, "same", o->parts_same);
    jw_end_obj(w);
}

static void final_put(struct json_w *w, const struct observation *o)
{
    if (!o->final)
        return;
    jw_obj(w, "final");
    jw_u64(w, "undetermined_keys", o->undetermined_keys);
    jw_u64(w, "unpaired", o->unpaired);
    jw_end_obj(w);
}

static void expiry_put(struct json_w *w, const struct observation *o)
{
    if (!o->ttl)
        return;
    jw_obj(w, "expiry");
    jw_shown(w, "ttl", o->ttl);
    jw_u64(w, "rows", o->expired_rows);
    jw_u64(w, "keys", o->expired_keys);
    jw_u64(w, "mixed_keys", o->expired_mixed);
    jw_bool(w, "ignored", o->expired_ignored);
    jw_end_obj(w);
}

void stream_put_observation(struct stream_out *out, const struct observation *o)
{
    struct buf text = BUF_INIT;
    struct json_w w;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "type", line_type_name(LINE_OBSERVATION));
    for (size_t i = 0; i < COUNT(members); i++)
        member_put(&w, &members[i], o);
    whole_put(&w, o);
    final_put(&w, o);
    expiry_put(&w, o);
    if (o->has_replica)
        replica_put(&w, &o->replica);
    jw_bool(&w, "stable", o->stable);
    jw_arr(&w, "unstable");
    for (size_t i = 0; i < o->n_unstable; i++)
        jw_shown(&w, NULL, o->unstable[i]);
    jw_end_arr(&w);
    jw_end_obj(&w);
    stream_put(out, LINE_OBSERVATION, text.p, text.len);
    buf_free(&text);
}
