/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows under a key next to their own: a number that went through a double, a time that lost its fraction, a text that
 * was cut or trimmed. A missing row and a row that nothing owes under its key are one row where all but one column of
 * the key are equal, and this one is next to the other. Looked for among the findings that are held, which are the
 * first by key on both sides.
 */
#include <stdlib.h>
#include <string.h>

#include "multiset/internal.h"

#define NEAR_LOOKED ((size_t)1000) /* findings of each kind that are held against one another */
#define CUT_LEAST ((size_t)8)      /* characters that a cut text has at least: less is any text's beginning */
#define DIGITS_MAX ((size_t)80)

/* ---- one cell ---- */

/* The digits of a cell that is a whole number; sign and all. */
static bool digits_of(struct multiset_text cell, char *room)
{
    size_t n = cell.n - 2, at = n > 0 && cell.p[1] == '-';
    if (cell.n < 3 || cell.p[0] != '"' || n > DIGITS_MAX || at == n)
        return false;
    for (size_t i = at; i < n; i++)
        if (cell.p[1 + i] < '0' || cell.p[1 + i] > '9')
            return false;
    memcpy(room, cell.p + 1, n);
    room[n] = '\0';
    return true;
}

/* Equal as doubles, or one with zeros for the last digits of the other. */
static bool numbers_near(struct multiset_text a, struct multiset_text b)
{
    char x[DIGITS_MAX + 1], y[DIGITS_MAX + 1];
    size_t same = 0;
    if (!digits_of(a, x) || !digits_of(b, y))
        return false;
    if (strtod(x, NULL) == strtod(y, NULL))
        return true;
    while (x[same] && x[same] == y[same])
        same++;
    return same > 1 && strlen(x) == strlen(y) &&
           (x[same + strspn(x + same, "0")] == '\0' || y[same + strspn(y + same, "0")] == '\0');
}

/* What is left of a text's cell without its quotes and without blanks at its ends. */
static struct multiset_text trimmed(struct multiset_text cell)
{
    struct multiset_text t = {cell.p + 1, cell.n - 2};
    for (; t.n > 0 && t.p[0] == ' '; t.p++)
        t.n--;
    while (t.n > 0 && t.p[t.n - 1] == ' ')
        t.n--;
    return t;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* Equal but for case and blanks at the ends, or one the other's beginning. */
static bool texts_near(struct multiset_text a, struct multiset_text b)
{
    if (a.n < 2 || b.n < 2 || a.p[0] != '"' || b.p[0] != '"')
        return false;
    a = trimmed(a);
    b = trimmed(b);
    size_t n = a.n < b.n ? a.n : b.n;
    for (size_t i = 0; i < n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return a.n == b.n || n >= CUT_LEAST;
}

/* ---- rows ---- */

struct looked {
    struct multiset_text row, key;
    uint32_t *ends;
    uint64_t values; /* hash of the cells that are no key */
};

static struct multiset_text cell(const struct looked *l, size_t i)
{
    uint32_t from = i ? l->ends[i - 1] + 1 : 1;
    return (struct multiset_text){l->row.p + from, l->ends[i] - from};
}

static bool same_cell(const struct looked *a, const struct looked *b, size_t i)
{
    return text_order(cell(a, i), cell(b, i)) == 0;
}

static bool is_near(const struct key_form *form, const struct looked *a, const struct looked *b)
{
    size_t apart = form->columns;
    if (a->values != b->values)
        return false;
    for (size_t i = 0; i < form->columns; i++) {
        if (same_cell(a, b, i))
            continue;
        if (!form->key[i] || apart < form->columns)
            return false;
        apart = i;
    }
    if (apart == form->columns)
        return false;
    return numbers_near(cell(a, apart), cell(b, apart)) || texts_near(cell(a, apart), cell(b, apart));
}

/* Add a finding's row, its cells found. */
static void look(struct looked *to, const struct key_form *form, const struct multiset_finding *f,
                 struct multiset_text row, struct arena *arena)
{
    *to = (struct looked){.row = row, .key = f->key, .ends = arena_alloc(arena, form->columns * sizeof *to->ends)};
    row_ends(row.p, row.n, form->columns, to->ends);
    for (size_t i = 0; i < form->columns; i++)
        if (!form->key[i])
            to->values = text_hash(to->values, cell(to, i).p, cell(to, i).n);
}

/* The rows of a kind that are held whole. */
static size_t look_all(const struct list *l, enum finding_kind kind, const struct key_form *form, struct looked *to,
                       struct arena *arena)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n[kind] && i < NEAR_LOOKED; i++) {
        const struct multiset_finding *f = &l->heap[kind][i].f;
        bool owed = kind == KIND_MISSING || kind == KIND_DUPLICATED;
        if (!f->cut)
            look(&to[n++], form, f, owed ? f->owed : f->found, arena);
    }
    return n;
}

static const char *shown_key(struct multiset_text key, struct arena *arena)
{
    struct buf text = BUF_INIT;
    multiset_put_key(&text, key);
    const char *kept = arena_strndup(arena, text.p, text.len);
    buf_free(&text);
    return kept;
}

void list_near(const struct list *l, const struct key_form *form, struct arena *arena, struct multiset_missing *m)
{
    static const enum finding_kind there[] = {KIND_UNEXPECTED, KIND_CHANGED, KIND_DUPLICATED};
    struct arena work = ARENA_INIT;
    size_t keys = 0, found_n = 0;
    for (size_t i = 0; i < form->columns; i++)
        keys += form->key[i];
    if (keys == form->columns || l->n[KIND_MISSING] == 0)
        return; /* without values every row would be like every other */
    struct looked *missing = xmalloc(NEAR_LOOKED * sizeof *missing), *found = xmalloc(3 * NEAR_LOOKED * sizeof *found);
    size_t missing_n = look_all(l, KIND_MISSING, form, missing, &work);
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        found_n += look_all(l, there[i], form, found + found_n, &work);
    for (size_t i = 0; i < missing_n; i++) {
        size_t k = 0;
        while (k < found_n && !is_near(form, &missing[i], &found[k]))
            k++;
        if (k == found_n)
            continue;
        if (m->near++ == 0) {
            m->near_key = shown_key(missing[i].key, arena);
            m->near_other = shown_key(found[k].key, arena);
        }
    }
    free(missing);
    free(found);
    arena_free(&work);
}
