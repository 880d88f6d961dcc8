/* SPDX-License-Identifier: Apache-2.0 */
/* The scope document, written and compared: its fingerprint, and the first field in which two differ. */
#include "scope/scope.h"

#include <stdlib.h>
#include <string.h>

void scope_fingerprint(const struct json *doc, char out[SHA256_HEX + 1])
{
    struct buf text = BUF_INIT;
    json_canonical_without(&text, doc, "scope_sha256");
    sha256_of(text.p, text.len, out);
    buf_free(&text);
}

static void ids_put(struct json_w *w, const char *name, const uint64_t *at, size_t n)
{
    jw_arr(w, name);
    for (size_t i = 0; i < n; i++)
        jw_u64(w, NULL, at[i]);
    jw_end_arr(w);
}

static void source_put(struct json_w *w, const struct scope_source *s)
{
    jw_obj(w, NULL);
    jw_str(w, "operator", s->operator_id);
    jw_str(w, "topic", s->topic);
    jw_str(w, "cluster_id", s->cluster_id);
    jw_str(w, "topic_id", s->topic_id);
    jw_str(w, "isolation", s->isolation);
    jw_arr(w, "partitions");
    for (size_t i = 0; i < s->n_partitions; i++) {
        jw_obj(w, NULL);
        jw_u64(w, "partition", s->partitions[i].partition);
        if (s->partitions[i].has_from)
            jw_i64(w, "from", s->partitions[i].from);
        else
            jw_null(w, "from");
        jw_i64(w, "to", s->partitions[i].to);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_end_obj(w);
}

static void sink_put(struct json_w *w, const struct scope *s)
{
    jw_obj(w, "sink");
    jw_str(w, "operator", s->sink);
    jw_arr(w, "attempts");
    for (size_t i = 0; i < s->n_attempts; i++)
        jw_str(w, NULL, s->attempts[i]);
    jw_end_arr(w);
    ids_put(w, "subtasks", s->subtasks, s->n_subtasks);
    jw_end_obj(w);
}

static void who_put(struct json_w *w, const struct scope *s)
{
    jw_str(w, "format", SCOPE_FORMAT);
    jw_u64(w, "version", SCOPE_VERSION);
    jw_str(w, "origin", scope_origin(s));
    jw_str(w, "job", s->job);
    jw_str(w, "job_graph_sha256", s->job_graph_sha256);
    if (s->declared)
        jw_null(w, "sink");
    else
        sink_put(w, s);
    jw_obj(w, "destination");
    jw_str(w, "server_uuid", s->server_uuid);
    jw_str(w, "server_version", s->server_version);
    jw_str(w, "database", s->database);
    jw_str(w, "table", s->table);
    jw_str(w, "table_uuid", s->table_uuid);
    jw_end_obj(w);
}

static void u64_or_null(struct json_w *w, const char *name, bool has, uint64_t v)
{
    if (has)
        jw_u64(w, name, v);
    else
        jw_null(w, name);
}

/* Everything but the fingerprint; the object is left open. */
static void body_put(struct json_w *w, const struct scope *s)
{
    struct buf columns = BUF_INIT;
    who_put(w, s);
    u64_or_null(w, "checkpoint", !s->declared, s->checkpoint);
    u64_or_null(w, "since", !s->declared, s->since);
    jw_str(w, "start", scope_start_name(s->start));
    u64_or_null(w, "restored_from", s->has_restored_from, s->restored_from);
    jw_bool(w, "from_run_start", s->from_run_start);
    ids_put(w, "epochs", s->epochs, s->n_epochs);
    jw_arr(w, "sources");
    for (size_t i = 0; i < s->n_sources; i++)
        source_put(w, &s->sources[i]);
    jw_end_arr(w);
    columns_write(&s->columns, &columns);
    jw_raw(w, "columns", columns.p, columns.len);
    jw_str(w, "cells", "clink-canonical-cells-v1");
    jw_str(w, "coverage", scope_coverage(s));
    if (s->repeats)
        jw_bool(w, "repeats", true);
    buf_free(&columns);
}

void scope_put(struct buf *out, struct scope *s)
{
    struct buf bare = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct json_w w;
    jw_init(&w, &bare);
    jw_obj(&w, NULL);
    body_put(&w, s);
    jw_end_obj(&w);
    const struct json *doc = json_parse(bare.p, bare.len, &a, NULL);
    if (doc)
        scope_fingerprint(doc, s->sha256);
    buf_add(out, bare.p, bare.len - 1);
    buf_printf(out, ",\"scope_sha256\":\"%s\"}", s->sha256);
    buf_free(&bare);
    arena_free(&a);
}

/* ---- binding ---- */

static void value_put(struct buf *out, const struct json *v)
{
    struct buf text = BUF_INIT;
    if (!v) {
        buf_adds(out, "nothing");
        return;
    }
    json_canonical(&text, v);
    if (text.len > 200) {
        buf_add(out, text.p, 200);
        buf_adds(out, "…");
    } else {
        buf_add(out, text.p, text.len);
    }
    buf_free(&text);
}

static bool same_value(const struct json *a, const struct json *b)
{
    struct buf x = BUF_INIT, y = BUF_INIT;
    if (a && b) {
        json_canonical(&x, a);
        json_canonical(&y, b);
    }
    bool same = a && b && x.len == y.len && memcmp(x.p, y.p, x.len) == 0;
    buf_free(&x);
    buf_free(&y);
    return same || (!a && !b);
}

static bool differs_at(const struct json *a, const struct json *b, struct buf *path, struct buf *where);

static bool member_differs(const struct json *m, const struct json *a, const struct json *b, struct buf *path,
                           struct buf *where)
{
    size_t at = path->len;
    if (at > 0)
        buf_addc(path, '.');
    buf_add(path, m->str, m->len);
    bool found = differs_at(a, b, path, where);
    path->len = at;
    return found;
}

static const struct json *member_of(const struct json *obj, const struct json *name)
{
    for (const struct json *m = json_first(obj); m; m = json_next(obj, m))
        if (m->len == name->len && memcmp(m->str, name->str, name->len) == 0)
            return json_value(m);
    return NULL;
}

static bool object_differs(const struct json *a, const struct json *b, struct buf *path, struct buf *where)
{
    for (const struct json *m = json_first(a); m; m = json_next(a, m))
        if (member_differs(m, json_value(m), member_of(b, m), path, where))
            return true;
    for (const struct json *m = json_first(b); m; m = json_next(b, m))
        if (!member_of(a, m) && member_differs(m, NULL, json_value(m), path, where))
            return true;
    return false;
}

static bool array_differs(const struct json *a, const struct json *b, struct buf *path, struct buf *where)
{
    const struct json *x = json_first(a), *y = json_first(b);
    for (size_t i = 0; x || y; i++) {
        size_t at = path->len;
        buf_printf(path, "[%zu]", i);
        bool found = differs_at(x, y, path, where);
        path->len = at;
        if (found)
            return true;
        x = x ? json_next(a, x) : NULL;
        y = y ? json_next(b, y) : NULL;
    }
    return false;
}

static bool differs_at(const struct json *a, const struct json *b, struct buf *path, struct buf *where)
{
    if (a && b && a->type == b->type && a->type == JSON_OBJECT)
        return object_differs(a, b, path, where);
    if (a && b && a->type == b->type && a->type == JSON_ARRAY)
        return array_differs(a, b, path, where);
    if (same_value(a, b))
        return false;
    buf_add(where, path->p ? path->p : "", path->len);
    buf_adds(where, ": ");
    value_put(where, a);
    buf_adds(where, " here, ");
    value_put(where, b);
    buf_adds(where, " there");
    buf_str(where);
    return true;
}

bool scope_differs(const struct json *here, const struct json *there, struct buf *where)
{
    struct buf path = BUF_INIT;
    bool found = differs_at(here, there, &path, where);
    buf_free(&path);
    return found;
}
