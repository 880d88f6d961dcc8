/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: Array, Tuple, Map and Nested: arrays of the cells that they hold. An
 * owed value of which one part has no cell of its own is unfit as a whole.
 */
#include <stdlib.h>
#include <string.h>

#include "cells/internal.h"

/* ---- pairs of a Map, in the order of their bytes ---- */

struct extent {
    const char *p;
    size_t n;
};

static int by_bytes(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    int d = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return d != 0 ? d : (x->n > y->n) - (x->n < y->n);
}

void cells_sort(struct buf *out, const size_t *starts, size_t n)
{
    struct extent *at = xcalloc(n + 1, sizeof *at);
    bool sorted = true;

    for (size_t i = 0; i < n; i++) {
        at[i] = (struct extent){out->p + starts[i], (i + 1 < n ? starts[i + 1] - 1 : out->len) - starts[i]};
        sorted = sorted && (i == 0 || by_bytes(&at[i - 1], &at[i]) <= 0);
    }
    if (!sorted) {
        struct buf now = BUF_INIT;
        qsort(at, n, sizeof *at, by_bytes);
        for (size_t i = 0; i < n; i++) {
            if (i > 0)
                buf_addc(&now, ',');
            buf_add(&now, at[i].p, at[i].n);
        }
        memcpy(out->p + starts[0], now.p, now.len);
        buf_free(&now);
    }
    free(at);
}

/* ---- owed ---- */

static enum cells_result owed_part(const struct column *c, const struct type *t, const struct json *v, struct buf *out,
                                   const char **why)
{
    struct column part = {.name = c->name, .name_len = c->name_len, .type = *t, .from = c->from, .zone = c->zone};
    return cells_owed(&part, v, out, why);
}

/* Of a value that holds others: the least that is true of all of them. */
static enum cells_result worst(enum cells_result a, enum cells_result b)
{
    return a > b ? a : b;
}

static const struct json *member(const struct json *v, const struct type_word *name)
{
    for (const struct json *m = json_first(v); m; m = json_next(v, m))
        if (m->len == name->n && memcmp(m->str, name->p, name->n) == 0)
            return json_value(m);
    return NULL;
}

/* Has the object a member that is none of the type's names? */
static bool has_other(const struct type *t, const struct json *v)
{
    size_t known = 0;
    for (size_t i = 0; i < t->n_words; i++)
        known += member(v, &t->words[i]) != NULL;
    return known != v->len;
}

static enum cells_result list(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    enum cells_result got = CELL_FIT;

    *why = "not an array";
    if (v->type != JSON_ARRAY)
        return CELL_WRONG;
    buf_addc(out, '[');
    for (const struct json *item = json_first(v); got <= CELL_NEAREST && item; item = json_next(v, item)) {
        if (item != json_first(v))
            buf_addc(out, ',');
        got = worst(got, owed_part(c, &c->type.of[0], item, out, why));
    }
    buf_addc(out, ']');
    return got;
}

/* The i-th of what a Tuple, or one element of a Nested, holds, from an array or from an object by name. False where v
 * is neither, or not as long. */
static bool element(const struct type *t, const struct json *v, size_t i, const struct json **out, const char **why)
{
    if (v->type == JSON_OBJECT && t->n_words > 0) {
        *why = "a member that the type does not name";
        *out = member(v, &t->words[i]);
        return !has_other(t, v);
    }
    *why = v->type != JSON_ARRAY ? "neither an array nor an object of the type's names"
                                 : "not as many values as the type has";
    if (v->type != JSON_ARRAY || v->len != t->n_of)
        return false;
    *out = json_at(v, i);
    return true;
}

static enum cells_result tuple(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    const struct type *t = &c->type;
    enum cells_result got = CELL_FIT;
    const struct json *part;

    *why = "not an empty array";
    if (t->n_of == 0 && (v->type != JSON_ARRAY || v->len > 0))
        return CELL_WRONG;
    buf_addc(out, '[');
    for (size_t i = 0; got <= CELL_NEAREST && i < t->n_of; i++) {
        if (i > 0)
            buf_addc(out, ',');
        got = worst(got, element(t, v, i, &part, why) ? owed_part(c, &t->of[i], part, out, why) : CELL_WRONG);
    }
    buf_addc(out, ']');
    return got;
}

/* A column of a Nested: the array of that name, or the i-th of each element. */
static enum cells_result nested_column(const struct column *c, const struct json *v, size_t i, struct buf *out,
                                       const char **why)
{
    const struct type *t = &c->type;
    enum cells_result got = CELL_FIT;
    const struct json *all = v, *part = NULL;

    if (v->type == JSON_OBJECT) {
        if (!element(t, v, i, &part, why))
            return CELL_WRONG;
        *why = "not an array for each of the type's names";
        if (!part || part->type != JSON_ARRAY || part->len != member(v, &t->words[0])->len)
            return CELL_WRONG;
        all = part;
    }
    buf_addc(out, '[');
    for (const struct json *row = json_first(all); got <= CELL_NEAREST && row; row = json_next(all, row)) {
        if (row != json_first(all))
            buf_addc(out, ',');
        part = row;
        if (all == v && !element(t, row, i, &part, why))
            return CELL_WRONG;
        got = worst(got, owed_part(c, &t->of[i], part, out, why));
    }
    buf_addc(out, ']');
    return got;
}

static enum cells_result nested(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    enum cells_result got = CELL_FIT;

    *why = "neither an array nor an object of arrays";
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT)
        return CELL_WRONG;
    buf_addc(out, '[');
    for (size_t i = 0; got <= CELL_NEAREST && i < c->type.n_of; i++) {
        if (i > 0)
            buf_addc(out, ',');
        got = worst(got, nested_column(c, v, i, out, why));
    }
    buf_addc(out, ']');
    return got;
}

/* The key and the value of a pair: an item of an array of such, or an object's member by its name. */
static bool pair(const struct json *v, const struct json *at, const struct json **key, const struct json **value)
{
    *key = v->type == JSON_OBJECT ? at : json_first(at);
    *value = v->type == JSON_OBJECT ? json_value(at) : json_at(at, 1);
    return v->type == JSON_OBJECT || (at->type == JSON_ARRAY && at->len == 2);
}

static enum cells_result map(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    enum cells_result got = CELL_FIT;
    const struct json *key, *value;
    size_t *starts, n = 0;

    *why = "neither an object nor an array of pairs";
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY)
        return CELL_WRONG;
    starts = xcalloc((size_t)v->len + 1, sizeof *starts);
    buf_addc(out, '[');
    for (const struct json *at = json_first(v); got <= CELL_NEAREST && at; at = json_next(v, at)) {
        if (n > 0)
            buf_addc(out, ',');
        starts[n++] = out->len;
        buf_addc(out, '[');
        got = worst(got, pair(v, at, &key, &value) ? owed_part(c, &c->type.of[0], key, out, why) : CELL_WRONG);
        buf_addc(out, ',');
        if (got <= CELL_NEAREST)
            got = worst(got, owed_part(c, &c->type.of[1], value, out, why));
        buf_addc(out, ']');
    }
    if (got <= CELL_NEAREST)
        cells_sort(out, starts, n);
    buf_addc(out, ']');
    free(starts);
    return got;
}

enum cells_result owed_held(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    size_t before = out->len;
    const char *reason = NULL;
    enum cells_result got;

    switch (c->type.kind) {
    case TYPE_ARRAY: got = list(c, v, out, &reason); break;
    case TYPE_MAP: got = map(c, v, out, &reason); break;
    case TYPE_NESTED: got = nested(c, v, out, &reason); break;
    default: got = tuple(c, v, out, &reason); break;
    }
    if (got <= CELL_NEAREST)
        return got;
    out->len = before;
    wrong_kind(out, v, reason, why);
    return got;
}

/* ---- cells ---- */

/* The next cell of an array's content at *p, which is moved past it and its comma. False at the end and, with *why set,
 * at what is no cell. */
static bool next_cell(const char **p, const char *end, struct extent *cell, const char **why)
{
    enum cell_form form;
    const char *in, *past;
    size_t in_len;

    *why = NULL;
    if (*p == end)
        return false;
    past = scan_cell(*p, end, &form, &in, &in_len, why);
    if (!past)
        return false;
    *cell = (struct extent){*p, (size_t)(past - *p)};
    *p = past < end ? past + 1 : past;
    return true;
}

/* Is the content of an array cell that of the type's i-th column or element, or of a Map's pair? */
static bool check_all(const struct type *each, size_t n_each, const char *p, size_t n, const char **why)
{
    const char *end = p + n;
    struct extent cell;
    size_t i = 0;

    for (; n_each == 0 || i < n_each; i++) {
        if (!next_cell(&p, end, &cell, why)) {
            if (*why)
                return false;
            break;
        }
        if (!cells_is_canonical(n_each > 0 ? &each[i] : each, cell.p, cell.n, false, why))
            return false;
    }
    *why = "not as many cells as the type has";
    return p == end && (n_each == 0 || i == n_each);
}

/* Take the brackets off a cell that is an array. */
static bool open_cell(struct extent *cell, const char **why)
{
    *why = "not an array";
    if (cell->n < 2 || cell->p[0] != '[')
        return false;
    cell->p++;
    cell->n -= 2;
    return true;
}

static bool check_map(const struct type *t, const char *p, size_t n, const char **why)
{
    const char *end = p + n;
    struct extent cell, last = {NULL, 0};

    while (next_cell(&p, end, &cell, why)) {
        struct extent in = cell;
        if (last.p && by_bytes(&last, &cell) > 0) {
            *why = "pairs that are not in the order of their bytes";
            return false;
        }
        last = cell;
        if (!open_cell(&in, why) || !check_all(t->of, 2, in.p, in.n, why))
            return false;
    }
    return *why == NULL;
}

static size_t count_cells(struct extent in)
{
    const char *p = in.p, *why;
    struct extent cell;
    size_t n = 0;

    while (next_cell(&p, in.p + in.n, &cell, &why))
        n++;
    return n;
}

static bool check_nested(const struct type *t, const char *p, size_t n, const char **why)
{
    const char *end = p + n;
    struct extent cell;
    size_t i = 0, rows = 0;

    for (; i < t->n_of && next_cell(&p, end, &cell, why); i++) {
        if (!open_cell(&cell, why) || !check_all(&t->of[i], 0, cell.p, cell.n, why))
            return false;
        size_t has = count_cells(cell);
        *why = "columns that are not of one length";
        if (i > 0 && has != rows)
            return false;
        rows = has;
    }
    *why = "not as many columns as the type has";
    return i == t->n_of && p == end;
}

bool check_held(const struct type *t, const char *p, size_t n, const char **why)
{
    switch (t->kind) {
    case TYPE_ARRAY: return check_all(&t->of[0], 0, p, n, why);
    case TYPE_MAP: return check_map(t, p, n, why);
    case TYPE_NESTED: return check_nested(t, p, n, why);
    default:
        *why = "not as many cells as the type has";
        return t->n_of == 0 ? n == 0 : check_all(t->of, t->n_of, p, n, why);
    }
}

/* ---- for a person ---- */

static void human_all(const struct type *each, bool many, struct extent in, const char *sep, struct buf *out)
{
    const char *p = in.p, *why;
    struct extent cell;

    for (size_t i = 0; next_cell(&p, in.p + in.n, &cell, &why); i++) {
        buf_adds(out, i > 0 ? sep : "");
        cells_human(many ? &each[i] : each, cell.p, cell.n, out);
    }
}

static void human_map(const struct type *t, struct extent in, struct buf *out)
{
    const char *p = in.p, *why;
    struct extent cell;

    for (size_t i = 0; next_cell(&p, in.p + in.n, &cell, &why); i++) {
        buf_adds(out, i > 0 ? ", " : "");
        if (open_cell(&cell, &why))
            human_all(t->of, true, cell, ": ", out);
    }
}

static void human_nested(const struct type *t, struct extent in, struct buf *out)
{
    const char *p = in.p, *why;
    struct extent cell;

    for (size_t i = 0; next_cell(&p, in.p + in.n, &cell, &why); i++) {
        buf_adds(out, i > 0 ? ", " : "");
        msg_mask(out, t->words[i].p, t->words[i].n);
        buf_adds(out, " [");
        if (open_cell(&cell, &why))
            human_all(&t->of[i], false, cell, ", ", out);
        buf_addc(out, ']');
    }
}

void human_held(const struct type *t, const char *p, size_t n, struct buf *out)
{
    struct extent in = {p, n};

    buf_addc(out, t->kind == TYPE_ARRAY ? '[' : t->kind == TYPE_TUPLE ? '(' : '{');
    switch (t->kind) {
    case TYPE_ARRAY: human_all(t->of, false, in, ", ", out); break;
    case TYPE_MAP: human_map(t, in, out); break;
    case TYPE_NESTED: human_nested(t, in, out); break;
    default: human_all(t->of, true, in, ", ", out); break;
    }
    buf_addc(out, t->kind == TYPE_ARRAY ? ']' : t->kind == TYPE_TUPLE ? ')' : '}');
}
