/* SPDX-License-Identifier: Apache-2.0 */
/* cells: strings and Bool, and the bytes of a string cell. */
#include <string.h>

#include "cells/internal.h"

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The content of a canonical string, without its escapes. */
static void unescape(const char *p, size_t n, struct buf *out)
{
    static const char from[] = "btnfr", to[] = "\b\t\n\f\r";
    const char *end = p + n;

    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        const char *letter;
        if (!slash) {
            buf_add(out, p, (size_t)(end - p));
            return;
        }
        buf_add(out, p, (size_t)(slash - p));
        p = slash + 2;
        letter = strchr(from, slash[1]);
        if (slash[1] == 'u') {
            buf_addc(out, (char)(hex_digit(slash[4]) << 4 | hex_digit(slash[5])));
            p = slash + 6;
        } else {
            buf_addc(out, letter ? to[letter - from] : slash[1]);
        }
    }
}

bool cells_text(const char *p, size_t n, struct buf *out)
{
    enum cell_form form;
    const char *in, *why;
    size_t in_len;

    if (scan_cell(p, p + n, &form, &in, &in_len, &why) != p + n)
        return false;
    if (form == CELL_FORM_STRING) {
        unescape(in, in_len, out);
        return true;
    }
    return form == CELL_FORM_B64 && base64_decode(out, in, in_len);
}

enum cells_result owed_string(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    (void)c;
    if (v->type != JSON_STRING)
        return wrong_kind(out, v, "not a string", why);
    cells_put_bytes(out, v->str, v->len);
    return CELL_FIT;
}

enum cells_result owed_bool(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    (void)c;
    if (v->type != JSON_TRUE && v->type != JSON_FALSE)
        return wrong_kind(out, v, "neither true nor false", why);
    cells_put_bool(out, v->type == JSON_TRUE);
    return CELL_FIT;
}

bool check_string(const struct type *t, const char *p, size_t n, const char **why)
{
    (void)t, (void)p, (void)n, (void)why;
    return true;
}

bool check_bool(const struct type *t, const char *p, size_t n, const char **why)
{
    (void)t;
    *why = "neither true nor false";
    return (n == 4 && memcmp(p, "true", 4) == 0) || (n == 5 && memcmp(p, "false", 5) == 0);
}

void human_string(const struct type *t, const char *p, size_t n, struct buf *out)
{
    (void)t;
    buf_addc(out, '"');
    msg_mask(out, p, n);
    buf_addc(out, '"');
}

void human_plain(const struct type *t, const char *p, size_t n, struct buf *out)
{
    (void)t;
    buf_add(out, p, n);
}
