/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The captured rows: each event of the scope's captures as canonical cells, in
 * the order the sink received them. The bytes are hashed while they are used,
 * so that no row outlives a capture that is not the manifest's.
 */
#include "cut/pairs.h"
#include "stream/again.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The row of a partition that came last: its record's offset, and which of the record's rows it was. */
struct last_row {
    bool any;
    int64_t offset;
    uint64_t number;
};

struct pass {
    struct cut *c;
    const struct cut_leg *leg;
    struct last_row *last; /* by the leg's ranges */
    struct stream_out *out;
    struct file_out *expected; /* or NULL */
    struct err expected_err;   /* of writing it */
    struct buf cells, text;
    struct buf again; /* of the row before, in the same interval */
    struct arena line;
    const struct json **values; /* of a row, by column */
    bool said_name;
    bool of_records; /* an event's time is its record's */
};

/* An event has its record's time where its job's source takes no other, which a job without a manifest does not say. */
static bool has_record_times(const struct cut *c)
{
    const struct json *source = c->source_node ? c->source_node->parameters : NULL,
                      *field = json_get(source, "time_field");
    return source && (!field || field->type == JSON_NULL);
}

/* The row's `at`; what its line cannot carry, which is anything that needs an escape, is left out. */
static void take_at(const struct json *event, struct stream_row *row)
{
    const struct json *at = json_get(event, "at");
    if (!at || at->type != JSON_STRING || at->len == 0 || at->escaped)
        return;
    row->at = at->str;
    row->at_len = at->len;
}

/* A row of a record-wise job is of one record, which its at names: one of the leg's log and ranges, and past those of
 * the rows of its partition before. n is the length of the at, without its quotes. */
static bool is_of_leg(struct pass *p, const char *at, size_t n)
{
    const char *end = at + n, *hash = memchr(at, '#', n), *stop = hash ? hash : end, *slash[2] = {NULL, NULL};
    uint64_t partition, offset, number = 0;
    for (const char *q = stop; q > at && !slash[0]; q--)
        if (q[-1] == '/')
            slash[slash[1] ? 0 : 1] = q - 1;
    if (!slash[0] || strlen(p->leg->topic) != (size_t)(slash[0] - at) ||
        memcmp(at, p->leg->topic, (size_t)(slash[0] - at)) != 0 ||
        !scan_u64(slash[0] + 1, (size_t)(slash[1] - slash[0] - 1), &partition) ||
        !scan_u64(slash[1] + 1, (size_t)(stop - slash[1] - 1), &offset) || offset > INT64_MAX ||
        (hash && !scan_u64(hash + 1, (size_t)(end - hash - 1), &number)))
        return false;
    const struct scope_range *r = cut_range(p->leg, partition);
    if (!r || (r->has_from && (int64_t)offset < r->from) || (int64_t)offset >= r->to)
        return false;
    struct last_row *last = &p->last[r - p->leg->ranges];
    bool past = !last->any || (int64_t)offset > last->offset ||
                ((int64_t)offset == last->offset && number > last->number);
    *last = (struct last_row){true, (int64_t)offset, number};
    return past;
}

static void hold_at(struct pass *p, const struct json *at, const char *where, uint64_t line)
{
    struct cut *c = p->c;
    if (c->unknown.len > 0 || !p->leg->topic)
        return;
    if (!at) {
        c->without_at++;
        return;
    }
    if (at->type == JSON_STRING && !at->escaped && is_of_leg(p, at->str, at->len))
        return;
    if (c->outside++ > 0)
        return;
    struct buf shown = BUF_INIT;
    struct json_text text = json_raw(at);
    json_put_line(&shown, text.p, text.n < 100 ? text.n : 100);
    cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_ROWS_ELSEWHERE, {"at", buf_str(&shown)}),
            "'%s', line %" PRIu64
            ": the row is said to be of %s, which is no record of the scope's ranges, or none past the "
            "row before",
            where, line, buf_str(&shown));
    buf_free(&shown);
}

static void say_unknown(struct pass *p, const struct json *name, const char *where, uint64_t line)
{
    if (p->said_name)
        return;
    cut_say(p->c, STATUS_UNAVAILABLE, BECAUSE(CODE_COLUMN_UNKNOWN),
            "'%s', line %" PRIu64 ": the event has '%.*s', a column that the sink did not write", where, line,
            (int)name->len, name->str);
    p->said_name = true;
}

static void cells_of(struct pass *p, const struct json *values, const char *where, uint64_t line)
{
    const struct columns *all = &p->c->scope.columns;
    const struct json *other = columns_spread(all, NULL, values, p->values);
    if (other)
        say_unknown(p, other, where, line);
    buf_reset(&p->cells);
    buf_addc(&p->cells, '[');
    for (size_t i = 0; i < all->n; i++) {
        const char *why;
        if (i > 0)
            buf_addc(&p->cells, ',');
        p->c->nearest += cells_owed(&all->at[i], p->values[i], &p->cells, &why) == CELL_NEAREST;
    }
    buf_addc(&p->cells, ']');
}

static uint32_t copies(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* What the row's INSERT and the scope's start say of how often it may have been written. */
static const char *again_of(struct pass *p, const struct interval *iv, uint64_t index, size_t *entry)
{
    size_t at = *entry;
    while (at < iv->n_ledger && index >= iv->ledger[at].first + iv->ledger[at].rows)
        at++;
    if (index > 0 && at == *entry)
        return p->again.len ? buf_str(&p->again) : NULL;
    struct again a = {.replayed = copies(p->leg->replays)};
    const struct ledger_entry *e = at < iv->n_ledger && index >= iv->ledger[at].first ? &iv->ledger[at] : NULL;
    if (e && e->resend == RESEND_MAY_DUPLICATE && e->attempts > 1)
        a.resent = copies(e->attempts - 1);
    a.kept = e && ledger_may_lack(e);
    *entry = at;
    buf_reset(&p->again);
    again_put(&p->again, &a);
    return p->again.len ? buf_str(&p->again) : NULL;
}

/* {"cells":[…],"at":"…"} */
static void put_expected(struct pass *p, const struct stream_row *row)
{
    if (!p->expected || p->expected_err.kind != ERR_NONE)
        return;
    buf_reset(&p->text);
    buf_adds(&p->text, "{\"cells\":");
    buf_add(&p->text, row->cells, row->cells_len);
    stream_row_place(&p->text, row);
    buf_adds(&p->text, "}\n");
    file_add(p->expected, p->text.p, p->text.len, &p->expected_err);
}

static int put_event(struct pass *p, const char *text, size_t n, const char *where, uint64_t line, const char *again,
                     struct err *err)
{
    arena_reset(&p->line);
    struct json_error e;
    const struct json *event = json_parse(text, n, &p->line, &e), *values = json_get(event, "values");
    if (!event)
        return err_set(err, ERR_REFUSED, "'%s', line %" PRIu64 ": byte %zu: %s", where, line, e.offset, e.why);
    if (!json_is(json_get(event, "type"), "event") || !values || values->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "'%s', line %" PRIu64 ": not an event with its values", where, line);
    struct stream_row row = {.side = SIDE_CAPTURED, .again = again, .again_len = again ? strlen(again) : 0};
    take_at(event, &row);
    if (p->of_records && row.at && ts_take(event, "ts", &row.ts, "event", err) != 0)
        return err_prefix(err, "'%s', line %" PRIu64, where, line);
    hold_at(p, json_get(event, "at"), where, line);
    cells_of(p, values, where, line);
    row.cells = p->cells.p;
    row.cells_len = p->cells.len;
    stream_put_row(p->out, &row);
    put_expected(p, &row);
    p->c->rows++;
    return 0;
}

static int read_lines(struct pass *p, const struct cut_interval *i, struct capture_reader *r, struct err *err)
{
    const char *text;
    size_t n, entry = 0;
    bool is_data;
    uint64_t index = 0;
    int rc;
    while ((rc = capture_read_next(r, &text, &n, &is_data, err)) == 1) {
        if (!is_data)
            continue;
        const char *again = again_of(p, &i->iv, index++, &entry);
        if (put_event(p, text, n, i->capture, r->lines.line_no, again, err) != 0)
            return -1;
    }
    return rc;
}

static void read_capture(struct pass *p, const struct cut_interval *i)
{
    const struct bundle_artifact *f;
    struct err err = ERR_INIT;
    struct capture_reader r;
    int fd = bundle_open_file(p->c->b, i->capture, &f, &err);
    if (fd < 0) {
        cut_say_read(p->c, i->capture, &err, CODE_CAPTURE_MISSING);
        return;
    }
    int rc = capture_read_open(&r, fd, i->capture, &err);
    bool own = rc != 0 || !cut_differs(INTERVAL_CAPTURE, &i->iv, &r.h);
    if (rc == 0 && own)
        rc = read_lines(p, i, &r, &err);
    if (rc == 0 && own)
        rc = bundle_hold_capture(f, &r, &err);
    else if (bundle_hold(f, fd, &err) != 0) /* what is not the manifest's file is that, whatever it holds */
        rc = -1;
    if (rc != 0)
        cut_say_read(p->c, i->capture, &err, CODE_CAPTURE_MALFORMED);
    else if (!own)
        cut_hold(p->c, INTERVAL_CAPTURE, (struct said){i->path, &i->iv}, (struct said){i->capture, &r.h});
    capture_read_close(&r);
    close(fd);
}

static void read_leg(struct pass *p, const struct cut_leg *leg)
{
    p->leg = leg;
    p->last = arena_zalloc(&p->c->a, (leg->n_ranges + 1) * sizeof *p->last);
    for (size_t i = 0; i < leg->n_intervals; i++)
        if (leg->intervals[i].iv.outcome != CAPTURE_DISARMED && bundle_find(&p->c->b->m, leg->intervals[i].capture))
            read_capture(p, &leg->intervals[i]);
}

int cut_rows(struct cut *c, struct stream_out *out, struct file_out *expected, struct err *err)
{
    struct pass p = {.c = c, .out = out, .expected = expected, .of_records = has_record_times(c)};
    p.values = xcalloc(c->scope.columns.n, sizeof(*p.values));
    for (size_t i = 0; i < c->n_legs; i++)
        read_leg(&p, &c->legs[i]);
    if (c->outside > 1)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_ROWS_ELSEWHERE), "%" PRIu64 " rows are so", c->outside);
    buf_free(&p.cells);
    buf_free(&p.text);
    buf_free(&p.again);
    free(p.values);
    arena_free(&p.line);
    if (p.expected_err.kind == ERR_NONE)
        return 0;
    *err = p.expected_err;
    return -1;
}
