/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: reading rows of cells. Two equal rows are equal bytes only if every
 * spelling but one is refused, so this is the gate of every comparison, and it
 * is on the path of every row.
 */
#include <string.h>

#include "cells/marks.h"
#include "cells/internal.h"

#define DEPTH 60 /* of arrays in a cell: no type goes so deep */

static const char cut_short[] = "the row ends within a cell";

/* The escape at p (a backslash): just past it, or NULL. */
static const char *scan_escape(const char *p, const char *end, const char **why)
{
    unsigned v;

    if (end - p < 2) {
        *why = cut_short;
        return NULL;
    }
    *why = "an escape that is not canonical";
    if (p[1] != 'u')
        return p[1] != '\0' && strchr("\"\\btnfr", p[1]) ? p + 2 : NULL;
    if (end - p < 6) {
        *why = cut_short;
        return NULL;
    }
    if (p[2] != '0' || p[3] != '0' || (p[4] != '0' && p[4] != '1'))
        return NULL;
    if (p[5] >= '0' && p[5] <= '9')
        v = (unsigned)(p[5] - '0');
    else if (p[5] >= 'a' && p[5] <= 'f')
        v = (unsigned)(p[5] - 'a') + 10;
    else
        return NULL;
    v += p[4] == '1' ? 16 : 0;
    /* U+0008 to U+000D have an escape of a letter, but for U+000B. */
    return v >= 8 && v <= 13 && v != 11 ? NULL : p + 6;
}

/* The closing quote of the string whose content starts at p, or NULL. */
static inline const char *scan_string(const char *p, const char *end, const char **why)
{
    for (;;) {
        p = bytes_plain(p, end);
        if (p == end) {
            *why = cut_short;
            return NULL;
        }
        if (*p == '"')
            return p;
        if ((unsigned char)*p >= 0x80) {
            size_t k = bytes_utf8(p, end);
            if (k == 0) {
                *why = "bytes that are not UTF-8";
                return NULL;
            }
            p += k;
        } else if (*p == '\\') {
            p = scan_escape(p, end, why);
            if (!p)
                return NULL;
        } else {
            *why = "a control character that is not escaped";
            return NULL;
        }
    }
}

/* b64 is for bytes that no string can hold; anything else has another spelling. */
static bool check_b64(const char *p, size_t n, const char **why)
{
    struct buf bytes = BUF_INIT;
    bool ok = true;

    if (!base64_decode(&bytes, p, n)) {
        *why = "base64 that is not canonical";
        ok = false;
    } else if (bytes.len == 0 || utf8_valid(bytes.p, bytes.len)) {
        *why = "b64 of bytes that are a string";
        ok = false;
    }
    buf_free(&bytes);
    return ok;
}

static bool starts(const char *p, const char *end, const char *text, size_t n)
{
    return (size_t)(end - p) >= n && memcmp(p, text, n) == 0;
}

static const char *scan_any(const char *p, const char *end, unsigned depth, enum cell_form *form, const char **in,
                            size_t *in_len, const char **why);

/* An array's closing bracket; p is past the opening one. NULL with *why set. */
static const char *scan_array(const char *p, const char *end, unsigned depth, const char **why)
{
    enum cell_form form;
    const char *in;
    size_t in_len;

    *why = "arrays in arrays, deeper than any type";
    if (depth == DEPTH)
        return NULL;
    if (p < end && *p == ']')
        return p;
    for (;;) {
        p = scan_any(p, end, depth + 1, &form, &in, &in_len, why);
        if (!p)
            return NULL;
        *why = p == end ? cut_short : "something between two cells";
        if (form == CELL_FORM_UNFIT) /* the whole cell of a column is unfit, never a part of it */
            *why = "an unfit cell in an array";
        if (p == end || form == CELL_FORM_UNFIT || (*p != ',' && *p != ']'))
            return NULL;
        if (*p == ']')
            return p;
        p++;
    }
}

/* A cell that is not a string. */
static const char *scan_rare(const char *p, const char *end, unsigned depth, enum cell_form *form, const char **in,
                             size_t *in_len, const char **why)
{
    const char *close;

    if (*p == '[') {
        close = scan_array(p + 1, end, depth, why);
        if (!close)
            return NULL;
        *form = CELL_FORM_ARRAY;
        *in = p + 1;
        *in_len = (size_t)(close - p - 1);
        return close + 1;
    }
    if (starts(p, end, "null", 4)) {
        *form = CELL_FORM_NULL;
        *in = p;
        *in_len = 0;
        return p + 4;
    }
    if (starts(p, end, "{\"b64\":\"", 8)) {
        *form = CELL_FORM_B64;
        p += 8;
    } else if (starts(p, end, "{\"unfit\":\"", 10)) {
        *form = CELL_FORM_UNFIT;
        p += 10;
    } else if (starts(p, end, "{\"unnamed\":\"", 12)) {
        *form = CELL_FORM_UNNAMED;
        p += 12;
    } else {
        *why = "neither a string, null, an array, b64, unnamed nor unfit, without spaces";
        return NULL;
    }
    close = scan_string(p, end, why);
    if (!close)
        return NULL;
    *in = p;
    *in_len = (size_t)(close - p);
    if (end - close < 2 || close[1] != '}') {
        *why = "more than one member in an object, or a space";
        return NULL;
    }
    if (*form == CELL_FORM_B64 && !check_b64(*in, *in_len, why))
        return NULL;
    return close + 2;
}

static const char *scan_any(const char *p, const char *end, unsigned depth, enum cell_form *form, const char **in,
                            size_t *in_len, const char **why)
{
    const char *close;

    if (p == end) {
        *why = cut_short;
        return NULL;
    }
    if (*p != '"')
        return scan_rare(p, end, depth, form, in, in_len, why);
    close = scan_string(p + 1, end, why);
    if (!close)
        return NULL;
    *form = CELL_FORM_STRING;
    *in = p + 1;
    *in_len = (size_t)(close - p - 1);
    return close + 1;
}

const char *scan_cell(const char *p, const char *end, enum cell_form *form, const char **in, size_t *in_len,
                      const char **why)
{
    return scan_any(p, end, 0, form, in, in_len, why);
}

bool cells_scan_row(const char *p, size_t n, size_t want, size_t *row_len, uint32_t *ends, size_t max_ends,
                    const char **why)
{
    const char *at = p, *end, *in;
    struct bytes_marks marks;
    enum cell_form form;
    size_t in_len;

    if (!ends)
        max_ends = 0;
    if (n < 2 || *at != '[' || n > UINT32_MAX) {
        *why = n > UINT32_MAX ? "a row past 4 GiB" : "not a row of cells";
        return false;
    }
    at++;
    end = p + n;
    bytes_begin(&marks, p, end);
    for (size_t i = 0; i < want; i++) {
        if (at == end) {
            *why = cut_short;
            return false;
        }
        if (*at == '"') {
            at = bytes_next(&marks, at + 1);
            if (at == end || *at != '"')
                at = scan_string(at, end, why);
            if (at)
                at++;
        } else {
            at = scan_rare(at, end, 0, &form, &in, &in_len, why);
        }
        if (!at)
            return false;
        if (i < max_ends)
            ends[i] = (uint32_t)(at - p);
        if (i + 1 < want) {
            if (at == end || *at != ',') {
                *why = at == end ? cut_short : *at == ']' ? "fewer cells than columns" : "something between two cells";
                return false;
            }
            at++;
        }
    }
    if (at == end || *at != ']') {
        *why = at == end ? cut_short : *at == ',' ? "more cells than columns" : "something after a cell";
        return false;
    }
    *row_len = (size_t)(at + 1 - p);
    return true;
}
