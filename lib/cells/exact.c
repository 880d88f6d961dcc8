/* SPDX-License-Identifier: Apache-2.0 */
/* cells: FixedString and Enum, whose content is checked as bytes. */
#include <string.h>

#include "cells/internal.h"

/* ---- FixedString ---- */

/* Zeros up to the type's length are what the server adds; a text past it has no place. */
enum cells_result owed_fixed(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    size_t bytes = c->type.bits / 8;
    struct buf whole = BUF_INIT;

    if (v->type != JSON_STRING)
        return wrong_kind(out, v, "not a string", why);
    if (v->len > bytes) {
        wrong_kind(out, v, "longer than the column's bytes", why);
        return CELL_UNFIT;
    }
    buf_add(&whole, v->str, v->len);
    for (size_t i = v->len; i < bytes; i++)
        buf_addc(&whole, '\0');
    cells_put_bytes(out, whole.p, whole.len);
    buf_free(&whole);
    return CELL_FIT;
}

bool check_fixed(const struct type *t, const char *p, size_t n, const char **why)
{
    (void)p;
    *why = "not as many bytes as the type has";
    return n == t->bits / 8;
}

/* ---- Enum ---- */

static const struct type_word *word_of(const struct type *t, int number)
{
    size_t from = 0, to = t->n_words;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (t->words[mid].number == number)
            return &t->words[mid];
        if (t->words[mid].number < number)
            from = mid + 1;
        else
            to = mid;
    }
    return NULL;
}

bool check_enum(const struct type *t, const char *p, size_t n, const char **why)
{
    *why = "no name of the Enum";
    for (size_t i = 0; i < t->n_words; i++)
        if (t->words[i].n == n && (n == 0 || memcmp(t->words[i].p, p, n) == 0))
            return true;
    return false;
}

bool check_unnamed(const struct type *t, const char *p, size_t n, const char **why)
{
    int64_t v;

    *why = "not a number without a name of the Enum";
    return is_whole(p, n) && scan_i64(p, n, &v) && v >= (t->bits == 8 ? INT8_MIN : INT16_MIN) &&
           v <= (t->bits == 8 ? INT8_MAX : INT16_MAX) && !word_of(t, (int)v);
}

enum cells_result owed_enum(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    const char *reason;

    if (v->type != JSON_STRING)
        return wrong_kind(out, v, "not a name of the Enum", why);
    if (!check_enum(&c->type, v->str, v->len, &reason)) {
        wrong_kind(out, v, reason, why);
        return CELL_UNFIT;
    }
    cells_put_bytes(out, v->str, v->len);
    return CELL_FIT;
}

void put_enum(struct buf *out, const struct type *t, const unsigned char *p, size_t n)
{
    int number = n == 1 ? (int8_t)p[0] : (int16_t)(uint16_t)(p[0] | p[1] << 8);
    const struct type_word *w = word_of(t, number);

    if (w)
        cells_put_bytes(out, w->p, w->n);
    else
        buf_printf(out, "{\"unnamed\":\"%d\"}", number);
}
