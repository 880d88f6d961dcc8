/* SPDX-License-Identifier: Apache-2.0 */
/* A result as finding and summary lines. */
#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"
#include "multiset/internal.h"

static void put_row(struct json_w *w, const char *name, struct multiset_text row)
{
    if (row.p)
        jw_raw(w, name, row.p, row.n);
    else
        jw_null(w, name);
}

/* The names of the columns whose cells differ. */
static void put_differ(struct json_w *w, const struct multiset_finding *f, const struct columns *columns)
{
    uint32_t *ends = xmalloc(2 * columns->n * sizeof *ends), *found = ends + columns->n;
    row_ends(f->owed.p, f->owed.n, columns->n, ends);
    row_ends(f->found.p, f->found.n, columns->n, found);
    jw_arr(w, "differ");
    for (size_t i = 0; i < columns->n; i++) {
        uint32_t a = i ? ends[i - 1] + 1 : 1, b = i ? found[i - 1] + 1 : 1;
        if (ends[i] - a != found[i] - b || memcmp(f->owed.p + a, f->found.p + b, ends[i] - a) != 0)
            jw_strn(w, NULL, columns->at[i].name, columns->at[i].name_len);
    }
    jw_end_arr(w);
    free(ends);
}

static void put_finding(struct stream_out *out, enum relation r, const struct multiset_finding *f,
                        const struct columns *columns, bool undecided)
{
    struct json_w w;
    struct buf text = BUF_INIT;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "type", line_type_name(LINE_FINDING));
    jw_str(&w, "relation", relation_name(r));
    jw_str(&w, "kind", finding_kind_name(f->kind));
    if (f->key.p) {
        struct buf key = BUF_INIT;
        buf_addc(&key, '[');
        buf_add(&key, f->key.p, f->key.n);
        buf_addc(&key, ']');
        jw_raw(&w, "key", key.p, key.len);
        buf_free(&key);
    } else {
        jw_null(&w, "key");
    }
    put_row(&w, "owed", f->owed);
    put_row(&w, "found", f->kind == KIND_DUPLICATED ? f->owed : f->found);
    jw_u64(&w, "owed_copies", f->owed_copies);
    jw_u64(&w, "found_copies", f->found_copies);
    jw_u64(&w, "rows", f->rows);
    if (f->kind == KIND_CHANGED && f->owed.p && f->found.p)
        put_differ(&w, f, columns);
    jw_str(&w, "at", f->at);
    jw_str(&w, "explained", f->explained);
    if (f->cut)
        jw_bool(&w, "cut", true);
    if (undecided) {
        jw_bool(&w, "undecided", true);
        jw_u64(&w, "read", f->read);
    }
    jw_end_obj(&w);
    stream_put(out, LINE_FINDING, text.p, text.len);
    buf_free(&text);
}

bool multiset_only_tail(enum relation r, const struct multiset_relation *of)
{
    return r != RELATION_TRANSFORMATION && of->tail.rows > 0 && of->tail.rows == of->sum.kind_rows[KIND_MISSING] &&
           !of->sum.kind_rows[KIND_CHANGED] && !of->sum.kind_rows[KIND_DUPLICATED] &&
           !of->sum.kind_rows[KIND_UNEXPECTED] && !of->sum.ambiguous_keys && !of->never;
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
