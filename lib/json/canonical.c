/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a number's text, and the canonical form that fingerprints are
 * taken over.
 */
#include "json/decimal.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

#define EXPONENT (INT64_MAX / 1000) /* what a number may hold */

static const uint64_t two_to_53 = (uint64_t)1 << 53;

/* The number of a text by RFC 8259. False where its exponent is too large for a number: the text is then its own value.
 */
static bool number_read(struct decimal *d, const char *p, size_t n)
{
    return decimal_parse(d, p, n) && !d->far && d->written <= EXPONENT && d->written >= -EXPONENT;
}

static void canonical_number(struct buf *b, const struct json *v)
{
    struct decimal d;
    struct buf text = BUF_INIT;
    int64_t whole;
    if (!number_read(&d, v->str, v->len)) {
        json_put_str(b, v->str, v->len);
        return;
    }
    if (d.exp > DECIMAL_PLAIN_DIGITS || d.exp < -DECIMAL_PLAIN_DIGITS || (d.exp != 0 && d.n > DECIMAL_PLAIN_DIGITS))
        decimal_power(&d, &text);
    else
        decimal_expand(&d, &text);
    if (scan_i64(text.p, text.len, &whole) && whole <= (int64_t)two_to_53 && whole >= -(int64_t)two_to_53)
        buf_add(b, text.p, text.len);
    else
        json_put_str(b, text.p, text.len);
    buf_free(&text);
}

bool json_number_same(const char *a, size_t a_len, const char *b, size_t b_len)
{
    struct decimal x, y;
    if (!number_read(&x, a, a_len) || !number_read(&y, b, b_len))
        return a_len == b_len && memcmp(a, b, a_len) == 0;
    return decimal_same(&x, &y);
}

static int by_name(const void *a, const void *b)
{
    const struct json *x = *(const struct json *const *)a, *y = *(const struct json *const *)b;
    int c = memcmp(x->str, y->str, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static void canonical_object(struct buf *b, const struct json *v, const char *without)
{
    const struct json **sorted = xmalloc((v->len ? v->len : 1) * sizeof(*sorted));
    size_t n = 0;
    for (const struct json *m = json_first(v); m; m = json_next(v, m))
        if (!without || !json_is(m, without))
            sorted[n++] = m;
    qsort(sorted, n, sizeof(*sorted), by_name);
    buf_addc(b, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_addc(b, ',');
        json_put_str(b, sorted[i]->str, sorted[i]->len);
        buf_addc(b, ':');
        json_canonical(b, json_value(sorted[i]));
    }
    buf_addc(b, '}');
    free(sorted);
}

void json_canonical_without(struct buf *b, const struct json *obj, const char *name)
{
    canonical_object(b, obj, name);
}

/* Recursion is bounded: the reader makes no tree deeper than JSON_DEPTH. */
void json_canonical(struct buf *b, const struct json *v)
{
    switch (v->type) {
    case JSON_NULL: buf_adds(b, "null"); break;
    case JSON_FALSE: buf_adds(b, "false"); break;
    case JSON_TRUE: buf_adds(b, "true"); break;
    case JSON_NUMBER: canonical_number(b, v); break;
    case JSON_STRING: json_put_str(b, v->str, v->len); break;
    case JSON_OBJECT: canonical_object(b, v, NULL); break;
    case JSON_ARRAY:
        buf_addc(b, '[');
        for (const struct json *item = json_first(v); item; item = json_next(v, item)) {
            if (item != v + 1)
                buf_addc(b, ',');
            json_canonical(b, item);
        }
        buf_addc(b, ']');
        break;
    }
}
