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
    const struct json_member *x = *(const struct json_member *const *)a, *y = *(const struct json_member *const *)b;
    size_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
    int c = memcmp(x->name, y->name, n);
    return c ? c : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

static void canonical_object(struct buf *b, const struct json *v)
{
    const struct json_member **sorted = xmalloc((v->len ? v->len : 1) * sizeof(*sorted));
    for (size_t i = 0; i < v->len; i++)
        sorted[i] = &v->u.members[i];
    qsort(sorted, v->len, sizeof(*sorted), by_name);
    buf_addc(b, '{');
    for (size_t i = 0; i < v->len; i++) {
        if (i)
            buf_addc(b, ',');
        json_put_str(b, sorted[i]->name, sorted[i]->name_len);
        buf_addc(b, ':');
        json_canonical(b, sorted[i]->value);
    }
    buf_addc(b, '}');
    free(sorted);
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
    case JSON_OBJECT: canonical_object(b, v); break;
    case JSON_ARRAY:
        buf_addc(b, '[');
        for (size_t i = 0; i < v->len; i++) {
            if (i)
                buf_addc(b, ',');
            json_canonical(b, v->u.items[i]);
        }
        buf_addc(b, ']');
        break;
    }
}
