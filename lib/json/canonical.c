/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a number's text, and the canonical form that fingerprints are
 * taken over.
 */
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

enum { PLAIN_DIGITS = 80 }; /* past so many a number is written as <digits>e<n> */

static const uint64_t two_to_53 = (uint64_t)1 << 53;

/* A number taken apart: its value is digits x 10^exponent, digits without zeros at either end. */
struct decimal {
    bool negative;
    struct buf digits;
    int64_t exponent;
};

/* False where the exponent is too large to compute with. p is a number by RFC 8259. */
static bool decimal_read(struct decimal *d, const char *p, size_t n)
{
    const char *end = p + n;
    int64_t power = 0, fraction = 0;
    bool dot = false;
    d->negative = *p == '-';
    for (p += d->negative; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            dot = true;
            continue;
        }
        fraction += dot;
        if (d->digits.len || *p != '0')
            buf_addc(&d->digits, *p);
    }
    if (p < end) {
        bool minus = p[1] == '-';
        for (p += p[1] == '-' || p[1] == '+' ? 2 : 1; p < end; p++) {
            power = power * 10 + (*p - '0');
            if (power > INT64_MAX / 1000)
                return false;
        }
        power = minus ? -power : power;
    }
    d->exponent = power - fraction;
    while (d->digits.len && d->digits.p[d->digits.len - 1] == '0') {
        d->digits.len--;
        d->exponent++;
    }
    return true;
}

static void put_zeros(struct buf *b, size_t n)
{
    while (n-- > 0)
        buf_addc(b, '0');
}

/* The plain decimal of d, without zeros that do not count. */
static void decimal_put(struct buf *b, const struct decimal *d)
{
    const char *digits = d->digits.p;
    size_t n = d->digits.len;
    if (d->negative)
        buf_addc(b, '-');
    if (d->exponent > PLAIN_DIGITS || d->exponent < -PLAIN_DIGITS || n > PLAIN_DIGITS) {
        buf_add(b, digits, n);
        if (d->exponent != 0) {
            buf_addc(b, 'e');
            buf_addi64(b, d->exponent);
        }
    } else if (d->exponent >= 0) {
        buf_add(b, digits, n);
        put_zeros(b, (size_t)d->exponent);
    } else if (n > (size_t)-d->exponent) {
        size_t whole = n - (size_t)-d->exponent;
        buf_add(b, digits, whole);
        buf_addc(b, '.');
        buf_add(b, digits + whole, n - whole);
    } else {
        buf_adds(b, "0.");
        put_zeros(b, (size_t)-d->exponent - n);
        buf_add(b, digits, n);
    }
}

static void canonical_number(struct buf *b, const struct json *v)
{
    struct decimal d = {false, BUF_INIT, 0};
    struct buf text = BUF_INIT;
    int64_t whole;
    if (!decimal_read(&d, v->str, v->len)) {
        json_put_str(b, v->str, v->len);
    } else if (d.digits.len == 0) {
        buf_addc(b, '0');
    } else {
        decimal_put(&text, &d);
        if (scan_i64(text.p, text.len, &whole) && whole <= (int64_t)two_to_53 && whole >= -(int64_t)two_to_53)
            buf_add(b, text.p, text.len);
        else
            json_put_str(b, text.p, text.len);
    }
    buf_free(&text);
    buf_free(&d.digits);
}

bool json_number_same(const char *a, size_t a_len, const char *b, size_t b_len)
{
    struct decimal x = {false, BUF_INIT, 0}, y = {false, BUF_INIT, 0};
    bool same;
    if (!decimal_read(&x, a, a_len) || !decimal_read(&y, b, b_len))
        same = a_len == b_len && memcmp(a, b, a_len) == 0;
    else if (x.digits.len == 0 || y.digits.len == 0)
        same = x.digits.len == y.digits.len;
    else
        same = x.negative == y.negative && x.exponent == y.exponent && buf_is(&x.digits, y.digits.p, y.digits.len);
    buf_free(&x.digits);
    buf_free(&y.digits);
    return same;
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
