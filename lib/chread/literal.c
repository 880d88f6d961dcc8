/* SPDX-License-Identifier: Apache-2.0 */
/* One key value: from its cell to bytes that sort, and from those to a literal. */
#include <arpa/inet.h>
#include <stdlib.h>
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

static void put_text(const char *p, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        buf_addc(out, p[i]);
        if (p[i] == '\0')
            buf_addc(out, '\xff');
    }
    buf_add(out, "\0", 2);
}

static void encode_text(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out)
{
    (void)t;
    buf_reset(text);
    cells_text(p, n, text); /* not NULL, not unfit */
    put_text(text->p, text->len, out);
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

/* Where byte i of the value, as the server has it in memory, stands in the encoding. */
static size_t lies_at(const struct kind *k, size_t width, size_t i)
{
    switch (k->lies) {
    case REVERSED: return width - 1 - i;
    case STRAIGHT: return i;
    default: return i < 8 ? 7 - i : 23 - i;
    }
}

void key_value(const struct type *t, const unsigned char *p, struct buf *out)
{
    const struct kind *k = key_kind(t);
    size_t width = t->bits / 8;
    if (width == 0) {
        for (; p[0] != 0 || p[1] != 0; p += p[0] == 0 ? 2 : 1)
            buf_addc(out, (char)p[0]);
        return;
    }
    for (size_t i = 0; i < width; i++) {
        size_t at = lies_at(k, width, i);
        buf_addc(out, (char)(at == 0 && k->is_signed ? p[0] ^ 0x80 : p[at]));
    }
}

void key_encode_value(const struct type *t, const unsigned char *p, size_t n, struct buf *out)
{
    const struct kind *k = key_kind(t);
    size_t width = t->bits / 8, had = out->len;
    if (width == 0) {
        put_text((const char *)p, n, out);
        return;
    }
    buf_add(out, p, width); /* for the room */
    unsigned char *to = (unsigned char *)out->p + had;
    for (size_t i = 0; i < width; i++)
        to[lies_at(k, width, i)] = p[i];
    if (k->is_signed)
        to[0] ^= 0x80;
}

static void text_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    buf_reset(scratch);
    key_value(t, p, scratch);
    http_quote_string(sql, scratch->len > 0 ? scratch->p : "", scratch->len);
}

static void integer_text(const struct type *t, const unsigned char *p, struct buf *text)
{
    struct buf le = BUF_INIT;
    key_value(t, p, &le);
    cells_put_int(text, (const unsigned char *)le.p, le.len, key_kind(t)->is_signed);
    buf_free(&le);
}

/* A bare number past UInt64 is a Float64 to the server, so wide types are converted from their text. */
static void converted_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    buf_reset(scratch);
    integer_text(t, p, scratch);
    buf_adds(sql, "to");
    type_spell(t, sql);
    buf_printf(sql, "('%.*s')", (int)(scratch->len - 2), scratch->p + 1);
}

static void integer_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    if (t->bits > 64) {
        converted_literal(t, p, scratch, sql);
        return;
    }
    buf_reset(scratch);
    integer_text(t, p, scratch);
    buf_add(sql, scratch->p + 1, scratch->len - 2);
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

/* The number of the name, or the one that a cell without a name holds. */
static void encode_enum(const struct type *t, const char *p, size_t n, struct buf *text, struct buf *out)
{
    static const char unnamed[] = "{\"unnamed\":\"";
    int number = 0;
    buf_reset(text);
    if (p[0] == '{' && n > sizeof unnamed && memcmp(p, unnamed, sizeof unnamed - 1) == 0) {
        buf_add(text, p + sizeof unnamed - 1, n - sizeof unnamed);
        number = atoi(buf_str(text)); /* it is canonical: a number of the type, and what ends it */
    } else {
        cells_text(p, n, text);
        for (size_t i = 0; i < t->n_words; i++)
            if (buf_is(text, t->words[i].p, t->words[i].n))
                number = t->words[i].number;
    }
    unsigned v = (unsigned)number ^ (t->bits == 8 ? 0x80U : 0x8000U);
    if (t->bits == 16)
        buf_addc(out, (char)(unsigned char)(v >> 8));
    buf_addc(out, (char)(unsigned char)v);
}

/* The value's own bytes, as the server has them in memory: a text of it would be parsed, by rules of each type, in a
 * zone, and clamped to the type's range. */
static void bytes_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    buf_reset(scratch);
    key_value(t, p, scratch);
    buf_adds(sql, "reinterpret(unhex('");
    for (size_t i = 0; i < scratch->len; i++)
        buf_printf(sql, "%02x", (unsigned)(unsigned char)scratch->p[i]);
    buf_adds(sql, "'),");
    key_array_type(t, scratch, sql);
    buf_adds(sql, ")[1]");
}

/* The zone goes along: an expression of the table's keys is worked out of a value in the zone of the value's own type,
 * and finds the wrong day, hour or partition in another. */
void key_array_type(const struct type *t, struct buf *scratch, struct buf *sql)
{
    buf_reset(scratch);
    buf_adds(scratch, "Array(");
    type_spell(t, scratch);
    if (*t->zone != '\0') {
        bool scaled = scratch->p[scratch->len - 1] == ')';
        scratch->len -= scaled;
        buf_adds(scratch, scaled ? ", " : "(");
        http_quote_string(scratch, t->zone, strlen(t->zone));
        buf_addc(scratch, ')');
    }
    buf_addc(scratch, ')');
    http_quote_string(sql, scratch->p, scratch->len);
}

/* The name: its number alone is no literal of an Enum. One without a name goes as its bytes. */
static void enum_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    int number = t->bits == 8 ? (int8_t)(p[0] ^ 0x80) : (int16_t)(uint16_t)((p[0] ^ 0x80) << 8 | p[1]);
    for (size_t i = 0; i < t->n_words; i++)
        if (t->words[i].number == number) {
            http_quote_string(sql, t->words[i].p, t->words[i].n);
            return;
        }
    bytes_literal(t, p, scratch, sql);
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
        [TYPE_ENUM] = {encode_enum, enum_literal, true, REVERSED, 1},
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

void key_typed_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql)
{
    if (t->kind == TYPE_STRING)
        text_literal(t, p, scratch, sql);
    else if (key_is_integer(t))
        converted_literal(t, p, scratch, sql);
    else
        bytes_literal(t, p, scratch, sql);
}

bool key_is_integer(const struct type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_UINT;
}

bool key_is_ordered(const struct type *t)
{
    switch (t->kind) {
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_DECIMAL:
    case TYPE_DATE:
    case TYPE_DATE32:
    case TYPE_DATETIME:
    case TYPE_DATETIME64:
    case TYPE_STRING:
    case TYPE_FIXED_STRING: return true;
    default: return false;
    }
}
