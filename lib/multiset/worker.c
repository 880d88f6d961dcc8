/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker: the rows of its share of the keys, from the caller's thread to its own,
 * which looks them up in its own table and, past its memory, puts them in its own
 * scratch files. Workers share nothing, so there is one lock a batch and none a row.
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

static int to_disk(struct worker *w, struct err *err)
{
    if (spill_open(&w->spill, 0, w->scratch, w->table.form, err) != 0 || spill_table(&w->spill, &w->table, err) != 0)
        return -1;
    table_reset(&w->table);
    w->spilled = true;
    return 0;
}

static int take_items(struct worker *w, const struct item *items, size_t n, size_t more, struct err *err)
{
    size_t bytes = 0, placed = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += items[i].len;
        placed += items[i].number != NO_NUMBER;
    }
    if (!w->spilled) {
        if (table_room(&w->table, n, bytes, placed)) {
            table_add(&w->table, items, n, more);
            return 0;
        }
        if (to_disk(w, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < n; i++)
        if (spill_put(&w->spill, &items[i], err) != 0)
            return -1;
    return 0;
}

static int take_batch(struct worker *w, const struct batch *b, struct err *err)
{
    w->table.beside = b->beside;
    table_prefetch(&w->table, b->item, b->n);
    for (size_t from = 0; from < b->n; from += ITEMS) {
        size_t n = b->n - from < ITEMS ? b->n - from : ITEMS;
        if (take_items(w, b->item + from, n, b->n - from - n, err) != 0)
            return -1;
    }
    return 0;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    size_t emptying = 0;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        if (w->ready == 0)
            while (w->ready < WAKE && !w->closing)
                pthread_cond_wait(&w->changed, &w->lock);
        if (w->ready == 0)
            break;
        bool failed = w->failed;
        pthread_mutex_unlock(&w->lock);
        struct err err = ERR_INIT;
        int rc = failed ? 0 : take_batch(w, w->batch[emptying], &err);
        emptying = (emptying + 1) % BATCHES;
        pthread_mutex_lock(&w->lock);
        if (rc != 0) {
            w->failed = true;
            w->err = err;
        }
        w->on_disk = w->spilled;
        if (--w->ready == WAKE)
            pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- the caller's side ---- */

void worker_init(struct worker *w, const struct key_form *form, uint64_t memory, uint64_t share, const char *scratch,
                 bool thread)
{
    w->scratch = scratch;
    for (size_t i = 0; i < BATCHES; i++)
        w->batch[i] = xcalloc(1, sizeof *w->batch[i]);
    for (size_t i = 0; i < SPILL_FILES; i++)
        spool_init(&w->spill.at[i]);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->failed = table_init(&w->table, form, memory, &w->err) != 0;
    w->table.budget = share;
    w->thread = thread && pthread_create(&w->worker, NULL, work, w) == 0;
}

int worker_submit(struct worker *w, size_t beside, bool *on_disk, struct err *err)
{
    struct batch *b = w->batch[w->filling];
    b->beside = beside;
    pthread_mutex_lock(&w->lock);
    if (w->thread) {
        if (++w->ready == WAKE)
            pthread_cond_signal(&w->changed);
        if (w->ready == BATCHES)
            while (w->ready > WAKE)
                pthread_cond_wait(&w->changed, &w->lock);
        w->filling = (w->filling + 1) % BATCHES;
        b = w->batch[w->filling];
    } else if (!w->failed) {
        w->failed = take_batch(w, b, &w->err) != 0;
        w->on_disk = w->spilled;
    }
    bool failed = w->failed;
    *on_disk = w->on_disk;
    if (failed)
        *err = w->err;
    pthread_mutex_unlock(&w->lock);
    b->n = 0;
    buf_reset(&b->bytes);
    /* One long row must not stay in memory for good. */
    if (b->bytes.cap > 2 * BATCH_BYTES)
        buf_free(&b->bytes);
    return failed ? -1 : 0;
}

bool worker_full(const struct worker *w, size_t len)
{
    const struct batch *b = w->batch[w->filling];
    return b->n == BATCH_ROWS || (b->n > 0 && b->bytes.len + len > BATCH_BYTES);
}

struct item *worker_add(struct worker *w, const char *row, size_t len)
{
    struct batch *b = w->batch[w->filling];
    if (b->n == 0)
        buf_reserve(&b->bytes, len > BATCH_BYTES ? len : BATCH_BYTES);
    struct item *item = &b->item[b->n++];
    item->row = b->bytes.p + b->bytes.len;
    item->len = (uint32_t)len;
    buf_add(&b->bytes, row, len);
    return item;
}

int worker_join(struct worker *w, struct err *err)
{
    if (w->thread) {
        pthread_mutex_lock(&w->lock);
        w->closing = true;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->worker, NULL);
        w->thread = false;
    }
    if (w->failed)
        *err = w->err;
    return w->failed ? -1 : 0;
}

void worker_free(struct worker *w)
{
    struct err err = ERR_INIT;
    worker_join(w, &err);
    table_free(&w->table);
    spill_close(&w->spill);
    for (size_t i = 0; i < BATCHES; i++) {
        buf_free(&w->batch[i]->bytes);
        free(w->batch[i]);
    }
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
}
