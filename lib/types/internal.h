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
    ARGS_DT64    /* DateTime64([scale[, zone]]) */
};

enum family_use { USE_VALUE, USE_KEY, USE_TIME };

struct family {
    const char *name; /* as the server prints it */
    const char *also; /* other names, in any case, with | between them */
    enum type_kind kind;
    unsigned bits; /* 0: the arguments say, or a value has a length of its own */
    enum family_args args;
    enum family_use use;
};

/* The family of a name's words, one space between them; NULL for a type without cells. */
const struct family *family_named(const char *words);
/* The family that types of this kind and width are printed as; NULL for TYPE_OTHER. */
const struct family *family_of(const struct type *t);

#endif
