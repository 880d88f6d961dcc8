/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The captured rows: each event of the scope's captures as canonical cells, in
 * the order the sink received them. The bytes are hashed while they are used,
 * so that no row outlives a capture that is not the manifest's.
 */
#include "cut/internal.h"
#include "evidence/capture.h"
#include "stream/again.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pass {
    struct cut *c;
    struct stream_out *out;
    struct file_out *expected; /* or NULL */
    struct err expected_err;   /* of writing it */
    struct buf cells, text;
    struct buf again; /* of the row before, in the same interval */
    struct arena line;
    const struct json **values; /* of a row, by column */
    bool said_name;
};

/* The text of `at`, or NULL; what a row line cannot carry, which is anything that needs an escape, is left out. */
static const char *at_of(const struct json *event, size_t *n)
{
    const struct json *at = json_get(event, "at");
    if (!at || at->type != JSON_STRING || at->len == 0 || at->escaped)
        return NULL;
    *n = at->len;
    return at->str;
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
    const struct json *other = columns_spread(all, values, p->values);
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

/* How many runs a restore can have discarded before the scope's own, each of which can have written a row once: one
 * that began named an epoch, and its successor numbers on from there. */
static uint64_t discarded_runs(const struct cut *c)
{
    if (c->scope.bundle.start != SCOPE_FROM_RESTORE)
        return 0;
    uint64_t first = c->intervals[0].iv.epoch, from = c->scope.bundle.restored_from;
    return first > from + 1 ? first - from - 1 : 1;
}

/* What the row's INSERT and the scope's start say of how often it may have been written. */
static const char *again_of(struct pass *p, const struct interval *iv, uint64_t index, size_t *entry)
{
    size_t at = *entry;
    while (at < iv->n_ledger && index >= iv->ledger[at].first + iv->ledger[at].rows)
        at++;
    if (index > 0 && at == *entry)
        return p->again.len ? buf_str(&p->again) : NULL;
    struct again a = {.replayed = copies(discarded_runs(p->c))};
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
static void put_expected(struct pass *p, const char *at, size_t at_len)
{
    if (!p->expected || p->expected_err.kind != ERR_NONE)
        return;
    buf_reset(&p->text);
    buf_adds(&p->text, "{\"cells\":");
    buf_add(&p->text, p->cells.p, p->cells.len);
    if (at)
        buf_printf(&p->text, ",\"at\":\"%.*s\"", (int)at_len, at);
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
    size_t at_len = 0;
    const char *at = at_of(event, &at_len);
    cells_of(p, values, where, line);
    stream_put_row(p->out, SIDE_CAPTURED, p->cells.p, p->cells.len, at, at_len, again);
    put_expected(p, at, at_len);
    p->c->rows++;
    return 0;
}

static int header_fits(const struct cut_interval *i, const struct capture_header *h, struct err *err)
{
    const struct interval *iv = &i->iv;
    if (strcmp(h->job, iv->job) != 0 || strcmp(h->operator_id, iv->operator_id) != 0 || h->subtask != iv->subtask ||
        h->epoch != iv->epoch || strcmp(h->attempt, iv->attempt) != 0)
        return err_set(err, ERR_REFUSED, "'%s': its header names another interval or attempt than '%s'", i->capture,
                       i->path);
    if (h->seen != iv->seen || h->stored != iv->stored || h->truncated != iv->truncated)
        return err_set(err, ERR_REFUSED, "'%s': its header counts %" PRIu64 " rows, '%s' counts %" PRIu64, i->capture,
                       h->seen, i->path, iv->seen);
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

static int check_digest(struct capture_reader *r, const struct bundle_artifact *f, struct err *err)
{
    uint64_t bytes;
    char sha[SHA256_HEX + 1];
    capture_read_digest(r, &bytes, sha);
    if (bytes == f->bytes && strcmp(sha, f->sha256) == 0)
        return 0;
    return err_fail(err, ERR_CHANGED, BECAUSE(CODE_ARTIFACT_CHANGED),
                    "'%s' is not what the manifest lists: %" PRIu64 " bytes, SHA-256 %s", f->path, bytes, sha);
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
    if (rc == 0)
        rc = header_fits(i, &r.h, &err);
    if (rc == 0)
        rc = read_lines(p, i, &r, &err);
    if (rc == 0)
        rc = check_digest(&r, f, &err);
    else /* what is not the manifest's file is that, whatever it holds */
        bundle_hold(f, fd, &err);
    if (rc != 0)
        cut_say_read(p->c, i->capture, &err, CODE_CAPTURE_MALFORMED);
    capture_read_close(&r);
    close(fd);
}

int cut_rows(struct cut *c, struct stream_out *out, struct file_out *expected, struct err *err)
{
    struct pass p = {.c = c, .out = out, .expected = expected};
    p.values = xcalloc(c->scope.columns.n, sizeof(*p.values));
    for (size_t i = 0; i < c->n_intervals; i++) {
        const struct interval *iv = &c->intervals[i].iv;
        if (iv->outcome != CAPTURE_DISARMED && bundle_find(&c->b->m, c->intervals[i].capture))
            read_capture(&p, &c->intervals[i]);
    }
    buf_free(&p.cells);
    buf_free(&p.text);
    buf_free(&p.again);
    arena_free(&p.line);
    free(p.values);
    if (p.expected_err.kind == ERR_NONE)
        return 0;
    *err = p.expected_err;
    return -1;
}
