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

static bool member_differs(const struct json_member *m, const struct json *a, const struct json *b, struct buf *path,
                           struct buf *where)
{
    size_t at = path->len;
    if (at > 0)
        buf_addc(path, '.');
    buf_add(path, m->name, m->name_len);
    bool found = differs_at(a, b, path, where);
    path->len = at;
    return found;
}

static const struct json *member_of(const struct json *obj, const struct json_member *m)
{
    for (size_t i = 0; i < obj->len; i++)
        if (obj->u.members[i].name_len == m->name_len && memcmp(obj->u.members[i].name, m->name, m->name_len) == 0)
            return obj->u.members[i].value;
    return NULL;
}

static bool object_differs(const struct json *a, const struct json *b, struct buf *path, struct buf *where)
{
    for (size_t i = 0; i < a->len; i++)
        if (member_differs(&a->u.members[i], a->u.members[i].value, member_of(b, &a->u.members[i]), path, where))
            return true;
    for (size_t i = 0; i < b->len; i++)
        if (!member_of(a, &b->u.members[i]) &&
            member_differs(&b->u.members[i], NULL, b->u.members[i].value, path, where))
            return true;
    return false;
}

static bool array_differs(const struct json *a, const struct json *b, struct buf *path, struct buf *where)
{
    for (size_t i = 0; i < a->len || i < b->len; i++) {
        size_t at = path->len;
        buf_printf(path, "[%zu]", i);
        bool found = differs_at(i < a->len ? a->u.items[i] : NULL, i < b->len ? b->u.items[i] : NULL, path, where);
        path->len = at;
        if (found)
            return true;
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
