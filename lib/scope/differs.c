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

struct walk {
    const char *const *ignored; /* the places that are not compared, an index left open; NULL last */
    struct buf path, *where;
};

static bool is_place(const char *place, const char *p, size_t n)
{
    const char *end = p + n;
    for (; *place && p < end; place++, p++) {
        if (*place != *p)
            return false;
        if (*p == '[')
            p += strspn(p + 1, "0123456789");
    }
    return *place == '\0' && p == end;
}

static bool is_ignored(const struct walk *w)
{
    for (const char *const *place = w->ignored; *place; place++)
        if (is_place(*place, w->path.p, w->path.len))
            return true;
    return false;
}

static bool differs_at(struct walk *w, const struct json *a, const struct json *b);

static bool member_differs(struct walk *w, const struct json *m, const struct json *a, const struct json *b)
{
    size_t at = w->path.len;
    if (at > 0)
        buf_addc(&w->path, '.');
    buf_add(&w->path, m->str, m->len);
    buf_str(&w->path);
    bool found = !is_ignored(w) && differs_at(w, a, b);
    w->path.len = at;
    return found;
}

static const struct json *member_of(const struct json *obj, const struct json *name)
{
    for (const struct json *m = json_first(obj); m; m = json_next(obj, m))
        if (m->len == name->len && memcmp(m->str, name->str, name->len) == 0)
            return json_value(m);
    return NULL;
}

static bool object_differs(struct walk *w, const struct json *a, const struct json *b)
{
    for (const struct json *m = json_first(a); m; m = json_next(a, m))
        if (member_differs(w, m, json_value(m), member_of(b, m)))
            return true;
    for (const struct json *m = json_first(b); m; m = json_next(b, m))
        if (!member_of(a, m) && member_differs(w, m, NULL, json_value(m)))
            return true;
    return false;
}

static bool array_differs(struct walk *w, const struct json *a, const struct json *b)
{
    const struct json *x = json_first(a), *y = json_first(b);
    for (size_t i = 0; x || y; i++) {
        size_t at = w->path.len;
        buf_printf(&w->path, "[%zu]", i);
        bool found = differs_at(w, x, y);
        w->path.len = at;
        if (found)
            return true;
        x = x ? json_next(a, x) : NULL;
        y = y ? json_next(b, y) : NULL;
    }
    return false;
}

static bool differs_at(struct walk *w, const struct json *a, const struct json *b)
{
    if (a && b && a->type == b->type && a->type == JSON_OBJECT)
        return object_differs(w, a, b);
    if (a && b && a->type == b->type && a->type == JSON_ARRAY)
        return array_differs(w, a, b);
    if (same_value(a, b))
        return false;
    buf_add(w->where, w->path.p ? w->path.p : "", w->path.len);
    buf_adds(w->where, ": ");
    value_put(w->where, a);
    buf_adds(w->where, " here, ");
    value_put(w->where, b);
    buf_adds(w->where, " there");
    buf_str(w->where);
    return true;
}

static bool differs(const char *const *ignored, const struct json *here, const struct json *there, struct buf *where)
{
    struct walk w = {.ignored = ignored, .path = BUF_INIT, .where = where};
    bool found = differs_at(&w, here, there);
    buf_free(&w.path);
    return found;
}

bool scope_differs(const struct json *here, const struct json *there, struct buf *where)
{
    static const char *const none[] = {NULL};
    return differs(none, here, there, where);
}

bool scope_owes_other(const struct json *here, const struct json *there, struct buf *where)
{
    /* What is asked of the rows, and what is only told of the log: no row is computed from it. */
    static const char *const asked[] = {"columns[].key",
                                        "columns[].kind",
                                        "bundle.coverage",
                                        "bundle.from_run_start", /* what it does stands in since, epochs and ranges */
                                        "bundle.repeats",
                                        "declared.coverage",
                                        "declared.gone",
                                        "declared.left_out",
                                        "declared.chosen",
                                        "scope_sha256",
                                        NULL};
    return differs(asked, here, there, where);
}
