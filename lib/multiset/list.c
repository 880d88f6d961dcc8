/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings that are shown: of each kind the first in the byte order of key
 * and rows, whatever order they were met in, in bounded memory. And the keys that
 * are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "multiset/internal.h"

void list_init(struct list *l, size_t max)
{
    *l = (struct list){.max = max};
    for (size_t k = 0; k < KIND_TYPES; k++)
        l->heap[k] = xcalloc(max, sizeof *l->heap[k]);
}

void list_free(struct list *l)
{
    for (size_t k = 0; k < KIND_TYPES; k++) {
        for (size_t i = 0; l->heap[k] && i < l->max; i++)
            free(l->heap[k][i].bytes);
        free(l->heap[k]);
    }
    *l = (struct list){0};
}

static struct multiset_text held(struct multiset_text t)
{
    return (struct multiset_text){t.p, t.n < MULTISET_SHOWN ? t.n : MULTISET_SHOWN};
}

static uint64_t tie_of(const struct multiset_finding *f)
{
    uint64_t h = text_hash(1, f->key.p, f->key.n);
    h = f->owed.p ? text_hash(h, f->owed.p, f->owed.n) : h;
    return f->found.p ? text_hash(h, f->found.p, f->found.n) : h;
}

static bool is_long(const struct multiset_finding *f)
{
    return f->key.n + f->owed.n + f->found.n > MULTISET_SHOWN;
}

static int order(const struct candidate *a, const struct candidate *b)
{
    int d = text_order(held(a->f.key), held(b->f.key));
    d = d ? d : text_order(held(a->f.owed), held(b->f.owed));
    d = d ? d : text_order(held(a->f.found), held(b->f.found));
    d = d ? d : (a->f.read > b->f.read) - (a->f.read < b->f.read);
    return d ? d : (a->tie > b->tie) - (a->tie < b->tie);
}

static void swap(struct candidate *a, struct candidate *b)
{
    struct candidate c = *a;
    *a = *b;
    *b = c;
}

static void sift_up(struct candidate *h, size_t i)
{
    for (; i > 0 && order(&h[i], &h[(i - 1) / 2]) > 0; i = (i - 1) / 2)
        swap(&h[i], &h[(i - 1) / 2]);
}

static void sift_down(struct candidate *h, size_t n)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && order(&h[child + 1], &h[child]) > 0)
            child++;
        if (order(&h[i], &h[child]) >= 0)
            return;
        swap(&h[i], &h[child]);
    }
}

static struct multiset_text keep(char **to, struct multiset_text t)
{
    t = held(t);
    if (!t.p)
        return t;
    memcpy(*to, t.p, t.n);
    t.p = *to;
    *to += t.n;
    return t;
}

static void own(struct candidate *c, const struct multiset_finding *f, uint32_t entry)
{
    char *to = c->bytes = xrealloc(c->bytes, held(f->key).n + held(f->owed).n + held(f->found).n + f->absent.n);
    c->f = *f;
    c->f.cut = is_long(f);
    c->f.key = keep(&to, f->key);
    c->f.owed = keep(&to, f->owed);
    c->f.found = keep(&to, f->found);
    c->f.absent = keep(&to, f->absent);
    /* A key that is not whole is no key: it is held for the order alone. */
    c->key_cut = f->key.n > MULTISET_SHOWN;
    c->entry = entry;
    c->number = NO_NUMBER;
}

void list_offer(struct list *l, const struct multiset_finding *f, uint32_t entry)
{
    if (l->max == 0)
        return;
    struct candidate *h = l->heap[f->kind];
    size_t *n = &l->n[f->kind];
    struct candidate offered = {.f = *f};
    /* The hash decides only between texts too long to be held. */
    offered.tie = is_long(f) ? tie_of(f) : 0;
    if (*n < l->max) {
        h[*n].tie = offered.tie;
        own(&h[*n], f, entry);
        sift_up(h, (*n)++);
    } else if (order(&offered, &h[0]) < 0) {
        h[0].tie = offered.tie;
        own(&h[0], f, entry);
        sift_down(h, *n);
    }
}

void list_settle(struct list *l)
{
    for (size_t k = 0; k < KIND_TYPES; k++)
        for (size_t i = 0; i < l->n[k]; i++)
            l->heap[k][i].entry = 0;
}

static int by_order(const void *a, const void *b)
{
    return order(a, b);
}

void list_order(struct list *l)
{
    for (size_t k = 0; k < KIND_TYPES; k++)
        qsort(l->heap[k], l->n[k], sizeof *l->heap[k], by_order);
}

size_t list_finish(struct list *l, size_t show)
{
    size_t share[KIND_TYPES] = {0}, total = 0;
    /* One each in turn, so that many findings of one kind do not hide the few of another. */
    for (bool more = true; more;) {
        more = false;
        for (size_t k = 0; k < KIND_TYPES && total < show; k++) {
            if (share[k] == l->n[k])
                continue;
            share[k]++;
            total++;
            more = true;
        }
    }
    for (size_t k = 0; k < KIND_TYPES; k++) {
        l->n[k] = share[k];
        for (size_t i = 0; i < share[k]; i++) {
            struct candidate *c = &l->heap[k][i];
            if (c->key_cut)
                c->f.key = (struct multiset_text){NULL, 0};
            if (c->f.cut)
                c->f.owed = c->f.found = (struct multiset_text){NULL, 0};
        }
    }
    return total;
}

/* ---- keys left out ---- */

static size_t key_slot(const struct key_set *s, struct multiset_text key)
{
    size_t i = (size_t)text_hash(s->seed, key.p, key.n) & (s->size - 1);
    while (s->slots[i].p && text_order(s->slots[i], key) != 0)
        i = (i + 1) & (s->size - 1);
    return i;
}

bool key_set_has(const struct key_set *s, struct multiset_text key)
{
    return s->n > 0 && s->slots[key_slot(s, key)].p != NULL;
}

static void key_set_grow(struct key_set *s)
{
    struct key_set old = *s;
    s->size = old.size ? old.size * 2 : 64;
    s->slots = xcalloc(s->size, sizeof *s->slots);
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i].p)
            s->slots[key_slot(s, old.slots[i])] = old.slots[i];
    free(old.slots);
}

void key_set_add(struct key_set *s, struct multiset_text key)
{
    if (s->n * 2 >= s->size)
        key_set_grow(s);
    size_t i = key_slot(s, key);
    if (s->slots[i].p)
        return;
    s->slots[i] = text_copy(&s->arena, key);
    s->bytes += key.n + 4 * sizeof *s->slots;
    s->n++;
}

void key_set_free(struct key_set *s)
{
    free(s->slots);
    arena_free(&s->arena);
    *s = (struct key_set){0};
}
