/* SPDX-License-Identifier: Apache-2.0 */
/* What the decoders share: bytes that came and were not used, the row being built, and how a column's value lies in
 * them. */
#ifndef OWED_CHREAD_DECODE_H
#define OWED_CHREAD_DECODE_H

#include "chread/chread.h"

struct plan {
    size_t width; /* bytes of a value; 0: its length stands before it */
    bool nullable, unnamed;
    const struct type *type;
    cells_put_fn *put;
};

/* Where the parsing of a Native block stands. */
enum native_at { AT_HEAD, AT_COLUMN, AT_NULLS, AT_VALUES };

struct native_column {
    size_t nulls, values; /* offsets from the block's start */
    size_t *texts;        /* String: where each text begins, its length first */
    size_t texts_cap;
};

struct chread_decoder {
    enum chread_format format;
    const struct columns *cols;
    struct plan *plan;
    chread_row_fn *fn;
    void *ctx;
    size_t max_bytes;
    uint64_t rows, most;
    struct buf in;  /* a block or row that is not whole yet */
    struct buf row; /* the cells being built */
    /* Native */
    enum native_at at;
    size_t base; /* where the block begins in `in` */
    size_t pos;  /* in the block, just past what is parsed */
    size_t column;
    uint64_t block_rows, text;
    struct native_column *native;
};

/* A length in the binary formats: seven bits a byte, least first. 1 with *used, 0 where more bytes are needed, -1 for
 * one that 64 bits do not hold. */
int decode_varint(const unsigned char *p, size_t n, uint64_t *v, size_t *used);
/* Hand on the row that stands in d->row without its last bracket. -1 with *err ERR_NONE where the caller gives up. */
int decode_row(struct chread_decoder *d, struct err *err);

int native_decode(struct chread_decoder *d, const char *p, size_t n, struct err *err);
int rowbinary_decode(struct chread_decoder *d, const char *p, size_t n, struct err *err);

#endif
