/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows-diff: compare rows as multisets, key by key. Reads an owed-stream whose
 * rows are of two or three sides; rows end here, everything else passes, and
 * findings, summaries and checks follow.
 *
 * A relation is decided only when its sides were closed whole and counted right.
 * Exit: 0 all its checks passed, 1 one failed, 2 usage or input outside the
 * contract, 3 not everything could be decided.
 */
#include "cells/cells.h"
#include "multiset/decide.h"
#include "multiset/multiset.h"
#include "scope/line.h"
#include "scope/looks.h"
#include "stream/absent.h"
#include "stream/excluded.h"
#include "stream/observation.h"
#include "stream/stream.h"
#include "types/engine.h"
#include "types/line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    uint64_t list, memory, max_line;
    const char *scratch, *offsets;
};

struct diff {
    struct options options;
    struct columns columns;
    struct buf columns_line;
    struct scope scope; /* what the columns must be of, where the stream says it */
    bool has_scope;
    size_t keys;
    uint32_t *ends;
    struct buf head; /* of the row before, up to its cells' bracket */
    enum side head_side;
    struct multiset *rows;
    struct multiset_question ask;
    struct stream_log *logs;             /* that it points to */
    bool observed;                       /* the table was read before the line at hand */
    uint64_t excluded[EXCLUDED_TYPES];   /* keys left out, by why */
    bool expired_mixed, expired_ignored; /* what the observation says of those that have expired */
    uint64_t observed_at;
    struct scope_looks looks; /* at the logs */
    struct arena arena;       /* for one line */
    struct arena keep;        /* for the run */
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("rows-diff [options] <stream >stream\n"
                  "Compare the rows of an owed-stream: captured, reference, destination."),
        OPT_U64("list", &o->list, 0, 100000, "findings and runs listed a relation (100); totals are always true"),
        OPT_SIZE("memory", &o->memory, (uint64_t)16 << 20, (uint64_t)1 << 40,
                 "memory for rows (1G); past it they go to scratch files"),
        OPT_NAME("offsets", "FILE", &o->offsets,
                 "write the places of all missing rows to FILE, one a line: topic partition offset"),
        STREAM_OPTION_SCRATCH(&o->scratch),
        MODE_OPTION,
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 its checks passed, 1 one failed, 2 refused, 3 not everything could be decided"),
        OPT_END};
    return opt_read(argc, argv, table, status, err);
}

/* ---- reading: what each line says ---- */

static int refuse(const struct stream_line *line, const char *why, struct err *err)
{
    return err_set(err, ERR_REFUSED, "stdin: line %" PRIu64 ": %s", line->line_no, why);
}

static int no_place(const struct stream_line *line, const char *why, struct err *err)
{
    refuse(line, why, err);
    return err_cause(err, BECAUSE(CODE_LINE_UNEXPECTED));
}

/* A member was not as it must be: say on which line. */
static int misfit(const struct stream_line *line, struct err *err)
{
    return err_prefix(err, "stdin: line %" PRIu64, line->line_no);
}

/* Keep the first reason. */
static void say(struct multiset_doubt *to, const struct cause *cause, const char *what, const char *why)
{
    if (to->why)
        return;
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s%s%s", what, *why ? ": " : "", why);
    to->why = xstrdup(buf_str(&text));
    to->cause = *cause;
    buf_free(&text);
}

/* A key that is not the scope's would leave rows out of every comparison. */
static int fit_scope(const struct diff *d, const struct stream_line *line, struct err *err)
{
    return d->has_scope && !scope_fits(&d->scope, &d->columns) ? refuse(line, "the columns are not the scope's", err)
                                                               : 0;
}

static int on_scope(struct diff *d, const struct stream_line *line, struct err *err)
{
    if (d->has_scope)
        return no_place(line, "a second scope", err);
    if (stream_scope(line, &d->keep, NULL, &d->scope, err) != 0)
        return err_prefix(err, "stdin");
    d->has_scope = true;
    d->ask.declared = d->scope.origin == SCOPE_DECLARED;
    d->ask.repeats = d->scope.bundle.repeats;
    if (!scope_complete_table(&d->scope))
        say(&d->ask.uncovered, BECAUSE(CODE_TABLE_NOT_READ_WHOLE),
            "the scope is of selected keys, not of the whole table", "");
    return d->rows ? fit_scope(d, line, err) : 0;
}

static int on_columns(struct diff *d, const struct stream_line *line, struct err *err)
{
    if (d->rows)
        return buf_is(&d->columns_line, line->p, line->n)
                   ? 0
                   : no_place(line, "other columns than those of the rows before", err);
    columns_free(&d->columns);
    buf_reset(&d->columns_line);
    buf_add(&d->columns_line, line->p, line->n);
    return stream_columns(line, &d->columns, err) == 0 ? 0 : err_prefix(err, "stdin");
}

/* The set of rows, once the columns are known for good. */
static int need_rows(struct diff *d, const struct stream_line *line, struct err *err)
{
    if (d->rows)
        return 0;
    if (d->columns.n == 0)
        return no_place(line, "rows before their columns line", err);
    if (fit_scope(d, line, err) != 0)
        return -1;
    bool *key = arena_zalloc(&d->arena, d->columns.n * sizeof *key);
    for (size_t i = 0; i < d->columns.n; i++) {
        key[i] = d->columns.at[i].key;
        d->keys += key[i];
    }
    if (d->keys == 0)
        return refuse(line, "the columns name no key", err);
    d->ends = xmalloc(d->columns.n * sizeof *d->ends);
    d->rows = multiset_new(&(struct multiset_config){
        .columns = d->columns.n,
        .key = key,
        .memory = d->options.memory - MULTISET_FIXED,
        .scratch = d->options.scratch,
        .list = (size_t)d->options.list,
        .thread = true,
    });
    return 0;
}

/* Owed rows, and keys that must be absent, are held against their columns' types: of two spellings of one key each
 * would have rows of its own. What is found is equal to an owed row, or differs. */
static int cells_fit(const struct diff *d, const struct stream_line *line, const char *cells, bool key, struct err *err)
{
    const char *why = "", *what;
    const struct column *c = cells_row_misfit(&d->columns, cells, d->ends, key, &why);
    if (!c || column_lacks(c, &what) != CODE_NONE) /* of a type without cells nothing is decided */
        return 0;
    err_set(err, ERR_REFUSED, "column '%.200s': %s", c->name, why);
    return misfit(line, err);
}

static int row_marks(const struct stream_line *line, const struct stream_row *row, enum side side,
                     struct multiset_row *out, struct err *err)
{
    if (!side_is_owed(side) && (row->at || row->again))
        return refuse(line, "a row of the destination with at or again", err);
    if (row->again && side != SIDE_CAPTURED)
        return refuse(line, "again on a row that was not captured", err);
    out->at = row->at;
    out->at_len = row->at_len;
    out->ts = row->ts;
    out->again = (struct again){0};
    if (row->again && !again_parse(row->again, row->again_len, &out->again))
        return refuse(line, "again says something else than resent, replayed, kept", err);
    return 0;
}

/* Split a row: *side is its own. Most begin as the one before. */
static int split_row(struct diff *d, const struct stream_line *line, struct stream_row *row, enum side *side,
                     struct err *err)
{
    if (d->head.len && line->n > d->head.len && memcmp(line->p, d->head.p, d->head.len) == 0) {
        *row = (struct stream_row){0};
        *side = d->head_side;
        return stream_row_tail(line, line->p + d->head.len - 1, row, err) != 0 ? err_prefix(err, "stdin") : 0;
    }
    if (stream_row(line, row, err) != 0)
        return err_prefix(err, "stdin");
    *side = row->side;
    buf_reset(&d->head);
    buf_add(&d->head, line->p, (size_t)(row->cells + 1 - line->p));
    d->head_side = *side;
    return 0;
}

static int on_row(struct diff *d, const struct stream_line *line, struct err *err)
{
    struct stream_row row;
    enum side side = SIDES;
    if (!d->rows && need_rows(d, line, err) != 0)
        return -1;
    if (split_row(d, line, &row, &side, err) != 0)
        return -1;
    if (d->ask.side[side].closed)
        return no_place(line, "a row after its side was closed", err);
    size_t len;
    const char *why = "";
    if (!cells_scan_row(row.cells, row.cells_len, d->columns.n, &len, d->ends, d->columns.n, &why))
        return refuse(line, why, err);
    if (len != row.cells_len)
        return refuse(line, "something between its cells and the next member", err);
    struct multiset_row add = {.cells = row.cells, .len = len, .ends = d->ends};
    if (!side_is_owed(side) && cells_row_unfit(row.cells, d->ends, d->columns.n))
        return refuse(line, "a row of the destination with a cell that is unfit", err);
    if (side_is_owed(side) && cells_fit(d, line, row.cells, false, err) != 0)
        return -1;
    if (row_marks(line, &row, side, &add, err) != 0)
        return -1;
    d->ask.side[side].seen = true;
    d->ask.side[side].rows++;
    if (multiset_add(d->rows, side, &add, err) == 0)
        return 1;
    return err->kind == ERR_REFUSED ? misfit(line, err) : -1;
}

static int on_side(struct diff *d, const struct stream_line *line, struct err *err)
{
    struct stream_side said;
    arena_reset(&d->arena);
    if (stream_side(line, &d->arena, &said, err) != 0)
        return err_prefix(err, "stdin");
    struct multiset_side_seen *s = &d->ask.side[said.side];
    if (s->closed)
        return no_place(line, "a side that was closed before", err);
    s->seen = s->closed = true;
    s->whole = said.whole;
    if (d->observed && !d->ask.table_whole && side_is_owed(said.side) &&
        (said.rows > 0 || (said.side == SIDE_REFERENCE && d->ask.absent > 0)))
        say(&d->ask.unsettled, BECAUSE(CODE_READ_BEFORE_OWED),
            "the table was read before the last of the owed rows had come, so their keys were not looked for", "");
    s->said = said.rows;
    s->reason = xstrdup(*said.reason ? said.reason : "no reason was given");
    return 0;
}

static int on_excluded(struct diff *d, const struct stream_line *line, struct err *err)
{
    struct stream_excluded e;
    if (!d->rows && need_rows(d, line, err) != 0)
        return -1;
    arena_reset(&d->arena);
    if (stream_excluded(line, &d->arena, &e, err) != 0)
        return err_prefix(err, "stdin");
    size_t len;
    const char *why = "";
    if (!cells_scan_row(e.key, e.key_len, d->keys, &len, NULL, 0, &why) || len != e.key_len)
        return refuse(line, *why ? why : "not a key", err);
    if (e.why == EXCLUDED_EXPIRED)
        multiset_exclude_found(d->rows, e.key + 1, e.key_len - 2);
    else
        multiset_exclude(d->rows, e.key + 1, e.key_len - 2);
    d->excluded[e.why]++;
    if (e.why == EXCLUDED_UNDETERMINED)
        say(&d->ask.left_out, BECAUSE(CODE_KEYS_UNDETERMINED), "of which FINAL shows one row of several", "");
    return 0;
}

static int on_absent(struct diff *d, const struct stream_line *line, struct err *err)
{
    struct stream_absent a;
    struct buf row = BUF_INIT;
    size_t len;
    const char *why = "";
    if (!d->rows && need_rows(d, line, err) != 0)
        return -1;
    arena_reset(&d->arena);
    if (stream_absent(line, &d->arena, &a, err) != 0)
        return err_prefix(err, "stdin");
    if (d->ask.side[SIDE_REFERENCE].closed)
        return no_place(line, "a key that must be absent after the reference's side was closed", err);
    int rc = -1;
    if (!cells_key_row(&d->columns, a.key, a.key_len, &row, &why) ||
        !cells_scan_row(row.p, row.len, d->columns.n, &len, d->ends, d->columns.n, &why))
        refuse(line, why, err);
    else if (a.why == ABSENT_DELETED && cells_row_unfit(row.p, d->ends, d->columns.n))
        refuse(line, "a deleted key that does not fit its columns: what it takes away is not known", err);
    else if (cells_fit(d, line, row.p, true, err) == 0)
        rc = multiset_absent(
            d->rows,
            &(struct multiset_row){.cells = row.p, .len = row.len, .ends = d->ends, .at = a.at, .at_len = a.at_len},
            a.why, err);
    buf_free(&row);
    d->ask.absent++;
    return rc;
}

/* What a check upstream takes from the relations that use the destination, from the one of the whole table, or from
 * those that use the reference. */
static int on_check(struct diff *d, const struct stream_line *line, struct err *err)
{
    struct check_line c;
    arena_reset(&d->arena);
    if (stream_check(line, &d->arena, &c, err) != 0)
        return err_prefix(err, "stdin");
    if (c.name == CHECK_REFERENCE_SCOPE && c.cause.code == CODE_RECORDS_UNREADABLE &&
        !(d->has_scope && scope_final(&d->scope)))
        d->ask.unreadable = true;
    if ((c.name != CHECK_RECONCILE_DESTINATION && c.name != CHECK_DESTINATION_COVERAGE) || c.status == STATUS_PASSED)
        return 0;
    struct buf what = BUF_INIT;
    buf_printf(&what, "%s is %s", check_name_text(c.name), status_name(c.status));
    say(c.name == CHECK_RECONCILE_DESTINATION ? &d->ask.unsettled : &d->ask.uncovered,
        BECAUSE(CODE_CHECK_NOT_PASSED, {"check", check_name_text(c.name)}), buf_str(&what), c.reason);
    buf_free(&what);
    return 0;
}

/* A text of the line at hand, masked as reasons are, for the run; "-" where there is none. */
static const char *kept_text(struct diff *d, const char *s)
{
    struct buf shown = BUF_INIT;
    msg_mask(&shown, s ? s : "-", s ? strlen(s) : 1);
    const char *kept = arena_strndup(&d->keep, shown.p, shown.len);
    buf_free(&shown);
    return kept;
}

static int on_observation(struct diff *d, const struct stream_line *line, struct err *err)
{
    struct observation o;
    if (d->observed)
        return no_place(line, "a second observation", err);
    arena_reset(&d->arena);
    if (stream_observation(line, &d->arena, &o, err) != 0)
        return err_prefix(err, "stdin");
    d->observed = true;
    d->observed_at = line->line_no;
    d->ask.table_whole = o.table_whole;
    struct engine e;
    engine_parse(o.engine ? o.engine : "", o.engine_full ? o.engine_full : "", &d->keep, &e);
    if (!o.final && engine_merges(&e))
        d->ask.merges = engine_name(&e);
    for (size_t i = 0; i < o.n_mutations; i++)
        if (o.mutations[i].done && observed_deletes(&o.mutations[i])) {
            d->ask.deletion = kept_text(d, o.mutations[i].id);
            d->ask.deletion_created = kept_text(d, o.mutations[i].created);
        }
    d->ask.ttl = o.ttl ? kept_text(d, o.ttl) : NULL;
    d->expired_mixed = o.expired_mixed > 0;
    d->expired_ignored = o.expired_ignored;
    if (!o.stable)
        say(&d->ask.unsettled, BECAUSE(CODE_CHECK_NOT_PASSED, {"check", check_name_text(CHECK_RECONCILE_DESTINATION)}),
            "the table did not stand still while it was read", o.n_unstable ? o.unstable[0] : "");
    return 0;
}

/* What was found of a topic before the table was read; a second look at it says what came later. */
static int on_log(struct diff *d, const struct stream_line *line, struct err *err)
{
    struct stream_log log;
    if (stream_log(line, &d->keep, &log, err) != 0 || scope_looks_take(&d->looks, line, err) != 0)
        return err_prefix(err, "stdin");
    for (size_t i = 0; i < d->ask.n_logs; i++)
        if (strcmp(d->ask.logs[i].topic, log.topic) == 0)
            return 0;
    d->logs = xrealloc(d->logs, (d->ask.n_logs + 1) * sizeof *d->logs);
    d->logs[d->ask.n_logs++] = log;
    d->ask.logs = d->logs;
    return 0;
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct diff *d = ctx;
    switch (line->type) {
    case LINE_ROW: return on_row(d, line, err);
    case LINE_SCOPE: return on_scope(d, line, err);
    case LINE_COLUMNS: return on_columns(d, line, err);
    case LINE_SIDE: return on_side(d, line, err);
    case LINE_REQUIRE: return stream_require(line, d->ask.required, err);
    case LINE_EXCLUDED: return on_excluded(d, line, err);
    case LINE_ABSENT: return on_absent(d, line, err);
    case LINE_CHECK: return on_check(d, line, err);
    case LINE_OBSERVATION: return on_observation(d, line, err);
    case LINE_LOG: return on_log(d, line, err);
    default: return 0;
    }
}

/* The result is open where rows may have expired, unless the operator says that those are of no matter: of a key that
 * also owes a row which has not, nobody does. */
static void look_at_expired(struct diff *d)
{
    uint64_t others = 0;
    for (size_t i = 0; i < EXCLUDED_TYPES; i++)
        others += i == EXCLUDED_EXPIRED ? 0 : d->excluded[i];
    if (d->excluded[EXCLUDED_EXPIRED] == 0)
        return;
    if (!d->expired_ignored)
        say(&d->ask.left_out, BECAUSE(CODE_ROWS_EXPIRED),
            "their rows are past the table's TTL, and a merge may have taken them away", "");
    else if (d->expired_mixed)
        say(&d->ask.left_out, BECAUSE(CODE_ROWS_EXPIRED_IN_PART),
            "some of them owe rows that have expired and rows that have not", "");
    else
        d->ask.expired_ignored = others == 0;
}

/* A whole table that ranges alone are declared to have written is known only where they are all that the logs held. */
static void look_at_logs(struct diff *d)
{
    struct cause cause = CAUSE_INIT;
    struct buf why = BUF_INIT;
    if (d->has_scope && d->scope.origin == SCOPE_DECLARED && scope_complete_table(&d->scope) &&
        !scope_looks_cover(&d->looks, &d->scope, d->observed_at, &cause, &why))
        say(&d->ask.uncovered, &cause, buf_str(&why), "");
    d->ask.subrange = d->has_scope && d->scope.origin == SCOPE_DECLARED && d->ask.n_logs > 0 &&
                      !scope_looks_all(&d->looks, &d->scope);
    buf_free(&why);
}

static void diff_free(struct diff *d)
{
    scope_looks_free(&d->looks);
    multiset_free(d->rows);
    for (size_t i = 0; i < SIDES; i++)
        free(d->ask.side[i].reason);
    columns_free(&d->columns);
    buf_free(&d->columns_line);
    buf_free(&d->head);
    free(d->ends);
    free(d->logs);
    free(d->ask.unsettled.why);
    free(d->ask.uncovered.why);
    free(d->ask.left_out.why);
    scope_free(&d->scope);
    arena_free(&d->arena);
    arena_free(&d->keep);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct diff d = {.options = {.list = 100, .memory = (uint64_t)1 << 30, .max_line = STREAM_MAX_LINE}};
    struct err usage = ERR_INIT;
    int status = OWED_OK, parsed = read_options(argc, argv, &d.options, &status, &usage);
    if (parsed != 0)
        return parsed > 0 ? status : stream_refuse(&usage, d.options.max_line);
    scope_looks_init(&d.looks);
    struct stream_in in = {.rows_unchecked = true, .prefetch = true};
    struct stream_out out;
    if (stream_filter(&in, &out, (size_t)d.options.max_line, on_line, &d)) {
        d.ask.unplaced = d.rows && multiset_unplaced(d.rows);
        look_at_expired(&d);
        look_at_logs(&d);
        multiset_decide(&d.ask, d.rows, &d.columns, d.options.offsets, &out);
    }
    status = stream_end(&out);
    diff_free(&d);
    stream_in_free(&in);
    stream_out_free(&out);
    return status;
}
