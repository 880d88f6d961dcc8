/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref-bind: the rows of a reference artifact beside those that the stream
 * carries. The artifact is held to the stream's scope, to its own hashes and to
 * canonical cells; one that says it is incomplete is bound and gives no row,
 * unless all that it lacks is records that nobody could read.
 *
 * Exit: 0 bound, 2 refused (another scope, a file that is not as its writer
 * finished it, usage), 3 the reference is incomplete, the stream unfinished.
 */
#include "json/redact.h"
#include "reference/reference.h"
#include "scope/line.h"
#include "stream/absent.h"

#include <string.h>

struct options {
    const char *reference, *expected;
    uint64_t max_line;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("ref-bind --reference=FILE [options] <stream >stream\n"
                  "Add a reference's rows to a stream with a scope, and refuse one that was made for another scope."),
        OPT_TEXT("reference", "FILE", &o->reference, "the artifact, see owed-reference(5)"),
        OPT_TEXT("expected-out", "FILE", &o->expected, "write the rows to FILE too, one JSON object a line"),
        MODE_OPTION,
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 bound, 2 refused, 3 the reference is incomplete or the stream unfinished"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc != 0)
        return rc;
    return o->reference ? file_apart(o->expected, o->reference, err)
                        : err_set(err, ERR_REFUSED, "--reference is missing");
}

struct bind {
    struct options o;
    bool damaged; /* what the stream's scope rests on is: reconcile.scope did not pass */
    struct stream_out out;
    struct arena keep, line;
    const struct json *document; /* of the stream's scope line */
    struct scope scope;
    struct reference r;
    struct buf note; /* how the reference's scope asks otherwise of the same rows */
    struct file_out expected;
};

/* ---- the stream ---- */

static int on_scope(struct bind *b, const struct stream_line *line, struct err *err)
{
    if (b->document)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED), "stdin: line %" PRIu64 ": a second scope",
                        line->line_no);
    return stream_scope(line, &b->keep, &b->document, &b->scope, err) == 0 ? 0 : err_prefix(err, "stdin");
}

static int no_reference(const struct stream_line *line, bool has, struct err *err)
{
    if (!has)
        return 0;
    return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                    "stdin: line %" PRIu64 ": the stream has a reference already", line->line_no);
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct bind *b = ctx;
    struct stream_side side;
    struct stream_account account;
    struct check_line check;
    arena_reset(&b->line);
    switch (line->type) {
    case LINE_SCOPE: return on_scope(b, line, err);
    case LINE_SIDE:
        if (stream_side(line, &b->line, &side, err) != 0)
            return err_prefix(err, "stdin");
        return no_reference(line, side.side == SIDE_REFERENCE, err);
    case LINE_ABSENT: return no_reference(line, true, err);
    case LINE_ACCOUNT:
        if (stream_account(line, &b->line, &account, err) != 0)
            return err_prefix(err, "stdin");
        return no_reference(line, account.role == ACCOUNT_BINDER, err);
    case LINE_CHECK:
        if (stream_check(line, &b->line, &check, err) != 0)
            return err_prefix(err, "stdin");
        b->damaged |= check.name == CHECK_RECONCILE_SCOPE && check.status != STATUS_PASSED;
        return 0;
    default: return 0;
    }
}

/* ---- what is added ---- */

/* The rows, each held to its columns, and the keys that must be absent; those of an incomplete reference are checked
 * and not given. */
static int put_rows(struct bind *b, struct err *err)
{
    const struct stream_row *row;
    int rc;
    while ((rc = reference_next(&b->r, &row, err)) > 0) {
        if (!b->r.complete && !b->r.unreadable)
            continue;
        if (rc == 2) {
            stream_put_absent(&b->out, &b->r.key);
            continue;
        }
        stream_put_row(&b->out, row);
        if (b->o.expected && b->r.complete &&
            (file_add(&b->expected, b->r.text, b->r.text_len, err) != 0 || file_add(&b->expected, "\n", 1, err) != 0))
            return -1;
        if (b->out.broken)
            return err_set(err, ERR_TROUBLE, "standard output failed");
    }
    if (rc == 0 && b->o.expected && b->r.complete)
        return file_commit(&b->expected, err);
    return rc;
}

static void why_incomplete(const struct reference *r, struct buf *out)
{
    buf_adds(out, "the reference is incomplete: ");
    const struct json *reason = json_first(r->reasons);
    for (size_t i = 0; reason && i < 5; i++, reason = json_next(r->reasons, reason)) {
        if (i > 0)
            buf_adds(out, "; ");
        msg_mask(out, reason->str, reason->len);
    }
    if (r->reasons->len > 5)
        buf_printf(out, " and %" PRIu32 " more reasons", r->reasons->len - 5);
    buf_str(out);
}

/* What the artifact says, which anybody may have written: no credential of its goes on into a report. */
static struct account_text said(struct bind *b, const struct json *v, const char *without)
{
    struct buf text = BUF_INIT;
    if (v)
        redact_put(&text, v);
    else
        buf_adds(&text, without);
    struct account_text t = {arena_strndup(&b->keep, text.p, text.len), text.len};
    buf_free(&text);
    return t;
}

static void put_account(struct bind *b)
{
    static const char here[] = "[\"binding\",\"hashes\",\"cells\"]";
    const struct reference *r = &b->r;
    stream_put_account(&b->out, &(struct stream_account){.role = ACCOUNT_BINDER,
                                                         .complete = r->complete,
                                                         .cause = r->cause,
                                                         .reasons = said(b, r->reasons, "[]"),
                                                         .implementation = said(b, r->implementation, "null"),
                                                         .rows = {true, r->rows},
                                                         .absent = {r->absent > 0, r->absent},
                                                         .header_sha256 = r->header_sha256,
                                                         .rows_sha256 = r->rows_sha256,
                                                         .verified_here = {here, sizeof here - 1},
                                                         .verified_by_writer = said(b, r->verified, "[]"),
                                                         .recorded = said(b, r->recorded, "{}")});
}

/* All of it was read and holds: close the side and say so. */
static void conclude(struct bind *b)
{
    const struct reference *r = &b->r;
    const char *evidence[] = {b->o.reference, NULL};
    struct buf reason = BUF_INIT, counts = BUF_INIT;
    if (!r->complete) /* which whoever made it has said */
        why_incomplete(r, &reason);
    buf_printf(&counts, "{\"rows\":%" PRIu64 "}", r->rows);
    stream_put_side(&b->out,
                    &(struct stream_side){SIDE_REFERENCE, r->complete || r->unreadable ? r->rows : 0,
                                          r->complete || r->unreadable ? r->nearest : 0, r->complete, reason.p});
    stream_put_check(&b->out, CHECK_REFERENCE_SCOPE, r->complete ? STATUS_PASSED : STATUS_UNAVAILABLE,
                     r->cause.code != CODE_NONE ? &r->cause : BECAUSE(CODE_REFERENCE_NOT_WHOLE),
                     r->complete && b->note.len ? buf_str(&b->note) : reason.p, evidence, buf_str(&counts));
    put_account(b);
    buf_free(&reason);
    buf_free(&counts);
}

static void put_require(struct bind *b)
{
    stream_put_require(&b->out, &(struct run_known){.reference = true, .declared = b->scope.origin == SCOPE_DECLARED});
}

/* That the reference is of another scope than a damaged one is no refusal: the damage is the cause. */
static void follow(struct bind *b, const struct err *err)
{
    const char *scope = check_name_text(CHECK_RECONCILE_SCOPE);
    struct buf reason = BUF_INIT;
    buf_printf(&reason, "%s did not pass, and %s", scope, err->text);
    msg_error("%s", buf_str(&reason));
    put_require(b);
    stream_put_side(&b->out, &(struct stream_side){.side = SIDE_REFERENCE, .reason = buf_str(&reason)});
    stream_put_check(&b->out, CHECK_REFERENCE_SCOPE, STATUS_UNAVAILABLE,
                     BECAUSE(CODE_CHECK_NOT_PASSED, {"check", scope}), buf_str(&reason), NULL, NULL);
    buf_free(&reason);
}

static void work(struct bind *b)
{
    struct err err = ERR_INIT;
    if (!b->document) {
        err_set(&err, ERR_REFUSED, "stdin: no scope line: run this stage after one that writes the scope");
        stream_put_stop(&b->out, &err, CODE_SCOPE_LINE_MISSING);
        return;
    }
    if (b->o.expected && file_begin(&b->expected, b->o.expected, &err) != 0) {
        stream_put_stop(&b->out, &err, CODE_USAGE);
        return;
    }
    int rc = reference_open(&b->r, b->o.reference, (size_t)b->o.max_line, &err);
    if (rc == 0)
        rc = reference_bind(&b->r, b->document, &b->scope.columns, &b->note, &err);
    if (rc != 0 && b->damaged && err.cause.code == CODE_REFERENCE_OTHER) {
        follow(b, &err);
        return;
    }
    /* A record that nobody could read may hold the last row of any key. */
    if (rc == 0 && scope_final(&b->scope))
        b->r.unreadable = false;
    if (rc == 0) {
        put_require(b);
        rc = put_rows(b, &err);
    }
    if (rc == 0)
        conclude(b);
    else
        stream_put_stop(&b->out, &err, CODE_REFERENCE_MALFORMED);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct bind b = {.o = {.max_line = STREAM_MAX_LINE}, .r = {.fd = -1}, .expected = {.fd = -1}};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &b.o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return stream_refuse(&err, b.o.max_line);
    /* The rows that pass are checked by whoever uses them. */
    struct stream_in in = {.rows_unchecked = true};
    if (stream_filter(&in, &b.out, (size_t)b.o.max_line, on_line, &b))
        work(&b);
    status = stream_end(&b.out);
    reference_close(&b.r);
    file_drop(&b.expected);
    buf_free(&b.note);
    scope_free(&b.scope);
    stream_in_free(&in);
    stream_out_free(&b.out);
    arena_free(&b.keep);
    arena_free(&b.line);
    return status;
}
