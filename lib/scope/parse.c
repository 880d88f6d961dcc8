/* SPDX-License-Identifier: Apache-2.0 */
/* The scope document, read: every member's type, no member that is not known, and a fingerprint that holds. */
#include "scope/internal.h"

#include <string.h>

static const char where[] = "scope";
const struct scope_part *const scope_parts[SCOPE_ORIGINS] = {&scope_bundle_part, &scope_declared_part};

bool scope_complete_table(const struct scope *s)
{
    return s->bundle.complete_table || s->declared.complete_table;
}

int scope_id_parse(const struct json *obj, const char *name, struct arena *a, const char **out, const char *place,
                   struct err *err)
{
    const struct json *v = json_get(obj, name);
    *out = NULL;
    return v && v->type == JSON_NULL ? 0 : json_need_str(obj, name, a, out, place, err);
}

static int destination_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    static const char at[] = "scope.destination";
    static const char *const known[] = {"server_uuid", "server_version", "database", "table", "table_uuid", NULL};
    struct json *d;
    if (json_need(doc, "destination", JSON_OBJECT, &d, where, err) != 0 || json_only(d, known, at, err) != 0 ||
        scope_id_parse(d, "server_uuid", a, &s->server_uuid, at, err) != 0 ||
        scope_id_parse(d, "server_version", a, &s->server_version, at, err) != 0 ||
        json_need_str(d, "database", a, &s->database, at, err) != 0 ||
        json_need_str(d, "table", a, &s->table, at, err) != 0)
        return -1;
    return scope_id_parse(d, "table_uuid", a, &s->table_uuid, at, err);
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

static int source_parse(const struct json *v, const char *at, struct arena *a, struct scope_source *s, struct err *err)
{
    static const char *const known[] = {"topic", "cluster_id", "topic_id", "isolation", "partitions", NULL};
    struct json *list;
    *s = (struct scope_source){0};
    if (json_only(v, known, at, err) != 0 || json_need_str(v, "topic", a, &s->topic, at, err) != 0 ||
        scope_id_parse(v, "cluster_id", a, &s->cluster_id, at, err) != 0 ||
        scope_id_parse(v, "topic_id", a, &s->topic_id, at, err) != 0 ||
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
    return 0;
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
        if (source_parse(item, place, a, &s->sources[i], err) != 0)
            return -1;
    }
    s->n_sources = list->len;
    return 0;
}

static bool names(const char *const *list, const struct json *m)
{
    while (*list && !json_is(m, *list))
        list++;
    return *list != NULL;
}

static int stray(const char *place, const struct json *m, const char *how, const char *part,
                 const struct scope_part *own, struct err *err)
{
    return err_set(err, ERR_REFUSED, "%s.%.*s: %s %s, and the scope's origin is %s", place, (int)m->len, m->str, how,
                   part, own->name);
}

/* No member of another origin's part stands in the scope's own. */
static int own_part(const struct json *part, const char *place, const struct scope_part *own, struct err *err)
{
    for (const struct json *m = json_first(part); m; m = json_next(part, m))
        for (size_t o = 0; o < SCOPE_ORIGINS; o++)
            if (!names(own->known, m) && names(scope_parts[o]->known, m))
                return stray(place, m, "a member of the part", scope_parts[o]->name, own, err);
    return json_only(part, own->known, place, err);
}

/* No other origin's part stands in the document, and no member of any outside it. */
static int one_part(const struct json *doc, const struct scope_part *own, struct err *err)
{
    for (const struct json *m = json_first(doc); m; m = json_next(doc, m))
        for (size_t o = 0; o < SCOPE_ORIGINS; o++) {
            const char *const self[] = {scope_parts[o]->name, NULL};
            if (names(scope_parts[o]->known, m))
                return stray(where, m, "a member of the part", scope_parts[o]->name, own, err);
            if (scope_parts[o] != own && names(self, m))
                return stray(where, m, "the part of the origin", scope_parts[o]->name, own, err);
        }
    return 0;
}

static int format_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    const char *format, *cells, *origin;
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
    if (json_need_str(doc, "origin", a, &origin, where, err) != 0 ||
        json_need_str(doc, "cells", a, &cells, where, err) != 0)
        return -1;
    while (s->origin < SCOPE_ORIGINS && strcmp(origin, scope_parts[s->origin]->name) != 0)
        s->origin++;
    if (s->origin == SCOPE_ORIGINS)
        return err_set(err, ERR_REFUSED, "scope.origin: '%.40s' is not known here", origin);
    if (strcmp(cells, CELLS_V1) != 0 && strcmp(cells, CELLS_V2) != 0)
        return err_set(err, ERR_REFUSED, "scope.cells: '%.100s' is not known here", cells);
    return 0;
}

static int members_parse(const struct json *doc, struct arena *a, struct scope *s, struct err *err)
{
    const struct scope_part *own = scope_parts[s->origin];
    const char *const known[] = {"format",  "version", "origin", own->name,      "destination",
                                 "sources", "columns", "cells",  "scope_sha256", NULL};
    struct json *part;
    char place[32];
    snprintf(place, sizeof place, "%s.%s", where, own->name);
    if (one_part(doc, own, err) != 0 || json_only(doc, known, where, err) != 0 ||
        json_need(doc, own->name, JSON_OBJECT, &part, where, err) != 0 || own_part(part, place, own, err) != 0 ||
        own->parse(part, a, s, err) != 0 || destination_parse(doc, a, s, err) != 0 ||
        sources_parse(doc, a, s, err) != 0)
        return -1;
    return own->check(s, err);
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

const struct engine *scope_final(const struct scope *s)
{
    return s->declared.final ? &s->declared.engine : NULL;
}

/* What tells the last row of a key is among the columns. */
static int final_of_columns(struct scope *s, struct err *err)
{
    struct buf why = BUF_INIT;
    bool lacks = scope_final(s) && engine_lacks(scope_final(s), &s->columns, &why);
    if (lacks)
        err_set(err, ERR_REFUSED, "scope.declared.final: %s", buf_str(&why));
    buf_free(&why);
    return lacks ? -1 : 0;
}

/* Its cells are of the version that its columns have, and of no other. */
static int columns_of_scope(const struct json *doc, const struct json *columns, struct scope *s, struct err *err)
{
    if (columns_parse(columns, true, &s->columns, err) != 0)
        return err_prefix(err, "scope");
    if (!json_is(json_get(doc, "cells"), columns_cells(&s->columns)))
        err_set(err, ERR_REFUSED, "scope.cells: those of its columns are %s", columns_cells(&s->columns));
    else if (final_of_columns(s, err) == 0)
        return 0;
    columns_free(&s->columns);
    return -1;
}

/* What is compared is not left out. */
static int left_apart(struct scope *s, struct err *err)
{
    for (size_t i = 0; i < s->declared.n_left; i++)
        if (columns_find(&s->columns, s->declared.left[i].name, strlen(s->declared.left[i].name), NULL)) {
            columns_free(&s->columns);
            return err_set(err, ERR_REFUSED, "scope.declared.left_out[%zu]: one of the scope's columns", i);
        }
    return 0;
}

int scope_parse_json(const struct json *doc, struct arena *a, struct scope *out, struct err *err)
{
    *out = (struct scope){.columns = COLUMNS_INIT};
    struct json *columns;
    if (format_parse(doc, a, out, err) != 0 || members_parse(doc, a, out, err) != 0 ||
        json_need(doc, "columns", JSON_ARRAY, &columns, where, err) != 0 || print_parse(doc, a, out, err) != 0)
        return -1;
    if (columns_of_scope(doc, columns, out, err) != 0)
        return -1;
    for (size_t i = 0; i < out->columns.n; i++)
        out->columns.at[i].zone = out->declared.zone;
    return left_apart(out, err);
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
               type_same(&a->type, &b->type) && a->key == b->key;
    }
    return fits;
}
