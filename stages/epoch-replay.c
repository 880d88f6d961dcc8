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
#include "bundle/stage.h"
#include "replay/options.h"

struct options {
    struct replay_request r;
    const char *bundle;
    uint64_t max_line;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE(
            "epoch-replay [options] [BUNDLE]\n"
            "Drive captured epochs of a bundle again, each twice from where it started, and say whether that gives\n"
            "the same rows, and those that the job handed on: all epochs, or those of --op, --subtask and --epoch.\n"
            "Without BUNDLE the stream on standard input names it."),
        OPT_OPERAND(&o->bundle),
        REPLAY_OPTION_OP(&o->r.op),
        REPLAY_OPTION_SUBTASK(&o->r.subtask),
        REPLAY_OPTION_EPOCH(&o->r.epoch),
        OPT_U64("max-replays", &o->r.max, 1, UINT32_MAX,
                "epochs that are replayed; the rest is named and not checked (64)"),
        REPLAY_OPTION_BOUNDS(&o->r),
        OPT_TEXT("expected", "FILE", &o->r.expected,
                 "rows, one JSON object of values by column name a line, that the selected epochs of one\n"
                 "operator must give together"),
        STREAM_OPTION_SCRATCH(&o->r.scratch),
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 passed, 1 failed, 2 refused, 3 not everything could be replayed"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0)
        rc = replay_op_check(o->r.op, err);
    return rc == 0 ? bundle_stage_path(o->bundle, err) : rc;
}

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

static void replay(void *ctx, struct stream_out *out, struct bundle *b, bool intact, const volatile int *stop)
{
    const struct options *o = ctx;
    struct replay_answers answers;
    struct err err = ERR_INIT;
    if (o->r.expected)
        stream_put_require(out, &(struct run_known){.expected = true});
    if (!intact) {
        put_not_made(out, o);
        return;
    }
    if (replay_bundle(b, &o->r, stop, &answers, &err) != 0)
        stream_put_stop(out, &err, CODE_USAGE);
    else
        replay_put(out, &answers, o->r.expected != NULL);
    replay_answers_free(&answers);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.r = REPLAY_REQUEST_INIT, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return stream_refuse(&err, o.bundle ? STREAM_NO_INPUT : o.max_line);
    return bundle_stage_run(&(struct bundle_stage){
        .path = o.bundle, .max_line = o.max_line, .needs_files = true, .work = replay, .ctx = &o});
}
