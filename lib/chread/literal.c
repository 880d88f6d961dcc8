/* SPDX-License-Identifier: Apache-2.0 */
/* One key value: from its cell to bytes that sort, and from those to a literal. */
#include <arpa/inet.h>
#include <string.h>

#include "chread/keys.h"

/* How a key's bytes, most significant first, lie in the server's memory. */
enum lies { REVERSED, STRAIGHT, HALVES };

/* A kind of type that a key may be of. */
struct kind {
    /* Append the encoding of the cell p[0..n), which is canonical; text is the caller's to reuse. */
    void (*encode)(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out);
    void (*literal)(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql);
    bool is_signed;
    enum lies lies;    /* of bytes_literal */
    unsigned elements; /* that a literal counts in the server's syntax tree */
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

/* ---- kinds whose cell is no integer ---- */

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void encode_uuid(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out)
{
    (void)t, (void)text;
    for (size_t i = 1; i + 2 < n; i += 2) {
        i += p[i] == '-';
        buf_addc(out, (char)(nibble(p[i]) << 4 | nibble(p[i + 1])));
    }
}

static void encode_ip(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out)
{
    unsigned char network[16] = {0};
    buf_reset(text);
    buf_add(text, p + 1, n - 2);
    inet_pton(t->kind == TYPE_IPV4 ? AF_INET : AF_INET6, buf_str(text), network); /* it is canonical */
    buf_add(out, network, t->bits / 8);
}

static void encode_bool(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out)
{
    (void)t, (void)n, (void)text;
    buf_addc(out, p[1] == 't');
}

/* The bytes alone: all values have as many. */
static void encode_bytes(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out)
{
    (void)t, (void)text;
    cells_text(p, n, out);
}

/* The number of the name; nobody owes one without. */
static void encode_enum(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out)
{
    size_t i = 0;
    unsigned v;
    buf_reset(text);
    cells_text(p, n, text);
    while (!buf_is(text, t->words[i].p, t->words[i].n))
        i++;
    v = (unsigned)t->words[i].number ^ (t->bits == 8 ? 0x80U : 0x8000U);
    if (t->bits == 16)
        buf_addc(out, (char)(unsigned char)(v >> 8));
    buf_addc(out, (char)(unsigned char)v);
}

/* The name: its number alone is no literal of an Enum. */
static void enum_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    int number = t->bits == 8 ? (int8_t)(p[0] ^ 0x80) : (int16_t)(uint16_t)((p[0] ^ 0x80) << 8 | p[1]);
    (void)scratch;
    for (size_t i = 0; i < t->n_words; i++)
        if (t->words[i].number == number)
            http_quote_string(sql, t->words[i].p, t->words[i].n);
}

/* The value's own bytes, as the server has them in memory: a text of it would be parsed, by rules of each type, in a
 * zone, and clamped to the type's range. */
static void bytes_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    const struct kind *k = key_kind(t);
    size_t width = t->bits / 8;
    buf_adds(sql, "reinterpret(unhex('");
    for (size_t i = 0; i < width; i++) {
        size_t at = k->lies == REVERSED ? width - 1 - i : k->lies == STRAIGHT ? i : i < 8 ? 7 - i : 23 - i;
        buf_printf(sql, "%02x", at == 0 && k->is_signed ? p[0] ^ 0x80U : p[at]);
    }
    buf_reset(scratch);
    buf_adds(scratch, "Array(");
    type_spell(t, scratch);
    buf_addc(scratch, ')');
    buf_adds(sql, "'),");
    http_quote_string(sql, scratch->p, scratch->len);
    buf_adds(sql, ")[1]");
}

static const struct kind *key_kind(const struct type *t)
{
    static const struct kind kinds[] = {
        [TYPE_INT] = {encode_integer, integer_literal, true, REVERSED, 3},
        [TYPE_UINT] = {encode_integer, integer_literal, false, REVERSED, 3},
        [TYPE_STRING] = {encode_text, text_literal, false, STRAIGHT, 1},
        [TYPE_DECIMAL] = {encode_integer, bytes_literal, true, REVERSED, 9},
        [TYPE_DATE] = {encode_integer, bytes_literal, false, REVERSED, 9},
        [TYPE_DATE32] = {encode_integer, bytes_literal, true, REVERSED, 9},
        [TYPE_DATETIME] = {encode_integer, bytes_literal, false, REVERSED, 9},
        [TYPE_DATETIME64] = {encode_integer, bytes_literal, true, REVERSED, 9},
        [TYPE_TIME] = {encode_integer, bytes_literal, true, REVERSED, 9},
        [TYPE_TIME64] = {encode_integer, bytes_literal, true, REVERSED, 9},
        [TYPE_BOOL] = {encode_bool, bytes_literal, false, STRAIGHT, 9},
        [TYPE_FIXED_STRING] = {encode_bytes, bytes_literal, false, STRAIGHT, 9},
        [TYPE_UUID] = {encode_uuid, bytes_literal, false, HALVES, 9},
        [TYPE_ENUM] = {encode_enum, enum_literal, false, STRAIGHT, 1},
        [TYPE_IPV4] = {encode_ip, bytes_literal, false, REVERSED, 9},
        [TYPE_IPV6] = {encode_ip, bytes_literal, false, STRAIGHT, 9},
        [TYPE_OTHER] = {0},
    };
    return &kinds[t->kind];
}

void key_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    key_kind(t)->literal(t, p, scratch, sql);
}

/* A plain number is one. */
unsigned key_elements(const struct type *t)
{
    return key_kind(t)->literal == integer_literal && t->bits <= 64 ? 1 : key_kind(t)->elements;
}
