/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An expectation: rows that another program computed, against the union of what
 * the selected epochs of one operator give, as multisets. A row is its values
 * by column name; a number and its text are one value, since a program may
 * write either.
 */
#include "replay/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows in one form, each a text in `text`. */
struct rows {
    struct buf text;
    struct buf ends; /* size_t each */
    size_t n;
};

struct expectation {
    struct rows expected, given;
};

/* ---- one form ---- */

static int by_name(const void *a, const void *b)
{
    const struct json *x = *(const struct json *const *)a, *y = *(const struct json *const *)b;
    size_t n = x->len < y->len ? x->len : y->len;
    int order = n ? memcmp(x->str, y->str, n) : 0;
    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static void put_value(struct buf *out, const struct json *v)
{
    if (v->type == JSON_NUMBER)
        json_put_str(out, v->str, v->len);
    else
        json_canonical(out, v);
}

static void put_row(struct rows *to, const struct json *values)
{
    const struct json **names = xcalloc(values->len + 1, sizeof(*names));
    size_t n = 0;
    for (const struct json *m = json_first(values); m; m = json_next(values, m))
        names[n++] = m;
    qsort(names, n, sizeof(*names), by_name);
    for (size_t i = 0; i < n; i++) {
        json_put_str(&to->text, names[i]->str, names[i]->len);
        buf_addc(&to->text, ':');
        put_value(&to->text, json_value(names[i]));
        buf_addc(&to->text, ' ');
    }
    free(names);
    buf_add(&to->ends, &to->text.len, sizeof to->text.len);
    to->n++;
}

/* wrapped: the row stands in the line's `values`. */
static int read_rows(struct rows *to, int fd, const char *name, bool wrapped, struct err *err)
{
    struct line_in in;
    struct arena a = ARENA_INIT;
    const char *text;
    size_t n;
    int got = 0;
    line_in_init(&in, fd, name, STREAM_MAX_LINE);
    while (got == 0 && (got = line_in_next(&in, &text, &n, err)) == 1) {
        arena_reset(&a);
        struct json_error e;
        const struct json *doc = json_parse(text, n, &a, &e), *values = wrapped ? json_get(doc, "values") : doc;
        if (!doc)
            got = err_set(err, ERR_REFUSED, "%s: line %" PRIu64 ": byte %zu: %s", name, in.line_no, e.offset + 1,
                          e.why);
        else if (!values || values->type != JSON_OBJECT)
            got = err_set(err, ERR_REFUSED, "%s: line %" PRIu64 " is no object of values by column name", name,
                          in.line_no);
        else
            put_row(to, values);
        got = got == 1 ? 0 : got;
    }
    line_in_free(&in);
    arena_free(&a);
    return got;
}

/* ---- two multisets ---- */

struct row {
    const char *p;
    size_t n;
};

static int by_text(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    int order = n ? memcmp(x->p, y->p, n) : 0;
    return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

static struct row *sorted(const struct rows *r)
{
    struct row *all = xcalloc(r->n + 1, sizeof *all);
    size_t from = 0;
    for (size_t i = 0; i < r->n; i++) {
        size_t to;
        memcpy(&to, r->ends.p + i * sizeof to, sizeof to);
        all[i] = (struct row){r->text.p + from, to - from};
        from = to;
    }
    qsort(all, r->n, sizeof *all, by_text);
    return all;
}

struct outcome expectation_decide(struct expectation *x, struct replay *p, bool whole)
{
    struct row *want = sorted(&x->expected), *have = sorted(&x->given);
    const struct row *extra = NULL, *lacking = NULL;
    uint64_t extras = 0, lacks = 0;
    for (size_t i = 0, k = 0; i < x->expected.n || k < x->given.n;) {
        int order = i == x->expected.n ? 1 : k == x->given.n ? -1 : by_text(&want[i], &have[k]);
        if (order > 0 && extras++ == 0)
            extra = &have[k];
        if (order < 0 && lacks++ == 0)
            lacking = &want[i];
        i += order <= 0;
        k += order >= 0;
    }
    struct outcome o = {.is = REPLAY_PASSED};
    if (extras > 0)
        outcome_set(p, &o, REPLAY_FAILED, BECAUSE(CODE_EXPECTATION_DIFFERS),
                    "%" PRIu64 " rows of the replay are not expected, such as %s", extras,
                    replay_shown(p, extra->p, extra->n));
    else if (lacks > 0 && whole)
        outcome_set(p, &o, REPLAY_FAILED, BECAUSE(CODE_EXPECTATION_DIFFERS),
                    "%" PRIu64 " expected rows are not among the replay's %zu, such as %s", lacks, x->given.n,
                    replay_shown(p, lacking->p, lacking->n));
    else if (lacks > 0)
        outcome_set(p, &o, REPLAY_UNAVAILABLE, BECAUSE(CODE_REPLAY_PARTIAL),
                    "%" PRIu64
                    " expected rows are not among the replay's, such as %s, and not every selected epoch was "
                    "replayed whole",
                    lacks, replay_shown(p, lacking->p, lacking->n));
    free(want);
    free(have);
    return o;
}

/* ---- files ---- */

int expectation_open(struct expectation **out, struct replay *p, struct err *err)
{
    struct expectation *x = xcalloc(1, sizeof *x);
    int fd = open(p->r->expected, O_RDONLY | O_CLOEXEC),
        rc = fd < 0 ? err_sys(err, "--expected: cannot open '%s'", p->r->expected) : 0;
    if (rc == 0)
        rc = read_rows(&x->expected, fd, p->r->expected, false, err);
    if (fd >= 0)
        close(fd);
    *out = x;
    return rc;
}

int expectation_add(struct expectation *x, int fd, struct err *err)
{
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_sys(err, "cannot read the scratch file");
    return read_rows(&x->given, fd, "the replay's rows", true, err);
}

void expectation_close(struct expectation *x)
{
    if (!x)
        return;
    buf_free(&x->expected.text);
    buf_free(&x->expected.ends);
    buf_free(&x->given.text);
    buf_free(&x->given.ends);
    free(x);
}
