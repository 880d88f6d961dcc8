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

static void put_kind(struct json_w *w, const struct multiset_relation *of, enum finding_kind k)
{
    jw_obj(w, finding_kind_name(k));
    jw_u64(w, "keys", of->kind_keys[k]);
    jw_u64(w, k == KIND_DUPLICATED ? "surplus" : "rows", of->kind_rows[k]);
    jw_end_obj(w);
}

static void put_runs(struct json_w *w, const struct multiset_relation *of)
{
    jw_arr(w, "runs");
    for (size_t i = 0; i < of->runs_listed; i++) {
        const struct multiset_run *run = &of->runs[i];
        jw_obj(w, NULL);
        jw_str(w, "kind", finding_kind_name(run->kind));
        jw_str(w, "topic", run->topic);
        jw_u64(w, "partition", run->partition);
        jw_u64(w, "first", run->first);
        jw_u64(w, "last", run->last);
        jw_u64(w, "rows", run->rows);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_u64(w, "runs_total", of->runs_total);
    jw_arr(w, "runs_unordered");
    for (size_t i = 0; i < of->unordered_n; i++)
        jw_str(w, NULL, of->unordered[i]);
    jw_end_arr(w);
}

bool multiset_only_tail(enum relation r, const struct multiset_relation *of)
{
    return r != RELATION_TRANSFORMATION && of->tail.rows > 0 && of->tail.rows == of->kind_rows[KIND_MISSING] &&
           !of->kind_rows[KIND_CHANGED] && !of->kind_rows[KIND_DUPLICATED] && !of->kind_rows[KIND_UNEXPECTED] &&
           !of->ambiguous_keys && !of->never;
}

static void put_tail(struct json_w *w, bool tail, const struct multiset_relation *of)
{
    jw_obj(w, "tail");
    jw_u64(w, "rows", tail ? of->tail.rows : 0);
    jw_u64(w, "partitions", tail ? of->tail.partitions : 0);
    jw_end_obj(w);
}

static void put_summary(struct stream_out *out, enum relation r, const struct multiset_relation *of, bool undecided)
{
    struct json_w w;
    struct buf text = BUF_INIT;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "type", line_type_name(LINE_SUMMARY));
    jw_str(&w, "relation", relation_name(r));
    jw_u64(&w, "owed_rows", of->owed_rows);
    jw_u64(&w, "found_rows", of->found_rows);
    jw_u64(&w, "keys", of->keys);
    for (size_t k = 0; k < KIND_TYPES; k++)
        put_kind(&w, of, (enum finding_kind)k);
    jw_obj(&w, "explained");
    jw_u64(&w, AGAIN_RESENT, of->resent);
    jw_u64(&w, AGAIN_REPLAYED, of->replayed);
    jw_u64(&w, "unexplained", of->unexplained);
    jw_end_obj(&w);
    jw_u64(&w, "owed_duplicate_keys", of->repeated_keys);
    jw_u64(&w, "unsupported_keys", of->ambiguous_keys);
    jw_u64(&w, "excluded_keys", of->excluded_keys);
    put_runs(&w, of);
    put_tail(&w, !undecided && multiset_only_tail(r, of), of);
    jw_u64(&w, "listed", of->listed);
    if (undecided)
        jw_bool(&w, "undecided", true);
    jw_end_obj(&w);
    stream_put(out, LINE_SUMMARY, text.p, text.len);
    buf_free(&text);
}

void multiset_put(struct stream_out *out, enum relation r, const struct multiset_relation *of,
                  const struct columns *columns, bool undecided)
{
    for (size_t i = 0; i < of->listed; i++)
        put_finding(out, r, &of->findings[i], columns, undecided);
    put_summary(out, r, of, undecided);
}
