/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of distinct rows. Entries lie one after another in the order their
 * rows first came; the index finds a key's first row by the key's hash, and the
 * others follow it in a list until there are so many that each is found by its own
 * hash. What a row costs is its cache misses, so the index is in huge pages, and
 * what the next rows need is prefetched while one is looked up.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "multiset/internal.h"

#define MIN_BITS 11u
#define UNLIKE_MAX 64u /* rows passed over that have a row's hash and not its key: by chance only a few */
#define HEAVY_AT 16u   /* rows of one key in its list before they are hashed one by one */
#define HUGE_PAGE ((size_t)2 << 20)
#define SLOTS_AHEAD 48u   /* rows: the slot of a row is prefetched that long before it is needed */
#define ENTRIES_AHEAD 24u /* and then the entry that it names */

/* Huge pages spare the index its misses. For the rows, which are many times as large, they cost more than they spare
 * where a host has to find them first. */
static void *map_pages(size_t n, bool huge)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (huge && n >= HUGE_PAGE)
        madvise(p, n, MADV_HUGEPAGE);
    return p;
}

static size_t slots_bytes(unsigned bits)
{
    return sizeof(uint64_t) << bits;
}

int table_init(struct table *t, const struct key_form *form, uint64_t budget, struct err *err)
{
    *t = (struct table){.form = form, .bits = MIN_BITS, .budget = budget, .used = FIRST_ENTRY * UNIT};
    uint64_t reach = (uint64_t)UINT32_MAX * UNIT;
    /* Only what is touched costs memory; where a limit on addresses stands in the way, less does too. */
    for (t->cap = budget < reach ? (size_t)budget : (size_t)reach; t->cap >= slots_bytes(MIN_BITS); t->cap /= 2)
        if ((t->base = map_pages(t->cap, false)) != NULL)
            break;
    t->slots = map_pages(slots_bytes(t->bits), true);
    if (!t->base || !t->slots)
        return err_set(err, ERR_TROUBLE, "out of memory");
    return 0;
}

void table_free(struct table *t)
{
    if (t->base)
        munmap(t->base, t->cap);
    if (t->slots)
        munmap(t->slots, slots_bytes(t->bits));
    free(t->wide);
    for (size_t i = 0; i < 2; i++) {
        free(t->order[i].entry);
        buf_free(&t->order[i].gaps);
        buf_free(&t->scratch[i]);
    }
    memset(t, 0, sizeof *t);
}

void table_reset(struct table *t)
{
    memset(t->slots, 0, slots_bytes(t->bits));
    t->used = FIRST_ENTRY * UNIT;
    t->filled = 0;
    t->wide_n = 0;
    for (size_t i = 0; i < 2; i++) {
        free(t->order[i].entry);
        buf_free(&t->order[i].gaps);
        t->order[i] = (struct order){0};
    }
}

/* ---- room ---- */

static size_t taken(const struct table *t)
{
    size_t n = t->beside + t->used + slots_bytes(t->bits) + t->wide_n * sizeof *t->wide;
    for (size_t i = 0; i < 2; i++)
        n += t->order[i].n * sizeof *t->order[i].entry + t->order[i].gaps.len;
    return n;
}

/* A slot's place is the top of its hash, so a doubled index is filled from front to back. */
static bool grow(struct table *t)
{
    uint64_t *old = t->slots;
    size_t n = (size_t)1 << t->bits, mask = 2 * n - 1;
    uint64_t *slots = map_pages(slots_bytes(t->bits + 1), true);
    if (!slots)
        return false;
    t->bits++;
    for (size_t k = 0; k < n; k++) {
        if (!old[k])
            continue;
        size_t i = (size_t)(old[k] >> (64 - t->bits));
        while (slots[i])
            i = (i + 1) & mask;
        slots[i] = old[k];
    }
    munmap(old, slots_bytes(t->bits - 1));
    t->slots = slots;
    return true;
}

bool table_room(struct table *t, size_t n, size_t bytes, size_t placed)
{
    size_t worst = bytes + n * (sizeof(struct entry) + UNIT + sizeof(struct wide)) +
                   placed * (sizeof(uint32_t) + VARINT_MAX);
    if (t->used + worst > t->cap || taken(t) + worst > t->budget)
        return false;
    /* A key that turns heavy adds its whole list to the index. */
    while (t->filled + n * (HEAVY_AT + 1) > ((size_t)3 << t->bits) / 4) {
        if (t->bits == 31 || taken(t) + worst + slots_bytes(t->bits + 1) > t->budget || !grow(t))
            return false;
    }
    return true;
}

/* ---- counters ---- */

uint64_t entry_copies(const struct table *t, const struct entry *e, unsigned side)
{
    if (e->state & ENTRY_WIDE)
        return t->wide[e->state & UINT32_MAX].copies[side];
    return e->state >> (side * COUNT_BITS) & COUNT_MAX;
}

struct wide *entry_wide(struct table *t, struct entry *e)
{
    if (e->state & ENTRY_WIDE)
        return &t->wide[e->state & UINT32_MAX];
    if (t->wide_n == t->wide_cap) {
        t->wide_cap = t->wide_cap ? t->wide_cap * 2 : 64;
        t->wide = xrealloc(t->wide, t->wide_cap * sizeof *t->wide);
    }
    struct wide *w = &t->wide[t->wide_n];
    memset(w, 0, sizeof *w);
    for (unsigned s = 0; s < SIDES; s++)
        w->copies[s] = entry_copies(t, e, s);
    w->resent = (e->state & ENTRY_RESENT) != 0;
    w->replayed = (e->state & ENTRY_REPLAYED) != 0;
    uint64_t flags = ~(((uint64_t)1 << (SIDES * COUNT_BITS)) - 1);
    e->state = (e->state & flags) | ENTRY_WIDE | t->wide_n++;
    return w;
}

static inline void count_side(struct table *t, struct entry *e, unsigned side, uint64_t more)
{
    if (!(e->state & ENTRY_WIDE) && (e->state >> (side * COUNT_BITS) & COUNT_MAX) + more <= COUNT_MAX)
        e->state += more << (side * COUNT_BITS);
    else
        entry_wide(t, e)->copies[side] += more;
}

void entry_uncount(struct table *t, struct entry *e, unsigned side)
{
    if (e->state & ENTRY_WIDE)
        entry_wide(t, e)->copies[side]--;
    else
        e->state -= (uint64_t)1 << (side * COUNT_BITS);
}

struct again entry_again(const struct table *t, const struct entry *e)
{
    struct again a = {(e->state & ENTRY_RESENT) != 0, (e->state & ENTRY_REPLAYED) != 0, (e->state & ENTRY_KEPT) != 0};
    if (e->state & ENTRY_WIDE) {
        const struct wide *w = &t->wide[e->state & UINT32_MAX];
        a.resent = w->resent;
        a.replayed = w->replayed;
    }
    return a;
}

static uint32_t add_again(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static void count_again(struct table *t, struct entry *e, const struct again *more)
{
    struct again a = entry_again(t, e);
    a.resent = add_again(a.resent, more->resent);
    a.replayed = add_again(a.replayed, more->replayed);
    e->state |= more->kept ? ENTRY_KEPT : 0;
    if (a.resent > 1 || a.replayed > 1 || (e->state & ENTRY_WIDE)) {
        struct wide *w = entry_wide(t, e);
        w->resent = a.resent;
        w->replayed = a.replayed;
    } else {
        e->state |= (a.resent ? ENTRY_RESENT : 0) | (a.replayed ? ENTRY_REPLAYED : 0);
    }
}

static bool says(const struct again *a)
{
    return a->resent || a->replayed || a->kept;
}

static void count(struct table *t, struct entry *e, const struct item *item)
{
    if (says(&item->again))
        count_again(t, e, &item->again);
    if (item->side < SIDES) {
        count_side(t, e, item->side, 1);
        return;
    }
    for (unsigned s = 0; s < SIDES; s++)
        count_side(t, e, s, item->copies[s]);
}

/* ---- finding a row ---- */

static struct entry *append(struct table *t, const struct item *item, uint64_t state)
{
    struct entry *e = (struct entry *)(void *)(t->base + t->used);
    e->next = 0;
    e->len = item->len;
    e->state = state;
    memcpy(e->row, item->row, item->len);
    t->used += entry_size(item->len);
    return e;
}

static uint32_t ref_of(const struct table *t, const struct entry *e)
{
    return (uint32_t)((size_t)((const char *)e - t->base) / UNIT);
}

static void put_slot(struct table *t, size_t i, uint64_t hash, const struct entry *e)
{
    t->slots[i] = (hash & ~(uint64_t)UINT32_MAX) | ref_of(t, e);
    t->filled++;
}

static bool same_row(const struct entry *e, const struct item *item)
{
    return e->len == item->len && memcmp(e->row, item->row, item->len) == 0;
}

static bool same_key(struct table *t, const struct entry *e, const struct item *item)
{
    if (item->key_len)
        /* Cells end by themselves, so one key's cells are never the beginning of another's. */
        return e->len > item->key_len && memcmp(e->row + 1, item->row + 1, item->key_len) == 0;
    struct multiset_text a = row_key_of(t->form, e->row, e->len, &t->scratch[0]);
    struct multiset_text b = row_key_of(t->form, item->row, item->len, &t->scratch[1]);
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static size_t home(const struct table *t, uint64_t hash)
{
    return (size_t)(hash >> (64 - t->bits));
}

static uint64_t hash_of(const struct table *t, const char *p, size_t n)
{
    return t->keyed ? key_hash_keyed(t->form, p, n) : key_hash(t->form, p, n);
}

static size_t empty_slot(const struct table *t, uint64_t hash)
{
    size_t mask = ((size_t)1 << t->bits) - 1, i = home(t, hash);
    while (t->slots[i])
        i = (i + 1) & mask;
    return i;
}

/* The slot of a row that is not the first of its heavy key, or the empty one where it belongs; SIZE_MAX where too many
 * others have its hash. */
static size_t heavy_slot(const struct table *t, uint64_t hash, const struct item *item)
{
    size_t mask = ((size_t)1 << t->bits) - 1, i = home(t, hash);
    unsigned unlike = 0;
    for (; t->slots[i]; i = (i + 1) & mask) {
        if ((t->slots[i] ^ hash) >> 32 != 0)
            continue;
        const struct entry *e = entry_at(t, (uint32_t)t->slots[i]);
        if (!(e->state & ENTRY_HEAD) && same_row(e, item))
            break;
        if (++unlike > UNLIKE_MAX && !t->keyed)
            return SIZE_MAX;
    }
    return i;
}

/* The other rows of a heavy key are found by their own hash. */
static void index_rows(struct table *t, const struct entry *head)
{
    for (uint32_t ref = head->next; ref; ref = entry_at(t, ref)->next) {
        const struct entry *e = entry_at(t, ref);
        uint64_t hash = hash_of(t, e->row, e->len);
        put_slot(t, empty_slot(t, hash), hash, e);
    }
}

/* Build the index anew by the keyed hash, which no choice of rows makes collide. */
static void make_keyed(struct table *t)
{
    t->keyed = true;
    t->filled = 0;
    memset(t->slots, 0, slots_bytes(t->bits));
    for (size_t at = FIRST_ENTRY * UNIT; at < t->used;) {
        const struct entry *e = (const struct entry *)(const void *)(t->base + at);
        at += entry_size(e->len);
        if (!(e->state & ENTRY_HEAD))
            continue;
        struct multiset_text key = row_key_of(t->form, e->row, e->len, &t->scratch[0]);
        uint64_t hash = hash_of(t, key.p, key.n);
        put_slot(t, empty_slot(t, hash), hash, e);
        if (e->state & ENTRY_HEAVY)
            index_rows(t, e);
    }
}

static struct entry *other_row(struct table *t, struct entry *head, const struct item *item)
{
    unsigned rows = 1;
    uint64_t hash = 0;
    size_t slot = 0;
    if (head->state & ENTRY_HEAVY) {
        hash = hash_of(t, item->row, item->len);
        slot = heavy_slot(t, hash, item);
        if (slot == SIZE_MAX) {
            make_keyed(t);
            hash = hash_of(t, item->row, item->len);
            slot = heavy_slot(t, hash, item);
        }
        if (t->slots[slot])
            return entry_at(t, (uint32_t)t->slots[slot]);
    } else {
        for (uint32_t ref = head->next; ref; ref = entry_at(t, ref)->next, rows++)
            if (same_row(entry_at(t, ref), item))
                return entry_at(t, ref);
    }
    struct entry *e = append(t, item, 0);
    e->next = head->next;
    head->next = ref_of(t, e);
    if (head->state & ENTRY_HEAVY)
        put_slot(t, slot, hash, e);
    else if (rows + 1 >= HEAVY_AT) {
        head->state |= ENTRY_HEAVY;
        index_rows(t, head);
    }
    return e;
}

static uint64_t item_hash(struct table *t, const struct item *item)
{
    if (!t->keyed)
        return item->hash;
    if (item->key_len)
        return key_hash_keyed(t->form, item->row + 1, item->key_len);
    struct multiset_text key = row_key_of(t->form, item->row, item->len, &t->scratch[0]);
    return key_hash_keyed(t->form, key.p, key.n);
}

static struct entry *find(struct table *t, const struct item *item)
{
    uint64_t hash = item_hash(t, item);
    size_t mask = ((size_t)1 << t->bits) - 1, i = home(t, hash);
    unsigned unlike = 0;
    for (; t->slots[i]; i = (i + 1) & mask) {
        if ((t->slots[i] ^ hash) >> 32 != 0)
            continue;
        struct entry *e = entry_at(t, (uint32_t)t->slots[i]);
        if (!(e->state & ENTRY_HEAD))
            continue;
        if (same_row(e, item))
            return e;
        if (same_key(t, e, item))
            return other_row(t, e, item);
        if (++unlike > UNLIKE_MAX && !t->keyed) {
            make_keyed(t);
            return find(t, item);
        }
    }
    struct entry *e = append(t, item, ENTRY_HEAD);
    put_slot(t, i, hash, e);
    return e;
}

struct entry *table_head(struct table *t, const struct entry *of)
{
    struct multiset_text key = row_key_of(t->form, of->row, of->len, &t->scratch[0]);
    struct item item = {.row = of->row, .len = of->len, .key_len = t->form->prefix ? (uint32_t)key.n : 0};
    uint64_t hash = hash_of(t, key.p, key.n);
    size_t mask = ((size_t)1 << t->bits) - 1, i = home(t, hash);
    for (; t->slots[i]; i = (i + 1) & mask) {
        struct entry *e = entry_at(t, (uint32_t)t->slots[i]);
        if ((t->slots[i] ^ hash) >> 32 == 0 && (e->state & ENTRY_HEAD) && same_key(t, e, &item))
            return e;
    }
    return NULL;
}

static void note_order(struct order *o, uint32_t ref, uint64_t number)
{
    if (o->n == o->cap) {
        o->cap = o->cap ? o->cap * 2 : 4096;
        o->entry = xrealloc(o->entry, o->cap * sizeof *o->entry);
    }
    o->entry[o->n++] = ref;
    varint_put(&o->gaps, number - o->last);
    o->last = number;
}

static void prefetch_slot(const struct table *t, uint64_t hash)
{
    __builtin_prefetch(&t->slots[home(t, hash)]);
}

/* The entry of the first slot with the same bits of the hash: nearly always the row itself. */
static void prefetch_entry(const struct table *t, const struct item *item)
{
    size_t mask = ((size_t)1 << t->bits) - 1, i = home(t, item->hash);
    while (t->slots[i] && (t->slots[i] ^ item->hash) >> 32 != 0)
        i = (i + 1) & mask;
    if (!t->slots[i])
        return;
    const char *e = (const char *)entry_at(t, (uint32_t)t->slots[i]);
    __builtin_prefetch(e);
    __builtin_prefetch(e + 64);
    __builtin_prefetch(e + sizeof(struct entry) + item->len - 1);
}

void table_prefetch(const struct table *t, const struct item *items, size_t n)
{
    for (size_t k = 0; k < n && k < SLOTS_AHEAD; k++)
        prefetch_slot(t, items[k].hash);
    for (size_t k = 0; k < n && k < ENTRIES_AHEAD; k++)
        prefetch_entry(t, &items[k]);
}

void table_add(struct table *t, const struct item *items, size_t n, size_t more)
{
    for (size_t k = 0; k < n; k++) {
        if (k + SLOTS_AHEAD < n + more)
            prefetch_slot(t, items[k + SLOTS_AHEAD].hash);
        if (k + ENTRIES_AHEAD < n + more)
            prefetch_entry(t, &items[k + ENTRIES_AHEAD]);
        struct entry *e = find(t, &items[k]);
        count(t, e, &items[k]);
        if (items[k].number != NO_NUMBER)
            note_order(&t->order[items[k].side], ref_of(t, e), items[k].number);
    }
}
