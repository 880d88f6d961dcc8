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

/* White space apart. */
static bool text_equal(const char *a, const char *b)
{
    char qa = 0, qb = 0;

    for (;;) {
        char ca = next_byte(&a, &qa);
        if (ca != next_byte(&b, &qb))
            return false;
        if (ca == '\0')
            return true;
    }
}

/* Types without cells are the same only where their names are. A shortened name is like no other. */
static bool other_equal(const char *a, const char *b)
{
    return !strstr(a, "(...)") && text_equal(a, b);
}

static bool words_equal(const struct type *a, const struct type *b)
{
    if (a->kind == TYPE_JSON)
        return text_equal(a->n_words > 0 ? a->words[0].p : "", b->n_words > 0 ? b->words[0].p : "");
    bool same = a->n_words == b->n_words;
    for (size_t i = 0; same && i < a->n_words; i++)
        same = a->words[i].number == b->words[i].number && a->words[i].n == b->words[i].n &&
               memcmp(a->words[i].p, b->words[i].p, a->words[i].n) == 0;
    return same;
}

bool type_equal(const struct type *a, const struct type *b)
{
    if (a->kind == TYPE_OTHER || b->kind == TYPE_OTHER)
        return a->kind == b->kind && other_equal(a->name, b->name);
    bool same = a->kind == b->kind && a->bits == b->bits && a->precision == b->precision && a->scale == b->scale &&
                a->nullable == b->nullable && a->n_of == b->n_of && words_equal(a, b);
    for (size_t i = 0; same && i < a->n_of; i++)
        same = type_equal(&a->of[i], &b->of[i]);
    return same;
}

/* Of two equal ones. */
static bool defined_alike(const struct type *a, const struct type *b)
{
    bool same = a->low_cardinality == b->low_cardinality && a->aggregated == b->aggregated &&
                strcmp(a->zone, b->zone) == 0;
    for (size_t i = 0; same && type_supported(a) && i < a->n_of; i++)
        same = defined_alike(&a->of[i], &b->of[i]);
    return same;
}

bool type_same(const struct type *a, const struct type *b)
{
    return type_equal(a, b) && defined_alike(a, b);
}
