/* SPDX-License-Identifier: Apache-2.0 */
/* The scope document, read: every member's type, no member that is not known, and a fingerprint that holds. */
#include "scope/scope.h"

#include <string.h>

static const char where[] = "scope";
static const char *const start_names[] = {"checkpoint", "run", "restore", "declared"};
#define STARTS (sizeof start_names / sizeof *start_names)

const char *scope_start_name(enum scope_start s)
{
    return start_names[s];
}

const char *scope_origin(const struct scope *s)
{
    return s->declared ? "declared" : "bundle";
}

const char *scope_coverage(const struct scope *s)
{
    return s->complete_table ? "complete-table" : "selected-keys";
}

/* What only a bundle shows stands in a declared document as null, so that nobody takes it for left out. */
static int nulls_need(const struct json *obj, const char *const *names, const char *place, struct err *err)
{
    for (; *names; names++) {
        const struct json *v = json_get(obj, *names);
        if (!v)
            return err_set(err, ERR_REFUSED, "%s.%s: missing", place, *names);
        if (v->type != JSON_NULL)
            return err_set(err, ERR_REFUSED, "%s.%s: not null, and the scope is declared", place, *names);
    }
    return 0;
}

/* A string that a bundle always has, and that the person who declares a scope may not know: null then. */
static int id_parse(const struct json *obj, const char *name, bool may_lack, struct arena *a, const char **out,
                    const char *place, struct err *err)
{
    const struct json *v = json_get(obj, name);
    *out = NULL;
    if (may_lack && v && v->type == JSON_NULL)
        return 0;
    return json_need_str(obj, name, a, out, place, err);
}

static int ids_parse(const struct json *obj, const char *name, const char *place, struct arena *a, uint64_t **out,
                     size_t *n, bool ascending, struct err *err)
{
    struct json *list;
    if (json_need(obj, name, JSON_ARRAY, &list, place, err) != 0)
        return -1;
    *out = arena_alloc(a, (list->len + 1) * sizeof **out);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        if (!json_u64(item, &(*out)[i]))
            return err_set(err, ERR_REFUSED, "%s.%s[%zu]: not a whole number", place, name, i);
        if (ascending && i > 0 && (*out)[i] <= (*out)[i - 1])
            return err_set(err, ERR_REFUSED, "%s.%s[%zu]: not ascending", place, name, i);
    }
    *n = list->len;
    return 0;
}

static int sink_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    static const char at[] = "scope.sink";
    static const char *const known[] = {"operator", "attempts", "subtasks", NULL};
    struct json *sink, *attempts;
    if (json_need(doc, "sink", JSON_OBJECT, &sink, where, err) != 0 || json_only(sink, known, at, err) != 0 ||
        json_need_str(sink, "operator", a, &s->sink, at, err) != 0 ||
        json_need(sink, "attempts", JSON_ARRAY, &attempts, at, err) != 0)
        return -1;
    s->attempts = arena_alloc(a, (attempts->len + 1) * sizeof *s->attempts);
    const struct json *v = json_first(attempts);
    for (size_t i = 0; i < attempts->len; i++, v = json_next(attempts, v)) {
        if (v->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "%s.attempts[%zu]: not a string", at, i);
        s->attempts[i] = arena_strndup(a, v->str, v->len);
    }
    s->n_attempts = attempts->len;
    return ids_parse(sink, "subtasks", at, a, &s->subtasks, &s->n_subtasks, true, err);
}

static int destination_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    static const char at[] = "scope.destination";
    static const char *const known[] = {"server_uuid", "server_version", "database", "table", "table_uuid", NULL};
    struct json *d;
    if (json_need(doc, "destination", JSON_OBJECT, &d, where, err) != 0 || json_only(d, known, at, err) != 0 ||
        id_parse(d, "server_uuid", s->declared, a, &s->server_uuid, at, err) != 0 ||
        id_parse(d, "server_version", s->declared, a, &s->server_version, at, err) != 0 ||
        json_need_str(d, "database", a, &s->database, at, err) != 0 ||
        json_need_str(d, "table", a, &s->table, at, err) != 0)
        return -1;
    return id_parse(d, "table_uuid", s->declared, a, &s->table_uuid, at, err);
}

static int range_parse(const struct json *v, const char *at, struct scope_range *r, struct err *err)
{
    static const char *const known[] = {"partition", "from", "to", NULL};
    *r = (struct scope_range){0};
    if (v->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s: not an object", at);
    const struct json *from = json_get(v, "from");
    if (json_only(v, known, at, err) != 0 || json_need_u64(v, "partition", &r->partition, at, err) != 0 ||
        json_need_i64(v, "to", &r->to, at, err) != 0)
        return -1;
    if (!from)
        return err_set(err, ERR_REFUSED, "%s.from: missing", at);
    r->has_from = from->type != JSON_NULL;
    if (r->has_from && json_need_i64(v, "from", &r->from, at, err) != 0)
        return -1;
    if (r->has_from && (r->from < 0 || r->from > r->to))
        return err_set(err, ERR_REFUSED, "%s: the range runs backwards", at);
    return 0;
}

/* Nothing but the ranges tells what is owed under a declared scope: each has both ends, and how far it is read is
 * known. */
static int declared_source(const struct scope_source *s, const char *at, struct err *err)
{
    if (s->n_partitions == 0)
        return err_set(err, ERR_REFUSED, "%s.partitions: none, and the scope is declared", at);
    for (size_t i = 0; i < s->n_partitions; i++)
        if (!s->partitions[i].has_from)
            return err_set(err, ERR_REFUSED, "%s.partitions[%zu].from: null, and the scope is declared", at, i);
    if (strcmp(s->isolation, "read_committed") != 0 && strcmp(s->isolation, "read_uncommitted") != 0)
        return err_set(err, ERR_REFUSED, "%s.isolation: '%.40s' is not known here", at, s->isolation);
    return 0;
}

static int source_parse(const struct json *v, const char *at, bool declared, struct arena *a, struct scope_source *s,
                        struct err *err)
{
    static const char *const operator_null[] = {"operator", NULL};
    static const char *const known[] = {"operator", "topic", "cluster_id", "topic_id", "isolation", "partitions", NULL};
    struct json *list;
    *s = (struct scope_source){0};
    if (v->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s: not an object", at);
    if (json_only(v, known, at, err) != 0 ||
        (declared ? nulls_need(v, operator_null, at, err)
                  : json_need_str(v, "operator", a, &s->operator_id, at, err)) != 0 ||
        json_need_str(v, "topic", a, &s->topic, at, err) != 0 ||
        id_parse(v, "cluster_id", declared, a, &s->cluster_id, at, err) != 0 ||
        json_opt_str(v, "topic_id", a, &s->topic_id, at, err) != 0 ||
        json_need_str(v, "isolation", a, &s->isolation, at, err) != 0 ||
        json_need(v, "partitions", JSON_ARRAY, &list, at, err) != 0)
        return -1;
    s->partitions = arena_alloc(a, (list->len + 1) * sizeof *s->partitions);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char place[100];
        snprintf(place, sizeof place, "%s.partitions[%zu]", at, i);
        if (range_parse(item, place, &s->partitions[i], err) != 0)
            return -1;
        if (i > 0 && s->partitions[i].partition <= s->partitions[i - 1].partition)
            return err_set(err, ERR_REFUSED, "%s.partition: not ascending", place);
    }
    s->n_partitions = list->len;
    return declared ? declared_source(s, at, err) : 0;
}

static int topics_once(const struct scope *s, struct err *err)
{
    struct map topics = MAP_INIT;
    int rc = 0;
    for (size_t i = 0; i < s->n_sources && rc == 0; i++) {
        const char *topic = s->sources[i].topic;
        uint64_t before = *map_at(&topics, topic, strlen(topic), i);
        if (before != i)
            rc = err_set(err, ERR_REFUSED,
                         "scope.sources[%zu].topic: '%s' stands in scope.sources[%" PRIu64 "] already", i, topic,
                         before);
    }
    map_free(&topics);
    return rc;
}

static int sources_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    struct json *list;
    if (json_need(doc, "sources", JSON_ARRAY, &list, where, err) != 0)
        return -1;
    s->sources = arena_alloc(a, (list->len + 1) * sizeof *s->sources);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char place[64];
        snprintf(place, sizeof place, "scope.sources[%zu]", i);
        if (source_parse(item, place, s->declared, a, &s->sources[i], err) != 0)
            return -1;
    }
    s->n_sources = list->len;
    if (s->declared && topics_once(s, err) != 0)
        return -1;
    if (s->declared && s->n_sources == 0)
        return err_set(err, ERR_REFUSED, "scope.sources: none, and the scope is declared");
    return 0;
}

static int start_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    const char *start;
    size_t i = 0;
    if (json_need_str(doc, "start", a, &start, where, err) != 0 ||
        json_need_bool(doc, "from_run_start", &s->from_run_start, where, err) != 0 ||
        ids_parse(doc, "epochs", where, a, &s->epochs, &s->n_epochs, true, err) != 0)
        return -1;
    while (i < STARTS && strcmp(start_names[i], start) != 0)
        i++;
    if (i == STARTS || (i == SCOPE_DECLARED) != s->declared)
        return err_set(err, ERR_REFUSED, "scope.start: '%.40s' is not known here of a scope of origin %s", start,
                       scope_origin(s));
    s->start = (enum scope_start)i;
    if (s->complete_table && !s->from_run_start)
        return err_set(err, ERR_REFUSED, "scope.from_run_start: false, and the coverage is complete-table");
    return 0;
}

static int bounds_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    static const char *const nulls[] = {"checkpoint", "since", "restored_from", NULL};
    if (start_parse(doc, a, s, err) != 0)
        return -1;
    if (s->declared) {
        if (s->from_run_start || s->n_epochs > 0)
            return err_set(err, ERR_REFUSED, "scope.%s, and the scope is declared",
                           s->n_epochs ? "epochs: not empty" : "from_run_start: true");
        return nulls_need(doc, nulls, where, err);
    }
    if (json_need_u64(doc, "checkpoint", &s->checkpoint, where, err) != 0 ||
        json_need_u64(doc, "since", &s->since, where, err) != 0)
        return -1;
    const struct json *from = json_get(doc, "restored_from");
    s->has_restored_from = from && from->type != JSON_NULL;
    if (s->has_restored_from && json_need_u64(doc, "restored_from", &s->restored_from, where, err) != 0)
        return -1;
    if (s->start == SCOPE_FROM_RESTORE && !s->has_restored_from)
        return err_set(err, ERR_REFUSED, "scope.restored_from: missing, and the scope starts at a restore");
    return 0;
}

static int format_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    const char *format, *cells, *origin, *coverage;
    uint64_t version;
    if (doc->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s: not an object", where);
    if (json_need_str(doc, "format", a, &format, where, err) != 0 ||
        json_need_u64(doc, "version", &version, where, err) != 0)
        return -1;
    if (strcmp(format, SCOPE_FORMAT) != 0)
        return err_set(err, ERR_REFUSED, "scope.format: '%.100s' is not '%s'", format, SCOPE_FORMAT);
    if (version != SCOPE_VERSION)
        return err_set(err, ERR_REFUSED, "scope.version: %" PRIu64 " is not known here, only %d", version,
                       SCOPE_VERSION);
    static const char *const known[] = {
        "format",     "version", "origin",   "job",           "job_graph_sha256", "sink",   "destination",
        "checkpoint", "since",   "start",    "restored_from", "from_run_start",   "epochs", "sources",
        "columns",    "cells",   "coverage", "repeats",       "scope_sha256",     NULL};
    if (json_only(doc, known, where, err) != 0 || json_need_str(doc, "origin", a, &origin, where, err) != 0 ||
        json_need_str(doc, "cells", a, &cells, where, err) != 0 ||
        json_need_str(doc, "coverage", a, &coverage, where, err) != 0 ||
        json_opt_bool(doc, "repeats", &s->repeats, where, err) != 0)
        return -1;
    s->declared = strcmp(origin, "declared") == 0;
    s->complete_table = strcmp(coverage, "complete-table") == 0;
    if (strcmp(origin, scope_origin(s)) != 0)
        return err_set(err, ERR_REFUSED, "scope.origin: '%.40s' is not known here", origin);
    if (strcmp(cells, "clink-canonical-cells-v1") != 0)
        return err_set(err, ERR_REFUSED, "scope.cells: '%.100s' is not known here", cells);
    if (strcmp(coverage, scope_coverage(s)) != 0)
        return err_set(err, ERR_REFUSED, "scope.coverage: '%.40s' is not known here", coverage);
    if (s->declared && s->repeats)
        return err_set(err, ERR_REFUSED, "scope.repeats: of rows that a sink received, and the scope is declared");
    if (s->declared && s->complete_table)
        return err_set(err, ERR_REFUSED,
                       "scope.coverage: complete-table, which only a bundle can show, and the scope is declared");
    return 0;
}

static int print_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    const char *said;
    if (json_need_str(doc, "scope_sha256", a, &said, where, err) != 0)
        return -1;
    scope_fingerprint(doc, s->sha256);
    if (strcmp(said, s->sha256) != 0)
        return err_set(err, ERR_REFUSED,
                       "scope.scope_sha256: the document does not have this fingerprint: it was changed");
    return 0;
}

static int job_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    static const char *const nulls[] = {"job", "job_graph_sha256", "sink", NULL};
    if (s->declared)
        return nulls_need(doc, nulls, where, err);
    if (json_need_str(doc, "job", a, &s->job, where, err) != 0 ||
        json_opt_str(doc, "job_graph_sha256", a, &s->job_graph_sha256, where, err) != 0)
        return -1;
    return sink_parse(doc, a, s, err);
}

int scope_parse_json(const struct json *doc, struct arena *a, struct scope *out, struct err *err)
{
    *out = (struct scope){.columns = COLUMNS_INIT};
    struct json *columns;
    if (format_parse(doc, a, out, err) != 0 || job_parse(doc, a, out, err) != 0 ||
        destination_parse(doc, a, out, err) != 0 || bounds_parse(doc, a, out, err) != 0 ||
        sources_parse(doc, a, out, err) != 0 || json_need(doc, "columns", JSON_ARRAY, &columns, where, err) != 0 ||
        print_parse(doc, a, out, err) != 0)
        return -1;
    return columns_parse(columns, true, &out->columns, err) != 0 ? err_prefix(err, "scope") : 0;
}

int scope_parse(const char *p, size_t n, struct arena *a, struct scope *out, struct err *err)
{
    *out = (struct scope){.columns = COLUMNS_INIT};
    const struct json *doc = json_parse_named(p, n, a, where, err);
    return doc ? scope_parse_json(doc, a, out, err) : -1;
}

void scope_free(struct scope *s)
{
    columns_free(&s->columns);
}

bool scope_fits(const struct scope *s, const struct columns *c)
{
    bool fits = s->columns.n == c->n;
    for (size_t i = 0; fits && i < c->n; i++) {
        const struct column *a = &s->columns.at[i], *b = &c->at[i];
        fits = a->name_len == b->name_len && memcmp(a->name, b->name, a->name_len) == 0 &&
               type_equal(&a->type, &b->type) && a->key == b->key;
    }
    return fits;
}
