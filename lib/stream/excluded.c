/* SPDX-License-Identifier: Apache-2.0 */
/* The excluded line, read and written. */
#include "stream/excluded.h"

#include "stream/stream.h"

#include <string.h>

#define X(id, text, words) [EXCLUDED_##id] = {text, words},
static const struct {
    const char *name, *words;
} table[EXCLUDED_TYPES] = {EXCLUDED_TABLE(X)};
#undef X

const char *excluded_why_name(enum excluded_why w)
{
    return table[w].name;
}

const char *excluded_why_words(enum excluded_why w)
{
    return table[w].words;
}

int stream_excluded(const struct stream_line *line, struct arena *arena, struct stream_excluded *out, struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err);
    struct json *key, *why;
    size_t i = 0;
    if (!doc)
        return -1;
    if (json_need(doc, "key", JSON_ARRAY, &key, "excluded", err) != 0 ||
        json_need(doc, "why", JSON_STRING, &why, "excluded", err) != 0)
        return stream_misfit(line, err);
    while (i < EXCLUDED_TYPES && !json_is(why, table[i].name))
        i++;
    if (i == EXCLUDED_TYPES) {
        err_set(err, ERR_REFUSED, "excluded.why: none of open, undetermined, expired and moved-on");
        return stream_misfit(line, err);
    }
    const struct json_text raw = json_raw(key);
    *out = (struct stream_excluded){(enum excluded_why)i, raw.p, raw.n};
    return 0;
}

void stream_put_excluded(struct stream_out *out, const struct stream_excluded *e)
{
    struct buf *line = stream_build(out, LINE_EXCLUDED);
    buf_adds(line, ",\"key\":");
    buf_add(line, e->key, e->key_len);
    buf_printf(line, ",\"why\":\"%s\"", excluded_why_name(e->why));
    stream_put_built(out, LINE_EXCLUDED);
}
