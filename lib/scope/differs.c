/* SPDX-License-Identifier: Apache-2.0 */
/* Two scope documents, and the first field in which they differ. */
#include "scope/scope.h"

#include <string.h>

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
