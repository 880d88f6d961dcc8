/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle-check: the checks of a bundle that need nothing but the bundle. Given a
 * directory it begins a stream; otherwise it takes the `bundle` line of its
 * input and refuses another manifest than that line's.
 *
 * Exit: 0 every check passed, 1 one failed, 2 refused, 3 one is unavailable or
 * the input was unfinished.
 */
#include "bundle/say.h"
#include "bundle/stage.h"

struct options {
    const char *bundle; /* NULL: from the stream */
    unsigned profile;
    const char *scratch; /* NULL: the library's own choice */
    uint64_t max_line;
};

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
    return rc == 0 ? bundle_stage_path(o->bundle, err) : rc;
}

/* ---- checks ---- */

static void check_behind(struct stream_out *out, const struct bundle *b, const char *scratch, const char *why_not,
                         const volatile int *stop)
{
    static const enum check_name checks[] = {CHECK_CHECKPOINT_MARKER, CHECK_CHECKPOINT_RESTORE_RULE,
                                             CHECK_CHECKPOINT_PARTICIPANTS, CHECK_STATE_DECODE};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct bundle_finding f;
        bundle_finding_init(&f);
        if (!why_not && *stop)
            why_not = "interrupted before this check";
        if (why_not) {
            stream_put_check(out, checks[i], STATUS_UNAVAILABLE,
                             *stop ? BECAUSE(CODE_INTERRUPTED)
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
            bundle_check_state(b, scratch, stop, &f);
        bundle_put_finding(out, checks[i], &f);
    }
}

static void check_bundle(void *ctx, struct stream_out *out, struct bundle *b, bool intact, const volatile int *stop)
{
    const struct options *o = ctx;
    struct buf not_passed = BUF_INIT;
    struct err err = ERR_INIT;
    (void)intact; /* this is who finds out */
    enum status files = bundle_put_integrity(out, b, o->profile == CHECK_CONSISTENCY, stop, &not_passed, &err);
    if (o->profile == CHECK_CONSISTENCY)
        check_behind(out, b, o->scratch,
                     files == STATUS_PASSED ? NULL
                     : files == STATUS_FAILED
                         ? "bundle.artifacts failed: the bundle's files are not what its manifest lists"
                         : "the check of the bundle's files did not end",
                     stop);
    buf_free(&not_passed);
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
    return bundle_stage_run(
        &(struct bundle_stage){.path = o.bundle, .max_line = o.max_line, .work = check_bundle, .ctx = &o});
}
