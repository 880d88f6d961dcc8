/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: from decoded destination values. Millions of rows come this way, so
 * digits are written in pairs into reserved room and nothing is allocated.
 */
#include <string.h>

#include "base/bytes.h"
#include "cells/internal.h"

static const char pairs[201] = "00010203040506070809101112131415161718192021222324"
                               "25262728293031323334353637383940414243444546474849"
                               "50515253545556575859606162636465666768697071727374"
                               "75767778798081828384858687888990919293949596979899";

#define CELL_ROOM 96 /* the longest number: a quote, a sign, 78 digits, a quote */

static char *room(struct buf *out, size_t n)
{
    if (out->cap - out->len < n)
        buf_reserve(out, n);
    return out->p + out->len;
}

/* Eight digits, leading zeros kept: four independent pairs, which a chain of divisions by 100 is not. */
static void eight_digits(char *to, uint32_t v)
{
    uint32_t high = v / 10000, low = v % 10000;

    memcpy(to, pairs + 2 * (high / 100), 2);
    memcpy(to + 2, pairs + 2 * (high % 100), 2);
    memcpy(to + 4, pairs + 2 * (low / 100), 2);
    memcpy(to + 6, pairs + 2 * (low % 100), 2);
}

/* Write v so that it ends just before end; returns its first digit. */
static char *digits_before(char *end, uint64_t v)
{
    while (v >= 100000000) {
        end -= 8;
        eight_digits(end, (uint32_t)(v % 100000000));
        v /= 100000000;
    }
    while (v >= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        end -= 2;
        memcpy(end, pairs + 2 * v, 2);
    } else {
        *--end = (char)('0' + v);
    }
    return end;
}

static unsigned digit_count(uint64_t v)
{
    unsigned n = 1;

    for (;;) {
        if (v < 10)
            return n;
        if (v < 100)
            return n + 1;
        if (v < 1000)
            return n + 2;
        if (v < 10000)
            return n + 3;
        v /= 10000;
        n += 4;
    }
}

static void put_magnitude(struct buf *out, bool neg, uint64_t v)
{
    char *p = room(out, CELL_ROOM), *start = p;
    unsigned n = digit_count(v);

    *p++ = '"';
    if (neg)
        *p++ = '-';
    digits_before(p + n, v);
    p += n;
    *p++ = '"';
    out->len += (size_t)(p - start);
}

void cells_put_null(struct buf *out)
{
    memcpy(room(out, 4), "null", 4);
    out->len += 4;
}

void cells_put_i64(struct buf *out, int64_t v)
{
    put_magnitude(out, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void cells_put_u64(struct buf *out, uint64_t v)
{
    put_magnitude(out, false, v);
}

static uint64_t load(const unsigned char *le, size_t bytes)
{
    uint64_t v = 0;

    for (size_t i = bytes; i-- > 0;)
        v = v << 8 | le[i];
    return v;
}

static uint64_t load_wide(const unsigned char *le)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t v;
    memcpy(&v, le, 8);
    return v;
#else
    return load(le, 8);
#endif
}

static int64_t extend(uint64_t v, size_t bytes)
{
    unsigned shift = 64 - 8 * (unsigned)bytes;

    return (int64_t)(v << shift) >> shift;
}

/* Divide the n limbs in place by 10^19; returns the remainder. */
static uint64_t divide_limbs(uint64_t *limb, size_t n)
{
    const uint64_t base = 10000000000000000000u;
    unsigned __int128 rest = 0;

    for (size_t i = n; i-- > 0;) {
        rest = rest << 64 | limb[i];
        limb[i] = (uint64_t)(rest / base);
        rest %= base;
    }
    return (uint64_t)rest;
}

static void negate_limbs(uint64_t *limb, size_t n)
{
    uint64_t carry = 1;

    for (size_t i = 0; i < n; i++) {
        limb[i] = ~limb[i] + carry;
        carry = carry != 0 && limb[i] == 0;
    }
}

/* Integers of more than 64 bits, 19 digits a division. */
static void put_limbs(struct buf *out, uint64_t *limb, size_t n, bool is_signed)
{
    bool neg = is_signed && limb[n - 1] >> 63 != 0;
    char text[CELL_ROOM], *end = text + sizeof text, *p = end;

    if (neg)
        negate_limbs(limb, n);
    while (n > 0 && limb[n - 1] == 0)
        n--;
    if (n <= 1) {
        put_magnitude(out, neg, n == 0 ? 0 : limb[0]);
        return;
    }
    *--p = '"';
    while (n > 0) {
        char *from = p - 19;
        uint64_t part = divide_limbs(limb, n);
        while (n > 0 && limb[n - 1] == 0)
            n--;
        p = digits_before(p, part);
        while (n > 0 && p > from)
            *--p = '0';
    }
    if (neg)
        *--p = '-';
    *--p = '"';
    memcpy(room(out, CELL_ROOM), p, (size_t)(end - p));
    out->len += (size_t)(end - p);
}

void cells_put_int(struct buf *out, const unsigned char *le, size_t bytes, bool is_signed)
{
    if (bytes <= 8) {
        uint64_t v = bytes == 8 ? load_wide(le) : load(le, bytes);
        if (is_signed)
            cells_put_i64(out, extend(v, bytes));
        else
            cells_put_u64(out, v);
    } else {
        uint64_t limb[4];
        for (size_t i = 0; i < bytes / 8; i++)
            limb[i] = load_wide(le + 8 * i);
        put_limbs(out, limb, bytes / 8, is_signed);
    }
}

static void put_hex(struct buf *out, uint64_t bits, unsigned digits)
{
    char *p = room(out, CELL_ROOM);

    *p++ = '"';
    for (unsigned i = digits; i-- > 0;)
        *p++ = "0123456789abcdef"[bits >> 4 * i & 15];
    *p = '"';
    out->len += digits + 2;
}

static void put_nan(struct buf *out)
{
    memcpy(room(out, 5), "\"nan\"", 5);
    out->len += 5;
}

void cells_put_bf16(struct buf *out, uint16_t bits)
{
    if ((bits & 0x7fffu) > 0x7f80u)
        put_nan(out);
    else
        put_hex(out, bits, 4);
}

void cells_put_f32(struct buf *out, uint32_t bits)
{
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        put_nan(out);
    else
        put_hex(out, bits, 8);
}

void cells_put_f64(struct buf *out, uint64_t bits)
{
    if ((bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u)
        put_nan(out);
    else
        put_hex(out, bits, 16);
}

void cells_put_bool(struct buf *out, bool v)
{
    const char *text = v ? "\"true\"" : "\"false\"";
    size_t n = v ? 6 : 7;

    memcpy(room(out, n), text, n);
    out->len += n;
}

static char *put_escape(char *to, unsigned char c)
{
    static const char letters[] = "btn\0fr"; /* U+0008 to U+000D without U+000B */

    *to++ = '\\';
    if (c == '"' || c == '\\') {
        *to++ = (char)c;
    } else if (c >= 8 && c <= 13 && c != 11) {
        *to++ = letters[c - 8];
    } else {
        memcpy(to, "u00", 3);
        to[3] = "01"[c >> 4];
        to[4] = "0123456789abcdef"[c & 15];
        to += 5;
    }
    return to;
}

bool put_string(struct buf *out, const char *p, size_t n)
{
    const char *end;
    size_t start = out->len;
    char *to = room(out, n + 2);

    if (n == 0)
        p = ""; /* no bytes may come as no pointer */
    end = p + n;
    *to++ = '"';
    while (p < end) {
        const char *q = bytes_plain(p, end);
        memcpy(to, p, (size_t)(q - p));
        to += q - p;
        p = q;
        if (p == end)
            break;
        if ((unsigned char)*p >= 0x80) {
            size_t k = bytes_utf8(p, end);
            if (k == 0) {
                out->len = start;
                return false;
            }
            memcpy(to, p, k);
            to += k;
            p += k;
        } else { /* an escape takes up to 5 bytes more than there was room for */
            out->len = (size_t)(to - out->p);
            to = room(out, (size_t)(end - p) + 8);
            to = put_escape(to, (unsigned char)*p++);
        }
    }
    *to++ = '"';
    out->len = (size_t)(to - out->p);
    return true;
}

void cells_put_bytes(struct buf *out, const char *p, size_t n)
{
    if (!put_string(out, p, n)) {
        buf_add(out, "{\"b64\":\"", 8);
        base64_add(out, p, n);
        buf_add(out, "\"}", 2);
    }
}

/* ---- by kind ---- */

void put_signed(struct buf *out, const struct type *t, const unsigned char *p, size_t n)
{
    (void)t;
    cells_put_int(out, p, n, true);
}

void put_unsigned(struct buf *out, const struct type *t, const unsigned char *p, size_t n)
{
    (void)t;
    cells_put_int(out, p, n, false);
}

void put_float(struct buf *out, const struct type *t, const unsigned char *p, size_t n)
{
    (void)t;
    if (n == 2)
        cells_put_bf16(out, (uint16_t)load(p, 2));
    else if (n == 4)
        cells_put_f32(out, (uint32_t)load(p, 4));
    else
        cells_put_f64(out, load_wide(p));
}

/* A byte that is not 0 is true, as the server has it. */
void put_bool(struct buf *out, const struct type *t, const unsigned char *p, size_t n)
{
    (void)t, (void)n;
    cells_put_bool(out, p[0] != 0);
}

void put_bytes(struct buf *out, const struct type *t, const unsigned char *p, size_t n)
{
    (void)t;
    cells_put_bytes(out, (const char *)p, n);
}
