/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle-check: the checks of a bundle that need nothing but the bundle. Given a
 * directory it begins a stream; otherwise it takes the `bundle` line of its
 * input and refuses another manifest than that line's.
 *
 * Exit: 0 every check passed, 1 one failed, 2 refused, 3 one is unavailable or
 * the input was unfinished.
 */
#include "bundle/bundle.h"
#include "bundle/say.h"
#include "stream/stream.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *bundle; /* NULL: from the stream */
    unsigned profile;
    const char *scratch; /* NULL: the library's own choice */
    uint64_t max_line;
};

static volatile int signalled;

static void on_signal(int number)
{
    signalled = number;
}

/* Only while a bundle is checked: a program that waits for its input is ended by a signal as any other, and its stream
 * then lacks its end. */
static void catch_signals(void)
{
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
}

/* In the order of --profile's words. */
enum { CHECK_INTEGRITY, CHECK_CONSISTENCY };

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE(
            "bundle-check [options] [BUNDLE]\n"
            "Check a bundle: manifest, files and completeness; with consistency the marker, the restore rule, the\n"
            "participants and the state too. Without BUNDLE the stream on standard input names it."),
        OPT_OPERAND(&o->bundle),
        OPT_WORD("profile", "integrity|consistency", &o->profile, "which checks are made (consistency)"),
        STREAM_OPTION_SCRATCH(&o->scratch),
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 passed, 1 failed, 2 refused, 3 not everything could be checked"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && o->bundle && !utf8_valid(o->bundle, strlen(o->bundle)))
        return err_set(err, ERR_REFUSED, "the bundle's path is not UTF-8: no stream can name it");
    return rc;
}

/* ---- checks ---- */

static void check_behind(struct stream_out *out, const struct bundle *b, const char *scratch, const char *why_not)
{
    static const enum check_name checks[] = {CHECK_CHECKPOINT_MARKER, CHECK_CHECKPOINT_RESTORE_RULE,
                                             CHECK_CHECKPOINT_PARTICIPANTS, CHECK_STATE_DECODE};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct bundle_finding f;
        bundle_finding_init(&f);
        if (!why_not && signalled)
            why_not = "interrupted before this check";
        if (why_not) {
            stream_put_check(out, checks[i], STATUS_UNAVAILABLE,
                             signalled
                                 ? BECAUSE(CODE_INTERRUPTED)
                                 : BECAUSE(CODE_CHECK_NOT_PASSED, {"check", check_name_text(CHECK_BUNDLE_ARTIFACTS)}),
                             why_not, NULL, NULL);
            continue;
        }
        if (checks[i] == CHECK_CHECKPOINT_MARKER)
            bundle_check_marker(b, &f);
        else if (checks[i] == CHECK_CHECKPOINT_RESTORE_RULE)
            bundle_check_restore_rule(b, &f);
        else if (checks[i] == CHECK_CHECKPOINT_PARTICIPANTS)
            bundle_check_participants(b, &f);
        else
            bundle_check_state(b, scratch, &signalled, &f);
        bundle_put_finding(out, checks[i], &f);
    }
}

static void check_bundle(struct stream_out *out, struct bundle *b, const struct options *o, struct err *err)
{
    struct buf not_passed = BUF_INIT;
    enum status files = bundle_put_integrity(out, b, o->profile == CHECK_CONSISTENCY, &signalled, &not_passed, err);
    if (o->profile == CHECK_CONSISTENCY)
        check_behind(out, b, o->scratch,
                     files == STATUS_PASSED ? NULL
                     : files == STATUS_FAILED
                         ? "bundle.artifacts failed: the bundle's files are not what its manifest lists"
                         : "the check of the bundle's files did not end");
    buf_free(&not_passed);
}

/* ---- the stream ---- */

struct context {
    struct arena arena;
    struct stream_bundle bundle;
    bool has_bundle;
};

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct context *c = ctx;
    if (line->type != LINE_BUNDLE)
        return 0;
    if (c->has_bundle)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 " is a second bundle line", line->line_no);
    c->has_bundle = true;
    return stream_bundle(line, &c->arena, &c->bundle, err);
}

static void work(struct stream_out *out, const struct options *o, const char *path, const struct stream_bundle *said)
{
    struct bundle b;
    struct err err = ERR_INIT;
    catch_signals();
    bool ok = bundle_open(&b, path, &err) == 0 && (!said || bundle_is(&b, said, &err) == 0);
    if (!ok) {
        stream_put_stop(out, &err, CODE_MANIFEST_MALFORMED);
    } else {
        if (!said)
            stream_put_bundle(out, &(struct stream_bundle){path, b.sha256, b.m.job, b.m.checkpoint});
        check_bundle(out, &b, o, &err);
        if (signalled) {
            err_set(&err, ERR_TROUBLE,
                    "not finished: interrupted by signal %d (%s); the bundle '%s' is not checked to its end", signalled,
                    strsignal(signalled), path);
            stream_put_stop(out, &err, CODE_INTERRUPTED);
        }
    }
    bundle_close(&b);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.profile = CHECK_CONSISTENCY, .max_line = STREAM_MAX_LINE};
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
            work(&out, &o, c.bundle.path, &c.bundle);
        else if (err_set(&err, ERR_REFUSED, "stdin: no bundle line, and no bundle was named"))
            stream_put_stop(&out, &err, CODE_BUNDLE_LINE_MISSING);
    }
    status = stream_end(&out);
    stream_out_free(&out);
    stream_in_free(&in);
    arena_free(&c.arena);
    return status;
}
