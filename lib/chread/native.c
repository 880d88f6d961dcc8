/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native: blocks, each the number of columns and of rows, then for every column
 * its name, its type and its values: for Nullable a byte a row first, then all
 * values, those of NULLs too; a String has its length before it.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/decode.h"

/* A name or type in a block's head is short; more is not what was asked for. */
#define HEAD_TEXT 4096
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
    struct type t;
    if (!d->plan[d->column].unnamed && (name_len != c->name_len || memcmp(name, c->name, name_len) != 0))
        return not_native(d, err, "another column's name");
    bool same = type_parse(type, type_len, &t, NULL) == 0 && type_equal(&t, &c->type) && !t.low_cardinality;
    type_free(&t);
    if (!same)
        return not_native(d, err, "another column type");
    d->pos += at;
    d->native[d->column].nulls = d->pos;
    d->at = d->plan[d->column].nullable ? AT_NULLS : AT_VALUES;
    d->native[d->column].values = d->pos;
    d->text = 0;
    return 1;
}

static int nulls(struct chread_decoder *d, struct err *err)
{
    size_t n, rows = (size_t)d->block_rows;
    const unsigned char *p = rest(d, &n);
    if (n < rows)
        return 0;
    for (size_t i = 0; i < rows; i++)
        if (p[i] > 1)
            return not_native(d, err, "a byte that should say whether a value is NULL");
    d->pos += rows;
    d->native[d->column].values = d->pos;
    d->at = AT_VALUES;
    return 1;
}

static void column_done(struct chread_decoder *d)
{
    d->column++;
    d->at = AT_COLUMN;
}

/* Walk over a String column's values, keeping where each begins; goes on where it stopped. */
static int texts(struct chread_decoder *d, struct err *err)
{
    struct native_column *c = &d->native[d->column];
    size_t rows = (size_t)d->block_rows, n, k;
    for (; d->text < rows; d->text++) {
        /* Grown as they come: the block's own word for its rows is not worth that much memory. */
        if (d->text >= c->texts_cap) {
            c->texts_cap = c->texts_cap == 0 ? 1024 : 2 * c->texts_cap;
            c->texts = xrealloc(c->texts, c->texts_cap * sizeof *c->texts);
        }
        uint64_t len;
        const unsigned char *p = rest(d, &n);
        int got = decode_varint(p, n, &len, &k);
        if (got < 0)
            return not_native(d, err, "a text's length past 64 bits");
        if (got == 0)
            return 0;
        if (len > n - k)
            return short_of(d, len, err);
        c->texts[d->text] = d->pos;
        d->pos += k + (size_t)len;
    }
    column_done(d);
    return 1;
}

static int values(struct chread_decoder *d, struct err *err)
{
    const struct plan *pl = &d->plan[d->column];
    size_t n;
    if (pl->width == 0)
        return texts(d, err);
    rest(d, &n);
    uint64_t need = d->block_rows * pl->width; /* rows are at most max_bytes, a width at most 32 */
    if (n < need)
        return short_of(d, need, err);
    d->pos += (size_t)need;
    column_done(d);
    return 1;
}

static void put_cell(struct chread_decoder *d, size_t column, size_t row)
{
    const struct native_column *c = &d->native[column];
    const struct plan *pl = &d->plan[column];
    const unsigned char *base = (const unsigned char *)d->in.p + d->base;
    if (pl->nullable && base[c->nulls + row] != 0) {
        cells_put_null(&d->row);
    } else if (pl->width == 0) {
        uint64_t len;
        size_t k;
        decode_varint(base + c->texts[row], d->pos - c->texts[row], &len, &k);
        pl->put(&d->row, pl->type, base + c->texts[row] + k, (size_t)len);
    } else {
        pl->put(&d->row, pl->type, base + c->values + row * pl->width, pl->width);
    }
}

/* The whole block is there: its rows, one by one. */
static int block_rows(struct chread_decoder *d, struct err *err)
{
    for (size_t row = 0; row < d->block_rows; row++) {
        buf_reset(&d->row);
        for (size_t i = 0; i < d->cols->n; i++) {
            buf_addc(&d->row, i == 0 ? '[' : ',');
            put_cell(d, i, row);
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
    case AT_NULLS: return nulls(d, err);
    default: return values(d, err);
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
