/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RowBinary: a row's values one after the other; a Nullable one has a byte
 * before it, 1 for NULL; a String has its length before it. A value that is cut
 * waits in d->in; the cells before it stand in d->row already.
 */
#include "chread/decode.h"

static int bad(struct chread_decoder *d, enum err_kind kind, struct err *err, const char *what)
{
    return err_set(err, kind, "row %" PRIu64 ": column '%s': %s", d->rows + 1, d->cols->at[d->column].name, what);
}

static void separate(struct chread_decoder *d)
{
    if (d->column == 0)
        buf_reset(&d->row);
    buf_addc(&d->row, d->column == 0 ? '[' : ',');
}

/* The next column's value at p. 1 with *used and its cell appended, 0 where more bytes are needed, -1 with *err. */
static int value(struct chread_decoder *d, const unsigned char *p, size_t n, size_t *used, struct err *err)
{
    const struct plan *pl = &d->plan[d->column];
    size_t at = 0, width = pl->width, k = 0;
    if (pl->nullable) {
        if (n == 0)
            return 0;
        if (p[0] > 1)
            return bad(d, ERR_TROUBLE, err, "a byte that should say whether it is NULL says neither");
        at = 1;
        if (p[0] == 1) {
            separate(d);
            cells_put_null(&d->row);
            *used = 1;
            return 1;
        }
    }
    if (width == 0) {
        uint64_t len = 0;
        int got = decode_varint(p + at, n - at, &len, &k);
        if (got == 0)
            return 0;
        if (got < 0)
            return bad(d, ERR_TROUBLE, err, "a text's length past 64 bits");
        if (len > d->max_bytes)
            return bad(d, ERR_BOUND, err, "a text is longer than a row may be");
        at += k;
        width = (size_t)len;
    }
    if (n - at < width)
        return 0;
    separate(d);
    pl->put(&d->row, pl->type, p + at, width);
    *used = at + width;
    return 1;
}

static int value_done(struct chread_decoder *d, struct err *err)
{
    if (++d->column < d->cols->n)
        return d->row.len > d->max_bytes ? bad(d, ERR_BOUND, err, "the row is longer than a row may be") : 0;
    d->column = 0;
    return decode_row(d, err);
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
