/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: is this cell one that its column's type can have? Form and range.
 */
#include <string.h>

#include "cells/internal.h"

/* A whole number in its one spelling. */
static bool is_whole(const char *p, size_t n)
{
    size_t i = n > 0 && p[0] == '-';

    if (i == n || (p[i] == '0' && n > 1))
        return false;
    for (; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return true;
}

static bool check_integer(const char *p, size_t n, const char *most, const char *least, const char **why)
{
    const char *limit = most;

    *why = "not a whole number in canonical form";
    if (!is_whole(p, n))
        return false;
    if (p[0] == '-') {
        p++;
        n--;
        limit = least;
    }
    *why = "out of the column's range";
    return n < strlen(limit) || (n == strlen(limit) && memcmp(p, limit, n) <= 0);
}

static bool check_ticks(const struct type *t, const char *p, size_t n, const char **why)
{
    int64_t min, max, v;

    *why = "not a whole number in canonical form";
    if (!is_whole(p, n))
        return false;
    *why = "out of the column's range";
    range_ticks(t, &min, &max);
    return scan_i64(p, n, &v) && v >= min && v <= max;
}

static bool check_float(unsigned bits, const char *p, size_t n, const char **why)
{
    uint64_t v = 0, inf = bits == 32 ? 0x7f800000u : 0x7ff0000000000000u;

    if (n == 3 && memcmp(p, "nan", 3) == 0)
        return true;
    *why = "not the float's bits in lower-case hex";
    if (n != bits / 4)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned digit;
        if (p[i] >= '0' && p[i] <= '9')
            digit = (unsigned)(p[i] - '0');
        else if (p[i] >= 'a' && p[i] <= 'f')
            digit = (unsigned)(p[i] - 'a') + 10;
        else
            return false;
        v = v << 4 | digit;
    }
    *why = "a NaN by its bits, which is \"nan\"";
    return (v & (inf | (inf - 1))) <= inf;
}

static bool check_string(const struct type *t, const char *p, size_t n, const char **why)
{
    static const char nines[] = "9999999999999999999999999999999999999999999999999999999999999999999999999999";
    const char *digits;

    switch (t->kind) {
    case TYPE_INT: return check_integer(p, n, range_limit(t->bits, true, false), range_limit(t->bits, true, true), why);
    case TYPE_UINT:
        return check_integer(p, n, range_limit(t->bits, false, false), range_limit(t->bits, false, true), why);
    case TYPE_DECIMAL:
        digits = nines + sizeof nines - 1 - t->precision;
        return check_integer(p, n, digits, digits, why);
    case TYPE_FLOAT: return check_float(t->bits, p, n, why);
    case TYPE_DATE:
    case TYPE_DATE32:
    case TYPE_DATETIME:
    case TYPE_DATETIME64: return check_ticks(t, p, n, why);
    case TYPE_BOOL:
        *why = "neither true nor false";
        return (n == 4 && memcmp(p, "true", 4) == 0) || (n == 5 && memcmp(p, "false", 5) == 0);
    case TYPE_STRING: return true;
    case TYPE_OTHER: break;
    }
    *why = "the column's type has no cells";
    return false;
}

bool cells_is_canonical(const struct type *t, const char *p, size_t n, bool allow_unfit, const char **why)
{
    enum cell_form form;
    const char *in, *end;
    size_t in_len;

    end = scan_cell(p, p + n, &form, &in, &in_len, why);
    if (!end)
        return false;
    if (end != p + n) {
        *why = "something after the cell";
        return false;
    }
    switch (form) {
    case CELL_FORM_NULL:
        *why = t->kind == TYPE_OTHER ? "the column's type has no cells" : "NULL in a column that is not Nullable";
        return t->nullable && t->kind != TYPE_OTHER;
    case CELL_FORM_UNFIT: *why = "an unfit cell where none may be"; return allow_unfit;
    case CELL_FORM_B64: *why = "b64 in a column that is not a String"; return t->kind == TYPE_STRING;
    case CELL_FORM_STRING: break;
    }
    return check_string(t, in, in_len, why);
}

bool cells_is_unfit(const char *p, size_t n)
{
    return n >= 10 && memcmp(p, "{\"unfit\":\"", 10) == 0;
}
