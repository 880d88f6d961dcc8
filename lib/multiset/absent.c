/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that must be absent. Each is an entry of its key that is no row and has no
 * copies: the cells up to the last of the key, a bracket, and behind it why and
 * where. So it goes with its key's rows, to scratch files too.
 *
 * A deletion takes the owed rows of its key away that its partition has before it.
 * Which those are their places say, so the places are walked once for each table
 * that holds a deletion.
 */
#include <stdlib.h>
#include <string.h>

#include "multiset/internal.h"

void absent_entry(struct buf *out, const struct key_form *form, const struct multiset_row *row, enum absent_why why)
{
    buf_reset(out);
    buf_add(out, row->cells, row->ends[form->last - 1]);
    buf_printf(out, "]%u", (unsigned)why);
    if (row->at)
        buf_add(out, row->at, row->at_len);
}

bool absent_is(const char *row, size_t len)
{
    return row[len - 1] != ']';
}

struct multiset_text absent_said(const struct key_form *form, const struct entry *e)
{
    uint32_t few[32], *ends = form->last <= 32 ? few : xmalloc(form->last * sizeof *ends);
    row_ends(e->row, e->len, form->last, ends);
    uint32_t from = ends[form->last - 1] + 1;
    if (ends != few)
        free(ends);
    return (struct multiset_text){e->row + from, e->len - from};
}

enum absent_why absent_read(struct multiset_text said, struct multiset_text *at)
{
    *at = (struct multiset_text){said.n > 1 ? said.p + 1 : NULL, said.n - 1};
    return (enum absent_why)(said.p[0] - '0');
}

/* ---- what a deletion takes away ---- */

/* The last deletion of a key in a partition. */
struct deletion {
    uint32_t head; /* of the key */
    size_t partition;
    uint64_t offset;
};
struct deletions {
    struct deletion *at;
    size_t n, cap;
};

static int by_key(const void *a, const void *b)
{
    const struct deletion *x = a, *y = b;
    if (x->head != y->head)
        return (x->head > y->head) - (x->head < y->head);
    return (x->partition > y->partition) - (x->partition < y->partition);
}

static int by_offset(const void *a, const void *b)
{
    const struct deletion *x = a, *y = b;
    int d = by_key(a, b);
    return d ? d : (x->offset < y->offset) - (x->offset > y->offset);
}

static uint32_t head_of(struct table *t, const struct entry *e)
{
    return (uint32_t)((size_t)((const char *)table_head(t, e) - t->base) / UNIT);
}

static void note(struct deletions *all, struct table *t, const struct places *p, const struct entry *e)
{
    struct multiset_text at;
    struct stream_place place;
    if (absent_read(absent_said(t->form, e), &at) != ABSENT_DELETED || !at.p || !stream_place_split(at.p, at.n, &place))
        return;
    size_t partition = places_find(p, at.p, place.name_len);
    if (partition == SIZE_MAX)
        return;
    if (all->n == all->cap) {
        all->cap = all->cap ? 2 * all->cap : 64;
        all->at = xrealloc(all->at, all->cap * sizeof *all->at);
    }
    all->at[all->n++] = (struct deletion){head_of(t, e), partition, place.offset};
}

static struct deletions find_all(struct table *t, const struct places *p)
{
    struct deletions all = {0};
    for (size_t at = FIRST_ENTRY * UNIT; at < t->used;) {
        const struct entry *e = (const struct entry *)(const void *)(t->base + at);
        at += entry_size(e->len);
        if (absent_is(e->row, e->len))
            note(&all, t, p, e);
    }
    if (all.n == 0)
        return all;
    qsort(all.at, all.n, sizeof *all.at, by_offset);
    size_t kept = 1;
    for (size_t i = 1; i < all.n; i++)
        if (by_key(&all.at[i], &all.at[kept - 1]) != 0)
            all.at[kept++] = all.at[i];
    all.n = kept;
    return all;
}

static bool is_deleted(const struct deletions *all, struct table *t, const struct entry *row, const struct place *place)
{
    const struct deletion wanted = {head_of(t, row), place->partition, 0},
                          *found = bsearch(&wanted, all->at, all->n, sizeof *all->at, by_key);
    return found && found->offset > place->offset;
}

static int take(struct table *t, struct places *p, const struct deletions *all, uint64_t *taken, struct err *err)
{
    struct order *o = &t->order[SIDE_REFERENCE];
    struct places_reader r;
    struct place place;
    uint64_t number = 0, read = 0;
    int rc = 1;
    places_read(&r, p);
    for (size_t i = 0, at = 0; i < o->n && rc > 0; i++) {
        number += order_gap(o, &at);
        for (; read <= number && rc > 0; read++)
            rc = places_next(&r, &place, err);
        struct entry *e = entry_at(t, o->entry[i]);
        if (rc <= 0 || !is_deleted(all, t, e, &place))
            continue;
        entry_uncount(t, e, SIDE_REFERENCE);
        o->entry[i] = 0;
        fates_set(&p->gone, p->rows, number, FATE_MISSING);
        ++*taken;
    }
    places_reader_free(&r);
    return rc != 0 ? rc : err_set(err, ERR_TROUBLE, "the order of the rows does not read back from the scratch file");
}

int absent_take(struct table *t, struct places *p, uint64_t *taken, struct err *err)
{
    if (spool_flush(&p->log, err) != 0)
        return -1;
    struct deletions all = find_all(t, p);
    int rc = all.n > 0 ? take(t, p, &all, taken, err) : 0;
    free(all.at);
    return rc < 0 ? -1 : 0;
}
