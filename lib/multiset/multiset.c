/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in, a result out. The caller's thread hashes keys and divides the rows among
 * workers by a bit of the hash; each worker looks its rows up in a thread of its own. At
 * the end their tables are compared one after another, as the scratch files are.
 */
#include "multiset/multiset.h"

#include <stdlib.h>
#include <string.h>

#include "multiset/internal.h"

#define WORKERS 2u

struct multiset {
    struct key_form form;
    uint64_t memory;
    char *scratch;
    size_t list;
    struct places places[2];
    struct key_set excluded, excluded_found;
    struct arena arena;
    struct buf key, absent; /* scratch */
    uint64_t rows[SIDES];
    uint64_t absents, deletions; /* keys that must be absent; those of them that take rows away */
    struct worker worker[WORKERS];
    bool on_disk;
};

struct multiset *multiset_new(const struct multiset_config *config)
{
    struct multiset *m = xcalloc(1, sizeof *m);
    m->form = (struct key_form){.columns = config->columns, .hash_bits = config->hash_bits};
    key_form_seed(&m->form, config->seed);
    m->excluded.seed = m->excluded_found.seed = m->form.seed[0];
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
        places_init(&m->places[i], m->form.seed[0]);
    for (size_t i = 0; i < WORKERS; i++)
        worker_init(&m->worker[i], &m->form, m->memory, m->memory / WORKERS, m->scratch, config->thread);
    return m;
}

/* Bytes of the memory that tables do not have. */
static size_t beside(const struct multiset *m)
{
    return m->places[0].log.held.len + m->places[1].log.held.len + m->excluded.bytes + m->excluded_found.bytes;
}

static int submit(struct multiset *m, struct worker *w, struct err *err)
{
    bool on_disk;
    if (worker_submit(w, beside(m) / WORKERS, &on_disk, err) != 0)
        return -1;
    for (size_t i = 0; on_disk && i < 2; i++)
        if (m->places[i].log.fd < 0 && spool_to_disk(&m->places[i].log, m->scratch, err) != 0)
            return -1;
    return 0;
}

/* Room for a row of this key with its worker. */
static struct worker *worker_of(struct multiset *m, uint64_t hash, size_t len, struct err *err)
{
    struct worker *w = &m->worker[hash >> WORKER_BIT & (WORKERS - 1)];
    return worker_full(w, len) && submit(m, w, err) != 0 ? NULL : w;
}

int multiset_add(struct multiset *m, enum side side, const struct multiset_row *row, struct err *err)
{
    struct multiset_text key = row_key(&m->form, row->cells, row->ends, &m->key);
    uint64_t hash = key_hash(&m->form, key.p, key.n), number = NO_NUMBER;
    struct worker *w = worker_of(m, hash, row->len, err);
    if (!w)
        return -1;
    if (row->at && side <= SIDE_REFERENCE) {
        if (places_add(&m->places[side], row->at, row->at_len, row->ts, err) != 0)
            return -1;
        number = m->places[side].rows - 1;
    }
    struct item *item = worker_add(w, row->cells, row->len);
    item->key_len = m->form.prefix ? (uint32_t)key.n : 0;
    item->hash = hash;
    item->number = number;
    item->side = side;
    item->again = row->again;
    m->rows[side]++;
    return 0;
}

int multiset_absent(struct multiset *m, const struct multiset_row *row, enum absent_why why, struct err *err)
{
    static const uint64_t none[SIDES] = {0};
    struct multiset_text key = row_key(&m->form, row->cells, row->ends, &m->key);
    uint64_t hash = key_hash(&m->form, key.p, key.n);
    uint32_t key_len = m->form.prefix ? (uint32_t)key.n : 0;
    absent_entry(&m->absent, &m->form, row, why);
    struct worker *w = worker_of(m, hash, m->absent.len, err);
    if (!w)
        return -1;
    struct item *item = worker_add(w, m->absent.p, m->absent.len);
    *item = (struct item){.row = item->row,
                          .len = item->len,
                          .key_len = key_len,
                          .hash = hash,
                          .number = NO_NUMBER,
                          .copies = none,
                          .side = SIDES};
    m->absents++;
    m->deletions += why == ABSENT_DELETED && row->at;
    return 0;
}

bool multiset_unplaced(const struct multiset *m)
{
    return m->deletions > 0 && m->places[SIDE_REFERENCE].rows < m->rows[SIDE_REFERENCE];
}

void multiset_exclude(struct multiset *m, const char *key, size_t len)
{
    key_set_add(&m->excluded, (struct multiset_text){key, len});
}

void multiset_exclude_found(struct multiset *m, const char *key, size_t len)
{
    key_set_add(&m->excluded_found, (struct multiset_text){key, len});
}

void multiset_free(struct multiset *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < WORKERS; i++)
        worker_free(&m->worker[i]);
    for (size_t i = 0; i < 2; i++)
        places_free(&m->places[i]);
    key_set_free(&m->excluded);
    key_set_free(&m->excluded_found);
    arena_free(&m->arena);
    buf_free(&m->key);
    buf_free(&m->absent);
    free(m->form.key);
    free(m->scratch);
    free(m);
}

/* ---- the result ---- */

struct comparison {
    struct compare c;
    struct places *deletions; /* the reference's places, where keys were deleted */
    uint64_t taken;           /* owed rows that those took away */
    struct work works[RELATION_TYPES];
    size_t n;
};

static int one_table(void *ctx, struct err *err)
{
    struct comparison *k = ctx;
    k->c.fates_set = false;
    if (k->deletions && absent_take(k->c.t, k->deletions, &k->taken, err) != 0)
        return -1;
    for (size_t i = 0; i < k->n; i++) {
        compare_table(&k->c, &k->works[i]);
        if (k->works[i].touched)
            compare_fates(&k->c, &k->works[i]);
        list_settle(&k->works[i].list);
    }
    return 0;
}

static void plan(struct multiset *m, struct comparison *k, const struct multiset_asked *asked,
                 struct multiset_result *out)
{
    bool reads = false;
    for (size_t r = 0; r < RELATION_TYPES; r++) {
        out->of[r].asked = asked->relation[r];
        if (!asked->relation[r])
            continue;
        struct work *w = &k->works[k->n++];
        *w = (struct work){.out = &out->of[r], .relation = (enum relation)r, .twice = {NO_NUMBER, NO_NUMBER}};
        struct relation_sides sides = relation_sides((enum relation)r, asked->reference, false);
        w->owed = sides.owed;
        w->found_captured = sides.found == SIDE_CAPTURED;
        w->placed = m->places[w->owed].rows;
        w->reads = !w->found_captured && !reads;
        reads = reads || w->reads;
        list_init(&w->list, m->list > LIST_LEAST ? m->list : LIST_LEAST);
    }
}

/* The workers that are in memory first; then one table has it all, for the files of the others. */
static int each_table(struct multiset *m, struct comparison *k, struct err *err)
{
    for (size_t i = 0; i < WORKERS; i++) {
        k->c.t = &m->worker[i].table;
        if (!m->worker[i].spilled && one_table(k, err) != 0)
            return -1;
        m->on_disk = m->on_disk || m->worker[i].spilled;
    }
    if (!m->on_disk)
        return 0;
    for (size_t i = 1; i < WORKERS; i++)
        table_free(&m->worker[i].table);
    struct table *t = k->c.t = &m->worker[0].table;
    t->budget = m->memory;
    t->beside = beside(m);
    for (size_t i = 0; i < k->n; i++)
        t->beside += k->works[i].placed / 2;
    for (size_t i = 0; i < WORKERS; i++)
        if (m->worker[i].spilled && spill_each(&m->worker[i].spill, t, one_table, k, err) != 0)
            return -1;
    return 0;
}

/* Runs and places, then the lists as the caller sees them. */
static int finish(struct multiset *m, struct comparison *k, const struct multiset_asked *asked, struct err *err)
{
    for (unsigned side = 0; side < 2; side++) {
        struct work *owed[RELATION_TYPES];
        size_t n = 0;
        for (size_t i = 0; i < k->n; i++)
            if (k->works[i].owed == side)
                owed[n++] = &k->works[i];
        if (spool_flush(&m->places[side].log, err) != 0 ||
            runs_find(&m->places[side], owed, n, m->list, asked, &m->arena, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < k->n; i++) {
        struct list *l = &k->works[i].list;
        struct multiset_relation *out = k->works[i].out;
        list_order(l);
        list_near(l, &m->form, &m->arena, &out->missing);
        out->findings = arena_alloc(&m->arena, (list_finish(l, m->list) + 1) * sizeof *out->findings);
        for (size_t kind = 0; kind < KIND_TYPES; kind++) {
            for (size_t j = 0; j < l->n[kind]; j++) {
                struct multiset_finding *f = &out->findings[out->sum.listed++];
                *f = l->heap[kind][j].f;
                f->key = text_copy(&m->arena, f->key);
                f->owed = text_copy(&m->arena, f->owed);
                f->found = text_copy(&m->arena, f->found);
                f->absent = text_copy(&m->arena, f->absent);
            }
        }
    }
    return 0;
}

int multiset_compare(struct multiset *m, const struct multiset_asked *asked, struct multiset_result *out,
                     struct err *err)
{
    memset(out, 0, sizeof *out);
    int rc = 0;
    for (size_t i = 0; i < WORKERS && rc == 0; i++)
        rc = submit(m, &m->worker[i], err);
    for (size_t i = 0; i < WORKERS && rc == 0; i++)
        rc = worker_join(&m->worker[i], err);
    if (rc != 0)
        return -1;
    memcpy(out->rows, m->rows, sizeof out->rows);
    struct comparison k = {.c = {.excluded = &m->excluded,
                                 .excluded_found = &m->excluded_found,
                                 .arena = &m->arena,
                                 .result = out,
                                 .absents = m->absents > 0,
                                 .repeats = asked->repeats,
                                 .reference_keys = asked->reference_keys},
                           .deletions = m->deletions > 0 ? &m->places[SIDE_REFERENCE] : NULL};
    plan(m, &k, asked, out);
    rc = each_table(m, &k, err);
    out->on_disk = m->on_disk;
    for (size_t i = 0; i < k.n; i++)
        if (k.works[i].owed == SIDE_REFERENCE)
            k.works[i].out->sum.deleted_rows = k.taken;
    if (rc == 0)
        rc = finish(m, &k, asked, err);
    for (size_t i = 0; i < k.n; i++) {
        list_free(&k.works[i].list);
        free(k.works[i].fates.bits);
        free(k.works[i].unfit.bits);
    }
    compare_free(&k.c);
    return rc;
}
