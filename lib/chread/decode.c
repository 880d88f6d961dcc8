/* SPDX-License-Identifier: Apache-2.0 */
/* A binary result into rows of cells: what Native and RowBinary have in common. */
#include <stdlib.h>
#include <string.h>

#include "chread/decode.h"

const char *chread_format_name(enum chread_format f)
{
    return f == CHREAD_NATIVE ? "Native" : "RowBinary";
}

const char *chread_format_word(enum chread_format f)
{
    return f == CHREAD_NATIVE ? "native" : "rowbinary";
}

int decode_varint(const unsigned char *p, size_t n, uint64_t *v, size_t *used)
{
    *v = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 9 && p[i] > 1)
            return -1;
        *v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        if ((p[i] & 0x80) == 0) {
            *used = i + 1;
            return 1;
        }
    }
    return 0;
}

int decode_asked(struct chread_decoder *d, struct err *err)
{
    const struct chread_asked *a = &d->asked;
    if (d->rows == a->most)
        return err_set(err, ERR_BOUND, "the answer has more rows than the %" PRIu64 " that were asked for at most",
                       a->most);
    d->rows++;
    if (!a->keys)
        return 1;
    if (keys_hold(a->keys, a->from, a->to, d->key, &d->hint, &d->scratch)) {
        if (d->rows - d->passed_over <= a->most_kept)
            return 1;
        err_set(err, ERR_BOUND, "the keys of one statement have more rows than --max-rows-per-query, %" PRIu64,
                a->most_kept);
        return err_cause(err, BECAUSE(CODE_SERVER_BOUND));
    }
    if (!a->range)
        return err_set(err, ERR_TROUBLE, "row %" PRIu64 " of the answer is of a key that was not asked for", d->rows);
    d->passed_over++;
    return 0;
}

int decode_row(struct chread_decoder *d, struct err *err)
{
    buf_addc(&d->row, ']');
    if (d->row.len > d->max_bytes)
        return err_set(err, ERR_BOUND, "row %" PRIu64 " is longer than %zu bytes", d->rows, d->max_bytes);
    if (d->fn(d->ctx, d->row.p, d->row.len) != 0) {
        if (err)
            *err = (struct err)ERR_INIT;
        return -1;
    }
    return 0;
}

struct chread_decoder *chread_decoder_new(enum chread_format f, const struct columns *cols, size_t max_bytes,
                                          chread_row_fn *fn, void *ctx)
{
    struct chread_decoder *d = xcalloc(1, sizeof *d);
    d->format = f;
    d->cols = cols;
    d->fn = fn;
    d->ctx = ctx;
    d->max_bytes = max_bytes;
    d->asked = (struct chread_asked){.most = UINT64_MAX};
    d->key = xcalloc(cols->n, sizeof *d->key);
    d->key_place = xcalloc(cols->n, sizeof *d->key_place);
    d->column_at = xcalloc(cols->n, sizeof *d->column_at);
    for (size_t i = 0; i < cols->n; i++) {
        node_prefixes(&d->column_at[i].parts, &cols->at[i].type);
        node_build(&d->column_at[i].node, &d->column_at[i].parts, &cols->at[i].type, SIZE_MAX);
        d->key_place[i] = SIZE_MAX;
    }
    return d;
}

void chread_decoder_unnamed(struct chread_decoder *d, size_t i)
{
    d->column_at[i].unnamed = true;
}

void chread_decoder_ask(struct chread_decoder *d, const struct chread_asked *asked)
{
    d->asked = *asked;
    d->hint = asked->from;
    for (size_t i = 0; asked->keys && i < keys_columns(asked->keys); i++)
        d->key_place[keys_column_index(asked->keys, i)] = i;
}

int chread_decode(struct chread_decoder *d, const char *p, size_t n, struct err *err)
{
    return d->format == CHREAD_NATIVE ? native_decode(d, p, n, err) : rowbinary_decode(d, p, n, err);
}

int chread_decode_end(struct chread_decoder *d, struct err *err)
{
    if (d->in.len > 0 || (d->format == CHREAD_ROWBINARY && d->column > 0))
        return err_set(err, ERR_TROUBLE, "the answer ends in the middle of a %s, after %" PRIu64 " rows",
                       d->format == CHREAD_NATIVE ? "block" : "row", d->rows);
    return 0;
}

uint64_t chread_decoded(const struct chread_decoder *d)
{
    return d->rows;
}

uint64_t chread_passed_over(const struct chread_decoder *d)
{
    return d->passed_over;
}

void chread_decoder_reset(struct chread_decoder *d)
{
    buf_reset(&d->in);
    buf_reset(&d->key_values);
    d->rows = d->passed_over = 0;
    d->at = AT_HEAD;
    d->base = d->pos = d->column = 0;
}

void chread_decoder_free(struct chread_decoder *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->cols->n; i++) {
        struct decoded_column *c = &d->column_at[i];
        for (size_t k = 0; k < c->parts.n; k++)
            free(c->parts.at[k].texts);
        free(c->parts.at);
        node_free(&c->node);
        buf_free(&c->head);
    }
    free(d->column_at);
    free(d->key);
    free(d->key_place);
    buf_free(&d->scratch);
    buf_free(&d->key_values);
    buf_free(&d->in);
    buf_free(&d->row);
    free(d);
}
