/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A key as bytes that sort as the key does: a number, and what is one to the
 * server, big-endian with its sign bit turned, a text with its zero bytes as
 * 00 FF and 00 00 at its end.
 */
#ifndef OWED_CHREAD_KEYS_H
#define OWED_CHREAD_KEYS_H

#include "chread/chread.h"

struct key_entry {
    uint64_t prefix; /* the first eight bytes of the encoding, big-endian; a narrow key whole */
    uint64_t at;     /* of the encoding in bytes */
};

struct chread_keys {
    const struct columns *cols;
    size_t *columns, n_columns; /* the key's columns, as indices, in the order of the encoding */
    bool *expressed;            /* of these columns, in their order: an expression of the table's keys is made of it */
    bool narrow;
    uint64_t *numbers;         /* narrow */
    struct key_entry *entries; /* else */
    uint64_t n, cap;
    struct buf bytes, scratch, text;
};

/* The same keys, of columns that are the key's alone, in the order of k's; its `columns` are to be freed, and nothing
 * else of it. */
struct chread_keys keys_narrow(const struct chread_keys *k, const struct columns *own);
size_t keys_columns(const struct chread_keys *k);
const struct column *keys_column(const struct chread_keys *k, size_t i);
/* May an order of the column's values choose rows? */
bool keys_in_order(const struct chread_keys *k, size_t i);
size_t keys_column_index(const struct chread_keys *k, size_t i);
/* The encoding of key number i, its columns one after the other; a narrow one is put into room. */
const unsigned char *keys_at(const struct chread_keys *k, uint64_t i, unsigned char room[8]);

/* A value as Native carries it. */
struct key_bytes {
    const unsigned char *p;
    size_t n;
};
/* Is the key of these values, in the order of keys_column, one of the numbers from..to? hint, 0 at first, and scratch
 * are the caller's to keep from one call to the next. */
bool keys_hold(const struct chread_keys *k, uint64_t from, uint64_t to, const struct key_bytes *values, uint64_t *hint,
               struct buf *scratch);

/* ---- conditions (asking.c): what follows WHERE ---- */

/* Rows of the table that a key asked for may have beside it in a range that is read all the same. */
unsigned keys_break_even(const struct chread_keys *k);
/* Append the span of the keys from..to, as the server orders them: it holds each of them. False, and nothing appended,
 * where no span can be told. */
bool keys_span(const struct chread_keys *k, uint64_t from, uint64_t to, struct buf *sql);
/* Append the condition for the keys from number `from` on, and no other, as many as the limits allow after what stands
 * in sql already. Returns the number of the next key; equal to `from` where not one fits. As literals, or as arrays
 * that the server unpacks. */
uint64_t keys_literals(const struct chread_keys *k, uint64_t from, uint64_t to, const struct chread_limits *limits,
                       struct buf *sql);
uint64_t keys_arrays(const struct chread_keys *k, uint64_t from, uint64_t to, const struct chread_limits *limits,
                     struct buf *sql);
/* Append a SELECT of the text 1 where the server unpacks the first and the last key of from..to as they are meant. */
void keys_arrays_probe(const struct chread_keys *k, uint64_t from, uint64_t to, struct buf *sql);

/* ---- one value (literal.c) ---- */

/* Append the encoding of the cell p[0..n). ERR_REFUSED where it is no cell of the type. */
int key_encode(const struct column *c, const char *p, size_t n, struct buf *text, struct buf *out, struct err *err);
/* How many bytes the first value at p takes. */
size_t key_length(const struct type *t, const unsigned char *p);
/* Append the value at p as a typed literal; scratch is the caller's to reuse. */
void key_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql);
/* The same with its type said, whatever stands beside it. */
void key_typed_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql);
/* Append the value at p as the server has it in memory and Native carries it, a text without its length. */
void key_value(const struct type *t, const unsigned char *p, struct buf *out);
/* The other way: append the encoding of such a value. */
void key_encode_value(const struct type *t, const unsigned char *p, size_t n, struct buf *out);
/* Append the type of an array of such values, between quotes. */
void key_array_type(const struct type *t, struct buf *scratch, struct buf *sql);
bool key_is_integer(const struct type *t);
/* Does the server compare two values as their encodings compare, byte by byte? Not so a UUID, whose second half counts
 * first; of a type that is not named here it is not taken for granted. */
bool key_is_ordered(const struct type *t);
/* What a literal of the type counts in the server's syntax tree. */
unsigned key_elements(const struct type *t);

#endif
