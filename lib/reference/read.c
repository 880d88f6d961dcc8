/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading an artifact. Its last line is read first, since a reference that says
 * it is incomplete must not give one row; then the lines once, in order, hashed
 * as they are used.
 */
#include "reference/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL ((size_t)64 << 10)

static const char row_head[] = "{\"cells\":[", absent_head[] = "{\"absent\":[";

/* ---- the last line ---- */

/* Read the file's last n bytes behind what tail holds (nothing). */
static int read_tail(const struct reference *r, uint64_t size, size_t n, struct buf *tail, struct err *err)
{
    buf_reset(tail);
    buf_reserve(tail, n);
    while (tail->len < n) {
        ssize_t got = pread(r->fd, tail->p + tail->len, n - tail->len, (off_t)(size - n + tail->len));
        if (got < 0)
            return err_sys(err, "cannot read");
        if (got == 0)
            return err_set(err, ERR_TROUBLE, "it became shorter while it was read");
        tail->len += (size_t)got;
    }
    return 0;
}

static int keep_end(struct reference *r, const char *line, size_t n, struct err *err)
{
    r->end_line = arena_strndup(&r->arena, line, n);
    r->end_len = n;
    return reference_end_parse(r, line, n, err);
}

static int find_end(struct reference *r, uint64_t size, size_t max_line, struct buf *tail, struct err *err)
{
    for (size_t n = TAIL;; n *= 2) {
        bool all = n >= size;
        size_t take = all ? (size_t)size : n;
        if (read_tail(r, size, take, tail, err) != 0)
            return -1;
        if (take == 0 || tail->p[take - 1] != '\n')
            return err_set(err, ERR_REFUSED, take == 0 ? "empty" : "no end line: cut in the middle of a line");
        const char *before = memrchr(tail->p, '\n', take - 1);
        if (before)
            return keep_end(r, before + 1, (size_t)(tail->p + take - 1 - (before + 1)), err);
        if (all)
            return err_set(err, ERR_REFUSED, "no end line: one line alone");
        if (take > max_line)
            return err_set(err, ERR_REFUSED, "its last line is longer than %zu bytes", max_line);
    }
}

/* ---- the header ---- */

/* A line of the file; a cut one is no fault of the system's. */
static int next_line(struct reference *r, const char **p, size_t *n, struct err *err)
{
    int rc = line_in_next(&r->lines, p, n, err);
    if (rc < 0 && r->lines.eof) {
        err->kind = ERR_REFUSED;
        err->sys = 0;
    }
    return rc;
}

static int read_head(struct reference *r, struct err *err)
{
    const char *p;
    size_t n;
    char sha[SHA256_HEX + 1];
    int rc = next_line(r, &p, &n, err);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(err, ERR_REFUSED, "empty");
    if (reference_head_parse(r, p, n, err) != 0)
        return -1;
    sha256_of(p, n + 1, sha);
    if (strcmp(sha, r->header_sha256) != 0)
        return err_set(err, ERR_REFUSED,
                       "its header is not the one that its end line has the hash of (%.12s, not %.12s)", sha,
                       r->header_sha256);
    return 0;
}

static int open_all(struct reference *r, size_t max_line, struct err *err)
{
    struct stat st;
    struct buf tail = BUF_INIT;
    if (fstat(r->fd, &st) != 0)
        return err_sys(err, "cannot look at it");
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_REFUSED, "not a regular file");
    int rc = find_end(r, (uint64_t)st.st_size, max_line, &tail, err);
    buf_free(&tail);
    return rc == 0 ? read_head(r, err) : -1;
}

int reference_open_fd(struct reference *r, int fd, const char *name, size_t max_line, struct err *err)
{
    *r = (struct reference){.fd = fd, .name = name, .arena = ARENA_INIT, .line = ARENA_INIT};
    line_in_init(&r->lines, fd, name, max_line);
    sha256_init(&r->hash);
    return open_all(r, max_line, err) == 0 ? 0 : err_prefix(err, "reference '%s'", name);
}

int reference_open(struct reference *r, const char *name, size_t max_line, struct err *err)
{
    /* Not to wait for a writer where a pipe stands there. */
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        err_sys(err, "cannot open the reference '%s'", name);
        *r = (struct reference){.fd = -1};
        return -1;
    }
    return reference_open_fd(r, fd, name, max_line, err);
}

void reference_close(struct reference *r)
{
    char unused[SHA256_HEX + 1];
    if (r->fd < 0)
        return;
    if (r->hash.ctx)
        sha256_hex(&r->hash, unused);
    line_in_free(&r->lines);
    arena_free(&r->arena);
    arena_free(&r->line);
    buf_free(&r->key_row);
    free(r->ends);
    close(r->fd);
    r->fd = -1;
}

/* ---- binding ---- */

/* A scope that asks otherwise is not this one's text with its fingerprint, so that it is held to its own. */
static int bind_other(const struct reference *r, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct scope s;
    int rc = scope_parse_json(r->scope, &a, &s, err);
    scope_free(&s);
    arena_free(&a);
    return rc == 0 ? 0 : err_prefix(err, "reference '%s': header", r->name);
}

int reference_bind(struct reference *r, const struct json *document, const struct columns *columns, struct buf *note,
                   struct err *err)
{
    struct buf where = BUF_INIT;
    r->columns = columns;
    r->ends = xcalloc(columns->n, sizeof *r->ends);
    int rc = 0;
    if (scope_owes_other(document, r->scope, &where)) {
        where.len -= strlen(" there");
        rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_REFERENCE_OTHER, {"field", buf_str(&where)}),
                      "reference '%s' is of another scope: %s in the reference", r->name, buf_str(&where));
    } else if (scope_differs(document, r->scope, &where)) {
        where.len -= strlen(" there");
        if (note)
            buf_printf(
                note, "the reference was computed from the same under a scope that asks otherwise: %s in the reference",
                buf_str(&where));
        rc = bind_other(r, err);
    }
    buf_free(&where);
    return rc;
}

/* ---- rows ---- */

static int bad_line(const struct reference *r, const char *why, struct err *err)
{
    return err_set(err, ERR_REFUSED, "reference '%s': line %" PRIu64 ": %s", r->name, r->lines.line_no, why);
}

/* What is not a row as it must be spelled: the end line, or refused. 0 at the end. */
static int other_line(struct reference *r, const char *p, size_t n, struct err *err)
{
    char sha[SHA256_HEX + 1];
    if (n != r->end_len || memcmp(p, r->end_line, n) != 0)
        return bad_line(
            r,
            "not a row, which is {\"cells\":[…],\"at\":\"…\",\"ts\":…}, {\"cells\":[…],\"at\":\"…\"} or {\"cells\":[…]} without a space between its tokens",
            err);
    int rc = next_line(r, &p, &n, err);
    if (rc < 0)
        return err_prefix(err, "reference '%s'", r->name);
    if (rc > 0)
        return bad_line(r, "something follows the end line", err);
    if (r->seen != r->rows)
        return err_set(err, ERR_REFUSED, "reference '%s': its end line counts %" PRIu64 " rows, there are %" PRIu64,
                       r->name, r->rows, r->seen);
    if (r->seen_absent != r->absent)
        return err_set(err, ERR_REFUSED,
                       "reference '%s': its end line counts %" PRIu64 " keys that must be absent, there are %" PRIu64,
                       r->name, r->absent, r->seen_absent);
    sha256_hex(&r->hash, sha);
    if (strcmp(sha, r->rows_sha256) != 0)
        return err_set(err, ERR_REFUSED,
                       "reference '%s': its rows are not those that its end line has the hash of (%.12s, not %.12s)",
                       r->name, sha, r->rows_sha256);
    return 0;
}

/* Each cell is canonical for its column: of a key, those of its columns. */
static int check_cells(struct reference *r, const char *cells, size_t cells_len, bool key, struct err *err)
{
    const char *why = "";
    size_t len, n = r->columns->n;
    if (!cells_scan_row(cells, cells_len, n, &len, r->ends, n, &why))
        return bad_line(r, why, err);
    if (len != cells_len)
        return bad_line(r, "something between its cells and the next member", err);
    const struct column *c = cells_row_misfit(r->columns, cells, r->ends, key, &why);
    return c ? err_set(err, ERR_REFUSED, "reference '%s': line %" PRIu64 ": column '%s': %s", r->name, r->lines.line_no,
                       c->name, why)
             : 0;
}

/* A key that must be absent, as its writer spells it. */
static int next_key(struct reference *r, const struct stream_line *line, struct err *err)
{
    static const char *const known[] = {"absent", "at", "why", NULL};
    const char *why = "";
    arena_reset(&r->line);
    buf_reset(&r->key_row);
    const struct json *doc = json_parse_named(arena_strndup(&r->line, line->p, line->n), line->n, &r->line, "absent",
                                              err);
    if (!doc || json_only(doc, known, "absent", err) != 0 || absent_parse(doc, "absent", &r->key, err) != 0)
        return err_prefix(err, "reference '%s': line %" PRIu64, r->name, line->line_no);
    buf_adds(&r->key_row, "{\"absent\":");
    buf_add(&r->key_row, r->key.key, r->key.key_len);
    absent_put(&r->key_row, &r->key);
    buf_addc(&r->key_row, '}');
    if (!buf_is(&r->key_row, line->p, line->n))
        return bad_line(
            r,
            "a key that must be absent is {\"absent\":[…],\"at\":\"…\",\"why\":\"…\"} without a space between its tokens",
            err);
    buf_reset(&r->key_row);
    if (!cells_key_row(r->columns, r->key.key, r->key.key_len, &r->key_row, &why))
        return bad_line(r, why, err);
    if (check_cells(r, r->key_row.p, r->key_row.len, true, err) != 0)
        return -1;
    if ((r->complete || r->unreadable) && r->key.why == ABSENT_DELETED &&
        cells_row_unfit(r->key_row.p, r->ends, r->columns->n))
        return bad_line(r, "a deleted key that does not fit its columns: what it takes away is not known", err);
    sha256_add(&r->hash, line->p, line->n + 1);
    r->seen_absent++;
    return 2;
}

int reference_next(struct reference *r, const struct stream_row **row, struct err *err)
{
    struct stream_line line = {.type = LINE_ROW};
    int rc = next_line(r, &line.p, &line.n, err);
    if (rc < 0)
        return err_prefix(err, "reference '%s'", r->name);
    if (rc == 0)
        return bad_line(r, "no end line", err);
    line.line_no = r->lines.line_no;
    if (line.n >= sizeof absent_head - 1 && memcmp(line.p, absent_head, sizeof absent_head - 1) == 0)
        return next_key(r, &line, err);
    if (line.n < sizeof row_head - 1 || memcmp(line.p, row_head, sizeof row_head - 1) != 0)
        return other_line(r, line.p, line.n, err);
    r->row = (struct stream_row){.side = SIDE_REFERENCE};
    if (stream_row_tail(&line, line.p + sizeof row_head - 2, &r->row, err) != 0)
        return err_prefix(err, "reference '%s'", r->name);
    if (r->row.again)
        return bad_line(r, "a row of a reference with again", err);
    if (r->row.at && !stream_place_ok(r->row.at, r->row.at_len))
        return bad_line(r, "its at is not topic/partition/offset", err);
    if (check_cells(r, r->row.cells, r->row.cells_len, false, err) != 0)
        return -1;
    sha256_add(&r->hash, line.p, line.n + 1);
    r->seen++;
    r->text = line.p;
    r->text_len = line.n;
    *row = &r->row;
    return 1;
}
