/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scratch files by key: what does not fit in memory is cut by bits of the key's
 * hash, so that a key's rows are in one file, and each file is a table of its own.
 * A record is: side and flags, length, number, counters, further copies, row.
 */
#include <stdlib.h>
#include <string.h>

#include "multiset/internal.h"

#define REC_SIDE 7u
#define REC_AGAIN 8u /* further copies stand there */
#define REC_KEPT 16u
#define REC_NUMBER 32u
#define REC_HEAD_MAX ((size_t)96) /* bytes before the row, at most */

int spill_open(struct spill *p, unsigned level, const char *dir, const struct key_form *form, struct err *err)
{
    p->form = form;
    p->level = level;
    p->dir = dir;
    for (size_t i = 0; i < SPILL_FILES; i++)
        spool_init(&p->at[i]);
    for (size_t i = 0; i < SPILL_FILES; i++)
        if (spool_to_disk(&p->at[i], dir, err) != 0)
            return -1;
    return 0;
}

void spill_close(struct spill *p)
{
    for (size_t i = 0; i < SPILL_FILES; i++)
        spool_free(&p->at[i]);
    buf_free(&p->key);
}

int spill_flush(struct spill *p, struct err *err)
{
    for (size_t i = 0; i < SPILL_FILES; i++) {
        if (spool_flush(&p->at[i], err) != 0)
            return -1;
        buf_free(&p->at[i].held);
    }
    return 0;
}

/* A file that is cut again is cut by the keyed hash: its rows may have one hash in common. */
static uint64_t file_hash(struct spill *p, const struct item *item)
{
    if (p->level == 0)
        return item->hash;
    struct multiset_text key = row_key_of(p->form, item->row, item->len, &p->key);
    return key_hash_keyed(p->form, key.p, key.n);
}

int spill_put(struct spill *p, const struct item *item, struct err *err)
{
    struct spool *s = &p->at[(file_hash(p, item) >> (p->level * SPILL_BITS)) & (SPILL_FILES - 1)];
    bool further = item->again.resent || item->again.replayed;
    buf_addc(&s->held, (char)(item->side | (further ? REC_AGAIN : 0) | (item->again.kept ? REC_KEPT : 0) |
                              (item->number != NO_NUMBER ? REC_NUMBER : 0)));
    varint_put(&s->held, item->len);
    if (item->number != NO_NUMBER)
        varint_put(&s->held, item->number);
    for (size_t i = 0; item->side == SIDES && i < SIDES; i++)
        varint_put(&s->held, item->copies[i]);
    if (further) {
        varint_put(&s->held, item->again.resent);
        varint_put(&s->held, item->again.replayed);
    }
    buf_add(&s->held, item->row, item->len);
    return spool_full(s) ? spool_flush(s, err) : 0;
}

/* ---- a table to files ---- */

static void item_of(struct table *t, const struct entry *e, struct item *item)
{
    struct multiset_text key = row_key_of(t->form, e->row, e->len, &t->scratch[0]);
    *item = (struct item){
        .row = e->row,
        .len = e->len,
        .hash = key_hash(t->form, key.p, key.n),
        .number = NO_NUMBER,
        .side = SIDES,
    };
}

/* Rows with a number leave one by one, in their order; the copies that are left follow, counted, with what all of them
 * say of `again`. */
int spill_table(struct spill *p, struct table *t, struct err *err)
{
    struct item item;
    uint64_t copies[SIDES];
    for (unsigned side = 0; side < 2; side++) {
        const struct order *o = &t->order[side];
        uint64_t number = 0;
        for (size_t i = 0, at = 0; i < o->n; i++) {
            struct entry *e = entry_at(t, o->entry[i]);
            item_of(t, e, &item);
            item.side = side;
            item.number = number += order_gap(o, &at);
            if (spill_put(p, &item, err) != 0)
                return -1;
            entry_uncount(t, e, side);
        }
    }
    for (size_t at = FIRST_ENTRY * UNIT; at < t->used;) {
        const struct entry *e = (const struct entry *)(const void *)(t->base + at);
        at += entry_size(e->len);
        item_of(t, e, &item);
        item.copies = copies;
        item.again = entry_again(t, e);
        uint64_t any = absent_is(e->row, e->len) || item.again.resent || item.again.replayed || item.again.kept;
        for (unsigned s = 0; s < SIDES; s++)
            any |= copies[s] = entry_copies(t, e, s);
        if (any && spill_put(p, &item, err) != 0)
            return -1;
    }
    return 0;
}

/* ---- a file to a table ---- */

/* The record at p[0..have): bytes taken, or 0 where more are needed; *need is how many then. */
static size_t decode(const char *p, size_t have, struct item *item, uint64_t *copies, size_t *need)
{
    uint64_t v;
    size_t used = 1, k;
    *need = REC_HEAD_MAX;
    if (have < 2)
        return 0;
    unsigned head = (unsigned char)p[0];
    *item = (struct item){
        .side = head & REC_SIDE, .again.kept = (head & REC_KEPT) != 0, .number = NO_NUMBER, .copies = copies};
    if ((k = varint_get(p + used, have - used, &v)) == 0)
        return 0;
    item->len = (uint32_t)v;
    used += k;
    if (head & REC_NUMBER) {
        if ((k = varint_get(p + used, have - used, &item->number)) == 0)
            return 0;
        used += k;
    }
    for (size_t i = 0; item->side == SIDES && i < SIDES; i++) {
        if ((k = varint_get(p + used, have - used, &copies[i])) == 0)
            return 0;
        used += k;
    }
    uint32_t *further[] = {&item->again.resent, &item->again.replayed};
    for (size_t i = 0; head & REC_AGAIN && i < 2; i++) {
        if ((k = varint_get(p + used, have - used, &v)) == 0)
            return 0;
        *further[i] = (uint32_t)v;
        used += k;
    }
    *need = used + item->len;
    if (have < *need)
        return 0;
    item->row = p + used;
    return *need;
}

struct load {
    struct spool_reader in;
    struct item items[ITEMS];
    uint64_t copies[ITEMS][SIDES];
    size_t n;
};

/* Up to ITEMS records whose bytes stand in the reader's block: how many, 0 at the end, -1 on error. */
static int load_some(struct load *l, struct err *err)
{
    l->n = 0;
    for (;;) {
        const char *p = l->in.block.p + l->in.used;
        size_t have = l->in.block.len - l->in.used, need;
        size_t taken = have ? decode(p, have, &l->items[l->n], l->copies[l->n], &need) : 0;
        if (taken) {
            l->in.used += taken;
            if (++l->n == ITEMS)
                return (int)l->n;
            continue;
        }
        if (l->n)
            return (int)l->n;
        if (have == 0)
            need = REC_HEAD_MAX;
        size_t before = have;
        if (spool_peek(&l->in, need, &p, &have, err) != 0)
            return -1;
        if (have == before)
            return have == 0 ? 0 : err_set(err, ERR_TROUBLE, "a row does not read back from the scratch file");
    }
}

static void add_hashes(struct table *t, struct load *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct item *item = &l->items[i];
        struct multiset_text key = row_key_of(t->form, item->row, item->len, &t->scratch[0]);
        item->hash = key_hash(t->form, key.p, key.n);
        item->key_len = t->form->prefix ? (uint32_t)key.n : 0;
    }
}

/* 1 where the whole file is in the table, 0 where it does not fit. */
static int load_file(struct spool *s, struct table *t, struct err *err)
{
    struct load l = {.n = 0};
    spool_read(&l.in, s);
    table_reset(t);
    int rc;
    while ((rc = load_some(&l, err)) > 0) {
        size_t bytes = 0;
        for (size_t i = 0; i < l.n; i++)
            bytes += l.items[i].len;
        if (!table_room(t, l.n, bytes, l.n))
            break;
        add_hashes(t, &l);
        table_prefetch(t, l.items, l.n);
        table_add(t, l.items, l.n, 0);
    }
    spool_reader_free(&l.in);
    return rc < 0 ? -1 : rc == 0;
}

static int cut_again(struct spool *s, struct table *t, struct spill *to, struct err *err)
{
    struct load l = {.n = 0};
    spool_read(&l.in, s);
    int rc;
    while ((rc = load_some(&l, err)) > 0) {
        add_hashes(t, &l);
        for (size_t i = 0; rc > 0 && i < l.n; i++)
            if (spill_put(to, &l.items[i], err) != 0)
                rc = -1;
        if (rc < 0)
            break;
    }
    spool_reader_free(&l.in);
    return rc;
}

int spill_each(struct spill *p, struct table *t, spill_fn *fn, void *ctx, struct err *err)
{
    if (spill_flush(p, err) != 0)
        return -1;
    for (size_t i = 0; i < SPILL_FILES; i++) {
        struct spool *s = &p->at[i];
        int rc = s->bytes ? load_file(s, t, err) : 1;
        if (rc > 0 && s->bytes)
            rc = fn(ctx, err);
        else if (rc == 0 && p->level + 1 >= SPILL_LEVELS)
            rc = err_set(err, ERR_BOUND, "the rows of one key do not fit in the memory allowed");
        else if (rc == 0) {
            struct spill *deeper = xcalloc(1, sizeof *deeper);
            rc = spill_open(deeper, p->level + 1, p->dir, p->form, err);
            if (rc == 0 && (rc = cut_again(s, t, deeper, err)) == 0) {
                spool_free(s);
                rc = spill_each(deeper, t, fn, ctx, err);
            }
            spill_close(deeper);
            free(deeper);
        }
        spool_free(s);
        if (rc < 0)
            return -1;
    }
    return 0;
}
