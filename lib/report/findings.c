/* SPDX-License-Identifier: Apache-2.0 */
/* The relations and what was found in each, for a person: one lost batch is one line. */

#include "report/internal.h"

#include "cells/cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Runs past this many are counted, and hide no finding. */
#define RUNS_SHOWN 100

/* Masked; "-" where it is not there. */
static void put_json(struct buf *out, const struct json *v)
{
    if (!v || v->type == JSON_NULL)
        buf_adds(out, "-");
    else if (v->type == JSON_STRING)
        msg_mask(out, v->str, v->len);
    else
        msg_mask(out, json_raw(v).p, json_raw(v).n);
}

/* ---- one finding ---- */

static void put_cell(struct buf *out, const struct report *r, size_t column, const struct json *cell)
{
    if (!cell)
        buf_adds(out, "-");
    else if (column < r->cols.n) {
        struct buf plain = BUF_INIT;
        cells_human(&r->cols.at[column].type, json_raw(cell).p, json_raw(cell).n, &plain);
        msg_mask(out, plain.p ? plain.p : "", plain.len);
        buf_free(&plain);
    } else
        put_json(out, cell);
}

static void put_key(struct buf *out, const struct report *r, const struct json *key)
{
    const struct json *cell = json_first(key);
    bool any = false;
    for (size_t c = 0; c < r->cols.n && cell && key->type == JSON_ARRAY; c++) {
        if (!r->cols.at[c].key)
            continue;
        buf_adds(out, any ? ", " : "");
        any = true;
        msg_mask(out, r->cols.at[c].name, r->cols.at[c].name_len);
        buf_addc(out, '=');
        put_cell(out, r, c, cell);
        cell = json_next(key, cell);
    }
    if (!any)
        put_json(out, key);
}

/* The cells of a row by column, NULL where there is none; to be freed. */
static const struct json **cells_of(const struct report *r, const struct json *row)
{
    const struct json **cells = xcalloc(r->cols.n + 1, sizeof(*cells));
    size_t c = 0;
    for (const struct json *v = json_first(row); v && c < r->cols.n; v = json_next(row, v))
        cells[c++] = v;
    return cells;
}

/* The columns that differ, owed and found side by side. */
static void put_differ(struct buf *out, const struct report *r, const struct report_finding *f)
{
    const struct json **owed = cells_of(r, json_get(f->doc, "owed")), **found = cells_of(r, json_get(f->doc, "found"));
    for (size_t i = 0; i < f->line.n_differ; i++) {
        const struct finding_name *name = &f->line.differ[i];
        size_t c = 0;
        if (!columns_find(&r->cols, name->p, name->n, &c))
            continue;
        buf_adds(out, "; ");
        msg_mask(out, name->p, name->n);
        buf_adds(out, " owed ");
        put_cell(out, r, c, owed[c]);
        buf_adds(out, ", found ");
        put_cell(out, r, c, found[c]);
    }
    free(owed);
    free(found);
}

static void put_explained(struct buf *out, const struct finding *l)
{
    struct buf words = BUF_INIT;
    again_put(&words, &l->explained);
    if (l->kind == KIND_DUPLICATED)
        buf_printf(out, "; owed %" PRIu64 ", found %" PRIu64 "%s%s", l->owed_copies, l->found_copies,
                   words.len ? ", explained: " : ", not explained", buf_str(&words));
    if (l->explained_copies)
        buf_printf(out, ", %" PRIu64 " of %" PRIu64 " surplus copies", l->explained_copies, l->rows);
    if (l->explained.kept)
        buf_adds(out, "; its INSERT's token can have outlived it");
    buf_free(&words);
}

/* The row beside its key, which alone would name the others too. */
static void put_values(struct buf *out, const struct report *r, const struct report_finding *f)
{
    const struct json **row = cells_of(r, json_get(f->doc, f->line.kind == KIND_MISSING ? "owed" : "found"));
    for (size_t c = 0; c < r->cols.n; c++) {
        if (r->cols.at[c].key || !row[c])
            continue;
        buf_adds(out, "; ");
        msg_mask(out, r->cols.at[c].name, r->cols.at[c].name_len);
        buf_addc(out, '=');
        put_cell(out, r, c, row[c]);
    }
    free(row);
}

/* True for a cell that says why its column cannot hold it. */
static bool is_unfit(const struct json *cell)
{
    return cell && cell->type == JSON_OBJECT && json_get(cell, "unfit");
}

/* The values of a missing row for which no table will hold it. */
static void put_unfit(struct buf *out, const struct report *r, const struct report_finding *f)
{
    const struct json **row = cells_of(r, json_get(f->doc, "owed"));
    for (size_t c = 0; c < r->cols.n; c++) {
        if (!is_unfit(row[c]))
            continue;
        buf_adds(out, "; ");
        msg_mask(out, r->cols.at[c].name, r->cols.at[c].name_len);
        buf_addc(out, '=');
        put_cell(out, r, c, row[c]);
        buf_adds(out, " does not fit ");
        msg_mask(out, r->cols.at[c].type.name, strlen(r->cols.at[c].type.name));
    }
    free(row);
}

/* How often a row is owed and found: a row that is there once of twice is no other row. */
static void put_copies(struct buf *out, const struct finding *l)
{
    if (l->kind == KIND_MISSING || l->kind == KIND_UNEXPECTED)
        buf_printf(out, "; owed %" PRIu64 ", found %" PRIu64, l->owed_copies, l->found_copies);
    else if (l->kind == KIND_CHANGED && l->rows > 1)
        buf_printf(out, "; %" PRIu64 " rows", l->rows);
}

static void put_finding(struct buf *out, const struct report *r, const struct summary *s,
                        const struct report_finding *f)
{
    const struct finding *l = &f->line;
    buf_printf(out, "    %-10s  ", finding_kind_name(l->kind));
    put_key(out, r, json_get(f->doc, "key"));
    put_differ(out, r, f);
    if (l->others)
        put_values(out, r, f);
    if (l->kind == KIND_MISSING && !l->others)
        put_unfit(out, r, f);
    put_copies(out, l);
    put_explained(out, l);
    if (l->absent < ABSENT_TYPES) {
        buf_printf(out, "; %s", absent_why_row(l->absent));
        if (l->absent_at) {
            buf_adds(out, "  at ");
            msg_mask(out, l->absent_at, strlen(l->absent_at));
        }
    }
    if (l->at) {
        buf_adds(out, "  at ");
        msg_mask(out, l->at, strlen(l->at));
    }
    if (l->ts.has) {
        buf_adds(out, l->at ? " of " : "  of ");
        ts_human(out, l->ts);
    }
    if (l->undecided && !s->undecided)
        buf_adds(out, "  (not decided)");
    buf_addc(out, '\n');
}

/* ---- runs ---- */

/* True where a finding's row lies in a run: its kind, and its at between the ends. */
static bool lies_in(const struct finding *f, const struct summary_run *run)
{
    struct stream_place place;
    return f->at && f->kind == run->kind && stream_place_split(f->at, strlen(f->at), &place) &&
           place.topic_len == strlen(run->topic) && memcmp(f->at, run->topic, place.topic_len) == 0 &&
           place.partition == run->partition && place.offset >= run->first && place.offset <= run->last;
}

static const struct json *first_in(const struct report *r, enum relation relation, const struct summary_run *run)
{
    for (const struct report_finding *f = r->finding; f; f = f->next)
        if (f->line.relation == relation && lies_in(&f->line, run))
            return f->doc;
    return NULL;
}

static void put_run(struct buf *out, const struct report *r, enum relation relation, const struct summary_run *run)
{
    const struct json *one = first_in(r, relation, run);
    if (run->rows == 1 && one)
        return; /* its finding says more */
    buf_printf(out, "    %-10s  ", finding_kind_name(run->kind));
    msg_mask(out, run->topic, strlen(run->topic));
    buf_printf(out, "/%" PRIu64 " offsets %" PRIu64 "..%" PRIu64 ": %" PRIu64 " rows", run->partition, run->first,
               run->last, run->rows);
    if (one) {
        buf_adds(out, ", such as ");
        put_key(out, r, json_get(one, "key"));
    }
    if (run->oldest.has) {
        buf_adds(out, "; records of ");
        ts_human(out, run->oldest);
        buf_adds(out, " to ");
        ts_human(out, run->newest);
    }
    buf_addc(out, '\n');
}

/* The runs of a summary, at most list: how many of them were shown. */
static size_t put_runs(struct buf *out, const struct report *r, const struct summary *s, uint64_t list)
{
    size_t shown = s->runs_listed < RUNS_SHOWN ? s->runs_listed : RUNS_SHOWN;
    shown = shown < list ? shown : (size_t)list;
    for (size_t i = 0; i < shown; i++)
        put_run(out, r, s->relation, &s->runs[i]);
    if (s->runs_total > shown)
        buf_printf(out, "    %" PRIu64 " more runs of offsets\n", s->runs_total - shown);
    for (size_t i = 0; i < s->unordered_n; i++) {
        buf_adds(out, i ? ", " : "    not in offset order, so without runs: ");
        msg_mask(out, s->unordered[i], strlen(s->unordered[i]));
    }
    buf_adds(out, s->unordered_n ? "\n" : "");
    return shown;
}

static bool any_unfit(const struct json *row)
{
    for (const struct json *v = json_first(row); v; v = json_next(row, v))
        if (is_unfit(v))
            return true;
    return false;
}

/* True where a line of a run says what this finding would: not of one that has more to say than its key. */
static bool told(const struct report_finding *f, const struct summary_run *shown, size_t n)
{
    const struct finding *finding = &f->line;
    if (finding->kind == KIND_CHANGED || finding->others ||
        (finding->kind == KIND_MISSING && finding->found_copies > 0) || any_unfit(json_get(f->doc, "owed")))
        return false;
    for (size_t i = 0; i < n; i++)
        if (shown[i].rows > 1 && lies_in(finding, &shown[i]))
            return true;
    return false;
}

/* ---- relations ---- */

static void put_counts(struct buf *out, const struct summary *s)
{
    size_t before = out->len;
    for (size_t k = 0; k < KIND_TYPES; k++) {
        uint64_t rows = k == KIND_DUPLICATED ? s->kind_keys[k] : s->kind_rows[k];
        if (!rows && !s->kind_rows[k])
            continue;
        buf_printf(out, "%s%" PRIu64 " %s", out->len > before ? ", " : "", rows,
                   finding_kind_name((enum finding_kind)k));
        if (k == KIND_DUPLICATED)
            buf_printf(out, " (%" PRIu64 " surplus copies)", s->kind_rows[k]);
    }
    if (out->len == before)
        buf_adds(out, "no difference");
}

const char *view_breaks(enum relation r, enum finding_kind k)
{
    static const char *const delivered[KIND_TYPES] = {
        [KIND_MISSING] = "at-least-once: a row that is owed is not there",
        [KIND_CHANGED] = "at-least-once: a row that is owed is there with other values",
        [KIND_DUPLICATED] = "exactly-once, and is within at-least-once: a row is there more often than owed",
        [KIND_UNEXPECTED] = "at-least-once, which promises no row that nothing owes"};
    return r == RELATION_TRANSFORMATION ? "no guarantee of the delivery: the job computed it, before any write"
                                        : delivered[k];
}

/* One line for all findings of a kind. */
static void put_breaks(struct buf *out, const struct summary *s)
{
    for (size_t k = 0; k < KIND_TYPES; k++)
        if (s->kind_rows[k])
            buf_printf(out, "    %-10s  breaks %s\n", finding_kind_name((enum finding_kind)k),
                       view_breaks(s->relation, (enum finding_kind)k));
}

/* What is not shown here, and which option shows it: findings that a run's line stands for, those past what is to be
 * shown, and rows of which the stream has no finding. */
static void put_more(struct buf *out, const struct summary *s, uint64_t in_runs, uint64_t past, uint64_t listed)
{
    uint64_t rows = 0;
    for (size_t k = 0; k < KIND_TYPES; k++)
        rows += s->kind_rows[k];
    if (in_runs)
        buf_printf(out, "    %" PRIu64 " more findings, row by row, are in the stream and in the JSON report\n",
                   in_runs);
    if (past)
        buf_printf(out, "    %" PRIu64 " more findings are in the stream: verdict --show=N shows more of them\n", past);
    if (s->undecided || rows <= listed)
        return;
    buf_printf(out, "    %" PRIu64 " more rows differ and have no finding: rows-diff --list=N finds more of them%s\n",
               rows - listed,
               s->kind_rows[KIND_MISSING] ? ", rows-diff --offsets=FILE the places of all that are missing" : "");
}

static void put_summary(struct buf *out, const struct report *r, const struct summary *s, uint64_t list)
{
    const struct relation_row *of = &relation_table[s->relation];
    buf_printf(out, "  %s: %" PRIu64 " %s, %" PRIu64 " %s: ", of->name, s->owed_rows, of->owed_rows, s->found_rows,
               of->found_rows);
    put_counts(out, s);
    if (s->absent_keys)
        buf_printf(out, "; %" PRIu64 " keys that must be absent", s->absent_keys);
    if (s->deleted_rows)
        buf_printf(out, "; %" PRIu64 " owed rows were deleted", s->deleted_rows);
    if (s->excluded_keys)
        buf_printf(out, "; %" PRIu64 " keys left out", s->excluded_keys);
    buf_adds(out, s->undecided ? " (seen, not decided)\n" : "\n");
    put_breaks(out, s);
    if (s->kind_rows[KIND_DUPLICATED])
        buf_printf(out,
                   "    duplicates: %" PRIu64 " explained by a resend, %" PRIu64 " by a restore's replay, %" PRIu64
                   " by nothing\n",
                   s->resent, s->replayed, s->unexplained);
    if (s->kept)
        buf_printf(out, "    missing: %" PRIu64 " of INSERTs whose token can have outlived its rows\n", s->kept);
    size_t n = put_runs(out, r, s, list);
    uint64_t put = 0, in_runs = 0, past = 0, listed = 0;
    for (const struct report_finding *f = r->finding; f; f = f->next) {
        if (f->line.relation != s->relation)
            continue;
        listed += f->line.rows;
        if (told(f, s->runs, n))
            in_runs++;
        else if (put >= list)
            past++;
        else {
            put_finding(out, r, s, f);
            put++;
        }
    }
    put_more(out, s, in_runs, past, listed);
}

void view_put_findings(const struct view *v, uint64_t list, struct buf *out)
{
    const struct report *r = v->report;
    bool any = false, failed = false;
    for (size_t i = 0; i < RELATION_TYPES; i++) {
        enum relation relation = relation_order[i];
        const struct view_check *check = view_check(v, relation_table[relation].check);
        for (const struct report_summary *s = r->summary; s; s = s->next) {
            if (s->line.relation != relation)
                continue;
            buf_adds(out, any ? "" : "\nfindings\n");
            any = true;
            /* What follows the first relation that failed is mostly the same rows again. */
            put_summary(out, r, &s->line, failed ? (list + 3) / 4 : list);
        }
        failed = failed || (check && check->status == STATUS_FAILED);
    }
}
