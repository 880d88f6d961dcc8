/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A key as bytes that sort as the key does: a number, and what is one to the
 * server, big-endian with its sign bit turned, a text with its zero bytes as
 * 00 FF and 00 00 at its end.
 */
#ifndef OWED_CHREAD_KEYS_H
#define OWED_CHREAD_KEYS_H

#include "chread/chread.h"

/* Append the encoding of the cell p[0..n). ERR_REFUSED where it is no cell of the type. */
int key_encode(const struct column *c, const char *p, size_t n, struct buf *text, struct buf *out, struct err *err);
/* How many bytes the first value at p takes. */
size_t key_length(const struct type *t, const unsigned char *p);
/* Append the value at p as a typed literal; scratch is the caller's to reuse. */
void key_literal(const struct type *t, const unsigned char *p, struct buf *scratch, struct buf *sql);
/* What a literal of the type counts in the server's syntax tree. */
unsigned key_elements(const struct type *t);

#endif
