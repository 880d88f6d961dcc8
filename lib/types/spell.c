/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types: what is asked of a parsed type: whether two are the same, how it is
 * spelled, what it may be used for.
 */
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

static void spell_bare(const struct type *t, struct buf *out)
{
    switch (t->kind) {
    case TYPE_INT: buf_printf(out, "Int%u", t->bits); break;
    case TYPE_UINT: buf_printf(out, "UInt%u", t->bits); break;
    case TYPE_FLOAT: buf_printf(out, "Float%u", t->bits); break;
    case TYPE_DECIMAL: buf_printf(out, "Decimal(%u, %u)", t->precision, t->scale); break;
    case TYPE_DATE: buf_adds(out, "Date"); break;
    case TYPE_DATE32: buf_adds(out, "Date32"); break;
    case TYPE_DATETIME: buf_adds(out, "DateTime"); break;
    case TYPE_DATETIME64: buf_printf(out, "DateTime64(%u)", t->scale); break;
    case TYPE_BOOL: buf_adds(out, "Bool"); break;
    case TYPE_STRING: buf_adds(out, "String"); break;
    case TYPE_OTHER: buf_adds(out, t->name); break;
    }
}

void type_spell(const struct type *t, struct buf *out)
{
    if (t->nullable)
        buf_adds(out, "Nullable(");
    spell_bare(t, out);
    if (t->nullable)
        buf_addc(out, ')');
}

bool type_supported(const struct type *t)
{
    return t->kind != TYPE_OTHER;
}

bool type_is_key(const struct type *t)
{
    return (t->kind == TYPE_INT || t->kind == TYPE_UINT || t->kind == TYPE_STRING) && !t->nullable;
}

bool type_is_time(const struct type *t)
{
    return t->kind == TYPE_DATE || t->kind == TYPE_DATE32 || t->kind == TYPE_DATETIME || t->kind == TYPE_DATETIME64;
}
