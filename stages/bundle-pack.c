/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle-pack: collects what a job left into a bundle and publishes it by one
 * rename. Begins a stream with the `bundle` line. A refusal or a signal leaves
 * nothing at --out and nothing beside it.
 *
 * Exit: 0 published, 1 refused, 2 bad usage, 3 standard output failed.
 */
#include "pack/pack.h"
#include "stream/check.h"
#include "stream/stream.h"
#include "evidence/places.h"

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: bundle-pack --checkpoint-dir=DIR --job=JOB --out=DIR [options]\n"
    "Collect a job's evidence into a bundle.\n"
    "  --ha-dir=DIR             where the job's manifest is, while the job runs\n"
    "  --capture-dir=DIR        the flight recorder's files\n"
    "  --trace-dir=DIR          protocol traces, *.ndjson\n"
    "  --include-state          snapshots: they hold the job's state\n"
    "  --include-captures       captures: they hold the job's records\n"
    "  --checkpoint=N           this checkpoint, not the one that a restart would choose\n"
    "  --commit-confirmation=yes|no   the restore rule, where no job manifest says it\n"
    "  --op=ID                  only this operator's captures (may be repeated)\n"
    "  --epochs=A-B             these epochs' captures, not the checkpoint's and the next\n"
    "  --max-bytes=SIZE (1G)  --max-files=N (10000)  --timeout-s=N (600)\n"
    "  --json                   a refusal's kind in the stop line: changed, missing, bound, timeout, other\n"
    "  --help, --version\n"
    "exit: 0 published, 1 refused (nothing is left), 2 bad usage, 3 trouble\n";

enum {
    OPT_CHECKPOINT_DIR = 256,
    OPT_JOB,
    OPT_HA_DIR,
    OPT_CAPTURE_DIR,
    OPT_TRACE_DIR,
    OPT_STATE,
    OPT_CAPTURES,
    OPT_OUT,
    OPT_CHECKPOINT,
    OPT_CONFIRM,
    OPT_OP,
    OPT_EPOCHS,
    OPT_MAX_BYTES,
    OPT_MAX_FILES,
    OPT_TIMEOUT,
    OPT_JSON
};

static const struct option longopts[] = {
    {"checkpoint-dir", required_argument, NULL, OPT_CHECKPOINT_DIR},
    {"job", required_argument, NULL, OPT_JOB},
    {"ha-dir", required_argument, NULL, OPT_HA_DIR},
    {"capture-dir", required_argument, NULL, OPT_CAPTURE_DIR},
    {"trace-dir", required_argument, NULL, OPT_TRACE_DIR},
    {"include-state", no_argument, NULL, OPT_STATE},
    {"include-captures", no_argument, NULL, OPT_CAPTURES},
    {"out", required_argument, NULL, OPT_OUT},
    {"checkpoint", required_argument, NULL, OPT_CHECKPOINT},
    {"commit-confirmation", required_argument, NULL, OPT_CONFIRM},
    {"op", required_argument, NULL, OPT_OP},
    {"epochs", required_argument, NULL, OPT_EPOCHS},
    {"max-bytes", required_argument, NULL, OPT_MAX_BYTES},
    {"max-files", required_argument, NULL, OPT_MAX_FILES},
    {"timeout-s", required_argument, NULL, OPT_TIMEOUT},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

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

static void put_note(const struct buf *note)
{
    for (size_t at = 0, n; at < note->len; at += n + 1) {
        n = (size_t)((char *)memchr(note->p + at, '\n', note->len - at) - (note->p + at));
        msg_error("%.*s", (int)n, note->p + at);
    }
}

static int parse_confirm(const char *s, int *out, struct err *err)
{
    *out = strcmp(s, "yes") == 0 ? 1 : strcmp(s, "no") == 0 ? 0 : -1;
    return *out >= 0 ? 0 : err_set(err, ERR_REFUSED, "--commit-confirmation: yes or no, not '%s'", s);
}

static int parse_epochs(const char *s, struct pack_request *r, struct err *err)
{
    const char *dash = strchr(s, '-');
    if (!dash || !scan_u64(s, (size_t)(dash - s), &r->first_epoch) ||
        !scan_u64(dash + 1, strlen(dash + 1), &r->last_epoch) || r->first_epoch > r->last_epoch)
        return err_set(err, ERR_REFUSED, "--epochs: two numbers A-B with A at most B, not '%s'", s);
    r->has_epochs = true;
    return 0;
}

static int parse_op(const char *s, struct pack_request *r, struct err *err)
{
    if (!evidence_operator_ok(s))
        return err_set(err, ERR_REFUSED, "--op: '%s' is no operator id", s);
    r->operators = xrealloc(r->operators, (r->n_operators + 1) * sizeof *r->operators);
    r->operators[r->n_operators++] = s;
    return 0;
}

static int parse_option(int c, struct pack_request *r, bool *json, struct err *err)
{
    switch (c) {
    case OPT_CHECKPOINT_DIR: r->checkpoint_dir = optarg; return 0;
    case OPT_JOB: r->job = optarg; return 0;
    case OPT_HA_DIR: r->ha_dir = optarg; return 0;
    case OPT_CAPTURE_DIR: r->capture_dir = optarg; return 0;
    case OPT_TRACE_DIR: r->trace_dir = optarg; return 0;
    case OPT_STATE: r->include_state = true; return 0;
    case OPT_CAPTURES: r->include_captures = true; return 0;
    case OPT_OUT: r->out = optarg; return 0;
    case OPT_CHECKPOINT: r->named = true; return parse_u64(optarg, 1, UINT64_MAX, &r->checkpoint, "--checkpoint", err);
    case OPT_CONFIRM: return parse_confirm(optarg, &r->commit_confirmation, err);
    case OPT_OP: return parse_op(optarg, r, err);
    case OPT_EPOCHS: return parse_epochs(optarg, r, err);
    case OPT_MAX_BYTES: return parse_size(optarg, 1, INT64_MAX, &r->max_bytes, "--max-bytes", err);
    case OPT_MAX_FILES: return parse_u64(optarg, 1, BUNDLE_ARTIFACTS_MAX, &r->max_files, "--max-files", err);
    case OPT_TIMEOUT: return parse_u64(optarg, 1, 1 << 30, &r->timeout_s, "--timeout-s", err);
    default: *json = true; return 0;
    }
}

static int parse_options(int argc, char **argv, struct pack_request *r, bool *json, int *status, struct err *err)
{
    int c, rc = 0;
    while (rc == 0 && (c = getopt_long(argc, argv, "hV", longopts, NULL)) != -1) {
        if (c == 'h' || c == 'V') {
            *status = c == 'h' ? msg_help(help) : msg_version();
            return 1;
        }
        rc = c == '?' ? opt_refused(argv, optind - 1, err) : parse_option(c, r, json, err);
    }
    if (rc == 0 && optind < argc)
        return opt_refused(argv, optind, err);
    if (rc == 0 && (!r->checkpoint_dir || !r->job || !r->out))
        return err_set(err, ERR_REFUSED, "--checkpoint-dir, --job and --out are needed");
    if (rc == 0 && !evidence_job_ok(r->job))
        return err_set(err, ERR_REFUSED, "--job: '%s' is no job id", r->job);
    if (rc == 0 && !utf8_valid(r->out, strlen(r->out)))
        return err_set(err, ERR_REFUSED, "--out is not UTF-8: no stream can name that bundle");
    if (rc == 0 && r->include_captures && !r->capture_dir)
        return err_set(err, ERR_REFUSED, "--include-captures needs --capture-dir");
    return rc;
}

static const char *refusal_kind(const struct err *err)
{
    switch (err->kind) {
    case ERR_CHANGED: return "changed";
    case ERR_MISSING: return "missing";
    case ERR_BOUND: return "bound";
    case ERR_TIMEOUT: return "timeout";
    default: return "other";
    }
}

/* The stop of a refusal, which with --json carries its kind for programs: they read no refusal's text. */
static void put_refusal(struct stream_out *out, const struct err *err, bool json)
{
    if (!json) {
        stream_put_stop(out, err, CODE_EVIDENCE_MALFORMED);
        return;
    }
    msg_error("%s", err->text);
    struct cause cause = code_of_err(err, CODE_EVIDENCE_MALFORMED);
    struct buf *line = stream_build(out, LINE_STOP);
    buf_printf(line, ",\"stage\":\"%s\",\"kind\":\"%s\",\"refusal\":\"%s\"", msg_program(),
               err->kind == ERR_REFUSED ? "refused" : "unfinished", refusal_kind(err));
    cause_put(line, &cause);
    buf_adds(line, ",\"reason\":");
    stream_put_text(line, err->text);
    stream_put_built(out, LINE_STOP);
    out->stopped = true;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct pack_request r = {.commit_confirmation = -1,
                             .max_bytes = (uint64_t)1 << 30,
                             .max_files = 10000,
                             .timeout_s = 600,
                             .collector = "bundle-pack",
                             .stop = &signalled};
    struct pack_result done;
    struct err err = ERR_INIT;
    bool json = false;
    int status = 0, rc = parse_options(argc, argv, &r, &json, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return stream_refuse(&err, CODE_USAGE);
    catch_signals();
    rc = pack_collect(&r, &done, &err);
    free(r.operators);
    put_note(&done.note);
    buf_free(&done.note);
    if (rc != 0 && signalled) {
        msg_error("%s", err.text);
        signal(signalled, SIG_DFL);
        raise(signalled);
    }
    struct stream_out out;
    stream_begin(&out, 1, NULL);
    if (rc == 0)
        stream_put_bundle(&out, &(struct stream_bundle){r.out, done.sha256, r.job, done.checkpoint});
    else
        put_refusal(&out, &err, json);
    status = stream_end(&out);
    if (rc != 0 && !out.broken)
        status = OWED_FAILED;
    stream_out_free(&out);
    return status;
}
