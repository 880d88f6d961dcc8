/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in, a result out. The caller's thread hashes keys and fills batches; a second
 * one looks the rows up, so that reading and comparing overlap.
 */
#include "multiset/multiset.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "multiset/parts.h"

#define BATCH_ROWS 2048
#define BATCH_BYTES ((size_t)256 << 10)
#define BATCHES 4
#define STEP ((size_t)2 << 20)  /* memory is got ahead in steps of a huge page */
#define AHEAD (4 * STEP)

struct batch_row {
    uint64_t hash;
    uint64_t number;
    size_t at; /* in bytes */
    uint32_t len, key_len;
    unsigned side, again;
};
struct batch {
    struct buf bytes;
    struct batch_row row[BATCH_ROWS];
    size_t n;
    size_t beside; /* bytes that the places held when it was given on */
};

struct multiset {
    struct key_form form;
    uint64_t memory;
    char *scratch;
    size_t list;
    struct places places[2];
    struct key_set excluded;
    struct arena arena;
    struct buf key;
    uint64_t rows[MULTISET_SIDES];

    struct batch batch[BATCHES];
    size_t filling;  /* the batch that the caller fills */
    bool thread;
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t ready;    /* batches given on and not yet done */
    size_t used;     /* bytes of the table's rows, as of the last batch done */
    size_t ahead;    /* bytes of them whose memory is there already */
    bool closing, failed, spilled;
    struct err err;

    /* of the worker, until it is joined */
    struct table table;
    struct parts parts;
    size_t emptying;
};

/* ---- the worker's side ---- */

static int spill(struct multiset *m, struct err *err)
{
    if (parts_open(&m->parts, 0, m->scratch, err) != 0 || parts_spill(&m->parts, &m->table, err) != 0)
        return -1;
    table_reset(&m->table);
    pthread_mutex_lock(&m->lock);
    m->spilled = true;
    pthread_mutex_unlock(&m->lock);
    return 0;
}

static int take_items(struct multiset *m, const struct item *items, size_t n, size_t bytes, size_t placed, struct err *err)
{
    if (!m->spilled) {
        if (table_room(&m->table, n, bytes, placed)) {
            table_add(&m->table, items, n, false);
            return 0;
        }
        if (spill(m, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < n; i++)
        if (parts_put(&m->parts, &items[i], err) != 0)
            return -1;
    return 0;
}

static int take_batch(struct multiset *m, struct batch *b, struct err *err)
{
    struct item items[ITEMS];
    m->table.beside = b->beside;
    for (size_t from = 0; from < b->n; from += ITEMS) {
        size_t n = b->n - from < ITEMS ? b->n - from : ITEMS, bytes = 0, placed = 0;
        for (size_t i = 0; i < n; i++) {
            const struct batch_row *r = &b->row[from + i];
            items[i].row = b->bytes.p + r->at;
            items[i].len = r->len;
            items[i].key_len = r->key_len;
            items[i].hash = r->hash;
            items[i].number = r->number;
            items[i].side = r->side;
            items[i].again = r->again;
            bytes += r->len;
            placed += r->number != NO_NUMBER;
        }
        for (size_t i = from + n; i < b->n && i < from + n + ITEMS; i++)
            table_look_ahead(&m->table, b->row[i].hash);
        if (take_items(m, items, n, bytes, placed, err) != 0)
            return -1;
    }
    return 0;
}

static void *work(void *arg)
{
    struct multiset *m = arg;
    pthread_mutex_lock(&m->lock);
    for (;;) {
        while (m->ready == 0 && !m->closing)
            pthread_cond_wait(&m->changed, &m->lock);
        if (m->ready == 0)
            break;
        bool failed = m->failed;
        struct batch *b = &m->batch[m->emptying];
        pthread_mutex_unlock(&m->lock);
        struct err err = ERR_INIT;
        int rc = failed ? 0 : take_batch(m, b, &err);
        pthread_mutex_lock(&m->lock);
        if (rc != 0) {
            m->failed = true;
            m->err = err;
        }
        m->emptying = (m->emptying + 1) % BATCHES;
        m->used = m->table.used;
        m->ready--;
        pthread_cond_signal(&m->changed);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* ---- the caller's side ---- */

struct multiset *multiset_new(const struct multiset_config *config)
{
    struct multiset *m = xcalloc(1, sizeof *m);
    m->form = (struct key_form){.columns = config->columns, .hash_bits = config->hash_bits};
    m->form.key = xmalloc(config->columns * sizeof *m->form.key);
    memcpy(m->form.key, config->key, config->columns * sizeof *m->form.key);
    size_t keys = 0;
    for (size_t i = 0; i < config->columns; i++) {
        if (config->key[i]) {
            keys++;
            m->form.last = i + 1;
        }
    }
    m->form.prefix = keys == m->form.last ? keys : 0;
    m->memory = config->memory;
    m->scratch = xstrdup(config->scratch ? config->scratch : "/var/tmp");
    m->list = config->list;
    for (size_t i = 0; i < 2; i++)
        places_init(&m->places[i]);
    for (size_t i = 0; i < PARTS; i++)
        spool_init(&m->parts.at[i]);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    m->failed = table_init(&m->table, &m->form, config->memory, &m->err) != 0;
    m->thread = config->thread && pthread_create(&m->worker, NULL, work, m) == 0;
    return m;
}

/* Fresh memory costs more than the rows in it. A caller that would wait gets the next of it instead: true where it did. */
static bool prefault(struct multiset *m)
{
    if (m->spilled || m->ahead >= m->used + AHEAD || m->ahead + STEP > m->table.cap / 4 * 3)
        return false;
    char *at = m->table.base + m->ahead;
    m->ahead += STEP;
    pthread_mutex_unlock(&m->lock);
    madvise(at, STEP, MADV_POPULATE_WRITE);
    pthread_mutex_lock(&m->lock);
    return true;
}

/* Give the batch on, and wait for an empty one. */
static int submit(struct multiset *m, struct err *err)
{
    struct batch *b = &m->batch[m->filling];
    b->beside = m->places[0].log.held.len + m->places[1].log.held.len + m->excluded.bytes;
    if (!m->thread) {
        int rc = m->failed ? -1 : take_batch(m, b, &m->err);
        m->failed = rc != 0;
    } else {
        pthread_mutex_lock(&m->lock);
        m->ready++;
        pthread_cond_signal(&m->changed);
        if (m->ahead < m->used)
            m->ahead = (m->used + STEP) & ~(STEP - 1);
        while (m->ready == BATCHES)
            if (!prefault(m))
                pthread_cond_wait(&m->changed, &m->lock);
        pthread_mutex_unlock(&m->lock);
        m->filling = (m->filling + 1) % BATCHES;
        b = &m->batch[m->filling];
    }
    b->n = 0;
    /* One long row must not stay in memory for good. */
    if (b->bytes.cap > 4 * BATCH_BYTES)
        buf_free(&b->bytes);
    buf_reset(&b->bytes);
    pthread_mutex_lock(&m->lock);
    bool failed = m->failed, spilled = m->spilled;
    pthread_mutex_unlock(&m->lock);
    if (failed) {
        *err = m->err;
        return -1;
    }
    for (size_t i = 0; spilled && i < 2; i++)
        if (m->places[i].log.fd < 0 && spool_to_disk(&m->places[i].log, m->scratch, err) != 0)
            return -1;
    return 0;
}

int multiset_add(struct multiset *m, enum multiset_side side, const struct multiset_row *row, struct err *err)
{
    struct batch *b = &m->batch[m->filling];
    if ((b->n == BATCH_ROWS || b->bytes.len + row->len > BATCH_BYTES) && b->n > 0) {
        if (submit(m, err) != 0)
            return -1;
        b = &m->batch[m->filling];
    }
    struct multiset_text key = row_key(&m->form, row->cells, row->ends, &m->key);
    struct batch_row *r = &b->row[b->n];
    *r = (struct batch_row){
        .hash = key_hash(&m->form, key.p, key.n),
        .number = NO_NUMBER,
        .at = b->bytes.len,
        .len = (uint32_t)row->len,
        .key_len = m->form.prefix ? (uint32_t)key.n : 0,
        .side = side,
        .again = row->again,
    };
    if (row->at && side <= MULTISET_REFERENCE) {
        if (places_add(&m->places[side], row->at, row->at_len, err) != 0)
            return -1;
        r->number = m->places[side].rows - 1;
    }
    buf_add(&b->bytes, row->cells, row->len);
    b->n++;
    m->rows[side]++;
    return 0;
}

void multiset_exclude(struct multiset *m, const char *key, size_t len)
{
    key_set_add(&m->excluded, (struct multiset_text){key, len});
}

static void join(struct multiset *m)
{
    if (!m->thread)
        return;
    pthread_mutex_lock(&m->lock);
    m->closing = true;
    pthread_cond_signal(&m->changed);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->worker, NULL);
    m->thread = false;
}

void multiset_free(struct multiset *m)
{
    if (!m)
        return;
    join(m);
    table_free(&m->table);
    parts_close(&m->parts);
    for (size_t i = 0; i < 2; i++)
        places_free(&m->places[i]);
    for (size_t i = 0; i < BATCHES; i++)
        buf_free(&m->batch[i].bytes);
    key_set_free(&m->excluded);
    arena_free(&m->arena);
    buf_free(&m->key);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->changed);
    free(m->form.key);
    free(m->scratch);
    free(m);
}

/* ---- the result ---- */

struct comparison {
    struct compare c;
    struct work works[RELATION_TYPES];
    size_t n;
};

static int one_table(void *ctx, struct err *err)
{
    (void)err;
    struct comparison *k = ctx;
    k->c.fates_set = false;
    for (size_t i = 0; i < k->n; i++) {
        compare_table(&k->c, &k->works[i]);
        if (k->works[i].touched)
            compare_fates(&k->c, &k->works[i]);
        list_settle(&k->works[i].list);
    }
    return 0;
}

static void plan(struct multiset *m, struct comparison *k, const bool asked[RELATION_TYPES], bool reference, struct multiset_result *out)
{
    bool reads = false;
    for (size_t r = 0; r < RELATION_TYPES; r++) {
        out->of[r].asked = asked[r];
        if (!asked[r])
            continue;
        struct work *w = &k->works[k->n++];
        *w = (struct work){.out = &out->of[r], .relation = (enum relation)r};
        w->owed = r == RELATION_DELIVERY || (r == RELATION_COVERAGE && !reference) ? MULTISET_CAPTURED : MULTISET_REFERENCE;
        w->found_captured = r == RELATION_TRANSFORMATION;
        w->placed = m->places[w->owed].rows;
        w->reads = !w->found_captured && !reads;
        reads = reads || w->reads;
        list_init(&w->list, m->list);
        m->table.beside += w->placed / 4;
    }
}

/* Runs and places, then the lists as the caller sees them. */
static int finish(struct multiset *m, struct comparison *k, struct err *err)
{
    for (unsigned side = 0; side < 2; side++) {
        struct work *owed[RELATION_TYPES];
        size_t n = 0;
        for (size_t i = 0; i < k->n; i++)
            if (k->works[i].owed == side)
                owed[n++] = &k->works[i];
        if (spool_flush(&m->places[side].log, err) != 0 || runs_find(&m->places[side], owed, n, m->list, &m->arena, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < k->n; i++) {
        struct list *l = &k->works[i].list;
        struct multiset_relation *out = k->works[i].out;
        out->findings = arena_alloc(&m->arena, (list_finish(l) + 1) * sizeof *out->findings);
        for (size_t kind = 0; kind < KIND_TYPES; kind++) {
            for (size_t j = 0; j < l->n[kind]; j++) {
                struct multiset_finding *f = &out->findings[out->listed++];
                *f = l->heap[kind][j].f;
                f->key = text_copy(&m->arena, f->key);
                f->owed = text_copy(&m->arena, f->owed);
                f->found = text_copy(&m->arena, f->found);
            }
        }
    }
    return 0;
}

int multiset_compare(struct multiset *m, const bool asked[RELATION_TYPES], bool reference, struct multiset_result *out, struct err *err)
{
    memset(out, 0, sizeof *out);
    int rc = submit(m, err);
    join(m);
    if (rc == 0 && m->failed) {
        *err = m->err;
        rc = -1;
    }
    if (rc != 0)
        return -1;
    memcpy(out->rows, m->rows, sizeof out->rows);
    out->on_disk = m->spilled;
    struct comparison k = {.c = {.t = &m->table, .excluded = &m->excluded, .arena = &m->arena, .result = out}, .n = 0};
    m->table.beside = m->places[0].log.held.len + m->places[1].log.held.len + m->excluded.bytes;
    plan(m, &k, asked, reference, out);
    rc = m->spilled ? parts_each(&m->parts, &m->table, one_table, &k, err) : one_table(&k, err);
    if (rc == 0)
        rc = finish(m, &k, err);
    for (size_t i = 0; i < k.n; i++) {
        list_free(&k.works[i].list);
        free(k.works[i].fates.bits);
    }
    compare_free(&k.c);
    return rc;
}
