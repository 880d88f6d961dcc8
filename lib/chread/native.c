/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native: blocks, each the number of columns and of rows, then for every column
 * its name, its type and its parts, each for all rows of the block: for Nullable
 * a byte a row, then all values, those of NULLs too; for an array where each ends,
 * then all elements; for a Tuple its elements one after the other. A String has
 * its length before it.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/decode.h"

/* The longest name or type in a block's head that is what was asked for: an Enum16 may have 65,536 names. */
#define HEAD_TEXT ((uint64_t)1 << 20)
/* A block holds many rows, and the server cuts it by its size. */
#define BLOCK_ROWS 16

static int short_of(struct chread_decoder *d, uint64_t need, struct err *err)
{
    size_t most = BLOCK_ROWS * d->max_bytes;
    if (need > most || d->in.len - d->base > most)
        return err_set(err, ERR_BOUND, "a block of the answer, after %" PRIu64 " rows, is larger than %zu bytes",
                       d->rows, most);
    return 0;
}

static int not_native(struct chread_decoder *d, struct err *err, const char *what)
{
    return err_set(err, ERR_TROUBLE,
                   "the answer, after %" PRIu64 " rows, is not the Native form that was asked for: %s", d->rows, what);
}

static const unsigned char *rest(const struct chread_decoder *d, size_t *n)
{
    *n = d->in.len - d->base - d->pos;
    return (const unsigned char *)d->in.p + d->base + d->pos;
}

/* The block's two numbers. 1, 0 for more, -1. */
static int head(struct chread_decoder *d, struct err *err)
{
    size_t n, k1 = 0, k2 = 0;
    uint64_t columns = 0, rows = 0;
    const unsigned char *p = rest(d, &n);
    int a = decode_varint(p, n, &columns, &k1);
    int b = a == 1 ? decode_varint(p + k1, n - k1, &rows, &k2) : 0;
    if (a < 0 || b < 0)
        return not_native(d, err, "a number past 64 bits");
    if (a == 0 || b == 0)
        return 0;
    if (columns != d->cols->n && !(columns == 0 && rows == 0))
        return not_native(d, err, "another number of columns");
    /* A row takes a byte at least, so this refuses a number of rows that no answer could hold. */
    if (short_of(d, rows, err) != 0)
        return -1;
    d->pos += k1 + k2;
    d->block_rows = rows;
    d->column = columns == 0 ? d->cols->n : 0;
    d->at = AT_COLUMN;
    return 1;
}

/* A length and its text at offset at of what is left. 1 with *text, 0 for more, -1. */
static int head_text(struct chread_decoder *d, size_t *at, const char **text, size_t *len, struct err *err)
{
    size_t n, k = 0;
    uint64_t v = 0;
    const unsigned char *p = rest(d, &n);
    int got = decode_varint(p + *at, n - *at, &v, &k);
    if (got < 0 || (got > 0 && v > HEAD_TEXT))
        return not_native(d, err, "a column's name or type is too long");
    if (got == 0 || n - *at - k < v)
        return 0;
    *text = (const char *)p + *at + k;
    *len = (size_t)v;
    *at += k + (size_t)v;
    return 1;
}

/* Is the text of a head the column's type, without dictionaries? The zone is no difference: Native drops some. */
static bool is_type(struct decoded_column *c, const struct type *want, const char *p, size_t n)
{
    struct type t;
    if (n > 0 && buf_is(&c->head, p, n))
        return true;
    bool same = type_parse(p, n, &t, NULL) == 0 && type_equal(&t, want) && !type_has_dictionary(&t);
    type_free(&t);
    if (same) {
        buf_reset(&c->head);
        buf_add(&c->head, p, n);
    }
    return same;
}

static int column_head(struct chread_decoder *d, struct err *err)
{
    const struct column *c = &d->cols->at[d->column];
    const char *name = NULL, *type = NULL;
    size_t at = 0, name_len = 0, type_len = 0;
    int got = head_text(d, &at, &name, &name_len, err);
    if (got == 1)
        got = head_text(d, &at, &type, &type_len, err);
    if (got <= 0)
        return got;
    struct decoded_column *to = &d->column_at[d->column];
    if (!to->unnamed && (name_len != c->name_len || memcmp(name, c->name, name_len) != 0))
        return not_native(d, err, "another column's name");
    if (!is_type(to, &c->type, type, type_len))
        return not_native(d, err, "another column type");
    d->pos += at;
    d->at = AT_PART;
    d->part = 0;
    d->begun = false;
    return 1;
}

/* ---- parts ---- */

static const unsigned char *block(const struct chread_decoder *d)
{
    return (const unsigned char *)d->in.p + d->base;
}

/* The i-th end, or 0 for the one before the first. */
static uint64_t end_at(const struct chread_decoder *d, const struct part *p, size_t i)
{
    uint64_t v = 0;
    if (i == 0)
        return 0;
    for (size_t b = 8; b-- > 0;)
        v = v << 8 | block(d)[p->at + (i - 1) * 8 + b];
    return v;
}

/* How many values the part has. -1 with *err where its arrays' ends go back, or say more than a block could hold: an
 * element takes a byte at least. */
static int count_values(struct chread_decoder *d, struct part *p, struct err *err)
{
    const struct parts *all = &d->column_at[d->column].parts;
    uint64_t last = 0;
    if (p->of == SIZE_MAX) {
        p->values = p->kind == PART_PREFIX ? d->block_rows > 0 : (size_t)d->block_rows;
        return 0;
    }
    const struct part *ends = &all->at[p->of];
    for (size_t i = 1; i <= ends->values; i++) {
        uint64_t end = end_at(d, ends, i);
        if (end < last)
            return not_native(d, err, "an array that ends before it begins");
        last = end;
    }
    if (short_of(d, last, err) != 0)
        return -1;
    p->values = (size_t)last;
    return 0;
}

/* Any other number is of another form of the JSON's values. */
static int prefix(struct chread_decoder *d, const struct part *p, struct err *err)
{
    static const unsigned char text[8] = {1};
    return p->values == 0 || memcmp(block(d) + p->at, text, sizeof text) == 0
               ? 0
               : not_native(d, err, "a JSON that does not come as its text");
}

static int nulls(struct chread_decoder *d, const struct part *p, struct err *err)
{
    const unsigned char *byte = block(d) + p->at;
    for (size_t i = 0; i < p->values; i++)
        if (byte[i] > 1)
            return not_native(d, err, "a byte that should say whether a value is NULL");
    return 0;
}

/* Walk over the texts, keeping where each begins; goes on where it stopped. */
static int texts(struct chread_decoder *d, struct part *p, struct err *err)
{
    size_t n, k;
    for (; d->text < p->values; d->text++) {
        /* Grown as they come: the block's own word for its rows is not worth that much memory. */
        if (d->text >= p->texts_cap) {
            p->texts_cap = p->texts_cap == 0 ? 1024 : 2 * p->texts_cap;
            p->texts = xrealloc(p->texts, p->texts_cap * sizeof *p->texts);
        }
        uint64_t len;
        const unsigned char *at = rest(d, &n);
        int got = decode_varint(at, n, &len, &k);
        if (got < 0)
            return not_native(d, err, "a text's length past 64 bits");
        if (got == 0)
            return 0;
        if (len > n - k)
            return short_of(d, len, err);
        p->texts[d->text] = d->pos;
        d->pos += k + (size_t)len;
    }
    return 1;
}

static int fixed(struct chread_decoder *d, const struct part *p, struct err *err)
{
    size_t n;
    rest(d, &n);
    uint64_t need = (uint64_t)p->values * p->width; /* values are at most what a block holds, a width 24 bits */
    if (n < need)
        return short_of(d, need, err);
    d->pos += (size_t)need;
    if ((p->kind == PART_NULLS && nulls(d, p, err) != 0) || (p->kind == PART_PREFIX && prefix(d, p, err) != 0))
        return -1;
    return 1;
}

/* The column's next part, or its end. */
static int part(struct chread_decoder *d, struct err *err)
{
    struct parts *all = &d->column_at[d->column].parts;
    if (d->part == all->n) {
        d->column++;
        d->at = AT_COLUMN;
        return 1;
    }
    struct part *p = &all->at[d->part];
    if (!d->begun) {
        p->at = d->pos;
        if (count_values(d, p, err) != 0)
            return -1;
        d->begun = true;
        d->text = 0;
    }
    int got = p->kind == PART_TEXTS ? texts(d, p, err) : fixed(d, p, err);
    if (got == 1) {
        d->part++;
        d->begun = false;
    }
    return got;
}

/* ---- rows ---- */

static void put_value(struct chread_decoder *d, const struct decoded_column *c, const struct node *node, size_t i);

/* Elements from up to to: of an Array each its cell, of a Map each a pair, in the order of their bytes. A row that is
 * too long is not built to its end. */
static void put_elements(struct chread_decoder *d, const struct decoded_column *c, const struct node *node, size_t from,
                         size_t to)
{
    bool map = node->type->kind == TYPE_MAP;
    size_t *starts = map ? xcalloc(to - from + 1, sizeof *starts) : NULL;
    for (size_t i = from; i < to && d->row.len <= d->max_bytes; i++) {
        if (i > from)
            buf_addc(&d->row, ',');
        if (map)
            starts[i - from] = d->row.len;
        buf_adds(&d->row, map ? "[" : "");
        put_value(d, c, &node->of[0], i);
        if (map) {
            buf_addc(&d->row, ',');
            put_value(d, c, &node->of[1], i);
            buf_addc(&d->row, ']');
        }
    }
    if (map && d->row.len <= d->max_bytes)
        cells_sort(&d->row, starts, to - from);
    free(starts);
}

static void put_array(struct chread_decoder *d, const struct decoded_column *c, const struct node *node, size_t i)
{
    const struct part *ends = &c->parts.at[node->values];
    size_t from = (size_t)end_at(d, ends, i), to = (size_t)end_at(d, ends, i + 1);
    buf_addc(&d->row, '[');
    if (node->type->kind != TYPE_NESTED) {
        put_elements(d, c, node, from, to);
    } else {
        for (size_t k = 0; k < node->n_of && d->row.len <= d->max_bytes; k++) {
            buf_adds(&d->row, k > 0 ? ",[" : "[");
            for (size_t e = from; e < to && d->row.len <= d->max_bytes; e++) {
                if (e > from)
                    buf_addc(&d->row, ',');
                put_value(d, c, &node->of[k], e);
            }
            buf_addc(&d->row, ']');
        }
    }
    buf_addc(&d->row, ']');
}

static void put_tuple(struct chread_decoder *d, const struct decoded_column *c, const struct node *node, size_t i)
{
    buf_addc(&d->row, '[');
    for (size_t k = 0; k < node->n_of; k++) {
        if (k > 0)
            buf_addc(&d->row, ',');
        put_value(d, c, &node->of[k], i);
    }
    buf_addc(&d->row, ']');
}

/* The cell of the i-th value that the node has in the block. */
static void put_value(struct chread_decoder *d, const struct decoded_column *c, const struct node *node, size_t i)
{
    const unsigned char *base = block(d);
    if (node->nullable && base[c->parts.at[node->nulls].at + i] != 0) {
        cells_put_null(&d->row);
    } else if (node->kind == NODE_FIXED) {
        node->put(&d->row, node->type, base + c->parts.at[node->values].at + i * node->width, node->width);
    } else if (node->kind == NODE_TEXT) {
        uint64_t len;
        size_t k, at = c->parts.at[node->values].texts[i];
        decode_varint(base + at, d->pos - at, &len, &k);
        node->put(&d->row, node->type, base + at + k, (size_t)len);
    } else if (node->kind == NODE_ARRAY) {
        put_array(d, c, node, i);
    } else {
        put_tuple(d, c, node, i);
    }
}

/* The bytes of a value that is no NULL and holds no others. */
static struct key_bytes plain_value(const struct chread_decoder *d, const struct decoded_column *c, size_t i)
{
    const struct part *p = &c->parts.at[c->node.values];
    const unsigned char *base = block(d);
    uint64_t len = c->node.width;
    size_t k = 0, at = c->node.kind == NODE_TEXT ? p->texts[i] : p->at + i * c->node.width;
    if (c->node.kind == NODE_TEXT)
        decode_varint(base + at, d->pos - at, &len, &k);
    return (struct key_bytes){base + at + k, (size_t)len};
}

static void take_key(struct chread_decoder *d, size_t row)
{
    const struct chread_keys *keys = d->asked.keys;
    for (size_t i = 0; keys && i < keys_columns(keys); i++)
        d->key[i] = plain_value(d, &d->column_at[keys_column_index(keys, i)], row);
}

/* The whole block is there: its rows, one by one. Of one that is passed over nothing but its key is looked at. */
static int block_rows(struct chread_decoder *d, struct err *err)
{
    for (size_t row = 0; row < d->block_rows; row++) {
        take_key(d, row);
        int got = decode_asked(d, err);
        if (got < 0)
            return -1;
        if (got == 0)
            continue;
        buf_reset(&d->row);
        for (size_t i = 0; i < d->cols->n; i++) {
            buf_addc(&d->row, i == 0 ? '[' : ',');
            put_value(d, &d->column_at[i], &d->column_at[i].node, row);
        }
        if (decode_row(d, err) != 0)
            return -1;
    }
    return 0;
}

static int step(struct chread_decoder *d, struct err *err)
{
    switch (d->at) {
    case AT_HEAD: return head(d, err);
    case AT_COLUMN: return column_head(d, err);
    default: return part(d, err);
    }
}

int native_decode(struct chread_decoder *d, const char *p, size_t n, struct err *err)
{
    if (n == 0)
        return 0;
    buf_add(&d->in, p, n);
    for (;;) {
        int got = 1;
        while (got == 1 && !(d->at == AT_COLUMN && d->column == d->cols->n))
            got = step(d, err);
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        if (block_rows(d, err) != 0)
            return -1;
        d->base += d->pos;
        d->pos = 0;
        d->at = AT_HEAD;
    }
    d->in.len -= d->base;
    memmove(d->in.p, d->in.p + d->base, d->in.len);
    d->base = 0;
    return short_of(d, 0, err);
}
