/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types: the `columns` array of a stream or a scope document, read and
 * written, and the units of owed times.
 */
#include "types/types.h"

#include <stdlib.h>
#include <string.h>

static const char *const from_names[] = {NULL, "s", "ms", "us", "ns", "ticks", "days", "iso", "json-text"};

int type_from_parse(const char *s, enum type_from *out, struct err *err)
{
    struct buf shown = BUF_INIT;

    for (size_t i = 1; i < sizeof from_names / sizeof from_names[0]; i++) {
        if (strcmp(from_names[i], s) == 0) {
            *out = (enum type_from)i;
            return 0;
        }
    }
    msg_mask(&shown, s, strnlen(s, 40));
    err_set(err, ERR_REFUSED, "\"%s\" is no unit of time (s, ms, us, ns, ticks, days or iso), nor json-text",
            buf_str(&shown));
    buf_free(&shown);
    return -1;
}

const char *type_from_name(enum type_from f)
{
    return from_names[f];
}

bool type_takes_from(const struct type *t, enum type_from f)
{
    return f == FROM_JSON_TEXT ? type_holds_json(t) : type_is_time(t);
}

static const char *const kind_names[] = {NULL, "MATERIALIZED", "ALIAS"};

bool column_kind_parse(const char *s, enum column_kind *out)
{
    *out = COLUMN_WRITTEN;
    if (*s == '\0' || strcmp(s, "DEFAULT") == 0)
        return true;
    for (enum column_kind k = COLUMN_MATERIALIZED; k <= COLUMN_ALIAS; k++)
        if (strcmp(s, kind_names[k]) == 0)
            *out = k;
    return *out != COLUMN_WRITTEN;
}

const char *column_kind_name(enum column_kind k)
{
    return kind_names[k];
}

int table_name_settle(struct table_name *t, struct err *err)
{
    const char *s = t->said;

    t->database = t->said_database ? xstrdup(t->said_database) : NULL;
    t->table = s && t->database ? xstrdup(s) : NULL;
    if (!s || t->database)
        return 0;
    size_t n = strlen(s), database_len = strcspn(s, ".");
    if (database_len == 0 || database_len + 1 >= n)
        return err_set(err, ERR_REFUSED, "--table=%s is not DATABASE.TABLE", s);
    if (strchr(s + database_len + 1, '.'))
        return err_set(err, ERR_REFUSED, "--table=%s holds several dots: give --database=NAME, and the table alone", s);
    t->database = xstrndup(s, database_len);
    t->table = xstrdup(s + database_len + 1);
    return 0;
}

void table_name_free(struct table_name *t)
{
    free(t->database);
    free(t->table);
    t->database = t->table = NULL;
}

static int parse_from(const struct json *v, const char *where, struct column *c, struct err *err)
{
    char s[16];

    if (v->type != JSON_STRING || v->len >= sizeof s || memchr(v->str, '\0', v->len))
        return err_set(err, ERR_REFUSED, "%s.from: not a unit of time (s, ms, us, ns, ticks, days or iso)", where);
    memcpy(s, v->str, v->len);
    s[v->len] = '\0';
    if (type_from_parse(s, &c->from, err) != 0)
        return err_prefix(err, "%s.from", where);
    if (!type_takes_from(&c->type, c->from))
        return err_set(err, ERR_REFUSED, "%s.from: %s on a column of type %s", where,
                       c->from == FROM_JSON_TEXT ? type_from_name(c->from) : "a unit of time", c->type.name);
    return 0;
}

static int parse_kind(const struct json *v, const char *where, struct column *c, struct err *err)
{
    for (enum column_kind k = COLUMN_MATERIALIZED; k <= COLUMN_ALIAS; k++)
        if (json_is(v, kind_names[k])) {
            c->kind = k;
            return 0;
        }
    return err_set(err, ERR_REFUSED, "%s.kind: neither MATERIALIZED nor ALIAS", where);
}

static int parse_column(const struct json *v, bool need_from, const char *where, struct column *c, struct err *err)
{
    static const char *const names[] = {"name", "type", "key", "from", "kind", NULL};
    struct json *name, *type, *from, *kind;

    if (v->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s: not an object", where);
    if (json_only(v, names, where, err) != 0 || json_need(v, "name", JSON_STRING, &name, where, err) != 0 ||
        json_need(v, "type", JSON_STRING, &type, where, err) != 0) {
        return -1;
    }
    if (name->len == 0)
        return err_set(err, ERR_REFUSED, "%s.name: empty", where);
    if (type_parse(type->str, type->len, &c->type, err) != 0)
        return err_prefix(err, "%s", where);
    if (json_get(v, "key") && json_need_bool(v, "key", &c->key, where, err) != 0)
        return -1;
    from = json_get(v, "from");
    if (from && parse_from(from, where, c, err) != 0)
        return -1;
    kind = json_get(v, "kind");
    if (kind && parse_kind(kind, where, c, err) != 0)
        return -1;
    if (!from && need_from && type_is_time(&c->type)) {
        return err_set(err, ERR_REFUSED, "%s: a column of type %s needs \"from\", the unit of an owed time", where,
                       c->type.name);
    }
    c->name = xstrndup(name->str, name->len);
    c->name_len = name->len;
    return 0;
}

enum { FEW_COLUMNS = 16 }; /* found as fast by a look at each */

static bool is_named(const struct column *c, const char *name, size_t n)
{
    return c->name_len == n && memcmp(c->name, name, n) == 0;
}

const struct column *columns_index(struct columns *c)
{
    const struct column *twin = NULL;
    for (size_t i = 0; i < c->n; i++)
        if (!map_add(&c->names, c->at[i].name, c->at[i].name_len, i) && !twin)
            twin = &c->at[i];
    return twin;
}

static int refuse_twins(struct columns *c, struct err *err)
{
    const struct column *twin = columns_index(c);
    struct buf shown = BUF_INIT;
    if (!twin)
        return 0;
    msg_mask(&shown, twin->name, twin->name_len);
    err_set(err, ERR_REFUSED, "columns: two columns named \"%s\"", buf_str(&shown));
    buf_free(&shown);
    return -1;
}

int columns_parse(const struct json *arr, bool need_from, struct columns *out, struct err *err)
{
    *out = (struct columns)COLUMNS_INIT;
    if (!arr || arr->type != JSON_ARRAY)
        return err_set(err, ERR_REFUSED, "columns: not an array");
    if (arr->len == 0)
        return err_set(err, ERR_REFUSED, "columns: no column");
    out->at = xcalloc(arr->len, sizeof *out->at);
    const struct json *item = json_first(arr);
    for (size_t i = 0; i < arr->len; i++, item = json_next(arr, item)) {
        char where[40];
        snprintf(where, sizeof where, "columns[%zu]", i);
        out->n = i + 1;
        if (parse_column(item, need_from, where, &out->at[i], err) != 0) {
            columns_free(out);
            return -1;
        }
    }
    if (refuse_twins(out, err) != 0) {
        columns_free(out);
        return -1;
    }
    return 0;
}

void columns_write(const struct columns *c, struct buf *out)
{
    struct json_w w;

    jw_init(&w, out);
    jw_arr(&w, NULL);
    for (size_t i = 0; i < c->n; i++) {
        const struct column *col = &c->at[i];
        jw_obj(&w, NULL);
        jw_strn(&w, "name", col->name, col->name_len);
        jw_str(&w, "type", col->type.name);
        jw_bool(&w, "key", col->key);
        if (col->from != FROM_NONE)
            jw_str(&w, "from", type_from_name(col->from));
        if (col->kind != COLUMN_WRITTEN)
            jw_str(&w, "kind", column_kind_name(col->kind));
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
}

void columns_free(struct columns *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->at[i].name);
        type_free(&c->at[i].type);
    }
    free(c->at);
    map_free(&c->names);
    *c = (struct columns)COLUMNS_INIT;
}

const struct column *columns_find(const struct columns *c, const char *name, size_t n, size_t *index)
{
    const uint64_t *place = c->n > FEW_COLUMNS ? map_find(&c->names, name, n) : NULL;
    size_t i = place ? *place : 0;
    bool indexed = c->n > FEW_COLUMNS && c->names.used > 0;
    while (!indexed && i < c->n && !is_named(&c->at[i], name, n))
        i++;
    if (indexed ? !place : i == c->n)
        return NULL;
    if (index)
        *index = i;
    return &c->at[i];
}

const struct json *columns_spread(const struct columns *c, const struct map *passed, const struct json *values,
                                  const struct json **at)
{
    const struct json *other = NULL;
    uint64_t *count;
    memset(at, 0, c->n * sizeof(*at));
    size_t i = 0; /* members mostly come in the order of the columns */
    for (const struct json *m = json_first(values); m; m = json_next(values, m)) {
        if ((i < c->n && is_named(&c->at[i], m->str, m->len)) || columns_find(c, m->str, m->len, &i))
            at[i++] = json_value(m);
        else if (passed && (count = map_find(passed, m->str, m->len)))
            (*count)++;
        else
            other = other ? other : m;
    }
    return other;
}
