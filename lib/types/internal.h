/* SPDX-License-Identifier: Apache-2.0 */
/* types (private): the families of types that have cells, each once. */
#ifndef OWED_TYPES_INTERNAL_H
#define OWED_TYPES_INTERNAL_H

#include "types/types.h"

enum family_args {
    ARGS_NONE,   /* Bool, Date */
    ARGS_WIDTH,  /* VARCHAR(255): a display width that means nothing */
    ARGS_WIDTHS, /* FLOAT(12, 2): as much */
    ARGS_PS,     /* Decimal(P[, S]) */
    ARGS_S,      /* Decimal64(S): the precision is the family's */
    ARGS_DT,     /* DateTime([scale][, zone]) */
    ARGS_DT32,   /* DateTime32([zone]) */
    ARGS_DT64,   /* DateTime64([scale[, zone]]) */
    ARGS_TIME64, /* Time64([scale]) */
    ARGS_BYTES,  /* FixedString(N) */
    ARGS_NAMES,  /* Enum8('a' = 1, …) */
    ARGS_TEXT,   /* JSON(…): kept, and not read */
    ARGS_ONE,    /* Array(T) */
    ARGS_ANY,    /* Tuple([name] T, …) */
    ARGS_TWO,    /* Map(K, V) */
    ARGS_NAMED   /* Nested(name T, …) */
};

/* What a family's types may be, and which cells have them first. */
enum { USE_KEY = 1, USE_TIME = 2, USE_V1 = 4 };

struct family {
    const char *name; /* as the server prints it */
    const char *also; /* other names, in any case, with | between them */
    enum type_kind kind;
    unsigned bits; /* 0: the arguments say, or a value has a length of its own */
    enum family_args args;
    unsigned use;
};

/* The family of a name's words, one space between them; NULL for a type without cells. */
const struct family *family_named(const char *words);
/* The family that types of this kind and width are printed as; NULL for TYPE_OTHER. */
const struct family *family_of(const struct type *t);
/* Its types stand around others. */
bool family_holds(const struct family *f);

/* ---- the form of a name (form.c) ---- */

/* A type name in two pieces: its words, and what stands between its outer parentheses. */
struct form {
    const char *words;
    size_t words_len;
    const char *args; /* NULL where there are no parentheses */
    size_t args_len;
};

/* Take the white space off both ends. */
void form_trim(const char **p, size_t *n);
bool form_is_word(char c);
/* False for text that is no type name. */
bool form_read(const char *p, size_t n, struct form *f);
/* The words with one space between them. False where they are too long to be a family's. */
bool form_words(const struct form *f, char out[64]);
/* Where the argument at p ends: at its comma or at the end. The form of the text was checked. */
const char *form_argument(const char *p, const char *end);
/* Past the quoted text at p; its bytes, without quotes and escapes, are appended to out unless it is NULL. */
const char *form_quoted(const char *p, const char *end, struct buf *out);

/* ---- names within a type (words.c) ---- */

struct type_word *words_add(struct type *t, const char *p, size_t n);
void words_free(struct type *t);
/* The names and numbers of an Enum, sorted by number. False where they are none. */
bool words_of_enum(struct type *t, const struct form *f);

#endif
