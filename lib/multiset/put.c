/* SPDX-License-Identifier: Apache-2.0 */
/* A result as finding and summary lines. */
#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"
#include "multiset/internal.h"
#include "stream/finding.h"

static struct finding_cells cells_of(struct multiset_text row)
{
    return (struct finding_cells){row.p, row.n};
}

/* The names of the columns whose cells differ, into names, which has room for each. */
static size_t differing(const struct multiset_finding *f, const struct columns *columns, struct finding_name *names)
{
    uint32_t *ends = xmalloc(2 * columns->n * sizeof *ends), *found = ends + columns->n;
    size_t n = 0;
    row_ends(f->owed.p, f->owed.n, columns->n, ends);
    row_ends(f->found.p, f->found.n, columns->n, found);
    for (size_t i = 0; i < columns->n; i++) {
        uint32_t a = i ? ends[i - 1] + 1 : 1, b = i ? found[i - 1] + 1 : 1;
        if (ends[i] - a != found[i] - b || memcmp(f->owed.p + a, f->found.p + b, ends[i] - a) != 0)
            names[n++] = (struct finding_name){columns->at[i].name, columns->at[i].name_len};
    }
    free(ends);
    return n;
}

static void put_finding(struct stream_out *out, enum relation r, const struct multiset_finding *f,
                        const struct columns *columns, bool undecided)
{
    struct buf key = BUF_INIT;
    struct finding_name *names = NULL;
    uint64_t explained = (uint64_t)f->explained.resent + f->explained.replayed;
    struct finding line = {.relation = r,
                           .kind = f->kind,
                           .owed = cells_of(f->owed),
                           .found = cells_of(f->kind == KIND_DUPLICATED ? f->owed : f->found),
                           .owed_copies = f->owed_copies,
                           .found_copies = f->found_copies,
                           .rows = f->rows,
                           .at = f->at,
                           .ts = f->ts,
                           .explained = {f->explained.resent != 0, f->explained.replayed != 0, f->explained.kept},
                           .explained_copies = explained < f->rows ? explained : 0,
                           .cut = f->cut,
                           .others = f->others,
                           .absent = ABSENT_TYPES,
                           .undecided = undecided,
                           .read = f->read};
    char place[400] = "";
    if (f->absent.p) {
        struct multiset_text at;
        line.absent = absent_read(f->absent, &at);
        snprintf(place, sizeof place, "%.*s", (int)at.n, at.p ? at.p : "");
        line.absent_at = at.p ? place : NULL;
    }
    if (f->key.p) {
        buf_addc(&key, '[');
        buf_add(&key, f->key.p, f->key.n);
        buf_addc(&key, ']');
        line.key = (struct finding_cells){key.p, key.len};
    }
    if (f->kind == KIND_CHANGED && f->owed.p && f->found.p) {
        names = xmalloc(columns->n * sizeof *names);
        line.n_differ = differing(f, columns, names);
        line.differ = names;
    }
    stream_put_finding(out, &line);
    free(names);
    buf_free(&key);
}

#define KEY_SHOWN ((size_t)200)

void multiset_put_key(struct buf *out, struct multiset_text key)
{
    size_t n = key.n < KEY_SHOWN ? key.n : KEY_SHOWN;
    while (n < key.n && n > 0 && ((unsigned char)key.p[n] & 0xc0) == 0x80)
        n--;
    buf_addc(out, '[');
    buf_add(out, key.p, n);
    buf_adds(out, n < key.n ? "…" : "]");
}

bool multiset_only_tail(enum relation r, const struct multiset_relation *of)
{
    return r != RELATION_TRANSFORMATION && of->tail.rows > 0 && of->tail.rows == of->sum.kind_rows[KIND_MISSING] &&
           !of->sum.kind_rows[KIND_CHANGED] && !of->sum.kind_rows[KIND_DUPLICATED] &&
           !of->sum.kind_rows[KIND_UNEXPECTED] && !of->sum.ambiguous_keys && of->missing.unfit == 0;
}

void multiset_put(struct stream_out *out, enum relation r, const struct multiset_relation *of,
                  const struct columns *columns, bool undecided, bool may_owe_more)
{
    for (size_t i = 0; i < of->sum.listed; i++) {
        const struct multiset_finding *f = &of->findings[i];
        bool surplus = f->kind == KIND_DUPLICATED || f->kind == KIND_UNEXPECTED;
        put_finding(out, r, f, columns, undecided || (may_owe_more && surplus));
    }
    struct summary sum = of->sum;
    bool tail = !undecided && multiset_only_tail(r, of);
    sum.relation = r;
    sum.undecided = undecided;
    sum.tail_rows = tail ? of->tail.rows : 0;
    sum.tail_partitions = tail ? of->tail.partitions : 0;
    stream_put_summary(out, &sum);
}
