/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking into a parsed document: members by name, and the typed forms that
 * refuse whatever a document's format does not allow, naming the field.
 */
#include "json/json.h"
#include "json/internal.h"

#include <string.h>

struct json *json_get(const struct json *obj, const char *name)
{
    if (!obj || obj->type != JSON_OBJECT)
        return NULL;
    size_t n = strlen(name);
    for (const struct json *m = json_first(obj); m; m = json_next(obj, m))
        if (m->len == n && memcmp(m->str, name, n) == 0)
            return json_value(m);
    return NULL;
}

struct json *json_at(const struct json *array, size_t i)
{
    struct json *v = array && array->type == JSON_ARRAY ? json_first(array) : NULL;
    while (v && i-- > 0)
        v = json_next(array, v);
    return v;
}

/* The end of the string that begins at p, in text that was read before. */
static const char *string_end(const char *p)
{
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

static const char *container_end(const char *p)
{
    size_t depth = 0;
    do {
        if (*p == '"') {
            p = string_end(p);
        } else {
            depth += *p == '[' || *p == '{';
            depth -= *p == ']' || *p == '}';
            p++;
        }
    } while (depth > 0);
    return p;
}

const struct json *json_first_scalar(const struct json *v)
{
    while (json_holds(v))
        v++;
    return v;
}

const char *json_text_begin(const struct json *v)
{
    const char *p = v->str;
    if (v->type != JSON_STRING)
        return p;
    if (!v->escaped)
        return p - 1;
    memcpy(&p, v->str - sizeof p, sizeof p);
    return p;
}

struct json_text json_raw(const struct json *v)
{
    const char *p = json_text_begin(json_first_scalar(v)) - (json_holds(v) ? v->back : 0), *end = p;
    switch (v->type) {
    case JSON_NULL:
    case JSON_TRUE: end = p + 4; break;
    case JSON_FALSE: end = p + 5; break;
    case JSON_NUMBER: end = p + v->len; break;
    case JSON_STRING: end = v->escaped ? string_end(p) : p + v->len + 2; break;
    case JSON_ARRAY:
    case JSON_OBJECT: end = container_end(p); break;
    }
    return (struct json_text){p, (size_t)(end - p)};
}

char *json_raw_dup(struct arena *a, const struct json *v)
{
    const struct json_text raw = json_raw(v);
    return arena_strndup(a, raw.p, raw.n);
}

bool json_is(const struct json *v, const char *s)
{
    return v && v->type == JSON_STRING && v->len == strlen(s) && memcmp(v->str, s, v->len) == 0;
}

static bool is_text_of_number(const struct json *v)
{
    return v && (v->type == JSON_NUMBER || v->type == JSON_STRING);
}

bool json_u64(const struct json *v, uint64_t *out)
{
    return is_text_of_number(v) && scan_u64(v->str, v->len, out);
}

bool json_i64(const struct json *v, int64_t *out)
{
    return is_text_of_number(v) && scan_i64(v->str, v->len, out);
}

static const char *type_name(enum json_type t)
{
    static const char *const names[] = {"null", "false", "true", "a number", "a string", "an array", "an object"};
    return names[t];
}

static int missing(const char *where, const char *name, struct err *err)
{
    return err_set(err, ERR_REFUSED, "%s.%s: missing", where, name);
}

static int wrong(const char *where, const char *name, const char *wanted, struct err *err)
{
    return err_set(err, ERR_REFUSED, "%s.%s: not %s", where, name, wanted);
}

/* True where an optional member has a value to look at. */
static bool is_given(const struct json *obj, const char *name)
{
    const struct json *v = json_get(obj, name);
    return v && v->type != JSON_NULL;
}

int json_need(const struct json *obj, const char *name, enum json_type t, struct json **out, const char *where,
              struct err *err)
{
    struct json *v = json_get(obj, name);
    if (!v)
        return missing(where, name, err);
    if (v->type != t)
        return wrong(where, name, type_name(t), err);
    *out = v;
    return 0;
}

int json_need_u64(const struct json *obj, const char *name, uint64_t *out, const char *where, struct err *err)
{
    const struct json *v = json_get(obj, name);
    if (!v)
        return missing(where, name, err);
    return json_u64(v, out) ? 0 : wrong(where, name, "a whole number in [0, 2^64)", err);
}

int json_need_i64(const struct json *obj, const char *name, int64_t *out, const char *where, struct err *err)
{
    const struct json *v = json_get(obj, name);
    if (!v)
        return missing(where, name, err);
    return json_i64(v, out) ? 0 : wrong(where, name, "a whole number in [-2^63, 2^63)", err);
}

int json_need_bool(const struct json *obj, const char *name, bool *out, const char *where, struct err *err)
{
    const struct json *v = json_get(obj, name);
    if (!v)
        return missing(where, name, err);
    if (v->type != JSON_TRUE && v->type != JSON_FALSE)
        return wrong(where, name, "true or false", err);
    *out = v->type == JSON_TRUE;
    return 0;
}

int json_need_str(const struct json *obj, const char *name, struct arena *a, const char **out, const char *where,
                  struct err *err)
{
    struct json *v;
    if (json_need(obj, name, JSON_STRING, &v, where, err) < 0)
        return -1;
    if (memchr(v->str, '\0', v->len))
        return err_set(err, ERR_REFUSED, "%s.%s: a string that holds U+0000", where, name);
    *out = arena_strndup(a, v->str, v->len);
    return 0;
}

int json_opt_u64(const struct json *obj, const char *name, uint64_t *out, const char *where, struct err *err)
{
    return is_given(obj, name) ? json_need_u64(obj, name, out, where, err) : 0;
}

int json_opt_bool(const struct json *obj, const char *name, bool *out, const char *where, struct err *err)
{
    return is_given(obj, name) ? json_need_bool(obj, name, out, where, err) : 0;
}

int json_opt_str(const struct json *obj, const char *name, struct arena *a, const char **out, const char *where,
                 struct err *err)
{
    return is_given(obj, name) ? json_need_str(obj, name, a, out, where, err) : 0;
}

int json_only(const struct json *obj, const char *const *names, const char *where, struct err *err)
{
    if (!obj || obj->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s: not an object", where);
    for (const struct json *m = json_first(obj); m; m = json_next(obj, m)) {
        const char *const *known = names;
        while (*known && (strlen(*known) != m->len || memcmp(*known, m->str, m->len) != 0))
            known++;
        if (!*known) {
            struct buf shown = BUF_INIT;
            msg_mask(&shown, m->str, m->len < 80 ? m->len : 80);
            err_set(err, ERR_REFUSED, "%s: unknown member %s", where, buf_str(&shown));
            buf_free(&shown);
            return -1;
        }
    }
    return 0;
}
