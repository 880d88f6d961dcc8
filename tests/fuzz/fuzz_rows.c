/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows from any bytes: each line is one row of cells, where it is one, of a side
 * that its number says, or a key that must be absent, with the line before it for a place. The result must not
 * depend on memory, hash or threads; rows must balance.
 */
#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"
#include "multiset/multiset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define COLUMNS 2

static void insist(bool ok)
{
    if (!ok)
        abort();
}

static struct multiset *fill(const char *p, size_t size, const struct multiset_config *config)
{
    struct multiset *m = multiset_new(config);
    const char *end = p + size, *before = NULL;
    size_t before_len = 0;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = nl ? (size_t)(nl - p) : (size_t)(end - p), len;
        uint32_t ends[COLUMNS];
        const char *why;
        struct err err = ERR_INIT;
        if (n > 1 && cells_scan_row(p + 1, n - 1, COLUMNS, &len, ends, COLUMNS, &why)) {
            struct multiset_row row = {.cells = p + 1, .len = len, .ends = ends, .at = before, .at_len = before_len};
            row.ts = (struct stream_ts){n & 1, n * n};
            row.again = (struct again){p[0] >> 4 & 3, p[0] >> 5 & 1, p[0] >> 6 & 1};
            if ((unsigned char)p[0] >= 0x80) {
                if (before && !stream_place_ok(before, before_len))
                    row.at = NULL;
                insist(multiset_absent(m, &row, p[0] & 1 ? ABSENT_DELETED : ABSENT_ABORTED, &err) == 0);
                before = p;
                before_len = n;
                p += n + (nl != NULL);
                continue;
            }
            /* What is no place is refused, and the row then comes without one. */
            if (multiset_add(m, (enum side)(p[0] & 3), &row, &err) != 0) {
                insist(err.kind == ERR_REFUSED);
                row.at = NULL;
                insist(multiset_add(m, (enum side)(p[0] & 3), &row, &err) == 0);
            }
        } else if (n > 1 && p[0] == 'x') {
            multiset_exclude(m, p + 1, n - 1);
        }
        before = p;
        before_len = n;
        p += n + (nl != NULL);
    }
    return m;
}

static bool same_text(struct multiset_text a, struct multiset_text b)
{
    return a.n == b.n && (a.p == NULL) == (b.p == NULL) && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static bool same_ts(struct stream_ts a, struct stream_ts b)
{
    return a.has == b.has && (!a.has || a.ms == b.ms);
}

static void same_relation(const struct multiset_relation *a, const struct multiset_relation *b)
{
    insist(a->sum.keys == b->sum.keys && a->sum.owed_rows == b->sum.owed_rows &&
           a->sum.found_rows == b->sum.found_rows);
    insist(a->sum.absent_keys == b->sum.absent_keys && a->sum.deleted_rows == b->sum.deleted_rows &&
           memcmp(a->sum.unwanted, b->sum.unwanted, sizeof a->sum.unwanted) == 0);
    insist(memcmp(a->sum.kind_rows, b->sum.kind_rows, sizeof a->sum.kind_rows) == 0 &&
           memcmp(a->sum.kind_keys, b->sum.kind_keys, sizeof a->sum.kind_keys) == 0);
    insist(a->sum.listed == b->sum.listed && a->sum.runs_total == b->sum.runs_total &&
           a->sum.runs_listed == b->sum.runs_listed);
    for (size_t i = 0; i < a->sum.listed; i++) {
        const struct multiset_finding *x = &a->findings[i], *y = &b->findings[i];
        insist(x->kind == y->kind && x->rows == y->rows && x->read == y->read);
        insist(memcmp(&x->explained, &y->explained, sizeof x->explained) == 0);
        insist(same_text(x->key, y->key) && same_text(x->owed, y->owed) && same_text(x->found, y->found) &&
               same_text(x->absent, y->absent));
        insist((x->at == NULL) == (y->at == NULL) && (!x->at || strcmp(x->at, y->at) == 0));
        insist(same_ts(x->ts, y->ts));
    }
    for (size_t i = 0; i < a->sum.runs_listed; i++)
        insist(a->sum.runs[i].first == b->sum.runs[i].first && a->sum.runs[i].last == b->sum.runs[i].last &&
               a->sum.runs[i].rows == b->sum.runs[i].rows && same_ts(a->sum.runs[i].oldest, b->sum.runs[i].oldest) &&
               same_ts(a->sum.runs[i].newest, b->sum.runs[i].newest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const bool keys[3][COLUMNS] = {{true, false}, {false, true}, {true, true}};
    if (size < 2)
        return 0;
    struct multiset_config c = {.columns = COLUMNS, .key = keys[data[0] % 3], .memory = 1 << 22, .list = data[1] % 8};
    struct multiset *a = fill((const char *)data + 2, size - 2, &c);
    c.hash_bits = 8;
    c.thread = data[1] & 8;
    c.memory = data[1] & 16 ? 100 << 10 : c.memory;
    struct multiset *b = fill((const char *)data + 2, size - 2, &c);
    struct multiset_asked all = {.relation = {true, true, true, true},
                                 .reference = data[1] & 32,
                                 .repeats = data[1] & 64,
                                 .reference_keys = data[1] & 128};
    struct multiset_result x, y;
    struct err err = ERR_INIT;
    insist(multiset_compare(a, &all, &x, &err) == 0);
    if (multiset_compare(b, &all, &y, &err) == 0) {
        for (size_t r = 0; r < RELATION_TYPES; r++)
            same_relation(&x.of[r], &y.of[r]);
        insist(x.differ_keys == y.differ_keys);
    } else {
        insist(err.kind == ERR_BOUND);
    }
    multiset_free(a);
    multiset_free(b);
    return 0;
}
