/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing JSON: strings with the fewest escapes, integers that no double can
 * change, a small writer that puts the commas, and the canonical form that
 * fingerprints are taken over.
 */
#include "json/json.h"
#include "json/scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN_DIGITS = 80 }; /* past so many a number is written as <digits>e<n> */

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
    const char *end = p + n;
    buf_reserve(b, n + 2);
    buf_addc(b, '"');
    while (p < end) {
        const char *q = scan_plain(p, end);
        while (q < end && (unsigned char)*q >= 0x80)
            q = scan_plain(q + 1, end);
        buf_add(b, p, (size_t)(q - p));
        p = q;
        if (p < end)
            put_escape(b, (unsigned char)*p++);
    }
    buf_addc(b, '"');
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

/* ---- the canonical form ---- */

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
