/* SPDX-License-Identifier: Apache-2.0 */
/* types: the names within a type, of an Enum's values and of a Tuple's elements. */
#include <stdlib.h>
#include <string.h>

#include "types/internal.h"

struct type_word *words_add(struct type *t, const char *p, size_t n)
{
    if ((t->n_words & (t->n_words - 1)) == 0) /* none yet, or a power of two: no room */
        t->words = xrealloc(t->words, (t->n_words ? 2 * t->n_words : 1) * sizeof *t->words);
    struct type_word *w = &t->words[t->n_words++];
    *w = (struct type_word){xstrndup(p, n), n, 0};
    return w;
}

void words_free(struct type *t)
{
    for (size_t i = 0; i < t->n_words; i++)
        free(t->words[i].p);
    free(t->words);
    t->words = NULL;
    t->n_words = 0;
}

static int by_number(const void *a, const void *b)
{
    const struct type_word *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_name(const void *a, const void *b)
{
    const struct type_word *x = a, *y = b;
    int d = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return d != 0 ? d : (x->n > y->n) - (x->n < y->n);
}

/* Sort; false where two are the same. */
static bool sort_apart(struct type *t, int (*order)(const void *, const void *))
{
    qsort(t->words, t->n_words, sizeof *t->words, order);
    for (size_t i = 1; i < t->n_words; i++)
        if (order(&t->words[i - 1], &t->words[i]) == 0)
            return false;
    return true;
}

/* `'name' = number`, or the name alone, which has the number after the one before it. */
static bool read_value(struct type *t, const char *p, size_t n, struct buf *name)
{
    const char *end = p + n, *rest;
    int64_t number = t->n_words > 0 ? t->words[t->n_words - 1].number + 1 : 1;

    if (n == 0 || *p != '\'')
        return false;
    buf_reset(name);
    rest = form_quoted(p, end, name);
    n = (size_t)(end - rest);
    form_trim(&rest, &n);
    if (n > 0) {
        if (*rest != '=')
            return false;
        rest++;
        n--;
        form_trim(&rest, &n);
        if (!scan_i64(rest, n, &number))
            return false;
    }
    if (number < INT16_MIN || number > INT16_MAX)
        return false;
    words_add(t, name->len > 0 ? name->p : "", name->len)->number = (int)number;
    return true;
}

bool words_of_enum(struct type *t, const struct form *f)
{
    struct buf name = BUF_INIT;
    const char *end = f->args ? f->args + f->args_len : NULL, *stop;
    bool ok = f->args != NULL;

    for (const char *p = f->args; ok && p <= end; p = stop + 1) {
        const char *arg = p;
        size_t n = (size_t)((stop = form_argument(p, end)) - p);
        form_trim(&arg, &n);
        ok = read_value(t, arg, n, &name);
    }
    buf_free(&name);
    ok = ok && sort_apart(t, by_name) && sort_apart(t, by_number);
    if (ok && t->bits == 0)
        t->bits = t->words[0].number < INT8_MIN || t->words[t->n_words - 1].number > INT8_MAX ? 16 : 8;
    return ok && (t->bits == 16 || (t->words[0].number >= INT8_MIN && t->words[t->n_words - 1].number <= INT8_MAX));
}
