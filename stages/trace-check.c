/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace-check: what a job's processes say they did for its checkpoints, against
 * the protocol's model. Given a bundle it begins a stream; otherwise it takes the
 * `bundle` line of its input and refuses another manifest than that line's.
 *
 * Exit: 0 both checks passed, 1 one failed, 2 refused, 3 one is unavailable or
 * unsupported, or the input was unfinished.
 */
#include "bundle/say.h"
#include "bundle/stage.h"
#include "trace/trace.h"

struct options {
    const char *bundle; /* NULL: from the stream */
    uint64_t max_line;
};

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
    return rc == 0 ? bundle_stage_path(o->bundle, err) : rc;
}

static void not_made(struct stream_out *out, enum check_name name, enum check_name because)
{
    struct buf reason = BUF_INIT;
    buf_printf(&reason, "%s did not pass", check_name_text(because));
    stream_put_check(out, name, STATUS_UNAVAILABLE, BECAUSE(CODE_CHECK_NOT_PASSED, {"check", check_name_text(because)}),
                     buf_str(&reason), NULL, NULL);
    buf_free(&reason);
}

static void check_traces(struct stream_out *out, const struct bundle *b, const volatile int *stop)
{
    struct bundle_finding f;
    struct traces t;
    struct buf counts = BUF_INIT;
    bundle_finding_init(&f);
    traces_read(b, &t, stop, &f);
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

static void work(void *ctx, struct stream_out *out, struct bundle *b, bool intact, const volatile int *stop)
{
    (void)ctx;
    if (intact) {
        check_traces(out, b, stop);
        return;
    }
    not_made(out, CHECK_PROTOCOL_TRACE_STRUCTURE, CHECK_BUNDLE_ARTIFACTS);
    not_made(out, CHECK_PROTOCOL_CONFORMANCE, CHECK_BUNDLE_ARTIFACTS);
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
    return bundle_stage_run(
        &(struct bundle_stage){.path = o.bundle, .max_line = o.max_line, .needs_files = true, .work = work});
}
