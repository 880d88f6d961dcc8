/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch-replay: what the captured epochs of a bundle show when they are driven
 * again. Given a directory it begins a stream and checks the bundle's files
 * first; otherwise it takes the bundle from its input's `bundle` line and
 * refuses another manifest than that line's. Nothing is replayed where
 * bundle.artifacts did not pass.
 *
 * Exit: 0 every check passed, 1 one failed, 2 refused, 3 an epoch could not be
 * replayed or compared, or the input was unfinished.
 */
#include "bundle/say.h"
#include "evidence/places.h"
#include "replay/replay.h"
#include "stream/check.h"

#include <signal.h>
#include <string.h>

struct options {
    struct replay_request r;
    const char *bundle;
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
            "epoch-replay [options] [BUNDLE]\n"
            "Drive captured epochs of a bundle again, each twice from where it started, and say whether that gives\n"
            "the same rows, and those that the job handed on. Without BUNDLE the stream on standard input names it."),
        OPT_OPERAND(&o->bundle),
        OPT_TEXT("op", "OPERATOR", &o->r.op,
                 "select the epochs of this operator, and of those below; without any, all"),
        OPT_U64("subtask", &o->r.subtask, 0, UINT32_MAX, "the operator's subtask"),
        OPT_U64("epoch", &o->r.epoch, 1, UINT64_MAX - 1, "the epoch"),
        OPT_U64("max-replays", &o->r.max, 1, UINT32_MAX,
                "epochs that are replayed; the rest is named and not checked (64)"),
        OPT_U64("max-cpu-s", &o->r.cpu_s, 1, UINT32_MAX, "processor time of one replay of one epoch, in seconds (600)"),
        OPT_TEXT("expected", "FILE", &o->r.expected,
                 "rows, one JSON object of values by column name a line, that the selected epochs of one\n"
                 "operator must give together"),
        STREAM_OPTION_SCRATCH(&o->r.scratch),
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 passed, 1 failed, 2 refused, 3 not everything could be replayed"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && o->r.op && !evidence_operator_ok(o->r.op))
        return err_set(err, ERR_REFUSED, "--op=%s: an operator's id, a decimal number, is needed", o->r.op);
    return rc;
}

/* ---- the input ---- */

struct context {
    struct arena arena;
    struct stream_bundle bundle;
    bool has_bundle, checked, intact;
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
        return 0;
    }
    if (line->type != LINE_BUNDLE)
        return 0;
    if (c->has_bundle)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 " is a second bundle line", line->line_no);
    c->has_bundle = true;
    return stream_bundle(line, &c->arena, &c->bundle, err);
}

/* ---- the checks ---- */

static void put_not_made(struct stream_out *out, const struct options *o)
{
    static const enum check_name checks[] = {CHECK_REPLAY_DETERMINISM, CHECK_REPLAY_RECORDED_OUTPUT,
                                             CHECK_REPLAY_EXPECTED_OUTPUT};
    for (size_t i = 0; i < (o->r.expected ? 3 : 2); i++)
        stream_put_check(out, checks[i], STATUS_UNAVAILABLE,
                         BECAUSE(CODE_CHECK_NOT_PASSED, {"check", check_name_text(CHECK_BUNDLE_ARTIFACTS)}),
                         "nothing was replayed: the bundle's files are not shown to be what its manifest lists", NULL,
                         NULL);
}

static void replay(struct stream_out *out, const struct bundle *b, const struct options *o)
{
    struct sigaction act = {.sa_handler = on_signal};
    struct replay_answers answers;
    struct err err = ERR_INIT;
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    if (replay_bundle(b, &o->r, &signalled, &answers, &err) != 0)
        stream_put_stop(out, &err, CODE_USAGE);
    else
        replay_put(out, &answers, o->r.expected != NULL);
    replay_answers_free(&answers);
    if (!signalled)
        return;
    err_set(&err, ERR_TROUBLE, "not finished: interrupted by signal %d (%s)", signalled, strsignal(signalled));
    stream_put_stop(out, &err, CODE_INTERRUPTED);
}

/* c: what the input said, or NULL where the bundle was named. */
static void work(struct stream_out *out, const struct options *o, const char *path, const struct context *c)
{
    struct bundle b;
    struct err err = ERR_INIT;
    bool ok = bundle_open(&b, path, &err) == 0 && (!c || bundle_is(&b, &c->bundle, &err) == 0);
    if (!ok) {
        stream_put_stop(out, &err, CODE_MANIFEST_MALFORMED);
        bundle_close(&b);
        return;
    }
    if (!c)
        stream_put_bundle(out, &(struct stream_bundle){path, b.sha256, b.m.job, b.m.checkpoint});
    if (o->r.expected)
        stream_put_require(out, &(struct run_known){.expected = true});
    struct buf unchecked = BUF_INIT;
    bool intact = c && c->checked ? c->intact
                                  : bundle_put_integrity(out, &b, true, NULL, &unchecked, &err) == STATUS_PASSED;
    buf_free(&unchecked);
    if (intact)
        replay(out, &b, o);
    else
        put_not_made(out, o);
    bundle_close(&b);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.r = {.subtask = REPLAY_ANY, .epoch = REPLAY_ANY, .max = REPLAY_MAX, .cpu_s = REPLAY_CPU_S},
                        .max_line = STREAM_MAX_LINE};
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
        stream_begin(&out, 1, NULL);
        work(&out, &o, o.bundle, NULL);
    } else if (stream_filter(&in, &out, o.max_line, on_line, &c)) {
        if (c.has_bundle)
            work(&out, &o, c.bundle.path, &c);
        else if (err_set(&err, ERR_REFUSED, "stdin: no bundle line, and no bundle was named"))
            stream_put_stop(&out, &err, CODE_BUNDLE_LINE_MISSING);
    }
    status = stream_end(&out);
    stream_out_free(&out);
    stream_in_free(&in);
    arena_free(&c.arena);
    return status;
}
