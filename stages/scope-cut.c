/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope-cut: from a bundle, what one completed checkpoint owes its table: the
 * scope document, the columns, the intervals and the rows that the sink
 * received. Given a directory it begins a stream; otherwise it takes the bundle
 * from its input's `bundle` line and refuses another manifest than that line's.
 *
 * Exit: 0 the scope is whole, 1 a file is not what the manifest lists, 2 refused,
 * 3 evidence is missing or partial, or the job is not supported.
 */
#include "bundle/say.h"
#include "cut/cut.h"
#include "evidence/options.h"
#include "stream/check.h"

#include <string.h>

struct options {
    struct cut_request r;
    struct opt_list keys;
    unsigned coverage;
    const char *bundle, *out, *expected;
    uint64_t max_line;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("scope-cut [--key=COLUMN[,COLUMN...]] [options] [BUNDLE]\n"
                  "Cut the scope of a completed checkpoint and its captured rows from a bundle.\n"
                  "Without BUNDLE the stream on standard input names it."),
        OPT_OPERAND(&o->bundle),
        OPT_NAMES("key", "COLUMN,...", &o->keys, "the columns that name one row; may be repeated"),
        OPT_U64("checkpoint", &o->r.checkpoint, 1, UINT64_MAX,
                "the checkpoint (the one that the bundle was collected for)"),
        OPT_FLAG("from-run-start", &o->r.from_run_start,
                 "every interval from the run's start, not from the checkpoint before"),
        OPT_FLAG("repeats", &o->r.repeats,
                 "several rows under one key are meant where they are equal, and their copies count"),
        OPT_WORD("coverage", "selected-keys|complete-table", &o->coverage,
                 "complete-table: the table is dedicated to this one run, whose last rows are the\n"
                 "checkpoint's; then nothing else may be in it (selected-keys)"),
        EVIDENCE_OPTION_JOB(&o->r.job),
        OPT_TEXT("sink", "OPERATOR", &o->r.sink,
                 "the sink, where the bundle has several; or any of these to be held against it"),
        OPT_TEXT("database", "NAME", &o->r.database, "the sink's database"),
        OPT_TEXT("table", "NAME", &o->r.table, "the sink's table"),
        OPT_TEXT("out", "FILE", &o->out, "write the scope document to FILE too"),
        OPT_TEXT("expected-out", "FILE", &o->expected, "write the rows to FILE too, one JSON object a line"),
        MODE_OPTION,
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT(
            "0 whole, 1 a file is not what the manifest lists, 2 refused, 3 evidence is not whole or not supported"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc != 0)
        return rc;
    o->r.keys = o->keys.at;
    o->r.n_keys = o->keys.n;
    o->r.has_checkpoint = o->r.checkpoint != 0;
    o->r.complete_table = o->coverage == 1;
    return 0;
}

/* ---- the input ---- */

struct context {
    struct arena arena;
    struct stream_bundle bundle;
    bool has_bundle;
    bool checked;         /* a bundle.* check is there */
    struct buf unchecked; /* those that did not pass */
};

/* A bundle whose checks did not pass is not opened: what it would show is not evidence. */
static void leave_closed(struct stream_out *out, struct buf *unchecked)
{
    struct cause cause = *BECAUSE(CODE_CHECK_NOT_PASSED, {"check", "the checks of the bundle"});
    struct buf reason = BUF_INIT;
    struct err err = ERR_INIT;
    buf_printf(&reason, "the bundle was not read: %s", buf_str(unchecked));
    stream_put_check(out, CHECK_RECONCILE_SCOPE, STATUS_UNAVAILABLE, &cause, buf_str(&reason), NULL, NULL);
    err_fail(&err, ERR_TROUBLE, &cause, "%s", reason.p);
    stream_put_stop(out, &err, CODE_CHECK_NOT_PASSED);
    buf_free(&reason);
}

static int on_check(struct context *c, const struct stream_line *line, struct err *err)
{
    struct check_line check;
    const struct json *doc = json_parse_named(arena_strndup(&c->arena, line->p, line->n), line->n, &c->arena, "check",
                                              err);
    if (!doc || check_line_parse(doc, &c->arena, &check, err) != 0)
        return -1;
    if (check.name <= CHECK_BUNDLE_COMPLETENESS) {
        c->checked = true;
        bundle_not_passed(check.name, check.status, &c->unchecked);
    }
    return 0;
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct context *c = ctx;
    if (line->type == LINE_CHECK)
        return on_check(c, line, err);
    if (line->type == LINE_SCOPE)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 ": the stream has a scope already", line->line_no);
    if (line->type != LINE_BUNDLE)
        return 0;
    if (c->has_bundle)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 " is a second bundle line", line->line_no);
    c->has_bundle = true;
    return stream_bundle(line, &c->arena, &c->bundle, err);
}

/* ---- the output ---- */

static void put_require(struct stream_out *out, bool complete_table)
{
    stream_put_require(out, &(struct run_known){.scope = true, .complete_table = complete_table});
}

/* The delivery is checked whatever the job computes; what it should have computed is not known then. */
static void put_no_reference(struct cut *c, struct stream_out *out)
{
    static const enum check_name checks[] = {CHECK_REFERENCE_SCOPE, CHECK_REFERENCE_CAPTURE,
                                             CHECK_REFERENCE_DESTINATION};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        stream_put_check(out, checks[i], STATUS_UNSUPPORTED, BECAUSE(CODE_JOB_UNSUPPORTED), buf_str(&c->unknown), NULL,
                         NULL);
}

static void put_checks(struct cut *c, struct stream_out *out)
{
    struct buf counts = BUF_INIT;
    const char **evidence = arena_alloc(&c->a, (2 * c->n_intervals + 1) * sizeof *evidence);
    size_t n = 0;
    for (size_t i = 0; i < c->n_intervals && n < 200; i++) {
        evidence[n++] = c->intervals[i].path;
        evidence[n++] = c->intervals[i].capture;
    }
    evidence[n] = NULL;
    buf_printf(&counts, "{\"intervals\":%zu,\"epochs\":%zu,\"rows\":%" PRIu64, c->n_intervals, c->scope.bundle.n_epochs,
               c->rows);
    if (c->outside > 0)
        buf_printf(&counts, ",\"outside\":%" PRIu64, c->outside);
    if (c->without_at > 0)
        buf_printf(&counts, ",\"without_at\":%" PRIu64, c->without_at);
    buf_addc(&counts, '}');
    if (c->broken.len > 0)
        stream_put_check(out, CHECK_BUNDLE_ARTIFACTS, STATUS_FAILED, &c->broken_cause, buf_str(&c->broken), NULL, NULL);
    if (c->note.len > 0) {
        if (c->reason.len > 0)
            buf_adds(&c->reason, "; ");
        buf_add(&c->reason, c->note.p, c->note.len);
    }
    stream_put_check(out, CHECK_RECONCILE_SCOPE, c->status, &c->cause, c->reason.len ? buf_str(&c->reason) : "",
                     evidence, buf_str(&counts));
    if (c->unknown.len > 0)
        put_no_reference(c, out);
    /* A pass is for whoever reads the table. */
    if (c->uncovered.len > 0)
        stream_put_check(out, CHECK_DESTINATION_COVERAGE, STATUS_UNAVAILABLE, &c->uncovered_cause,
                         buf_str(&c->uncovered), NULL, NULL);
    buf_free(&counts);
}

static int write_document(struct cut *c, const char *path, struct err *err)
{
    struct buf text = BUF_INIT;
    scope_put(&text, &c->scope);
    buf_addc(&text, '\n');
    int rc = file_publish(path, text.p, text.len, err);
    buf_free(&text);
    return rc;
}

/* What stands behind cannot work without a scope: it is told to stop, and the check says why. */
static void put_no_scope(struct cut *c, struct stream_out *out)
{
    struct err err = ERR_INIT;
    put_checks(c, out);
    err_fail(&err, ERR_TROUBLE, &c->cause, "no scope: %s", buf_str(&c->reason));
    stream_put_stop(out, &err, CODE_NONE);
}

/* The rows, and with --expected-out the file of them, which is published only where they are whole. */
static int put_rows(struct cut *c, struct stream_out *out, const char *path, struct err *err)
{
    struct file_out f = {.fd = -1};
    int rc = path ? file_begin(&f, path, err) : 0;
    if (rc == 0)
        rc = cut_rows(c, out, path ? &f : NULL, err);
    if (rc == 0 && path && c->status == STATUS_PASSED)
        return file_commit(&f, err);
    file_drop(&f);
    return rc;
}

static void put_cut(struct cut *c, struct stream_out *out, const struct options *o)
{
    struct err err = ERR_INIT;
    if (!c->has_scope) {
        put_no_scope(c, out);
        return;
    }
    cut_put_head(c, out);
    if (put_rows(c, out, o->expected, &err) != 0) {
        stream_put_stop(out, &err, CODE_USAGE);
        return;
    }
    bool whole = c->status == STATUS_PASSED;
    stream_put_side(out, &(struct stream_side){SIDE_CAPTURED, c->rows, c->nearest, whole, buf_str(&c->reason)});
    put_checks(c, out);
    if (o->out && c->unknown.len == 0 && write_document(c, o->out, &err) != 0)
        stream_put_stop(out, &err, CODE_USAGE);
}

/* The checks that stand in the stream where bundle-check is before this; false once said that they did not pass. */
static bool is_whole(struct stream_out *out, struct bundle *b)
{
    struct buf unchecked = BUF_INIT;
    struct err err = ERR_INIT;
    bundle_put_integrity(out, b, true, NULL, &unchecked, &err);
    bool whole = unchecked.len == 0;
    if (!whole)
        leave_closed(out, &unchecked);
    buf_free(&unchecked);
    return whole;
}

static void work(struct stream_out *out, const struct options *o, const char *path, const struct stream_bundle *said,
                 bool checked)
{
    struct bundle b;
    struct cut c;
    struct err err = ERR_INIT;
    bool ok = bundle_open(&b, path, &err) == 0 && (!said || bundle_is(&b, said, &err) == 0);
    if (!ok) {
        stream_put_stop(out, &err, CODE_MANIFEST_MALFORMED);
        bundle_close(&b);
        return;
    }
    if (!said)
        stream_put_bundle(out, &(struct stream_bundle){path, b.sha256, b.m.job, b.m.checkpoint});
    put_require(out, o->r.complete_table);
    if (!checked && !is_whole(out, &b)) {
        bundle_close(&b);
        return;
    }
    if (cut_scope(&c, &b, &o->r, &err) != 0)
        stream_put_stop(out, &err, CODE_USAGE);
    else
        put_cut(&c, out, o);
    cut_free(&c);
    bundle_close(&b);
}

static void from_stream(struct stream_out *out, const struct options *o, struct context *c)
{
    struct err err = ERR_INIT;
    if (!c->has_bundle && err_set(&err, ERR_REFUSED, "stdin: no bundle line, and no bundle was named"))
        stream_put_stop(out, &err, CODE_BUNDLE_LINE_MISSING);
    else if (c->unchecked.len > 0) {
        put_require(out, o->r.complete_table);
        leave_closed(out, &c->unchecked);
    } else
        work(out, o, c->bundle.path, &c->bundle, c->checked);
}

static int run(const struct options *o)
{
    struct stream_out out;
    struct context c = {.arena = ARENA_INIT};
    struct stream_in in = {0};
    if (o->bundle) {
        stream_begin(&out, 1, NULL);
        work(&out, o, o->bundle, NULL, false);
    } else if (stream_filter(&in, &out, o->max_line, on_line, &c)) {
        from_stream(&out, o, &c);
    }
    int status = stream_end(&out);
    stream_out_free(&out);
    stream_in_free(&in);
    buf_free(&c.unchecked);
    arena_free(&c.arena);
    return status;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &o, &status, &err);
    if (rc < 0)
        status = stream_refuse(&err, o.bundle ? STREAM_NO_INPUT : o.max_line);
    else if (rc == 0)
        status = run(&o);
    opt_list_free(&o.keys);
    return status;
}
