/* SPDX-License-Identifier: Apache-2.0 */
/* types: whether two are the same. */
#include "types/types.h"

#include <string.h>

/* The next byte of a name that is not white space outside quotes; 0 at the end. *q is the quote that is open. */
static char next_byte(const char **p, char *q)
{
    while (*q == 0 && **p != '\0' && strchr(" \t\r\n", **p))
        (*p)++;
    if (**p == '\0')
        return '\0';
    if (*q == 0 && strchr("'`\"", **p))
        *q = **p;
    else if (*q == **p)
        *q = 0;
    return *(*p)++;
}

/* Types without cells are the same only where their names are, white space apart. A shortened name is like no other. */
static bool other_equal(const char *a, const char *b)
{
    char qa = 0, qb = 0;

    if (strstr(a, "(...)"))
        return false;
    for (;;) {
        char ca = next_byte(&a, &qa);
        if (ca != next_byte(&b, &qb))
            return false;
        if (ca == '\0')
            return true;
    }
}

bool type_equal(const struct type *a, const struct type *b)
{
    if (a->kind == TYPE_OTHER || b->kind == TYPE_OTHER)
        return a->kind == b->kind && other_equal(a->name, b->name);
    return a->kind == b->kind && a->bits == b->bits && a->precision == b->precision && a->scale == b->scale &&
           a->nullable == b->nullable;
}

bool type_same(const struct type *a, const struct type *b)
{
    return type_equal(a, b) && a->low_cardinality == b->low_cardinality && strcmp(a->zone, b->zone) == 0;
}
