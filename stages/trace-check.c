/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace-check: what a job's processes say they did for its checkpoints, against
 * the protocol's model. Given a bundle it begins a stream; otherwise it takes the
 * `bundle` line of its input and refuses another manifest than that line's.
 *
 * Exit: 0 both checks passed, 1 one failed, 2 refused, 3 one is unavailable or
 * unsupported, or the input was unfinished.
 */
#include "bundle/bundle.h"
#include "bundle/say.h"
#include "stream/stream.h"
#include "trace/trace.h"

#include <signal.h>
#include <string.h>

struct options {
    const char *bundle; /* NULL: from the stream */
    uint64_t max_line;
};

static volatile int signalled;

static void on_signal(int number)
{
    signalled = number;
}

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE(
            "trace-check [options] [BUNDLE]\n"
            "Hold the traces of a job's processes against the checkpoint protocol's model. Without BUNDLE the stream\n"
            "on standard input names it."),
        OPT_OPERAND(&o->bundle), STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 passed, 1 failed, 2 refused, 3 not everything could be checked"), OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && o->bundle && !utf8_valid(o->bundle, strlen(o->bundle)))
        return err_set(err, ERR_REFUSED, "the bundle's path is not UTF-8: no stream can name it");
    return rc;
}

struct context {
    struct arena arena;
    struct stream_bundle bundle;
    bool has_bundle, checked, intact; /* intact: bundle.artifacts passed, as often as it was made */
};

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct context *c = ctx;
    struct check_line check;
    if (line->type == LINE_CHECK) {
        if (stream_check(line, &c->arena, &check, err) != 0)
            return -1;
        if (check.name == CHECK_BUNDLE_ARTIFACTS) {
            c->intact = check.status == STATUS_PASSED && (c->intact || !c->checked);
            c->checked = true;
        }
    }
    if (line->type != LINE_BUNDLE)
        return 0;
    if (c->has_bundle)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 " is a second bundle line", line->line_no);
    c->has_bundle = true;
    return stream_bundle(line, &c->arena, &c->bundle, err);
}

static void not_made(struct stream_out *out, enum check_name name, enum check_name because)
{
    struct buf reason = BUF_INIT;
    buf_printf(&reason, "%s did not pass", check_name_text(because));
    stream_put_check(out, name, STATUS_UNAVAILABLE, BECAUSE(CODE_CHECK_NOT_PASSED, {"check", check_name_text(because)}),
                     buf_str(&reason), NULL, NULL);
    buf_free(&reason);
}

static void check_traces(struct stream_out *out, const struct bundle *b)
{
    struct bundle_finding f;
    struct traces t;
    struct buf counts = BUF_INIT;
    bundle_finding_init(&f);
    traces_read(b, &t, &signalled, &f);
    bool any = t.n > 0;
    struct cause cause = f.unavailable.total ? f.unavailable.cause : CAUSE_INIT;
    enum status status = bundle_put_finding(out, CHECK_PROTOCOL_TRACE_STRUCTURE, &f);
    if (!any && status == STATUS_UNAVAILABLE && cause.code == CODE_TRACES_NOT_COLLECTED) {
        stream_put_check(out, CHECK_PROTOCOL_CONFORMANCE, STATUS_UNAVAILABLE, &cause, "the bundle holds no traces",
                         NULL, NULL);
    } else if (!any || t.broken || status == STATUS_FAILED) {
        not_made(out, CHECK_PROTOCOL_CONFORMANCE, CHECK_PROTOCOL_TRACE_STRUCTURE);
    } else {
        bundle_finding_init(&f);
        traces_conform(b, &t, &counts, &f);
        bundle_put_counted(out, CHECK_PROTOCOL_CONFORMANCE, &f, buf_str(&counts));
    }
    buf_free(&counts);
    traces_free(&t);
}

static void work(struct stream_out *out, const char *path, const struct context *c)
{
    struct bundle b;
    struct err err = ERR_INIT;
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    struct buf unchecked = BUF_INIT;
    if (bundle_open(&b, path, &err) != 0 || (c && bundle_is(&b, &c->bundle, &err) != 0)) {
        stream_put_stop(out, &err, CODE_MANIFEST_MALFORMED);
        bundle_close(&b);
        return;
    }
    if (!c)
        stream_put_bundle(out, &(struct stream_bundle){path, b.sha256, b.m.job, b.m.checkpoint});
    bool intact = c ? c->intact : bundle_put_integrity(out, &b, false, &signalled, &unchecked, &err) == STATUS_PASSED;
    if (intact) {
        check_traces(out, &b);
    } else {
        not_made(out, CHECK_PROTOCOL_TRACE_STRUCTURE, CHECK_BUNDLE_ARTIFACTS);
        not_made(out, CHECK_PROTOCOL_CONFORMANCE, CHECK_BUNDLE_ARTIFACTS);
    }
    if (signalled) {
        err_set(&err, ERR_TROUBLE, "not finished: interrupted by signal %d (%s)", signalled, strsignal(signalled));
        stream_put_stop(out, &err, CODE_INTERRUPTED);
    }
    buf_free(&unchecked);
    bundle_close(&b);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return stream_refuse(&err, o.bundle ? STREAM_NO_INPUT : o.max_line);
    struct stream_out out;
    struct context c = {.arena = ARENA_INIT};
    struct stream_in in = {0};
    if (o.bundle) {
        stream_begin(&out, STDOUT_FILENO, NULL);
        work(&out, o.bundle, NULL);
    } else if (stream_filter(&in, &out, o.max_line, on_line, &c)) {
        if (c.has_bundle)
            work(&out, c.bundle.path, &c);
        else if (err_set(&err, ERR_REFUSED, "stdin: no bundle line, and no bundle was named"))
            stream_put_stop(&out, &err, CODE_BUNDLE_LINE_MISSING);
    }
    status = stream_end(&out);
    stream_out_free(&out);
    stream_in_free(&in);
    arena_free(&c.arena);
    return status;
}
