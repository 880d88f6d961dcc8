/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs: the places of one side are walked once in the order they came, each with
 * its row's fate in each relation. A stretch of one fate in one partition is a run;
 * the longest are kept. The places of listed findings are filled in on the way.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "multiset/internal.h"

void fates_set(struct fates *f, uint64_t rows, uint64_t number, enum fate fate)
{
    if (!f->bits) {
        f->rows = rows;
        f->bits = xcalloc(rows / 4 + 1, 1);
    }
    f->bits[number / 4] = (unsigned char)(f->bits[number / 4] | (unsigned)fate << (number % 4 * 2));
}

struct open_run {
    enum fate fate;
    uint64_t first, last, rows;
    bool fine;             /* a row before it was not part of it */
    uint64_t unfit;        /* rows of it with a cell that is unfit */
    struct place unfit_at; /* the first of them */
    struct stream_ts oldest, newest;
};

struct kept_run {
    struct summary_run run;
    size_t rank; /* of its partition */
};

/* The walk of one relation. */
struct walk {
    struct work *w;
    struct open_run *open; /* one a partition */
    struct kept_run *kept; /* the longest, the shortest of them on top */
    size_t n;
    struct candidate **listed; /* by number */
    size_t listed_n, next;
    int64_t *consumed;                    /* one a partition, NULL where nobody knows of any */
    const struct multiset_asked *missing; /* who asks for the places of missing rows, or NULL */
    uint64_t *told;                       /* then one a partition: 1 past the last offset that was told */
    struct arena *arena;
};

static int partition_order(const void *a, const void *b)
{
    const struct partition_name *x = *(struct partition_name *const *)a, *y = *(struct partition_name *const *)b;
    int d = strcmp(x->topic, y->topic);
    return d ? d : (x->partition > y->partition) - (x->partition < y->partition);
}

static struct partition_name **rank(struct places *p)
{
    struct partition_name **in_order = xmalloc((p->n + 1) * sizeof(*in_order));
    for (size_t i = 0; i < p->n; i++)
        in_order[i] = &p->at[i];
    qsort(in_order, p->n, sizeof(*in_order), partition_order);
    for (size_t i = 0; i < p->n; i++)
        in_order[i]->rank = i;
    return in_order;
}

/* By topic, partition and offset. */
static int place_order(const void *a, const void *b)
{
    const struct kept_run *x = a, *y = b;
    if (x->rank != y->rank)
        return (x->rank > y->rank) - (x->rank < y->rank);
    if (x->run.first != y->run.first)
        return (x->run.first > y->run.first) - (x->run.first < y->run.first);
    return (x->run.last > y->run.last) - (x->run.last < y->run.last);
}

/* True where x is to be dropped before y: shorter, or as long and later. */
static bool weaker(const struct kept_run *x, const struct kept_run *y)
{
    return x->run.rows != y->run.rows ? x->run.rows < y->run.rows : place_order(x, y) > 0;
}

static void swap(struct kept_run *a, struct kept_run *b)
{
    struct kept_run c = *a;
    *a = *b;
    *b = c;
}

static void keep(struct walk *k, const struct kept_run *run, size_t max)
{
    struct kept_run *h = k->kept;
    if (k->n < max) {
        size_t i = k->n++;
        h[i] = *run;
        for (; i > 0 && weaker(&h[i], &h[(i - 1) / 2]); i = (i - 1) / 2)
            swap(&h[i], &h[(i - 1) / 2]);
        return;
    }
    if (max == 0 || !weaker(&h[0], run))
        return;
    h[0] = *run;
    for (size_t i = 0, child; (child = 2 * i + 1) < k->n; i = child) {
        if (child + 1 < k->n && weaker(&h[child + 1], &h[child]))
            child++;
        if (!weaker(&h[child], &h[i]))
            return;
        swap(&h[i], &h[child]);
    }
}

static char *place_text(const struct partition_name *name, const struct place *at, struct arena *arena)
{
    char text[400];
    int n = snprintf(text, sizeof text, "%s/%" PRIu64, name->name, at->offset);
    if (at->n)
        n += snprintf(text + n, sizeof text - (size_t)n, "#%" PRIu64, at->n);
    return arena_strndup(arena, text, (size_t)n);
}

/* It as a summary has it. */
static struct summary_run run_of(const struct partition_name *name, const struct open_run *open)
{
    static const enum finding_kind kinds[] = {
        [FATE_MISSING] = KIND_MISSING, [FATE_CHANGED] = KIND_CHANGED, [FATE_DUPLICATED] = KIND_DUPLICATED};
    return (struct summary_run){kinds[open->fate], name->topic, name->partition, open->first,
                                open->last,        open->rows,  open->oldest,    open->newest};
}

/* A lost stretch with rows that no column can hold among others: the server refuses an INSERT whole. */
static void note_batch(struct walk *k, const struct partition_name *name, const struct open_run *open)
{
    struct multiset_missing *m = &k->w->out->missing;
    if (open->fate != FATE_MISSING || open->unfit == 0 || open->unfit == open->rows)
        return;
    m->batches++;
    m->batches_rows += open->rows;
    m->batches_unfit += open->unfit;
    if (open->rows <= m->batch.rows)
        return;
    m->batch = run_of(name, open);
    m->batch_at = place_text(name, &open->unfit_at, k->arena);
}

static void close_run(struct walk *k, const struct partition_name *name, struct open_run *open, size_t max)
{
    if (open->fate == FATE_FINE)
        return;
    struct kept_run run = {run_of(name, open), name->rank};
    k->w->out->sum.runs_total++;
    note_batch(k, name, open);
    keep(k, &run, max);
    open->fate = FATE_FINE;
}

/* Tell whoever asks for it; the further rows of a record say its place no second time. */
static int tell_missing(struct walk *k, const struct partition_name *name, const struct place *at, struct err *err)
{
    uint64_t *told = &k->told[at->partition];
    if (*told == at->offset + 1)
        return 0;
    *told = at->offset + 1;
    return k->missing->missing(k->missing->missing_ctx, name->topic, name->partition, at->offset, err);
}

/* A missing row lies before what the consumers had committed, or from there on. */
static void note_consumed(struct walk *k, const struct partition_name *name, const struct place *at)
{
    struct multiset_missing *m = &k->w->out->missing;
    int64_t committed = k->consumed ? k->consumed[at->partition] : MULTISET_NOT_KNOWN;
    if (committed == MULTISET_NOT_KNOWN)
        return;
    if (at->offset >= (uint64_t)committed)
        m->pending++;
    else if (m->passed++ == 0)
        m->passed_at = place_text(name, at, k->arena);
}

static int step(struct walk *k, const struct places *p, const struct place *at, uint64_t number, size_t max,
                struct err *err)
{
    const struct partition_name *name = &p->at[at->partition];
    for (; k->next < k->listed_n && k->listed[k->next]->number == number; k->next++) {
        k->listed[k->next]->f.at = place_text(name, at, k->arena);
        k->listed[k->next]->f.ts = at->ts;
    }
    for (size_t i = 0; i < 2; i++)
        if (k->w->twice[i] == number)
            k->w->out->ambiguous_at[i] = place_text(name, at, k->arena);
    if (fates_get(&p->gone, number) != FATE_FINE)
        return 0;
    enum fate fate = fates_get(&k->w->fates, number);
    if (fate == FATE_MISSING) {
        k->w->out->missing.placed++;
        note_consumed(k, name, at);
        if (k->missing && tell_missing(k, name, at, err) != 0)
            return -1;
    }
    if (name->unordered)
        return 0;
    struct open_run *open = &k->open[at->partition];
    if (open->fate != fate) {
        open->fine |= open->fate != FATE_FINE;
        close_run(k, name, open, max);
    }
    if (fate == FATE_FINE) {
        open->fine = true;
        return 0;
    }
    if (open->fate == FATE_FINE)
        *open = (struct open_run){.fate = fate, .first = at->offset, .fine = open->fine};
    open->last = at->offset;
    open->rows++;
    ts_widen(&open->oldest, &open->newest, at->ts);
    if (fate == FATE_MISSING && fates_get(&k->w->unfit, number) != FATE_FINE && open->unfit++ == 0)
        open->unfit_at = *at;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = (*(struct candidate *const *)a)->number, y = (*(struct candidate *const *)b)->number;
    return (x > y) - (x < y);
}

/* How far the consumers had come, asked once a partition. */
static int64_t *consumed(const struct places *p, const struct multiset_asked *asked)
{
    int64_t *all = xcalloc(p->n + 1, sizeof *all);
    for (size_t i = 0; i < p->n; i++)
        all[i] = asked->consumed(asked->consumed_ctx, p->at[i].topic, p->at[i].partition);
    return all;
}

static void walk_begin(struct walk *k, struct work *w, const struct places *p, size_t max, struct arena *arena)
{
    *k = (struct walk){.w = w, .arena = arena};
    k->open = xcalloc(p->n, sizeof *k->open);
    k->kept = xcalloc(max, sizeof *k->kept);
    k->listed = xmalloc((KIND_TYPES * w->list.max + 1) * sizeof(*k->listed));
    for (size_t kind = 0; kind < KIND_TYPES; kind++)
        for (size_t i = 0; i < w->list.n[kind]; i++)
            if (w->list.heap[kind][i].number != NO_NUMBER)
                k->listed[k->listed_n++] = &w->list.heap[kind][i];
    qsort(k->listed, k->listed_n, sizeof(*k->listed), by_number);
}

/* What is missing at the end of its partition may only be late. */
static void note_tail(struct walk *k, const struct partition_name *name, const struct open_run *open)
{
    struct multiset_tail *tail = &k->w->out->tail;
    if (open->fate != FATE_MISSING)
        return;
    if (tail->partitions++ == 0) {
        tail->first = run_of(name, open);
        tail->whole = !open->fine;
    }
    tail->rows += open->rows;
}

static void walk_end(struct walk *k, const struct places *p, struct partition_name *const *in_order, size_t max)
{
    struct multiset_relation *out = k->w->out;
    struct arena *arena = k->arena;
    for (size_t i = 0; i < p->n; i++) {
        note_tail(k, in_order[i], &k->open[in_order[i] - p->at]);
        close_run(k, in_order[i], &k->open[in_order[i] - p->at], max);
    }
    qsort(k->kept, k->n, sizeof *k->kept, place_order);
    struct summary_run *run = arena_alloc(arena, (k->n + 1) * sizeof *run);
    for (size_t i = 0; i < k->n; i++)
        run[i] = k->kept[i].run;
    out->sum.runs = run;
    out->sum.runs_listed = k->n;
    const char **unordered = arena_alloc(arena, (p->n + 1) * sizeof(*unordered));
    out->sum.unordered = unordered;
    for (size_t i = 0; i < p->n; i++)
        if (in_order[i]->unordered && k->w->fates.bits)
            unordered[out->sum.unordered_n++] = in_order[i]->name;
    free(k->open);
    free(k->kept);
    free(k->listed);
    free(k->told);
}

int runs_find(struct places *p, struct work *const *works, size_t n, size_t max, const struct multiset_asked *asked,
              struct arena *arena, struct err *err)
{
    struct walk walks[RELATION_TYPES];
    size_t walks_n = 0;
    for (size_t i = 0; i < n; i++)
        if (works[i]->fates.bits || works[i]->twice[0] != NO_NUMBER)
            walk_begin(&walks[walks_n++], works[i], p, max, arena);
    if (walks_n == 0)
        return 0;
    int64_t *committed = asked->consumed ? consumed(p, asked) : NULL;
    for (size_t i = 0; i < walks_n; i++) {
        walks[i].consumed = walks[i].w->found_captured ? NULL : committed;
        walks[i].missing = asked->missing && walks[i].w->relation == asked->missing_of ? asked : NULL;
        walks[i].told = walks[i].missing ? xcalloc(p->n, sizeof *walks[i].told) : NULL;
    }
    struct partition_name **in_order = rank(p);
    struct places_reader r;
    struct place at;
    places_read(&r, p);
    int rc;
    for (uint64_t number = 0; (rc = places_next(&r, &at, err)) > 0; number++) {
        for (size_t i = 0; rc > 0 && i < walks_n; i++)
            rc = step(&walks[i], p, &at, number, max, err) == 0 ? rc : -1;
        if (rc < 0)
            break;
    }
    places_reader_free(&r);
    for (size_t i = 0; i < walks_n; i++)
        walk_end(&walks[i], p, in_order, max);
    free(in_order);
    free(committed);
    return rc;
}
