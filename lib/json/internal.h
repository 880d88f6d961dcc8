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

/* ---- names ---- */

/* A member of an open object or an item of an open array. */
struct slot {
    const char *name; /* decoded; NULL in arrays */
    size_t name_len;
    uint64_t tag;   /* equal names have equal tags */
    const char *at; /* the name's opening quote */
    struct json *value;
};

/* True when name repeats one of the slots from `from` up to it. */
bool json_name_repeats(const struct slot *from, const struct slot *name);
/* The earliest of n slots that repeats another, or NULL. Overwrites the tags. */
const struct slot *json_names_first_repeat(struct slot *s, size_t n);

#endif
