/* SPDX-License-Identifier: Apache-2.0 */
/* One key value: from its cell to bytes that sort, and from those to a literal. */
#include <string.h>

#include "chread/keys.h"

static bool is_signed(const struct type *t)
{
    return t->kind == TYPE_INT;
}

static void encode_text(const char *p, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        buf_addc(out, p[i]);
        if (p[i] == '\0')
            buf_addc(out, '\xff');
    }
    buf_add(out, "\0", 2);
}

/* Decimal text, already known to fit, into width bytes, most significant first, two's complement. */
static void encode_decimal(const char *p, size_t n, size_t width, bool turn, struct buf *out)
{
    unsigned char be[32] = {0};
    bool neg = n > 0 && *p == '-';
    for (size_t i = neg; i < n; i++) {
        unsigned carry = (unsigned)(p[i] - '0');
        for (size_t k = width; k-- > 0;) {
            carry += 10U * be[k];
            be[k] = (unsigned char)carry;
            carry >>= 8;
        }
    }
    if (neg) {
        unsigned carry = 1;
        for (size_t k = width; k-- > 0;) {
            carry += (unsigned char)~be[k];
            be[k] = (unsigned char)carry;
            carry >>= 8;
        }
    }
    if (turn)
        be[0] ^= 0x80;
    buf_add(out, be, width);
}

int key_encode(const struct column *c, const char *p, size_t n, struct buf *text, struct buf *out, struct err *err)
{
    const char *why = NULL;
    if (!cells_is_canonical(&c->type, p, n, false, &why))
        return err_set(err, ERR_REFUSED, "key column '%s': %s", c->name, why ? why : "no canonical cell of its type");
    if (c->type.kind == TYPE_STRING) {
        buf_reset(text);
        if (!cells_text(p, n, text))
            return err_set(err, ERR_REFUSED, "key column '%s': not a text", c->name);
        encode_text(text->p, text->len, out);
        return 0;
    }
    encode_decimal(p + 1, n - 2, c->type.bits / 8, is_signed(&c->type), out); /* without the cell's quotes */
    return 0;
}

size_t key_length(const struct type *t, const unsigned char *p)
{
    size_t n = 0;
    if (t->kind != TYPE_STRING)
        return t->bits / 8;
    while (p[n] != 0 || p[n + 1] != 0)
        n += p[n] == 0 ? 2 : 1;
    return n + 2;
}

static void text_literal(const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    buf_reset(scratch);
    while (p[0] != 0 || p[1] != 0) {
        buf_addc(scratch, (char)p[0]);
        p += p[0] == 0 ? 2 : 1;
    }
    http_quote_string(sql, scratch->len > 0 ? scratch->p : "", scratch->len);
}

/* A bare number past UInt64 is a Float64 to the server, so wide types are converted from their text. */
static void wide_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    unsigned char le[32];
    size_t width = t->bits / 8;
    for (size_t i = 0; i < width; i++)
        le[width - 1 - i] = i == 0 && is_signed(t) ? p[i] ^ 0x80 : p[i];
    buf_reset(scratch);
    cells_put_int(scratch, le, width, is_signed(t));
    buf_printf(sql, "to%s%u('%.*s')", is_signed(t) ? "Int" : "UInt", t->bits, (int)(scratch->len - 2), scratch->p + 1);
}

void key_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    if (t->kind == TYPE_STRING) {
        text_literal(p, scratch, sql);
        return;
    }
    if (t->bits > 64) {
        wide_literal(t, p, scratch, sql);
        return;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < t->bits / 8; i++)
        v = v << 8 | p[i];
    if (is_signed(t))
        buf_addi64(sql, (int64_t)(v - ((uint64_t)1 << (t->bits - 1))));
    else
        buf_addu64(sql, v);
}

unsigned key_elements(const struct type *t)
{
    return t->kind != TYPE_STRING && t->bits > 64 ? 3 : 1;
}
