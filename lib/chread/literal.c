/* SPDX-License-Identifier: Apache-2.0 */
/* One key value: from its cell to bytes that sort, and from those to a literal. */
#include <string.h>

#include "chread/keys.h"

/* A kind of type that a key may be of. */
struct kind {
    /* Append the encoding of the cell p[0..n), which is canonical; text is the caller's to reuse. */
    void (*encode)(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out);
    void (*literal)(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql);
    bool is_signed;
};

static const struct kind *key_kind(const struct type *t);

static void encode_text(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out)
{
    (void)t;
    buf_reset(text);
    cells_text(p, n, text); /* not NULL, not unfit */
    for (size_t i = 0; i < text->len; i++) {
        buf_addc(out, text->p[i]);
        if (text->p[i] == '\0')
            buf_addc(out, '\xff');
    }
    buf_add(out, "\0", 2);
}

/* Decimal text between quotes, known to fit, into the type's width, most significant first, two's complement. */
static void encode_integer(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out)
{
    unsigned char be[32] = {0};
    size_t width = t->bits / 8;
    bool neg = p[1] == '-';
    (void)text;
    for (size_t i = 1 + neg; i < n - 1; i++) {
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
    if (key_kind(t)->is_signed)
        be[0] ^= 0x80;
    buf_add(out, be, width);
}

int key_encode(const struct column *c, const char *p, size_t n, struct buf *text, struct buf *out, struct err *err)
{
    const char *why = NULL;
    if (!cells_is_canonical(&c->type, p, n, false, &why))
        return err_set(err, ERR_REFUSED, "key column '%s': %s", c->name, why ? why : "no canonical cell of its type");
    const struct kind *k = key_kind(&c->type);
    if (!k->encode || c->type.nullable)
        return err_set(err, ERR_REFUSED, "key column '%s': no key is a %s", c->name, c->type.name);
    k->encode(&c->type, p, n, text, out);
    return 0;
}

size_t key_length(const struct type *t, const unsigned char *p)
{
    size_t n = 0;
    if (t->bits > 0)
        return t->bits / 8;
    while (p[n] != 0 || p[n + 1] != 0)
        n += p[n] == 0 ? 2 : 1;
    return n + 2;
}

static void text_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    (void)t;
    buf_reset(scratch);
    while (p[0] != 0 || p[1] != 0) {
        buf_addc(scratch, (char)p[0]);
        p += p[0] == 0 ? 2 : 1;
    }
    http_quote_string(sql, scratch->len > 0 ? scratch->p : "", scratch->len);
}

/* A bare number past UInt64 is a Float64 to the server, so wide types are converted from their text. */
static void integer_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    bool is_signed = key_kind(t)->is_signed;
    unsigned char le[32];
    size_t width = t->bits / 8;
    for (size_t i = 0; i < width; i++)
        le[width - 1 - i] = i == 0 && is_signed ? p[i] ^ 0x80 : p[i];
    buf_reset(scratch);
    cells_put_int(scratch, le, width, is_signed);
    if (t->bits > 64) {
        buf_adds(sql, "to");
        type_spell(t, sql);
        buf_printf(sql, "('%.*s')", (int)(scratch->len - 2), scratch->p + 1);
    } else {
        buf_add(sql, scratch->p + 1, scratch->len - 2);
    }
}

static const struct kind *key_kind(const struct type *t)
{
    static const struct kind kinds[] = {
        [TYPE_INT] = {encode_integer, integer_literal, true},
        [TYPE_UINT] = {encode_integer, integer_literal, false},
        [TYPE_STRING] = {encode_text, text_literal, false},
    };
    return &kinds[t->kind];
}

void key_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    key_kind(t)->literal(t, p, scratch, sql);
}

unsigned key_elements(const struct type *t)
{
    return t->bits > 64 ? 3 : 1;
}
