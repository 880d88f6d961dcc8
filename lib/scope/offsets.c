/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets in the form of Spark: {"topic":{"0":123}}, alone or in a file of its checkpoints. */
#include "scope/ranges.h"

#include <string.h>

static const char where[] = "offsets";

static int add_offset(struct declare *d, struct declare_offsets *o, const char *topic, const struct json *m,
                      struct err *err)
{
    struct declare_offset at = {.topic = topic};
    if (!scan_u64(m->str, m->len, &at.partition) || at.partition > INT32_MAX)
        return err_set(err, ERR_REFUSED, "%s: a name within '%s' that is no partition", where, topic);
    if (!json_i64(json_value(m), &at.offset) || at.offset < DECLARE_EARLIEST)
        return err_set(err, ERR_REFUSED, "%s: %s/%" PRIu64 ": no offset, nor -1 (its end) or -2 (its beginning)", where,
                       topic, at.partition);
    struct buf key = BUF_INIT;
    buf_printf(&key, "%s/%" PRIu64, topic, at.partition);
    const char *name = arena_strndup(d->arena, key.p, key.len);
    bool fresh = map_add(&o->places, name, key.len, o->n);
    buf_free(&key);
    if (!fresh)
        return err_set(err, ERR_REFUSED, "%s: %s stands there twice", where, name);
    o->at = declare_room(d->arena, o->at, o->n, sizeof *o->at);
    o->at[o->n++] = at;
    return 0;
}

static int take_object(struct declare *d, struct declare_offsets *o, const char *p, size_t n, struct err *err)
{
    const struct json *doc = json_parse_named(arena_strndup(d->arena, p, n), n, d->arena, where, err);
    if (!doc)
        return -1;
    if (doc->type != JSON_OBJECT || doc->len == 0)
        return err_set(err, ERR_REFUSED, "%s: no object of topics, as in {\"topic\":{\"0\":123}}", where);
    for (const struct json *m = json_first(doc); m; m = json_next(doc, m)) {
        const struct json *parts = json_value(m);
        if (parts->type != JSON_OBJECT || m->len == 0 || memchr(m->str, '\0', m->len))
            return err_set(err, ERR_REFUSED, "%s: no object of topics, as in {\"topic\":{\"0\":123}}", where);
        const char *topic = arena_strndup(d->arena, m->str, m->len);
        for (const struct json *part = json_first(parts); part; part = json_next(parts, part))
            if (add_offset(d, o, topic, part, err) != 0)
                return -1;
    }
    return 0;
}

/* The lines of a checkpoint's file past its version: what the batch was planned with, then a line a source, "-" for one
 * that had no offset yet. */
static int take_checkpoint(struct declare *d, struct declare_offsets *o, const char *p, const char *end,
                           struct err *err)
{
    for (unsigned line = 2; p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;
        size_t n = (size_t)(stop - p);
        bool none = n == 1 && *p == '-';
        if (line > 2 && n > 0 && !none && take_object(d, o, p, n, err) != 0)
            return -1;
        p = newline ? newline + 1 : end;
    }
    return 0;
}

int declare_offsets(struct declare *d, bool to, const char *text, size_t n, struct err *err)
{
    struct declare_offsets *o = to ? &d->to : &d->from;
    o->given = true;
    bool versioned = n > 1 && *text == 'v';
    if (versioned && (n < 3 || memcmp(text, "v1\n", 3) != 0))
        return err_set(err, ERR_REFUSED, "%s: a checkpoint's file of another version than v1", where);
    int rc = versioned ? take_checkpoint(d, o, text + 3, text + n, err) : take_object(d, o, text, n, err);
    if (rc == 0 && o->n == 0)
        rc = err_set(err, ERR_REFUSED, "%s: none is there", where);
    return rc;
}
