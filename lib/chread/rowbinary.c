/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RowBinary: a row's values one after the other; a Nullable one has a byte
 * before it, 1 for NULL; a String its length, an array how many elements it has,
 * which stand in it one after the other as those of a Tuple do. A value that is cut
 * waits in d->in; the cells before it stand in d->row already.
 */
#include <stdlib.h>

#include "chread/decode.h"

static int bad(struct chread_decoder *d, enum err_kind kind, struct err *err, const char *what)
{
    return err_set(err, kind, "row %" PRIu64 ": column '%s': %s", d->rows + 1, d->cols->at[d->column].name, what);
}

/* What is left of the input. */
struct input {
    const unsigned char *p;
    size_t n;
};

/* A length. 1 with *v, 0 where more bytes are needed, -1 with *err. */
static int length(struct chread_decoder *d, struct input *in, uint64_t *v, struct err *err)
{
    size_t used = 0;
    int got = decode_varint(in->p, in->n, v, &used);
    if (got < 0)
        return bad(d, ERR_TROUBLE, err, "a text's length past 64 bits");
    in->p += used;
    in->n -= used;
    return got;
}

static int put_plain(struct chread_decoder *d, const struct node *node, struct input *in, struct err *err)
{
    size_t width = node->width;
    if (node->kind == NODE_TEXT) {
        uint64_t len = 0;
        int got = length(d, in, &len, err);
        if (got <= 0)
            return got;
        if (len > d->max_bytes)
            return bad(d, ERR_BOUND, err, "a text is longer than a row may be");
        width = (size_t)len;
    }
    if (width > d->max_bytes)
        return bad(d, ERR_BOUND, err, "a text is longer than a row may be");
    if (in->n < width)
        return 0;
    node->put(&d->row, node->type, in->p, width);
    in->p += width;
    in->n -= width;
    return 1;
}

static int put_value(struct chread_decoder *d, const struct node *node, struct input *in, struct err *err);

/* One element after the other of what the node holds, with commas; starts, where it is not NULL, gets where each
 * begins. */
static int put_inner(struct chread_decoder *d, const struct node *node, struct input *in, size_t *starts,
                     struct err *err)
{
    int got = 1;
    for (size_t k = 0; got == 1 && k < node->n_of; k++) {
        if (k > 0)
            buf_addc(&d->row, ',');
        if (starts)
            starts[k] = d->row.len;
        got = put_value(d, &node->of[k], in, err);
    }
    return got;
}

/* Room for n more starts, grown as they come: an array's own word for its length is not worth that much memory. */
struct starts {
    size_t *at, n, cap;
};

static size_t *more_starts(struct starts *s, size_t n)
{
    if (s->n + n > s->cap) {
        s->cap = s->cap == 0 ? 64 + n : 2 * s->cap + n;
        s->at = xrealloc(s->at, s->cap * sizeof *s->at);
    }
    s->n += n;
    return s->at + s->n - n;
}

/* The elements of an array: of a Map each a pair, sorted then; those of a Nested are rows, turned into columns. */
static int put_elements(struct chread_decoder *d, const struct node *node, struct input *in, struct starts *starts,
                        uint64_t len, struct err *err)
{
    bool map = node->type->kind == TYPE_MAP, nested = node->type->kind == TYPE_NESTED;
    int got = 1;
    for (uint64_t i = 0; got == 1 && i < len; i++) {
        if (d->row.len > d->max_bytes)
            return bad(d, ERR_BOUND, err, "the row is longer than a row may be");
        if (i > 0)
            buf_addc(&d->row, ',');
        if (map)
            *more_starts(starts, 1) = d->row.len;
        buf_adds(&d->row, map ? "[" : "");
        got = put_inner(d, node, in, nested ? more_starts(starts, node->n_of) : NULL, err);
        buf_adds(&d->row, map ? "]" : "");
    }
    if (got == 1 && map)
        cells_sort(&d->row, starts->at, (size_t)len);
    if (got == 1 && nested)
        node_transpose(&d->row, starts->at, (size_t)len, node->n_of);
    return got;
}

static int put_array(struct chread_decoder *d, const struct node *node, struct input *in, struct err *err)
{
    struct starts starts = {0};
    uint64_t len = 0;
    int got = length(d, in, &len, err);
    if (got <= 0)
        return got;
    buf_addc(&d->row, '[');
    got = put_elements(d, node, in, &starts, len, err);
    buf_addc(&d->row, ']');
    free(starts.at);
    return got;
}

/* The value of a node, and its cell appended. 1, 0 where more bytes are needed, -1 with *err. */
static int put_value(struct chread_decoder *d, const struct node *node, struct input *in, struct err *err)
{
    if (node->nullable) {
        if (in->n == 0)
            return 0;
        if (in->p[0] > 1)
            return bad(d, ERR_TROUBLE, err, "a byte that should say whether it is NULL says neither");
        in->p++;
        in->n--;
        if (in->p[-1] == 1) {
            cells_put_null(&d->row);
            return 1;
        }
    }
    if (node->kind == NODE_ARRAY)
        return put_array(d, node, in, err);
    if (node->kind != NODE_TUPLE)
        return put_plain(d, node, in, err);
    buf_addc(&d->row, '[');
    int got = put_inner(d, node, in, NULL, err);
    buf_addc(&d->row, ']');
    return got;
}

/* The value p[0..n) of a key's column, for the row's end: with its length where it is a text. */
static void keep_key(struct chread_decoder *d, const unsigned char *p, size_t n)
{
    const struct node *node = &d->column_at[d->column].node;
    uint64_t len;
    size_t k = 0;
    if (node->kind == NODE_TEXT)
        decode_varint(p, n, &len, &k);
    d->key[d->key_place[d->column]].n = n - k;
    buf_add(&d->key_values, p + k, n - k);
}

/* Where the values of the row's key lie, which came in the order of the columns. */
static void take_key(struct chread_decoder *d)
{
    size_t at = 0;
    const char *from = buf_str(&d->key_values); /* no NULL, where all are empty */
    for (size_t i = 0; i < d->cols->n; i++) {
        if (d->key_place[i] == SIZE_MAX)
            continue;
        struct key_bytes *v = &d->key[d->key_place[i]];
        v->p = (const unsigned char *)from + at;
        at += v->n;
    }
    buf_reset(&d->key_values);
}

/* The next column's value at p. 1 with *used and its cell appended, 0 where more bytes are needed, -1 with *err. */
static int value(struct chread_decoder *d, const unsigned char *p, size_t n, size_t *used, struct err *err)
{
    struct input in = {p, n};
    if (d->column == 0)
        buf_reset(&d->row);
    size_t before = d->row.len;
    buf_addc(&d->row, d->column == 0 ? '[' : ',');
    int got = put_value(d, &d->column_at[d->column].node, &in, err);
    if (got != 1)
        d->row.len = before;
    else if (d->key_place[d->column] != SIZE_MAX)
        keep_key(d, p, n - in.n);
    *used = n - in.n;
    return got;
}

static int value_done(struct chread_decoder *d, struct err *err)
{
    if (++d->column < d->cols->n)
        return d->row.len > d->max_bytes ? bad(d, ERR_BOUND, err, "the row is longer than a row may be") : 0;
    d->column = 0;
    take_key(d);
    int got = decode_asked(d, err);
    return got == 1 ? decode_row(d, err) : got;
}

/* Complete the value that was cut, a little at a time, so that what follows is parsed where it lies. */
static int finish_cut(struct chread_decoder *d, const char **p, size_t *n, struct err *err)
{
    for (size_t step = 64; d->in.len > 0 && *n > 0; step *= 2) {
        size_t had = d->in.len, take = *n < step ? *n : step, used = 0;
        buf_add(&d->in, *p, take);
        int got = value(d, (const unsigned char *)d->in.p, d->in.len, &used, err);
        if (got < 0)
            return -1;
        if (got > 0) {
            take = used - had; /* more than nothing, or the value had not been cut */
            buf_reset(&d->in);
            if (value_done(d, err) != 0)
                return -1;
        }
        *p += take;
        *n -= take;
    }
    return 0;
}

int rowbinary_decode(struct chread_decoder *d, const char *p, size_t n, struct err *err)
{
    if (finish_cut(d, &p, &n, err) != 0)
        return -1;
    while (n > 0) {
        size_t used = 0;
        int got = value(d, (const unsigned char *)p, n, &used, err);
        if (got < 0)
            return -1;
        if (got == 0) {
            buf_add(&d->in, p, n);
            return 0;
        }
        p += used;
        n -= used;
        if (value_done(d, err) != 0)
            return -1;
    }
    return 0;
}
