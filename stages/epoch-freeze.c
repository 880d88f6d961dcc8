/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch-freeze: writes one captured epoch of a bundle as a regression case, after
 * it was replayed and the case was run. Given a directory it begins a stream and
 * checks the bundle's files first; otherwise it takes the bundle from its
 * input's `bundle` line. A refusal leaves nothing at --out and nothing beside it.
 *
 * Exit: 0 written, 1 refused, 2 bad usage or a bundle that cannot be read as
 * one, 3 trouble, or the input was unfinished.
 */
#include "bundle/stage.h"
#include "replay/case.h"
#include "replay/options.h"

struct options {
    struct freeze_request f;
    const char *bundle;
    uint64_t max_line;
    bool refused;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    struct replay_request *r = &o->f.r;
    const struct opt table[] = {
        OPT_USAGE(
            "epoch-freeze --op=OPERATOR --epoch=N --out=DIR [options] [BUNDLE]\n"
            "Write one captured epoch of a bundle as a regression case: the epoch, the state that it starts from,\n"
            "and the rows that it gives. Without BUNDLE the stream on standard input names it."),
        OPT_OPERAND(&o->bundle),
        REPLAY_OPTION_OP(&r->op),
        REPLAY_OPTION_SUBTASK(&r->subtask),
        REPLAY_OPTION_EPOCH(&r->epoch),
        OPT_TEXT("out", "DIR", &o->f.out, "the case, which must not be there yet"),
        REPLAY_OPTION_BOUNDS(r),
        STREAM_OPTION_SCRATCH(&r->scratch),
        STREAM_OPTIONS(&o->max_line),
        MODE_OPTION,
        OPT_EXIT("0 written, 1 refused (nothing is left), 2 bad usage, 3 trouble"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc != 0)
        return rc;
    if (!r->op || r->epoch == REPLAY_ANY || !o->f.out)
        return err_set(err, ERR_REFUSED, "--op, --epoch and --out are needed");
    if (replay_op_check(r->op, err) != 0)
        return -1;
    return bundle_stage_path(o->bundle, err);
}

static void freeze(void *ctx, struct stream_out *out, struct bundle *b, bool intact, const volatile int *stop)
{
    struct options *o = ctx;
    struct frozen frozen = {.note = BUF_INIT, .arena = ARENA_INIT};
    struct err err = ERR_INIT;
    int rc = -1;
    if (!intact || out->checks[STATUS_FAILED] > 0)
        err_fail(&err, ERR_REFUSED,
                 BECAUSE(CODE_CHECK_NOT_PASSED, {"check", intact ? NULL : check_name_text(CHECK_BUNDLE_ARTIFACTS)}),
                 "nothing was frozen: the bundle is not shown to be what its manifest says");
    else
        rc = case_freeze(b, &o->f, stop, &frozen, &err);
    msg_note(&frozen.note);
    if (frozen.determinism.counts.selected > 0)
        replay_put_answer(out, CHECK_REPLAY_DETERMINISM, &frozen.determinism);
    if (rc != 0)
        stream_put_stop(out, &err, CODE_USAGE);
    o->refused = rc != 0 && err_exit(&err) == OWED_REFUSED;
    frozen_free(&frozen);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.f.r = REPLAY_REQUEST_INIT, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return stream_refuse(&err, o.bundle ? STREAM_NO_INPUT : o.max_line);
    status = bundle_stage_run(&(struct bundle_stage){
        .path = o.bundle, .max_line = o.max_line, .needs_files = true, .work = freeze, .ctx = &o});
    return o.refused && status == OWED_REFUSED ? OWED_FAILED : status;
}
