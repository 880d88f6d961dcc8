/* SPDX-License-Identifier: Apache-2.0 */
/* What the decoders share: bytes that came and were not used, the row being built, and how a column's value lies in
 * them. */
#ifndef OWED_CHREAD_DECODE_H
#define OWED_CHREAD_DECODE_H

#include "chread/chread.h"
#include "chread/keys.h"

enum node_kind {
    NODE_FIXED, /* width bytes */
    NODE_TEXT,  /* its length stands before it */
    NODE_ARRAY, /* Array, Map and Nested: elements of what stands in of, each a pair or a row where that is more than
                   one */
    NODE_TUPLE
};

/* A type as the decoders walk over it. */
struct node {
    enum node_kind kind;
    bool nullable;
    size_t width;
    const struct type *type;
    cells_put_fn *put;
    size_t nulls, values; /* Native: which parts of the column they are; values of an array: its ends */
    struct node *of;
    size_t n_of;
};

/* ---- Native: a column is parts, one after the other, each for all its values of the block ---- */

enum part_kind {
    PART_NULLS,  /* a byte a value */
    PART_ENDS,   /* where each array ends among all elements, eight bytes */
    PART_FIXED,  /* width bytes */
    PART_TEXTS,  /* each with its length before it */
    PART_PREFIX, /* once, before all else: eight bytes that say that a JSON comes as its text */
    PART_EMPTY   /* a byte a value that says nothing, of Tuple() */
};

struct part {
    enum part_kind kind;
    size_t of; /* the part whose last end is how many values this one has; SIZE_MAX: the block's rows */
    size_t width;
    size_t at;     /* offset from the block's start */
    size_t values; /* how many */
    size_t *texts; /* PART_TEXTS: where each text begins, its length first */
    size_t texts_cap;
};

struct parts {
    struct part *at;
    size_t n;
};

/* Where the parsing of a Native block stands. */
enum native_at { AT_HEAD, AT_COLUMN, AT_PART };

struct decoded_column {
    struct node node;
    struct parts parts;
    bool unnamed;
    struct buf head; /* the type's text in the last block, which was found to be the column's */
};

struct chread_decoder {
    enum chread_format format;
    const struct columns *cols;
    struct decoded_column *column_at;
    chread_row_fn *fn;
    void *ctx;
    size_t max_bytes;
    uint64_t rows, passed_over;
    struct chread_asked asked;
    struct key_bytes *key; /* the values of the row's key, in the order of keys_column */
    size_t *key_place;     /* of each column: where in key it stands, SIZE_MAX where it is none */
    uint64_t hint;
    struct buf scratch;
    struct buf in;  /* a block or row that is not whole yet */
    struct buf row; /* the cells being built */
    size_t column;
    struct buf key_values; /* RowBinary: the bytes of the row's key so far */
    /* Native */
    enum native_at at;
    size_t base; /* where the block begins in `in` */
    size_t pos;  /* in the block, just past what is parsed */
    size_t part;
    bool begun; /* the part: where it lies and how many values it has are known */
    uint64_t block_rows, text;
};

/* Build the node of a type and, in the order of Native, the parts that its values have; outer is the part whose ends
 * count them. */
void node_build(struct node *node, struct parts *parts, const struct type *t, size_t outer);
/* What comes before the parts of the type's values: of each JSON in it, in its order. */
void node_prefixes(struct parts *parts, const struct type *t);
void node_free(struct node *node);
/* Put the n_rows times n_columns cells that stand in out from starts[0] to its end column after column, each column an
 * array. Each cell begins at its start, and a byte stands between two. */
void node_transpose(struct buf *out, const size_t *starts, size_t n_rows, size_t n_columns);

/* A length in the binary formats: seven bits a byte, least first. 1 with *used, 0 where more bytes are needed, -1 for
 * one that 64 bits do not hold. */
int decode_varint(const unsigned char *p, size_t n, uint64_t *v, size_t *used);
/* Count the row whose key stands in d->key. 1 where it was asked for, 0 where it is passed over, -1 with *err. */
int decode_asked(struct chread_decoder *d, struct err *err);
/* Hand on the row that stands in d->row without its last bracket. -1 with *err ERR_NONE where the caller gives up. */
int decode_row(struct chread_decoder *d, struct err *err);

int native_decode(struct chread_decoder *d, const char *p, size_t n, struct err *err);
int rowbinary_decode(struct chread_decoder *d, const char *p, size_t n, struct err *err);

#endif
