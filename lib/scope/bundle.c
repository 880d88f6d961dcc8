/* SPDX-License-Identifier: Apache-2.0 */
/* A bundle's part of the scope document. */
#include "scope/internal.h"

#include <string.h>

static const char where[] = "scope.bundle";
static const char *const start_names[] = {"checkpoint", "run", "restore"};
#define STARTS (sizeof start_names / sizeof *start_names)

/* ---- read ---- */

static int ids_parse(const struct json *obj, const char *name, const char *place, struct arena *a, uint64_t **out,
                     size_t *n, struct err *err)
{
    struct json *list;
    if (json_need(obj, name, JSON_ARRAY, &list, place, err) != 0)
        return -1;
    *out = arena_alloc(a, (list->len + 1) * sizeof **out);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        if (!json_u64(item, &(*out)[i]))
            return err_set(err, ERR_REFUSED, "%s.%s[%zu]: not a whole number", place, name, i);
        if (i > 0 && (*out)[i] <= (*out)[i - 1])
            return err_set(err, ERR_REFUSED, "%s.%s[%zu]: not ascending", place, name, i);
    }
    *n = list->len;
    return 0;
}

static int texts_parse(const struct json *obj, const char *name, const char *place, struct arena *a, const char ***out,
                       size_t *n, struct err *err)
{
    struct json *list;
    if (json_need(obj, name, JSON_ARRAY, &list, place, err) != 0)
        return -1;
    *out = arena_alloc(a, (list->len + 1) * sizeof **out);
    const struct json *v = json_first(list);
    for (size_t i = 0; i < list->len; i++, v = json_next(list, v)) {
        if (v->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "%s.%s[%zu]: not a string", place, name, i);
        (*out)[i] = arena_strndup(a, v->str, v->len);
    }
    *n = list->len;
    return 0;
}

static int sink_parse(const struct json *part, struct arena *a, struct scope_bundle *b, struct err *err)
{
    static const char at[] = "scope.bundle.sink";
    static const char *const known[] = {"operator", "attempts", "subtasks", NULL};
    struct json *sink;
    if (json_need(part, "sink", JSON_OBJECT, &sink, where, err) != 0 || json_only(sink, known, at, err) != 0 ||
        json_need_str(sink, "operator", a, &b->sink, at, err) != 0 ||
        texts_parse(sink, "attempts", at, a, &b->attempts, &b->n_attempts, err) != 0)
        return -1;
    return ids_parse(sink, "subtasks", at, a, &b->subtasks, &b->n_subtasks, err);
}

static int start_parse(const struct json *part, struct arena *a, struct scope_bundle *b, struct err *err)
{
    const char *start;
    size_t i = 0;
    const struct json *from = json_get(part, "restored_from");
    if (json_need_str(part, "start", a, &start, where, err) != 0)
        return -1;
    while (i < STARTS && strcmp(start_names[i], start) != 0)
        i++;
    if (i == STARTS)
        return err_set(err, ERR_REFUSED, "%s.start: '%.40s' is not known here", where, start);
    b->start = (enum scope_start)i;
    b->has_restored_from = from && from->type != JSON_NULL;
    if (b->has_restored_from && json_need_u64(part, "restored_from", &b->restored_from, where, err) != 0)
        return -1;
    if (b->start == SCOPE_FROM_RESTORE && !b->has_restored_from)
        return err_set(err, ERR_REFUSED, "%s.restored_from: missing, and the scope starts at a restore", where);
    return 0;
}

static int coverage_parse(const struct json *part, struct arena *a, struct scope_bundle *b, struct err *err)
{
    const char *coverage;
    if (json_need_str(part, "coverage", a, &coverage, where, err) != 0 ||
        json_opt_bool(part, "repeats", &b->repeats, where, err) != 0)
        return -1;
    b->complete_table = strcmp(coverage, "complete-table") == 0;
    if (!b->complete_table && strcmp(coverage, "selected-keys") != 0)
        return err_set(err, ERR_REFUSED, "%s.coverage: '%.40s' is not known here", where, coverage);
    if (b->complete_table && !b->from_run_start)
        return err_set(err, ERR_REFUSED, "%s.from_run_start: false, and the coverage is complete-table", where);
    return 0;
}

static int parse(const struct json *part, struct arena *a, struct scope *s, struct err *err)
{
    struct scope_bundle *b = &s->bundle;
    if (json_need_str(part, "job", a, &b->job, where, err) != 0 ||
        scope_id_parse(part, "job_graph_sha256", a, &b->job_graph_sha256, where, err) != 0 ||
        sink_parse(part, a, b, err) != 0 || json_need_u64(part, "checkpoint", &b->checkpoint, where, err) != 0 ||
        json_need_u64(part, "since", &b->since, where, err) != 0 || start_parse(part, a, b, err) != 0 ||
        json_need_bool(part, "from_run_start", &b->from_run_start, where, err) != 0 ||
        ids_parse(part, "epochs", where, a, &b->epochs, &b->n_epochs, err) != 0 ||
        texts_parse(part, "source_operators", where, a, &b->source_operators, &b->n_source_operators, err) != 0)
        return -1;
    return coverage_parse(part, a, b, err);
}

/* A bundle always has the ids of what it was written to, and of the cluster that it was read from. */
static int check(const struct scope *s, struct err *err)
{
    const struct {
        const char *name, *id;
    } ids[] = {{"server_uuid", s->server_uuid}, {"server_version", s->server_version}, {"table_uuid", s->table_uuid}};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (!ids[i].id)
            return err_set(err, ERR_REFUSED, "scope.destination.%s: null, and the scope is a bundle's", ids[i].name);
    for (size_t i = 0; i < s->n_sources; i++)
        if (!s->sources[i].cluster_id)
            return err_set(err, ERR_REFUSED, "scope.sources[%zu].cluster_id: null, and the scope is a bundle's", i);
    if (s->bundle.n_source_operators != s->n_sources)
        return err_set(err, ERR_REFUSED, "%s.source_operators: %zu of them, and %zu sources", where,
                       s->bundle.n_source_operators, s->n_sources);
    return 0;
}

/* ---- written ---- */

static void ids_put(struct json_w *w, const char *name, const uint64_t *at, size_t n)
{
    jw_arr(w, name);
    for (size_t i = 0; i < n; i++)
        jw_u64(w, NULL, at[i]);
    jw_end_arr(w);
}

static void texts_put(struct json_w *w, const char *name, const char *const *at, size_t n)
{
    jw_arr(w, name);
    for (size_t i = 0; i < n; i++)
        jw_str(w, NULL, at[i]);
    jw_end_arr(w);
}

static void put(struct json_w *w, const struct scope *s)
{
    const struct scope_bundle *b = &s->bundle;
    jw_str(w, "job", b->job);
    jw_str(w, "job_graph_sha256", b->job_graph_sha256);
    jw_obj(w, "sink");
    jw_str(w, "operator", b->sink);
    texts_put(w, "attempts", b->attempts, b->n_attempts);
    ids_put(w, "subtasks", b->subtasks, b->n_subtasks);
    jw_end_obj(w);
    jw_u64(w, "checkpoint", b->checkpoint);
    jw_u64(w, "since", b->since);
    jw_str(w, "start", start_names[b->start]);
    if (b->has_restored_from)
        jw_u64(w, "restored_from", b->restored_from);
    else
        jw_null(w, "restored_from");
    jw_bool(w, "from_run_start", b->from_run_start);
    ids_put(w, "epochs", b->epochs, b->n_epochs);
    texts_put(w, "source_operators", b->source_operators, b->n_source_operators);
    jw_str(w, "coverage", b->complete_table ? "complete-table" : "selected-keys");
    if (b->repeats)
        jw_bool(w, "repeats", true);
}

static const char *const known[] = {
    "job",      "job_graph_sha256", "sink",    "checkpoint",       "since", "start", "epochs", "restored_from",
    "coverage", "from_run_start",   "repeats", "source_operators", NULL};

const struct scope_part scope_bundle_part = {"bundle", known, parse, check, put};
