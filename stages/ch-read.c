/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ch-read: reads the rows of the owed keys from the table that the scope names,
 * twice, over one read-only connection, and says whether the table is the one
 * of the evidence and stood still.
 *
 * Input: a stream with a scope, columns and owed rows; all of it passes. Output:
 * the destination's rows of both reads, their sides, an observation and the
 * check reconcile.destination. Nothing is connected to before the input has
 * ended whole, no bundle.* check failed, reconcile.scope passed or a whole
 * reference is there, and a key is owed or the table is to be read whole.
 * Exit: 0 read and judged fit, 2 refused, 3 not read or not to be judged by.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "chread/chread.h"
#include "http/login.h"
#include "scope/line.h"
#include "stream/absent.h"
#include "stream/excluded.h"
#include "stream/stream.h"
#include "types/line.h"

struct options {
    struct chread_options read;
    struct http_login login;
    const char *scratch;
    unsigned format, expired;
    uint64_t max_line;
};

#define ROW_ROOM 256 /* a row line's members around its cells */
#define DAY_MS 86400000
#define EXPIRED_IGNORED 1 /* of --expired's words */

/* In the order of --format's words. */
static const enum chread_format formats[] = {CHREAD_NATIVE, CHREAD_ROWBINARY};

/* What the options hold is also found out before a line is read: that they fit each other, and that the connection can
 * be prepared. */
static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    struct chread_options *r = &o->read;
    const uint64_t most_rows = (uint64_t)1 << 53;
    const struct opt table[] = {
        OPT_USAGE("ch-read --url=URL [options] <stream\n"
                  "Read the destination rows of the owed keys, twice, over one read-only connection."),
        HTTP_LOGIN_OPTIONS(&o->login),
        OPT_U64("max-rows-per-query", &r->max_rows, 1, most_rows, "rows that one statement may return (1000000)"),
        OPT_U64("keys-per-query", &r->keys_per_query, 1, 10000000, "keys that one statement asks for (100000)"),
        OPT_FLAG("keys-only", &r->keys_only, "read no row of another key: ask for the keys alone"),
        OPT_U64("settle-ms", &r->settle_ms, 0, DAY_MS, "between the two reads (1000)"),
        OPT_U64("max-table-rows", &r->max_table_rows, 1, most_rows,
                "read the whole table, where the scope says complete-table and it holds no more"),
        OPT_U64("max-replica-delay-s", &r->max_delay_s, 0, DAY_MS / 1000,
                "that the replica asked may be behind, where the table is replicated (0)"),
        OPT_WORD("format", "native|rowbinary", &o->format, "what the server is asked for (native)"),
        OPT_WORD("expired", "undecided|ignore", &o->expired,
                 "what owed rows past the table's TTL leave open: the answer, or nothing (undecided)"),
        STREAM_OPTION_SCRATCH(&o->scratch),
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 read, and the table is fit to be judged; 2 refused; 3 not read, or not to be judged by"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc != 0)
        return rc;
    if (http_login_settle(&o->login, err) != 0)
        return -1;
    r->http = o->login.o;
    r->format = formats[o->format];
    r->max_bytes = (size_t)o->max_line - ROW_ROOM;
    return 0;
}

/* ---- what came in ---- */

struct run {
    struct options *o;
    struct stream_in in;
    struct stream_out out;
    struct arena arena; /* for the run */
    struct arena line;  /* for one line */
    struct columns cols;
    struct scope scope;
    struct chread_expect expect; /* of the scope */
    struct chread_keys *keys;
    struct chread_owed *owed; /* what the rows' expiry can be told by */
    uint32_t *ends;
    bool scope_passed, scope_made;
    uint64_t rows[2];           /* owed ones that came, a side each */
    uint64_t absent;            /* keys that must be absent */
    struct buf key_row;         /* one of them as a row */
    struct stream_side side[2]; /* what their side lines say */
    bool closed[2];
    struct chread_why blocked; /* reason "" where nothing stands in the way of reading */
    /* the reads */
    struct chread ch;
    struct chread_table first, last;
    struct chread_plan plan;
    struct chread_reads reads;
    struct chread_parts parts[2]; /* before and after, where the table is read whole */
    struct arena excluded_arena;
    struct map excluded;         /* keys that were left out, as their lines have them */
    uint64_t expired_keys;       /* of these */
    struct chread_why uncovered; /* reason "" where nothing yet says that the whole table is not known */
};

static int on_scope(struct run *r, const struct stream_line *line, struct err *err)
{
    if (r->expect.table)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED), "stdin: a second scope");
    if (stream_scope(line, &r->arena, NULL, &r->scope, err) != 0)
        return err_prefix(err, "stdin");
    r->expect = (struct chread_expect){.server_uuid = r->scope.server_uuid,
                                       .database = r->scope.database,
                                       .table = r->scope.table,
                                       .table_uuid = r->scope.table_uuid,
                                       .replica_path = r->scope.declared.replica_path,
                                       .replica_name = r->scope.declared.replica_name,
                                       .every_row = r->scope.origin == SCOPE_DECLARED,
                                       .final = scope_final(&r->scope)};
    return 0;
}

static int on_columns(struct run *r, const struct stream_line *line, struct err *err)
{
    bool key = false;
    if (r->keys)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED), "stdin: a second columns line");
    if (stream_columns(line, &r->cols, err) != 0)
        return err_prefix(err, "stdin");
    for (size_t i = 0; i < r->cols.n; i++) {
        const struct column *c = &r->cols.at[i];
        key = key || c->key;
        r->o->read.json_text = r->o->read.json_text || c->from == FROM_JSON_TEXT;
        const char *what;
        enum code lacks = column_lacks(c, &what);
        if (lacks != CODE_NONE)
            chread_say(&r->blocked, STATUS_UNSUPPORTED, BECAUSE(lacks, {"column", c->name}), "column '%s' is %s, %s",
                       c->name, c->type.name, what);
        else if (c->key && !type_is_key(&c->type))
            chread_say(&r->blocked, STATUS_UNSUPPORTED, BECAUSE(CODE_KEY_UNSUPPORTED, {"column", c->name}),
                       "key column '%s' is %s, which cannot be a key", c->name, c->type.name);
    }
    if (!key)
        return err_set(err, ERR_REFUSED, "columns: no column is a key");
    r->keys = chread_keys_new(&r->cols);
    r->owed = chread_owed_new(&r->cols, r->o->scratch);
    r->ends = xcalloc(r->cols.n, sizeof *r->ends);
    return 0;
}

static int on_check(struct run *r, const struct stream_line *line, struct err *err)
{
    struct check_line c;
    arena_reset(&r->line);
    if (stream_check(line, &r->line, &c, err) != 0)
        return err_prefix(err, "stdin");
    if (c.name == CHECK_RECONCILE_SCOPE) {
        r->scope_passed = c.status == STATUS_PASSED && (!r->scope_made || r->scope_passed);
        r->scope_made = true;
    } else if (c.name <= CHECK_BUNDLE_COMPLETENESS && c.status == STATUS_FAILED) {
        const char *name = check_name_text(c.name);
        chread_say(&r->blocked, STATUS_UNAVAILABLE, BECAUSE(CODE_CHECK_NOT_PASSED, {"check", name}),
                   "not read: %s failed", name);
    }
    return 0;
}

static int on_row(struct run *r, const struct stream_line *line, struct err *err)
{
    struct stream_row row;
    const char *why = NULL;
    size_t len = 0;
    if (stream_row(line, &row, err) != 0)
        return -1;
    if (!side_is_owed(row.side))
        return err_set(err, ERR_REFUSED, "stdin: line %" PRIu64 ": a row of the side that is read here", line->line_no);
    if (!r->keys)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 ": a row before the columns", line->line_no);
    if (!cells_scan_row(row.cells, row.cells_len, r->cols.n, &len, r->ends, r->cols.n, &why) || len != row.cells_len)
        return err_set(err, ERR_REFUSED, "stdin: line %" PRIu64 ": cells: %s", line->line_no,
                       why ? why : "more than the row");
    r->rows[row.side]++;
    if (r->blocked.reason[0] != '\0')
        return 0;
    int got = chread_keys_add(r->keys, row.cells, r->ends, err);
    if (got < 0)
        return err_prefix(err, "stdin: line %" PRIu64, line->line_no);
    r->reads.unfit += got == 0;
    return got == 0 ? 0 : chread_owed_add(r->owed, row.cells, r->ends, err);
}

/* A key that must be absent is asked for as those that are owed. One that is unfit no table can hold. */
static int on_absent(struct run *r, const struct stream_line *line, struct err *err)
{
    struct stream_absent a;
    const char *why = "";
    size_t len;
    arena_reset(&r->line);
    buf_reset(&r->key_row);
    if (stream_absent(line, &r->line, &a, err) != 0)
        return err_prefix(err, "stdin");
    if (!r->keys)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 ": a key before the columns", line->line_no);
    if (!cells_key_row(&r->cols, a.key, a.key_len, &r->key_row, &why) ||
        !cells_scan_row(r->key_row.p, r->key_row.len, r->cols.n, &len, r->ends, r->cols.n, &why))
        return err_set(err, ERR_REFUSED, "stdin: line %" PRIu64 ": key: %s", line->line_no, why);
    r->absent++;
    if (r->blocked.reason[0] != '\0' || chread_keys_add(r->keys, r->key_row.p, r->ends, err) >= 0)
        return 0;
    return err_prefix(err, "stdin: line %" PRIu64, line->line_no);
}

static int on_side(struct run *r, const struct stream_line *line, struct err *err)
{
    struct stream_side said;
    if (stream_side(line, &r->arena, &said, err) != 0)
        return err_prefix(err, "stdin");
    if (!side_is_owed(said.side))
        return 0;
    r->side[said.side] = said;
    r->closed[said.side] = true;
    return 0;
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct run *r = ctx;
    if (line->type == LINE_SIDE)
        return on_side(r, line, err);
    if (line->type == LINE_ROW)
        return on_row(r, line, err);
    if (line->type == LINE_ABSENT)
        return on_absent(r, line, err);
    if (line->type == LINE_SCOPE)
        return on_scope(r, line, err);
    if (line->type == LINE_COLUMNS)
        return on_columns(r, line, err);
    if (line->type == LINE_OBSERVATION)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 ": the destination was read already", line->line_no);
    return line->type == LINE_CHECK ? on_check(r, line, err) : 0;
}

/* ---- reading ---- */

static int put_row(void *ctx, const char *cells, size_t n)
{
    struct run *r = ctx;
    stream_put_row(&r->out, &(struct stream_row){
                                .side = r->reads.n == 1 ? SIDE_READ1 : SIDE_READ2, .cells = cells, .cells_len = n});
    r->reads.rows[r->reads.n - 1]++;
    return r->out.broken ? -1 : 0;
}

static int read_once(struct run *r, unsigned which, struct chread_why *why)
{
    uint64_t rows, queries = r->ch.queries, bytes = r->ch.bytes, ranges = r->ch.ranges, over = r->ch.passed_over;
    r->reads.n = which;
    int status = chread_rows(&r->ch, &r->expect, &r->first, &r->cols, r->keys, r->reads.table_whole ? NULL : &r->plan,
                             put_row, r, &rows, why);
    r->reads.queries[which - 1] = r->ch.queries - queries;
    r->reads.bytes[which - 1] = r->ch.bytes - bytes;
    r->reads.ranges[which - 1] = r->ch.ranges - ranges;
    r->reads.passed_over[which - 1] = r->ch.passed_over - over;
    return status;
}

/* May the table be read whole, and is it to be? What speaks against it is kept, and the keys are read all the same. -1
 * with *why where nothing may be read. */
static int begin_whole(struct run *r, struct chread_why *why)
{
    uint64_t rows = 0, seen = 0, most = r->o->read.max_table_rows;
    if (strcmp(r->first.engine, engine_name(&(struct engine){.kind = ENGINE_VIEW})) == 0) {
        chread_say(&r->uncovered, STATUS_UNAVAILABLE, BECAUSE(CODE_TABLE_NOT_READ_WHOLE),
                   "the table was not read whole: a view has no parts, by which it could be told that none changed");
        return 0;
    }
    int status = most > 0 ? chread_parts_look(&r->ch, &r->expect, &r->first, &r->parts[0], &r->uncovered) : 1;
    if (status == 0)
        status = chread_count(&r->ch, &r->expect, &r->first, &r->parts[0], &rows, &seen, &r->uncovered);
    if (status < 0)
        *why = r->uncovered;
    else if (most == 0)
        chread_say(&r->uncovered, STATUS_UNAVAILABLE, BECAUSE(CODE_TABLE_NOT_READ_WHOLE),
                   "the table was not read whole: nobody said how many rows it may hold");
    else if (status == 0 && rows > most)
        chread_say(&r->uncovered, STATUS_UNAVAILABLE, BECAUSE(CODE_TABLE_TOO_LARGE, {"rows", FACT_NUMBER(rows)}),
                   "the table holds %" PRIu64 " rows, and --max-table-rows is %" PRIu64 ": it was not read whole", rows,
                   most);
    else if (status == 0 && seen > r->parts[0].rows)
        chread_say(&r->uncovered, STATUS_UNAVAILABLE,
                   BECAUSE(CODE_NOT_GRANTED, {"grant", "SELECT on system.parts for every part"}),
                   "system.parts shows this user %" PRIu64 " of the table's %" PRIu64 " rows", r->parts[0].rows, seen);
    else if (status == 0 && seen < r->parts[0].rows)
        chread_say(&r->uncovered, STATUS_UNAVAILABLE, BECAUSE(CODE_ROWS_HIDDEN),
                   "the table's parts hold %" PRIu64 " rows, %s, and this user sees %" PRIu64
                   ": something hides the others, such as a row policy",
                   r->parts[0].rows, r->parts[0].masked ? "deleted ones among them" : "none deleted", seen);
    else
        r->reads.table_whole = status == 0;
    return status < 0 ? -1 : 0;
}

/* The parts once more: the same names are the same rows. */
static int end_whole(struct run *r, struct chread_why *why)
{
    struct buf text = BUF_INIT;
    int status = chread_parts_look(&r->ch, &r->expect, &r->first, &r->parts[1], &r->uncovered);
    r->reads.parts[0] = r->parts[0].n;
    r->reads.parts[1] = r->parts[1].n;
    r->reads.parts_same = status == 0 && chread_parts_same(&r->parts[0], &r->parts[1], &text);
    if (status == 0 && !r->reads.parts_same)
        chread_say(&r->uncovered, STATUS_UNAVAILABLE, BECAUSE(CODE_PARTS_CHANGED), "%s", buf_str(&text));
    if (status < 0)
        *why = r->uncovered;
    buf_free(&text);
    return status < 0 ? -1 : 0;
}

/* Leave a key out, once, and count it. */
static int exclude(struct run *r, enum excluded_why why, const char *cells, size_t n, uint64_t *count)
{
    if (map_find(&r->excluded, cells, n))
        return 0;
    const char *key = arena_strndup(&r->excluded_arena, cells, n);
    map_add(&r->excluded, key, n, 0);
    stream_put_excluded(&r->out, &(struct stream_excluded){why, key, n});
    ++*count;
    return r->out.broken ? -1 : 0;
}

static int put_undetermined(void *ctx, const char *cells, size_t n)
{
    struct run *r = ctx;
    return exclude(r, EXCLUDED_UNDETERMINED, cells, n, &r->reads.undetermined);
}

static int put_expired(void *ctx, const char *cells, size_t n)
{
    struct run *r = ctx;
    return exclude(r, EXCLUDED_EXPIRED, cells, n, &r->expired_keys);
}

/* By the server's clock behind the reads: what expired while they ran may or may not have been read. */
static int find_expired(struct run *r, struct chread_why *why)
{
    struct chread_expired *found = &r->reads.expired;
    int status = chread_expired(&r->ch, &r->expect, &r->first, r->last.server_ms, r->owed, put_expired, r, found, why);
    found->keys = r->expired_keys;
    return status;
}

/* What FINAL shows by chance; asked before the reads and behind them, since a merge may take away what shows that it is
 * chance, or a writer bring it. */
static int find_undetermined(struct run *r, struct chread_why *why)
{
    uint64_t unpaired = 0;
    if (!r->expect.final)
        return 0;
    int status = chread_undetermined(&r->ch, &r->expect, &r->first, &r->cols, r->keys,
                                     r->reads.table_whole ? NULL : &r->plan, put_undetermined, r, &unpaired, why);
    r->reads.unpaired = unpaired > r->reads.unpaired ? unpaired : r->reads.unpaired;
    return status;
}

/* Both reads, with a look before, between on every new connection, and after. -1 with *why where they cannot be judged
 * by. */
static int read_all(struct run *r, struct chread_why *why)
{
    struct chread_expect after = r->expect;
    progress_next();
    if (chread_open(&r->ch, &r->o->read, why) != 0 || chread_look(&r->ch, &r->expect, &r->first, why) != 0 ||
        chread_form(&r->first, &r->expect, &r->cols, why) != 0 ||
        chread_replica_ready(&r->ch, &r->expect, &r->first, why) != 0)
        return -1;
    chread_keys_sort(r->keys, r->first.sorting_key);
    chread_keys_expressions(r->keys, r->first.sorting_key);
    chread_keys_expressions(r->keys, r->first.partition_key);
    for (size_t i = 0; i < r->first.n_under; i++) {
        chread_keys_expressions(r->keys, r->first.under[i].look.sorting_key);
        chread_keys_expressions(r->keys, r->first.under[i].look.partition_key);
    }
    if (chread_under_whole(&r->ch, &r->expect, &r->first, why) != 0)
        return -1;
    if (scope_complete_table(&r->scope) && begin_whole(r, why) != 0)
        return -1;
    if (!r->reads.table_whole && chread_plan(&r->ch, &r->expect, &r->first, r->keys, &r->plan, why) != 0)
        return -1;
    if (find_undetermined(r, why) != 0 || read_once(r, 1, why) != 0)
        return -1;
    stream_flush(&r->out);
    sleep_ms((int64_t)r->o->read.settle_ms);
    if (read_once(r, 2, why) != 0 || find_undetermined(r, why) != 0 || (r->reads.table_whole && end_whole(r, why) != 0))
        return -1;
    if (chread_under_whole(&r->ch, &r->expect, &r->first, why) != 0)
        return -1;
    after.server_uuid = after.table_uuid = after.replica_path =
        NULL; /* another one now is a change, not a wrong address */
    return chread_look(&r->ch, &after, &r->last, why) != 0 ? -1 : find_expired(r, why);
}

/* ---- what was found ---- */

static void put_observation(struct run *r, const struct chread_unstable *u, bool whole)
{
    r->reads.keys = chread_keys_count(r->keys);
    chread_observe(&r->out, &r->ch, &r->expect, &r->first, r->last.server_uuid ? &r->last : NULL, &r->reads, u,
                   whole && u->n == 0);
}

/* Under a declared scope an id may lack: what was found there is said, and nobody can tell that it was meant. */
static void say_declared(const struct run *r, struct buf *out)
{
    const char *sep = "declared, not established: ";
    if (!r->expect.server_uuid) {
        buf_printf(out, "%sthe server's UUID (found: %s)", sep, r->first.server_uuid);
        sep = ", ";
    }
    if (!r->expect.table_uuid) {
        buf_printf(out, "%sthe table's UUID (found: %s)", sep, r->first.table_uuid);
        sep = ", ";
    }
    if (!r->expect.replica_path && r->first.replica.shown)
        buf_printf(out, "%sthe replica (found: %s of %s)", sep, r->first.replica.name, r->first.replica.path);
}

/* The whole table is known only where it was read whole and nothing in it moved; that it then holds what it should, and
 * no more, is not for this program to say. */
static void put_uncovered(struct run *r, const struct chread_why *why)
{
    struct buf counts = BUF_INIT;
    const struct chread_why *u = r->uncovered.reason[0] != '\0' ? &r->uncovered : why;
    if (!scope_complete_table(&r->scope) || !u)
        return;
    buf_printf(&counts, "{\"parts_before\":%zu,\"parts_after\":%zu}", r->reads.parts[0], r->reads.parts[1]);
    if (u != why)
        msg_error("destination.coverage: %s", u->reason);
    stream_put_check(&r->out, CHECK_DESTINATION_COVERAGE, u->status, &u->cause, u->reason, NULL, buf_str(&counts));
    buf_free(&counts);
}

static void put_check(struct run *r, const struct chread_why *why)
{
    struct buf table = BUF_INIT, reads = BUF_INIT, counts = BUF_INIT, declared = BUF_INIT;
    const char *evidence[3] = {NULL};
    if (r->first.table_uuid && *r->first.table_uuid != '\0') {
        buf_printf(&table, "%s, table UUID %s", http_endpoint(r->ch.http), r->first.table_uuid);
        buf_printf(&reads, "read 1: %" PRIu64 " rows, read 2: %" PRIu64 " rows, of ", r->reads.rows[0],
                   r->reads.rows[1]);
        if (r->reads.table_whole)
            buf_adds(&reads, "the whole table");
        else
            buf_printf(&reads, "%" PRIu64 " keys", chread_keys_count(r->keys));
        evidence[0] = buf_str(&table);
        evidence[1] = buf_str(&reads);
    }
    buf_printf(&counts, "{\"keys\":%" PRIu64 ",\"unfit_keys\":%" PRIu64 ",\"rows\":%" PRIu64 "}",
               (r->keys ? chread_keys_count(r->keys) : 0), r->reads.unfit, r->reads.rows[0]);
    if (why)
        msg_error("%s", why->reason);
    else
        say_declared(r, &declared);
    stream_put_check(&r->out, CHECK_RECONCILE_DESTINATION, why ? why->status : STATUS_PASSED, why ? &why->cause : NULL,
                     why ? why->reason : buf_str(&declared), evidence, buf_str(&counts));
    buf_free(&declared);
    buf_free(&table);
    buf_free(&reads);
    buf_free(&counts);
}

/* Close both sides and make the check; why NULL where the destination may be judged by what was read. Two whole reads
 * of a table that did not stand still are whole all the same: what was seen is shown, and the check keeps it from
 * deciding. */
static void conclude(struct run *r, const struct chread_why *why, bool whole)
{
    for (unsigned i = 0; i < 2; i++)
        stream_put_side(&r->out, &(struct stream_side){i == 0 ? SIDE_READ1 : SIDE_READ2, r->reads.rows[i], 0, whole,
                                                       whole ? NULL : why->reason});
    put_check(r, why);
    put_uncovered(r, why);
}

static void stop(struct run *r, const struct cause *cause, const char *reason)
{
    struct err err = ERR_INIT;
    err_fail(&err, ERR_REFUSED, cause, "%s", reason);
    stream_put_stop(&r->out, &err, CODE_USAGE);
}

static void read_destination(struct run *r)
{
    struct chread_why why = {0};
    struct chread_unstable u = CHREAD_UNSTABLE_INIT;
    int status = read_all(r, &why);
    bool whole = status == 0;
    if (status != 0 && why.refused) {
        stop(r, &why.cause, why.reason);
        return;
    }
    if (status == 0) {
        chread_find_unstable(&r->ch, &r->first, &r->last, &u);
        if (u.n > 0)
            status = chread_say(&why, STATUS_UNAVAILABLE, &u.cause, "%s", buf_str(&u.reason));
    }
    if (r->first.table_uuid && *r->first.table_uuid != '\0')
        put_observation(r, &u, status == 0);
    conclude(r, status == 0 ? NULL : &why, whole);
    chread_unstable_free(&u);
}

static bool is_whole(const struct run *r, enum side side)
{
    return r->closed[side] && r->side[side].whole && r->side[side].rows == r->rows[side];
}

/* Nothing to look for: no key is owed, and the table is not to be read whole. */
static void find_nothing_owed(struct run *r)
{
    bool any = r->rows[SIDE_CAPTURED] || r->rows[SIDE_REFERENCE] || r->absent;
    if (r->blocked.reason[0] != '\0' || any || r->o->read.max_table_rows > 0)
        return;
    if (!r->closed[SIDE_CAPTURED] && !r->closed[SIDE_REFERENCE])
        chread_say(
            &r->blocked, STATUS_UNAVAILABLE, BECAUSE(CODE_NOTHING_OWED),
            "not read: nothing says what is owed: scope-cut writes the captured rows, ref-bind those of a reference");
    else if (is_whole(r, SIDE_CAPTURED) && is_whole(r, SIDE_REFERENCE))
        chread_say(&r->blocked, STATUS_UNAVAILABLE, BECAUSE(CODE_EMPTY),
                   "not read: nothing is owed and nothing was received, so there is no key to look for");
    else
        chread_say(&r->blocked, STATUS_UNAVAILABLE, BECAUSE(CODE_SCOPE_EMPTY),
                   "not read: no row is owed, so there is no key to look for");
}

/* Without a scope that passed, a whole reference says what to look for. */
static void find_no_scope(struct run *r)
{
    if (r->scope_passed || is_whole(r, SIDE_REFERENCE) || r->blocked.status == STATUS_UNAVAILABLE)
        return;
    chread_say(&r->blocked, STATUS_UNAVAILABLE,
               BECAUSE(r->scope_made ? CODE_CHECK_NOT_PASSED : CODE_CHECK_NOT_MADE,
                       {"check", check_name_text(CHECK_RECONCILE_SCOPE)}),
               r->scope_made ? "not read: reconcile.scope did not pass" : "not read: nobody made reconcile.scope");
}

/* The input is whole: what it says decides whether anything is connected to. */
static void after_input(struct run *r)
{
    if (!r->expect.table || !r->keys) {
        stop(r, BECAUSE(CODE_SCOPE_LINE_MISSING),
             !r->keys ? "stdin: no columns line: run this stage after one that writes the scope"
                      : "stdin: no scope line: run this stage after one that writes the scope");
        return;
    }
    if (!scope_fits(&r->scope, &r->cols)) {
        stop(r, BECAUSE(CODE_LINE_MALFORMED), "stdin: the columns line is not of the scope's columns");
        return;
    }
    if (r->o->read.max_table_rows > 0 && !scope_complete_table(&r->scope)) {
        stop(
            r, BECAUSE(CODE_USAGE, {"option", "--max-table-rows, or the scope's --coverage"}),
            r->scope.origin == SCOPE_DECLARED
                ? "--max-table-rows, and the scope does not say that the table holds nothing else: scope-declare --coverage=complete-table does"
                : "--max-table-rows, and the scope does not say that the table is dedicated to it: scope-cut --coverage=complete-table does");
        return;
    }
    find_no_scope(r);
    find_nothing_owed(r);
    if (r->blocked.reason[0] != '\0')
        conclude(r, &r->blocked, false);
    else
        read_destination(r);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.read = {.max_rows = 1000000, .keys_per_query = 100000, .settle_ms = 1000},
                        .login = HTTP_LOGIN_INIT,
                        .max_line = STREAM_MAX_LINE};
    struct run r = {.o = &o};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &o, &status, &err);
    if (rc < 0)
        status = stream_refuse(&err, o.max_line);
    if (rc != 0) {
        http_login_free(&o.login);
        return status;
    }
    r.reads.expired_ignored = o.expired == EXPIRED_IGNORED;
    r.in.rows_unchecked = true; /* on_row checks them */
    if (stream_filter(&r.in, &r.out, o.max_line, on_line, &r))
        after_input(&r);
    status = stream_end(&r.out);
    chread_parts_free(&r.parts[0]);
    chread_parts_free(&r.parts[1]);
    chread_table_free(&r.first);
    chread_table_free(&r.last);
    chread_close(&r.ch);
    chread_keys_free(r.keys);
    chread_owed_free(r.owed);
    chread_plan_free(&r.plan);
    columns_free(&r.cols);
    scope_free(&r.scope);
    stream_in_free(&r.in);
    stream_out_free(&r.out);
    map_free(&r.excluded);
    arena_free(&r.excluded_arena);
    arena_free(&r.arena);
    arena_free(&r.line);
    free(r.ends);
    buf_free(&r.key_row);
    http_login_free(&o.login);
    return status;
}
