/* SPDX-License-Identifier: Apache-2.0 */
/* Key by key: equal copies pair, what is left pairs as changed, and the rest is missing or unexpected. */
#include <stdlib.h>
#include <string.h>

#include "multiset/internal.h"

void compare_free(struct compare *c)
{
    free(c->group);
    free(c->owed);
    free(c->found);
    buf_free(&c->key);
}

/* The rows of the key whose first is head. */
static void gather(struct compare *c, struct entry *head)
{
    c->n = 0;
    for (struct entry *e = head;; e = entry_at(c->t, e->next)) {
        if (c->n == c->cap) {
            c->cap = c->cap ? c->cap * 2 : 64;
            c->group = xrealloc(c->group, c->cap * sizeof(*c->group));
            c->owed = xrealloc(c->owed, c->cap * sizeof *c->owed);
            c->found = xrealloc(c->found, c->cap * sizeof *c->found);
        }
        c->group[c->n++] = e;
        if (!e->next)
            return;
    }
}

static uint64_t side_rows(const struct compare *c, unsigned side)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += entry_copies(c->t, c->group[i], side);
    return n;
}

/* Whether the key at hand must be absent: void where a row is owed. One that is unfit can be nowhere. */
static void find_absent(struct compare *c)
{
    static const char unfit[] = "{\"unfit\":";
    c->absent = NULL;
    if (side_rows(c, SIDE_REFERENCE) > 0)
        return;
    for (size_t i = 0; i < c->n; i++) {
        const struct entry *e = c->group[i];
        if (absent_is(e->row, e->len) && !memmem(e->row, e->len, unfit, sizeof unfit - 1) &&
            (!c->absent || text_order((struct multiset_text){e->row, e->len},
                                      (struct multiset_text){c->absent->row, c->absent->len}) < 0))
            c->absent = e;
    }
}

static struct multiset_text group_key(struct compare *c)
{
    return row_key_of(c->t->form, c->group[0]->row, c->group[0]->len, &c->key);
}

/* Keep the first key in byte order: true where this is it. */
static bool note_first(struct compare *c, struct multiset_text *first)
{
    struct multiset_text key = group_key(c);
    bool is_first = !first->p || text_order(key, *first) < 0;
    if (is_first)
        *first = text_copy(c->arena, key);
    return is_first;
}

static bool reads_differ(const struct compare *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (entry_copies(c->t, c->group[i], SIDE_READ1) != entry_copies(c->t, c->group[i], SIDE_READ2))
            return true;
    return false;
}

static unsigned found_side(const struct work *w, unsigned read)
{
    return w->found_captured ? SIDE_CAPTURED : read == 1 ? SIDE_READ1 : SIDE_READ2;
}

/* True where the relation looks at the key at hand. */
static bool in_scope(const struct compare *c, const struct work *w)
{
    switch (w->relation) {
    case RELATION_DELIVERY: return side_rows(c, SIDE_CAPTURED) > 0;
    case RELATION_REFERENCE_DESTINATION:
        if (c->absent)
            return true;
        if (c->reference_keys)
            return side_rows(c, SIDE_REFERENCE) > 0;
        /* fall through */
    case RELATION_TRANSFORMATION: return side_rows(c, SIDE_CAPTURED) + side_rows(c, SIDE_REFERENCE) > 0;
    default: return side_rows(c, w->owed) + side_rows(c, SIDE_READ1) + side_rows(c, SIDE_READ2) > 0;
    }
}

/* True where a relation owed from the captured rows has several under the key at hand: which of them the table should
 * hold is not known, unless they are equal and were said to be meant. */
static bool ambiguous(const struct compare *c, const struct work *w)
{
    uint64_t rows = 0;
    for (size_t i = 0; w->owed == SIDE_CAPTURED && i < c->n; i++) {
        uint64_t n = entry_copies(c->t, c->group[i], SIDE_CAPTURED);
        rows += c->repeats ? n > 0 : n;
    }
    return rows > 1;
}

/* The numbers of the first two rows of the key that was noted as the first one held twice. */
static void number_twice(struct compare *c, struct work *w)
{
    const struct order *o = &c->t->order[w->owed];
    uint64_t number = 0;
    w->twice[0] = w->twice[1] = NO_NUMBER;
    for (size_t i = 0, at = 0; i < o->n && w->twice[1] == NO_NUMBER; i++) {
        const struct entry *e = entry_at(c->t, o->entry[i]);
        number += order_gap(o, &at);
        if (text_order(row_key_of(c->t->form, e->row, e->len, &c->key), w->out->ambiguous) == 0)
            w->twice[w->twice[0] != NO_NUMBER] = number;
    }
}

/* ---- findings ---- */

struct key_work {
    struct compare *c;
    struct work *w;
    unsigned read, side; /* of the found rows */
    bool again;          /* the second read of a key that the reads saw differently */
    bool kinds[KIND_TYPES];
    struct multiset_text key;
};

/* True where the key at hand has a row beside this one on either side. */
static bool has_others(const struct key_work *k, const struct entry *e)
{
    const struct compare *c = k->c;
    for (size_t i = 0; i < c->n; i++)
        if (c->group[i] != e &&
            entry_copies(c->t, c->group[i], k->w->owed) + entry_copies(c->t, c->group[i], k->side) > 0)
            return true;
    return false;
}

/* Of the surplus copies of an owed row, as many as its own line says can have been made, in the order of its words. */
static void explain(struct key_work *k, const struct entry *owed, struct multiset_finding *f)
{
    struct again can = {0};
    if (!k->w->found_captured)
        can = entry_again(k->c->t, owed);
    struct summary *sum = &k->w->out->sum;
    uint64_t left = f->rows;
    f->explained.resent = left < can.resent ? (uint32_t)left : can.resent;
    left -= f->explained.resent;
    f->explained.replayed = left < can.replayed ? (uint32_t)left : can.replayed;
    left -= f->explained.replayed;
    sum->resent += f->explained.resent;
    sum->replayed += f->explained.replayed;
    sum->unexplained += left;
}

/* A missing row of an INSERT whose token may have outlived its rows. */
static void explain_missing(struct key_work *k, const struct entry *owed, struct multiset_finding *f)
{
    f->explained.kept = !k->w->found_captured && entry_again(k->c->t, owed).kept;
    k->w->out->sum.kept += f->explained.kept ? f->rows : 0;
}

static void offer(struct key_work *k, enum finding_kind kind, const struct entry *owed, const struct entry *found,
                  uint64_t rows)
{
    const struct table *t = k->c->t;
    const struct entry *copies_of = kind == KIND_CHANGED || kind == KIND_UNEXPECTED ? found : owed;
    k->kinds[kind] = true;
    k->w->out->sum.kind_rows[kind] += rows;
    if (!k->key.p)
        k->key = group_key(k->c);
    struct multiset_finding f = {.kind = kind, .read = k->w->found_captured ? 0 : k->read, .key = k->key, .rows = rows};
    if (owed) {
        f.owed = (struct multiset_text){owed->row, owed->len};
        f.owed_copies = entry_copies(t, owed, k->w->owed);
    }
    if (found)
        f.found = (struct multiset_text){found->row, found->len};
    f.found_copies = entry_copies(t, copies_of, k->side);
    if (kind == KIND_UNEXPECTED && k->w->owed == SIDE_REFERENCE && k->c->absent) {
        struct multiset_text at;
        f.absent = absent_said(t->form, k->c->absent);
        k->w->out->sum.unwanted[absent_read(f.absent, &at)] += rows;
    }
    if (kind == KIND_UNEXPECTED && k->w->relation == RELATION_REFERENCE_DESTINATION && side_rows(k->c, k->w->owed) > 0)
        k->w->out->sum.beside += rows;
    f.others = (kind == KIND_MISSING || kind == KIND_UNEXPECTED) && has_others(k, copies_of);
    if (kind == KIND_DUPLICATED)
        explain(k, owed, &f);
    else if (kind == KIND_MISSING)
        explain_missing(k, owed, &f);
    list_offer(&k->w->list, &f, owed && !k->again ? (uint32_t)((size_t)((const char *)owed - t->base) / UNIT) : 0);
}

/* Say what the copies of an owed row come to, for compare_fates. */
static void set_fate(struct key_work *k, struct entry *e, enum fate fate, uint64_t copies)
{
    if (k->again || copies == 0)
        return;
    k->w->touched = true;
    e->state |= (uint64_t)fate << ENTRY_FATE_SHIFT;
    uint64_t owed = entry_copies(k->c->t, e, k->w->owed);
    if (owed == 1)
        return;
    struct wide *wide = entry_wide(k->c->t, e);
    wide->left[fate] = copies < owed ? copies : owed;
    wide->left[FATE_FINE] = owed;
    for (size_t f = FATE_MISSING; f < FATES; f++)
        wide->left[FATE_FINE] -= wide->left[f];
}

static int by_bytes(const void *a, const void *b)
{
    const struct entry *x = ((const struct left *)a)->e, *y = ((const struct left *)b)->e;
    return text_order((struct multiset_text){x->row, x->len}, (struct multiset_text){y->row, y->len});
}

/* True for a row with a cell that does not fit: in a cell's text its quotes would be escaped. */
static bool is_unfit(const struct entry *e)
{
    static const char unfit[] = "{\"unfit\":";
    return memmem(e->row, e->len, unfit, sizeof unfit - 1) != NULL;
}

/* Owed copies left over pair with found rows that were not owed, both in byte order; then neither has a partner. */
static void pair_left(struct key_work *k, size_t owed_n, size_t found_n)
{
    struct compare *c = k->c;
    qsort(c->owed, owed_n, sizeof *c->owed, by_bytes);
    qsort(c->found, found_n, sizeof *c->found, by_bytes);
    size_t j = 0;
    for (size_t i = 0; i < owed_n; i++) {
        struct left *o = &c->owed[i];
        uint64_t changed = 0;
        while (o->copies > 0 && j < found_n) {
            uint64_t n = o->copies < c->found[j].copies ? o->copies : c->found[j].copies;
            offer(k, KIND_CHANGED, o->e, c->found[j].e, n);
            changed += n;
            o->copies -= n;
            c->found[j].copies -= n;
            if (c->found[j].copies == 0)
                j++;
        }
        set_fate(k, o->e, FATE_CHANGED, changed);
        if (o->copies > 0) {
            k->w->out->missing.unfit += is_unfit(o->e) ? o->copies : 0;
            offer(k, KIND_MISSING, o->e, NULL, o->copies);
            set_fate(k, o->e, FATE_MISSING, o->copies);
        }
    }
    for (; j < found_n; j++)
        offer(k, KIND_UNEXPECTED, NULL, c->found[j].e, c->found[j].copies);
}

static void compare_rows(struct key_work *k)
{
    struct compare *c = k->c;
    size_t owed_n = 0, found_n = 0;
    bool repeated = false;
    for (size_t i = 0; i < c->n; i++) {
        struct entry *e = c->group[i];
        uint64_t owed = entry_copies(c->t, e, k->w->owed), found = entry_copies(c->t, e, k->side);
        repeated = repeated || owed > 1;
        if (!k->again) {
            k->w->out->sum.owed_rows += owed;
            k->w->out->sum.found_rows += found;
        }
        if (owed > found) {
            c->owed[owed_n++] = (struct left){e, owed - found};
        } else if (owed < found && owed == 0) {
            c->found[found_n++] = (struct left){e, found};
        } else if (owed < found) {
            offer(k, KIND_DUPLICATED, e, NULL, found - owed);
            set_fate(k, e, FATE_DUPLICATED, found - owed);
        }
    }
    if (owed_n || found_n)
        pair_left(k, owed_n, found_n);
    if (!k->again) {
        k->w->out->sum.keys++;
        k->w->out->sum.absent_keys += k->w->relation == RELATION_REFERENCE_DESTINATION && c->absent;
        k->w->out->sum.repeated_keys += repeated;
    }
    for (size_t i = 0; i < KIND_TYPES; i++)
        k->w->out->sum.kind_keys[i] += k->kinds[i];
}

static bool holds_key(struct compare *c, const struct key_set *set)
{
    return set->n > 0 && key_set_has(set, group_key(c));
}

/* True where the key at hand becomes the first one held twice. */
static bool compare_key(struct compare *c, struct work *w)
{
    /* Of such a key each read may show another row. */
    bool left_out = !w->found_captured && holds_key(c, c->excluded_found),
         differ = !w->found_captured && !left_out && reads_differ(c);
    if (differ && w->reads) {
        c->result->differ_keys++;
        note_first(c, &c->result->differ);
    }
    if (!in_scope(c, w))
        return false;
    if (left_out || (w->owed == SIDE_REFERENCE && holds_key(c, c->excluded))) {
        w->out->sum.excluded_keys++;
        return false;
    }
    if (ambiguous(c, w)) {
        w->out->sum.ambiguous_keys++;
        return note_first(c, &w->out->ambiguous);
    }
    for (unsigned read = 1; read <= (differ ? 2u : 1u); read++) {
        struct key_work k = {.c = c, .w = w, .read = read, .side = found_side(w, read), .again = read == 2};
        compare_rows(&k);
    }
    return false;
}

/* Forget the fates of the relation before. */
static void clear_fates(struct table *t)
{
    for (size_t at = FIRST_ENTRY * UNIT; at < t->used;) {
        struct entry *e = (struct entry *)(void *)(t->base + at);
        at += entry_size(e->len);
        e->state &= ~ENTRY_FATE;
    }
    for (size_t i = 0; i < t->wide_n; i++)
        memset(t->wide[i].left, 0, sizeof t->wide[i].left);
}

void compare_table(struct compare *c, struct work *w)
{
    struct table *t = c->t;
    if (c->fates_set)
        clear_fates(t);
    w->touched = false;
    bool twice = false;
    for (size_t at = FIRST_ENTRY * UNIT; at < t->used;) {
        struct entry *e = (struct entry *)(void *)(t->base + at);
        at += entry_size(e->len);
        if (e->state & ENTRY_HEAD) {
            gather(c, e);
            if (c->absents)
                find_absent(c);
            twice |= compare_key(c, w);
        }
    }
    if (twice)
        number_twice(c, w);
    c->fates_set = w->touched;
}

/* ---- fates ---- */

static enum fate next_fate(const struct compare *c, const struct work *w, struct entry *e)
{
    if (entry_copies(c->t, e, w->owed) == 1)
        return (enum fate)(e->state >> ENTRY_FATE_SHIFT & 3);
    /* Copies are alike: the later ones are taken to be those that something happened to. */
    static const enum fate order[] = {FATE_FINE, FATE_CHANGED, FATE_MISSING, FATE_DUPLICATED};
    struct wide *wide = entry_wide(c->t, e);
    for (size_t i = 0; i < FATES; i++) {
        if (wide->left[order[i]] > 0) {
            wide->left[order[i]]--;
            return order[i];
        }
    }
    return FATE_FINE;
}

static int by_entry(const void *a, const void *b)
{
    const struct candidate *x = *(struct candidate *const *)a, *y = *(struct candidate *const *)b;
    return x->entry != y->entry ? (x->entry > y->entry) - (x->entry < y->entry)
                                : (x->f.kind > y->f.kind) - (x->f.kind < y->f.kind);
}

/* The listed findings of the table at hand, by entry. */
static struct candidate **wanted(struct list *l, size_t *n)
{
    struct candidate **all = xmalloc((KIND_TYPES * l->max + 1) * sizeof(*all));
    *n = 0;
    for (size_t k = 0; k < KIND_TYPES; k++)
        for (size_t i = 0; i < l->n[k]; i++)
            if (l->heap[k][i].entry)
                all[(*n)++] = &l->heap[k][i];
    qsort(all, *n, sizeof(*all), by_entry);
    return all;
}

static void give_number(struct candidate **all, size_t n, uint32_t entry, enum fate fate, uint64_t number)
{
    static const enum finding_kind kinds[] = {
        [FATE_MISSING] = KIND_MISSING, [FATE_CHANGED] = KIND_CHANGED, [FATE_DUPLICATED] = KIND_DUPLICATED};
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (all[mid]->entry < entry || (all[mid]->entry == entry && all[mid]->f.kind < kinds[fate]))
            lo = mid + 1;
        else
            hi = mid;
    }
    /* A row that pairs with several found ones has several findings of its kind. */
    for (; lo < n && all[lo]->entry == entry && all[lo]->f.kind == kinds[fate]; lo++)
        if (all[lo]->number == NO_NUMBER)
            all[lo]->number = number;
}

void compare_fates(struct compare *c, struct work *w)
{
    const struct order *o = &c->t->order[w->owed];
    size_t n;
    struct candidate **all = wanted(&w->list, &n);
    uint64_t number = 0;
    for (size_t i = 0, at = 0; i < o->n; i++) {
        number += order_gap(o, &at);
        if (!o->entry[i])
            continue; /* it was taken away */
        struct entry *e = entry_at(c->t, o->entry[i]);
        if (!(e->state & ENTRY_FATE))
            continue;
        enum fate fate = next_fate(c, w, e);
        if (fate == FATE_FINE)
            continue;
        fates_set(&w->fates, w->placed, number, fate);
        if (fate == FATE_MISSING && w->out->missing.unfit > 0 && is_unfit(e))
            fates_set(&w->unfit, w->placed, number, fate);
        give_number(all, n, o->entry[i], fate, number);
    }
    free(all);
}
