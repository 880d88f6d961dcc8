/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing JSON: strings with the fewest escapes, integers that no double can
 * change, and a small writer that puts the commas.
 */
#include "json/json.h"
#include "base/bytes.h"

#include <assert.h>
#include <string.h>

static const uint64_t two_to_53 = (uint64_t)1 << 53;

static void put_escape(struct buf *b, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char from[] = "\"\\\b\t\n\f\r", to[] = "\"\\btnfr";
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        char two[2] = {'\\', to[known - from]};
        buf_add(b, two, sizeof two);
    } else {
        char six[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        buf_add(b, six, sizeof six);
    }
}

void json_put_str(struct buf *b, const char *p, size_t n)
{
    const char *end = n ? p + n : p; /* an empty buffer's pointer is NULL */
    buf_reserve(b, n + 2);
    buf_addc(b, '"');
    while (p < end) {
        const char *q = bytes_plain(p, end);
        while (q < end && (unsigned char)*q >= 0x80)
            q = bytes_plain(q + 1, end);
        buf_add(b, p, (size_t)(q - p));
        p = q;
        if (p < end)
            put_escape(b, (unsigned char)*p++);
    }
    buf_addc(b, '"');
}

void json_put_line(struct buf *b, const char *p, size_t n)
{
    buf_reserve(b, n);
    for (const char *end = p + n, *q = p; p < end; p = q) {
        while (q < end && (unsigned char)*q >= 0x20)
            q++;
        buf_add(b, p, (size_t)(q - p));
        if (q < end) {
            buf_addc(b, ' ');
            q++;
        }
    }
}

void json_put_raw(struct buf *b, const struct json *v)
{
    const struct json_text raw = json_raw(v);
    buf_add(b, raw.p, raw.n);
}

void json_put_s(struct buf *b, const char *s)
{
    json_put_str(b, s, strlen(s));
}

void json_put_u64(struct buf *b, uint64_t v)
{
    bool bare = v <= two_to_53;
    if (!bare)
        buf_addc(b, '"');
    buf_addu64(b, v);
    if (!bare)
        buf_addc(b, '"');
}

void json_put_i64(struct buf *b, int64_t v)
{
    bool bare = v <= (int64_t)two_to_53 && v >= -(int64_t)two_to_53;
    if (!bare)
        buf_addc(b, '"');
    buf_addi64(b, v);
    if (!bare)
        buf_addc(b, '"');
}

/* ---- the writer ---- */

void jw_init(struct json_w *w, struct buf *b)
{
    w->b = b;
    w->depth = 0;
    w->filled = 0;
}

/* What goes before a value: the comma where one came before it in this container, and its name. */
static void before(struct json_w *w, const char *name)
{
    if (w->depth > 0) {
        uint64_t bit = (uint64_t)1 << (w->depth - 1);
        if (w->filled & bit)
            buf_addc(w->b, ',');
        w->filled |= bit;
    }
    if (name) {
        json_put_s(w->b, name);
        buf_addc(w->b, ':');
    }
}

static void begin(struct json_w *w, const char *name, char bracket)
{
    assert(w->depth < JSON_DEPTH);
    before(w, name);
    buf_addc(w->b, bracket);
    w->filled &= ~((uint64_t)1 << w->depth);
    w->depth++;
}

static void finish(struct json_w *w, char bracket)
{
    assert(w->depth > 0);
    w->depth--;
    buf_addc(w->b, bracket);
}

void jw_obj(struct json_w *w, const char *name)
{
    begin(w, name, '{');
}

void jw_arr(struct json_w *w, const char *name)
{
    begin(w, name, '[');
}

void jw_end_obj(struct json_w *w)
{
    finish(w, '}');
}

void jw_end_arr(struct json_w *w)
{
    finish(w, ']');
}

void jw_str(struct json_w *w, const char *name, const char *s)
{
    if (s)
        jw_strn(w, name, s, strlen(s));
    else
        jw_null(w, name);
}

void jw_strn(struct json_w *w, const char *name, const char *p, size_t n)
{
    before(w, name);
    json_put_str(w->b, p, n);
}

void jw_shown(struct json_w *w, const char *name, const char *s)
{
    struct buf b = BUF_INIT;
    if (s && !utf8_valid(s, strlen(s))) {
        msg_mask(&b, s, strlen(s));
        s = buf_str(&b);
    }
    jw_str(w, name, s);
    buf_free(&b);
}

void jw_u64(struct json_w *w, const char *name, uint64_t v)
{
    before(w, name);
    json_put_u64(w->b, v);
}

void jw_i64(struct json_w *w, const char *name, int64_t v)
{
    before(w, name);
    json_put_i64(w->b, v);
}

void jw_bool(struct json_w *w, const char *name, bool v)
{
    before(w, name);
    buf_adds(w->b, v ? "true" : "false");
}

void jw_null(struct json_w *w, const char *name)
{
    before(w, name);
    buf_adds(w->b, "null");
}

void jw_raw(struct json_w *w, const char *name, const char *p, size_t n)
{
    before(w, name);
    buf_add(w->b, p, n);
}
