/* SPDX-License-Identifier: Apache-2.0 */
/* The absent line, read and written. */
#include "stream/absent.h"

#include "stream/stream.h"

#include <string.h>

#define X(id, text, row, from) [ABSENT_##id] = {text, row, from},
static const struct {
    const char *name, *row, *from;
} table[ABSENT_TYPES] = {ABSENT_TABLE(X)};
#undef X

const char *absent_why_name(enum absent_why w)
{
    return table[w].name;
}

const char *absent_why_row(enum absent_why w)
{
    return table[w].row;
}

const char *absent_why_from(enum absent_why w)
{
    return table[w].from;
}

enum absent_why absent_why_of(const struct json *text)
{
    size_t i = 0;
    while (i < ABSENT_TYPES && !json_is(text, table[i].name))
        i++;
    return (enum absent_why)i;
}

int absent_parse(const struct json *doc, const char *key, struct stream_absent *out, struct err *err)
{
    struct json *cells, *why;
    const struct json *at = json_get(doc, "at");
    if (json_need(doc, key, JSON_ARRAY, &cells, "absent", err) != 0 ||
        json_need(doc, "why", JSON_STRING, &why, "absent", err) != 0)
        return -1;
    const struct json_text raw = json_raw(cells);
    *out = (struct stream_absent){.why = absent_why_of(why), .key = raw.p, .key_len = raw.n};
    if (out->why == ABSENT_TYPES)
        return err_set(err, ERR_REFUSED, "absent.why: neither aborted nor deleted");
    if (!at)
        return 0;
    if (at->type != JSON_STRING || at->escaped || !stream_place_ok(at->str, at->len))
        return err_set(err, ERR_REFUSED, "absent.at: not topic/partition/offset");
    out->at = at->str;
    out->at_len = at->len;
    return 0;
}

int stream_absent(const struct stream_line *line, struct arena *arena, struct stream_absent *out, struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err);
    if (!doc)
        return -1;
    return absent_parse(doc, "key", out, err) == 0 ? 0 : stream_misfit(line, err);
}

void absent_put(struct buf *line, const struct stream_absent *a)
{
    if (a->at) {
        buf_adds(line, ",\"at\":\"");
        buf_add(line, a->at, a->at_len);
        buf_addc(line, '"');
    }
    buf_printf(line, ",\"why\":\"%s\"", absent_why_name(a->why));
}

void stream_put_absent(struct stream_out *out, const struct stream_absent *a)
{
    struct buf *line = stream_build(out, LINE_ABSENT);
    buf_adds(line, ",\"key\":");
    buf_add(line, a->key, a->key_len);
    absent_put(line, a);
    stream_put_built(out, LINE_ABSENT);
}
