/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle-pack: collects what a job left into a bundle and publishes it by one
 * rename. Begins a stream with the `bundle` line. A refusal or a signal leaves
 * nothing at --out and nothing beside it.
 *
 * Exit: 0 published, 1 refused, 2 bad usage, 3 standard output failed.
 */
#include "pack/pack.h"
#include "stream/stream.h"
#include "evidence/options.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static volatile int signalled;

static void on_signal(int number)
{
    signalled = number;
}

/* One that is ignored, as nohup does, stays so. */
static void catch_signal(int number)
{
    struct sigaction act = {.sa_handler = on_signal}, old;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &act, NULL);
}

/* Every signal that would end the program leaves nothing; a fault of the program itself is not one to go on after. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP,    SIGPIPE, SIGQUIT, SIGALRM, SIGUSR1,
                                  SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSTKFLT};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        catch_signal(numbers[i]);
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
        catch_signal(i);
    /* Past the size that a limit allows, a write is to fail and be refused as any other. */
    signal(SIGXFSZ, SIG_IGN);
}

static int take_epochs(const char *s, void *ctx, struct err *err)
{
    struct pack_request *r = ctx;
    const char *dash = strchr(s, '-');
    if (!dash || !scan_u64(s, (size_t)(dash - s), &r->first_epoch) ||
        !scan_u64(dash + 1, strlen(dash + 1), &r->last_epoch) || r->first_epoch > r->last_epoch)
        return err_set(err, ERR_REFUSED, "--epochs: two numbers A-B with A at most B, not '%s'", s);
    r->has_epochs = true;
    return 0;
}

static int take_operator(const char *s, void *ctx, struct err *err)
{
    const char *id;
    if (evidence_take_operator(s, &id, err) != 0)
        return -1;
    opt_list_add(ctx, id, strlen(id));
    return 0;
}

struct options {
    struct pack_request r;
    struct opt_list operators;
    unsigned confirmation; /* 0 no, 1 yes */
};
#define NOBODY_SAID UINT_MAX

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    struct pack_request *r = &o->r;
    const struct opt table[] = {
        OPT_USAGE("bundle-pack --checkpoint-dir=DIR --job=JOB --out=DIR [options]\n"
                  "Collect a job's evidence into a bundle."),
        EVIDENCE_OPTION_CHECKPOINT_DIR(&r->checkpoint_dir),
        EVIDENCE_OPTION_JOB(&r->job),
        OPT_TEXT("out", "DIR", &r->out, "the bundle, which must not be there yet"),
        OPT_TEXT("ha-dir", "DIR", &r->ha_dir, "where the job's manifest is, while the job runs"),
        EVIDENCE_OPTION_CAPTURE_DIR(&r->capture_dir),
        EVIDENCE_OPTION_TRACE_DIR(&r->trace_dir),
        OPT_FLAG("include-state", &r->include_state, "snapshots: they hold the job's state"),
        OPT_FLAG("include-captures", &r->include_captures, "captures: they hold the job's records"),
        OPT_U64("checkpoint", &r->checkpoint, 1, UINT64_MAX,
                "this checkpoint, not the one that a restart would choose"),
        OPT_WORD("commit-confirmation", "no|yes", &o->confirmation, "the restore rule, where no job manifest says it"),
        OPT_TAKE("operator", "ID", take_operator, &o->operators, "only this operator's captures; may be repeated"),
        OPT_TAKE("epochs", "A-B", take_epochs, r, "these epochs' captures, not the checkpoint's and the next"),
        OPT_SIZE("max-bytes", &r->max_bytes, 1, INT64_MAX, "bytes of all files, at most (1G)"),
        OPT_U64("max-files", &r->max_files, 1, BUNDLE_ARTIFACTS_MAX, "files, at most (10000)"),
        OPT_U64("timeout-s", &r->timeout_s, 1, 1 << 30, "seconds, at most (600)"),
        MODE_OPTION,
        OPT_EXIT("0 published, 1 refused (nothing is left), 2 bad usage, 3 trouble"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc != 0)
        return rc;
    if (!r->checkpoint_dir || !r->job || !r->out)
        return err_set(err, ERR_REFUSED, "--checkpoint-dir, --job and --out are needed");
    if (!utf8_valid(r->out, strlen(r->out)))
        return err_set(err, ERR_REFUSED, "--out is not UTF-8: no stream can name that bundle");
    if (r->include_captures && !r->capture_dir)
        return err_set(err, ERR_REFUSED, "--include-captures needs --capture-dir");
    r->named = r->checkpoint != 0;
    r->commit_confirmation = o->confirmation == NOBODY_SAID ? -1 : (int)o->confirmation;
    r->operators = o->operators.at;
    r->n_operators = o->operators.n;
    return 0;
}

/* Collect, and say what came of it. Returns the exit status. */
static int run(const struct options *o)
{
    struct pack_result done;
    struct err err = ERR_INIT;
    catch_signals();
    int rc = pack_collect(&o->r, &done, &err);
    msg_note(&done.note);
    buf_free(&done.note);
    if (rc != 0 && signalled) {
        msg_error("%s", err.text);
        signal(signalled, SIG_DFL);
        raise(signalled);
    }
    struct stream_out out;
    stream_begin(&out, 1, NULL);
    if (rc == 0)
        stream_put_bundle(&out, &(struct stream_bundle){o->r.out, done.sha256, o->r.job, done.checkpoint});
    else
        stream_put_stop(&out, &err, CODE_EVIDENCE_MALFORMED);
    int status = stream_end(&out);
    if (rc != 0 && !out.broken)
        status = OWED_FAILED;
    stream_out_free(&out);
    return status;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.r = {.max_bytes = (uint64_t)1 << 30,
                              .max_files = 10000,
                              .timeout_s = 600,
                              .collector = "bundle-pack",
                              .stop = &signalled},
                        .confirmation = NOBODY_SAID};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &o, &status, &err);
    if (rc < 0)
        status = stream_refuse(&err, STREAM_NO_INPUT);
    else if (rc == 0)
        status = run(&o);
    opt_list_free(&o.operators);
    return status;
}
