/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant's checkpoint as a changelog over files: a header with handles of
 * materializations, then changes. Replayed, it is the document that a backend
 * over plain files would have written.
 */
#include "evidence/changelog.h"
#include "json/json.h"
#include "evidence/fields.h"

#include <stdlib.h>
#include <string.h>

#define HANDLES_MAX 10000
/* Of the first line, whose tree costs up to six times its text. */
#define HEADER_MAX ((size_t)8 << 20)

static int handles_parse(const struct json *doc, const char *where, struct arena *a, struct changelog *out,
                         struct err *err)
{
    struct json *list;
    if (json_need(doc, "materializations", JSON_ARRAY, &list, where, err) != 0)
        return -1;
    if (list->len > HANDLES_MAX)
        return err_set(err, ERR_REFUSED, "%s.materializations: %" PRIu32 " of them, the bound is %d", where, list->len,
                       HANDLES_MAX);
    out->handles = arena_alloc(a, (list->len + 1) * sizeof *out->handles);
    out->n_handles = list->len;
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        struct materialization *m = &out->handles[i];
        char place[300];
        snprintf(place, sizeof place, "%.200s.materializations[%zu]", where, i);
        if (json_need_str(item, "location", a, &m->location, place, err) != 0 ||
            json_need_u64(item, "bytes", &m->bytes, place, err) != 0 ||
            json_need_str(item, "sha256", a, &m->sha256, place, err) != 0)
            return -1;
        if (!sha256_is_hex(m->sha256, strlen(m->sha256)))
            return err_set(err, ERR_REFUSED, "%s.sha256: not 64 lower-case hex digits", place);
    }
    return 0;
}

static int header_parse(const char *p, size_t n, const char *where, struct arena *a, struct changelog *out,
                        struct err *err)
{
    struct json *doc = json_parse_named(p, n, a, where, err);
    if (!doc || format_check(doc, "owed-changelog", where, a, err) != 0 ||
        json_need_str(doc, "job", a, &out->job, where, err) != 0 ||
        json_need_str(doc, "operator", a, &out->operator_id, where, err) != 0 ||
        json_need_str(doc, "kind", a, &out->kind, where, err) != 0 ||
        json_need_u64(doc, "subtask", &out->subtask, where, err) != 0 ||
        json_need_u64(doc, "checkpoint", &out->checkpoint, where, err) != 0 ||
        json_need_u64(doc, "changes", &out->changes, where, err) != 0)
        return -1;
    return handles_parse(doc, where, a, out, err);
}

int changelog_parse(const char *p, size_t n, const char *where, struct arena *a, struct changelog *out, struct err *err)
{
    *out = (struct changelog){0};
    const char *nl = n ? memchr(p, '\n', n) : NULL;
    if (!nl)
        return err_set(err, ERR_REFUSED, "%s: no whole first line", where);
    if ((size_t)(nl - p) > HEADER_MAX)
        return err_set(err, ERR_REFUSED, "%s: its first line has %zu bytes, the bound is %zu", where, (size_t)(nl - p),
                       HEADER_MAX);
    if (header_parse(p, (size_t)(nl - p), where, a, out, err) != 0)
        return -1;
    out->lines = nl + 1;
    out->lines_len = n - (size_t)(nl + 1 - p);
    uint64_t lines = 0;
    const char *end = p + n, *at = out->lines;
    for (; at < end && (nl = memchr(at, '\n', (size_t)(end - at))); at = nl + 1)
        lines++;
    if (at < end)
        return err_set(err, ERR_REFUSED, "%s: cut in the middle of its last line", where);
    if (lines != out->changes)
        return err_set(err, ERR_REFUSED, "%s: %" PRIu64 " changes, its header says %" PRIu64, where, lines,
                       out->changes);
    return 0;
}

/* ---- replay ---- */

/* A name of the state, and its value while it has one. All in the arena or the callers' texts. */
struct entry {
    const char *name;
    size_t name_len;
    const char *value;
    size_t value_len;
    size_t order; /* of the last put: later ones win */
};

struct state {
    struct entry *at;
    size_t n, cap;
};

/* value is NULL where the name is gone. */
static void put(struct state *s, const char *name, size_t name_len, const struct json *value)
{
    const struct json_text text = value ? json_raw(value) : (struct json_text){NULL, 0};
    if (s->n == s->cap)
        s->at = xrealloc(s->at, (s->cap = s->cap ? s->cap * 2 : 64) * sizeof *s->at);
    s->at[s->n] = (struct entry){name, name_len, text.p, text.n, s->n};
    s->n++;
}

static int by_name(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    size_t n = a->name_len < b->name_len ? a->name_len : b->name_len;
    int c = n ? memcmp(a->name, b->name, n) : 0;
    if (c == 0 && a->name_len != b->name_len)
        c = a->name_len < b->name_len ? -1 : 1;
    return c ? c : a->order < b->order ? -1 : a->order > b->order;
}

static int put_materialization(struct state *s, const struct materialization *m, const struct buf *text,
                               struct arena *a, struct err *err)
{
    char sha[SHA256_HEX + 1];
    const char *p = text->p ? text->p : "";
    if (text->len != m->bytes)
        return err_set(err, ERR_REFUSED, "materialization '%s': %zu bytes, its handle says %" PRIu64, m->location,
                       text->len, m->bytes);
    sha256_of(p, text->len, sha);
    if (strcmp(sha, m->sha256) != 0)
        return err_set(err, ERR_REFUSED, "materialization '%s': another SHA-256 than its handle's", m->location);
    struct json *doc = json_parse_named(p, text->len, a, m->location, err);
    if (!doc)
        return -1;
    if (doc->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "materialization '%s': not an object", m->location);
    for (const struct json *one = json_first(doc); one; one = json_next(doc, one))
        put(s, one->str, one->len, json_value(one));
    return 0;
}

static int put_change(struct state *s, const char *p, size_t n, const char *where, struct arena *a, struct err *err)
{
    struct json *doc = json_parse_named(p, n, a, where, err);
    if (!doc)
        return -1;
    const struct json *name = json_get(doc, "put"), *gone = json_get(doc, "delete"), *value = json_get(doc, "value");
    if (name && name->type == JSON_STRING && value && doc->len == 2)
        put(s, name->str, name->len, value);
    else if (gone && gone->type == JSON_STRING && doc->len == 1)
        put(s, gone->str, gone->len, NULL);
    else
        return err_set(err, ERR_REFUSED, "%s: neither {\"put\",\"value\"} nor {\"delete\"}", where);
    return 0;
}

static int put_changes(struct state *s, const struct changelog *c, const char *where, struct arena *a, struct err *err)
{
    const char *p = c->lines;
    for (uint64_t i = 0; i < c->changes; i++) {
        const char *nl = memchr(p, '\n', c->lines_len - (size_t)(p - c->lines));
        char place[300];
        snprintf(place, sizeof place, "%.200s: line %" PRIu64, where, i + 2);
        if (put_change(s, p, (size_t)(nl - p), place, a, err) != 0)
            return -1;
        p = nl + 1;
    }
    return 0;
}

/* What the document says of itself comes from the header, whatever the state holds under these names. */
static bool is_own(const struct entry *e)
{
    static const char *const own[] = {"format", "version", "job", "operator", "kind", "subtask", "checkpoint"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == e->name_len && memcmp(own[i], e->name, e->name_len) == 0)
            return true;
    return false;
}

static void put_document(const struct changelog *c, const struct state *s, struct buf *out)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    jw_str(&w, "format", "owed-state");
    jw_u64(&w, "version", 1);
    jw_str(&w, "job", c->job);
    jw_str(&w, "operator", c->operator_id);
    jw_str(&w, "kind", c->kind);
    jw_u64(&w, "subtask", c->subtask);
    jw_u64(&w, "checkpoint", c->checkpoint);
    for (size_t i = 0; i < s->n; i++) {
        const struct entry *e = &s->at[i];
        bool last = i + 1 == s->n || e[1].name_len != e->name_len || memcmp(e[1].name, e->name, e->name_len) != 0;
        if (!last || !e->value || is_own(e))
            continue;
        buf_addc(out, ',');
        json_put_str(out, e->name, e->name_len);
        buf_addc(out, ':');
        buf_add(out, e->value, e->value_len);
    }
    jw_end_obj(&w);
    buf_addc(out, '\n');
}

int changelog_replay(const struct changelog *c, const struct buf *texts, const char *where, struct buf *out,
                     struct err *err)
{
    struct arena a = ARENA_INIT;
    struct state s = {NULL, 0, 0};
    int rc = 0;
    for (size_t i = 0; i < c->n_handles && rc == 0; i++)
        rc = put_materialization(&s, &c->handles[i], &texts[i], &a, err);
    if (rc == 0)
        rc = put_changes(&s, c, where, &a, err);
    if (rc == 0) {
        if (s.n > 0)
            qsort(s.at, s.n, sizeof *s.at, by_name);
        put_document(c, &s, out);
    }
    free(s.at);
    arena_free(&a);
    return rc;
}
