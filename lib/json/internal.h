/* SPDX-License-Identifier: Apache-2.0 */
/* json (private): what the reader's loop asks of escape.c and names.c. */
#ifndef OWED_JSON_INTERNAL_H
#define OWED_JSON_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

/* ---- escapes ---- */

/* The escape at p (on its backslash): its length, or 0 with *why set. *code is its code point. */
size_t json_escape_at(const char *p, const char *end, unsigned *code, const char **why);
/* Decode n bytes whose escapes have been checked; the length. out needs n bytes: decoding makes nothing longer. */
size_t json_escape_decode(const char *p, size_t n, char *out);

/* ---- where a text begins ---- */

/* The first in v that holds nothing: v itself, or its first name, or its first item's first. */
const struct json *json_first_scalar(const struct json *v);
/* Where the text of such a one begins. */
const char *json_text_begin(const struct json *scalar);

/* ---- names ---- */

/* How an object's names stand: one after another, or each before its value. */
enum names_layout { NAMES_ALONE, NAMES_AND_VALUES };

/* The earliest of n names from `first` that repeats another, or NULL. */
const struct json *json_names_first_repeat(const struct json *first, size_t n, enum names_layout layout);

#endif
