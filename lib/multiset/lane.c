/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane: the rows of its share of the keys, from the caller's thread to its own,
 * which looks them up in its own table and, past its memory, puts them in its own
 * scratch files. Lanes share nothing, so there is one lock a batch and none a row.
 */
#include <stdlib.h>
#include <string.h>

#include "multiset/internal.h"

#define BATCH_ROWS 1024
#define BATCH_BYTES ((size_t)128 << 10)

struct batch {
    struct buf bytes; /* does not move while it holds rows */
    struct item item[BATCH_ROWS];
    size_t n;
    size_t beside; /* bytes of the budget that others held when it was given on */
};

/* Who has nothing to do sleeps until there is half a queue of it: to be woken costs as much as a batch. */
#define WAKE (BATCHES / 2)

/* ---- the worker's side ---- */

static int to_disk(struct lane *l, struct err *err)
{
    if (spill_open(&l->spill, 0, l->scratch, err) != 0 || spill_table(&l->spill, &l->table, err) != 0)
        return -1;
    table_reset(&l->table);
    l->spilled = true;
    return 0;
}

static int take_items(struct lane *l, const struct item *items, size_t n, size_t more, struct err *err)
{
    size_t bytes = 0, placed = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += items[i].len;
        placed += items[i].number != NO_NUMBER;
    }
    if (!l->spilled) {
        if (table_room(&l->table, n, bytes, placed)) {
            table_add(&l->table, items, n, more);
            return 0;
        }
        if (to_disk(l, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < n; i++)
        if (spill_put(&l->spill, &items[i], err) != 0)
            return -1;
    return 0;
}

static int take_batch(struct lane *l, const struct batch *b, struct err *err)
{
    l->table.beside = b->beside;
    table_prefetch(&l->table, b->item, b->n);
    for (size_t from = 0; from < b->n; from += ITEMS) {
        size_t n = b->n - from < ITEMS ? b->n - from : ITEMS;
        if (take_items(l, b->item + from, n, b->n - from - n, err) != 0)
            return -1;
    }
    return 0;
}

static void *work(void *arg)
{
    struct lane *l = arg;
    size_t emptying = 0;
    pthread_mutex_lock(&l->lock);
    for (;;) {
        if (l->ready == 0)
            while (l->ready < WAKE && !l->closing)
                pthread_cond_wait(&l->changed, &l->lock);
        if (l->ready == 0)
            break;
        bool failed = l->failed;
        pthread_mutex_unlock(&l->lock);
        struct err err = ERR_INIT;
        int rc = failed ? 0 : take_batch(l, l->batch[emptying], &err);
        emptying = (emptying + 1) % BATCHES;
        pthread_mutex_lock(&l->lock);
        if (rc != 0) {
            l->failed = true;
            l->err = err;
        }
        l->on_disk = l->spilled;
        if (--l->ready == WAKE)
            pthread_cond_signal(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- the caller's side ---- */

void lane_init(struct lane *l, const struct key_form *form, uint64_t memory, uint64_t share, const char *scratch,
               bool thread)
{
    l->scratch = scratch;
    for (size_t i = 0; i < BATCHES; i++)
        l->batch[i] = xcalloc(1, sizeof *l->batch[i]);
    for (size_t i = 0; i < SPILL_FILES; i++)
        spool_init(&l->spill.at[i]);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->failed = table_init(&l->table, form, memory, &l->err) != 0;
    l->table.budget = share;
    l->thread = thread && pthread_create(&l->worker, NULL, work, l) == 0;
}

int lane_submit(struct lane *l, size_t beside, bool *on_disk, struct err *err)
{
    struct batch *b = l->batch[l->filling];
    b->beside = beside;
    pthread_mutex_lock(&l->lock);
    if (l->thread) {
        if (++l->ready == WAKE)
            pthread_cond_signal(&l->changed);
        if (l->ready == BATCHES)
            while (l->ready > WAKE)
                pthread_cond_wait(&l->changed, &l->lock);
        l->filling = (l->filling + 1) % BATCHES;
        b = l->batch[l->filling];
    } else if (!l->failed) {
        l->failed = take_batch(l, b, &l->err) != 0;
        l->on_disk = l->spilled;
    }
    bool failed = l->failed;
    *on_disk = l->on_disk;
    if (failed)
        *err = l->err;
    pthread_mutex_unlock(&l->lock);
    b->n = 0;
    buf_reset(&b->bytes);
    /* One long row must not stay in memory for good. */
    if (b->bytes.cap > 2 * BATCH_BYTES)
        buf_free(&b->bytes);
    return failed ? -1 : 0;
}

bool lane_full(const struct lane *l, size_t len)
{
    const struct batch *b = l->batch[l->filling];
    return b->n == BATCH_ROWS || (b->n > 0 && b->bytes.len + len > BATCH_BYTES);
}

struct item *lane_add(struct lane *l, const char *row, size_t len)
{
    struct batch *b = l->batch[l->filling];
    if (b->n == 0)
        buf_reserve(&b->bytes, len > BATCH_BYTES ? len : BATCH_BYTES);
    struct item *item = &b->item[b->n++];
    item->row = b->bytes.p + b->bytes.len;
    item->len = (uint32_t)len;
    buf_add(&b->bytes, row, len);
    return item;
}

int lane_join(struct lane *l, struct err *err)
{
    if (l->thread) {
        pthread_mutex_lock(&l->lock);
        l->closing = true;
        pthread_cond_signal(&l->changed);
        pthread_mutex_unlock(&l->lock);
        pthread_join(l->worker, NULL);
        l->thread = false;
    }
    if (l->failed)
        *err = l->err;
    return l->failed ? -1 : 0;
}

void lane_free(struct lane *l)
{
    struct err err = ERR_INIT;
    lane_join(l, &err);
    table_free(&l->table);
    spill_close(&l->spill);
    for (size_t i = 0; i < BATCHES; i++) {
        buf_free(&l->batch[i]->bytes);
        free(l->batch[i]);
    }
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->changed);
}
