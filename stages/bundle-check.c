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
#include "stream/stream.h"

#include <getopt.h>
#include <signal.h>
#include <string.h>

static const char help[] =
    "usage: bundle-check [--profile=integrity|consistency] [BUNDLE]\n"
    "Check a bundle: manifest, files and completeness; with consistency (the default) the marker, the restore\n"
    "rule, the participants and the state too. Without BUNDLE the stream on standard input names it.\n"
    "  --max-line=SIZE   longest line of the input (64M)\n"
    "  --help, --version\n"
    "exit: 0 passed, 1 failed, 2 refused, 3 not everything could be checked\n";

enum { OPT_PROFILE = 256, OPT_MAX_LINE };

static const struct option longopts[] = {
    {"profile", required_argument, NULL, OPT_PROFILE}, {"max-line", required_argument, NULL, OPT_MAX_LINE},
    {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0},
};

struct options {
    const char *bundle; /* NULL: from the stream */
    bool consistency;
    uint64_t max_line;
};

static volatile int signalled;

static void on_signal(int number)
{
    signalled = number;
}

static int parse_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    int c, rc = 0;
    while (rc == 0 && (c = getopt_long(argc, argv, "hV", longopts, NULL)) != -1) {
        switch (c) {
        case OPT_PROFILE:
            o->consistency = strcmp(optarg, "consistency") == 0;
            if (!o->consistency && strcmp(optarg, "integrity") != 0)
                rc = err_set(err, ERR_REFUSED, "--profile: integrity or consistency, not '%s'", optarg);
            break;
        case OPT_MAX_LINE: rc = parse_size(optarg, 1024, (uint64_t)1 << 40, &o->max_line, "--max-line", err); break;
        case 'h': *status = msg_help(help); return 1;
        case 'V': *status = msg_version(); return 1;
        default: return opt_refused(argv, optind - 1, err);
        }
    }
    if (rc == 0 && optind < argc)
        o->bundle = argv[optind++];
    if (rc == 0 && optind < argc)
        return opt_refused(argv, optind, err);
    return rc;
}

/* ---- checks ---- */

static void put_check(struct stream_out *out, enum check_name name, struct bundle_faults *f, const char *gap,
                      const char *evidence, enum next_action next, const char *counts)
{
    struct buf reason = BUF_INIT;
    const char *one[] = {evidence, NULL};
    if (f->total > 0) {
        bundle_faults_text(f, &reason);
        stream_put_check(out, name, STATUS_FAILED, reason.p, f->path, NEXT_DO_NOT_TRUST_BUNDLE, counts);
    } else if (gap && *gap) {
        stream_put_check(out, name, STATUS_UNAVAILABLE, gap, one, next, counts);
    } else {
        stream_put_check(out, name, STATUS_PASSED, "", one, NEXT_NONE, counts);
    }
    buf_free(&reason);
    bundle_faults_free(f);
}

static void ignored_reason(const struct bundle_verified *v, struct buf *out)
{
    if (v->ignored.total == 0)
        return;
    buf_adds(out, "not evidence and left out: ");
    bundle_faults_text(&v->ignored, out);
}

/* True when the files are what the manifest lists, so that what stands behind may read them. */
static bool check_artifacts(struct stream_out *out, const struct bundle *b, struct err *err)
{
    struct bundle_verified v;
    struct buf counts = BUF_INIT, note = BUF_INIT;
    int rc = bundle_verify(b, &v, &signalled, err);
    bool whole = rc == 0 && v.faults.total == 0;
    buf_printf(&counts, "{\"files\":%ju,\"bytes\":%ju,\"faults\":%ju,\"ignored\":%ju}", (uintmax_t)v.files, (uintmax_t)v.bytes,
               (uintmax_t)v.faults.total, (uintmax_t)v.ignored.total);
    ignored_reason(&v, &note);
    if (rc != 0)
        stream_put_check(out, CHECK_BUNDLE_ARTIFACTS, STATUS_UNAVAILABLE, err->text, NULL, NEXT_NONE, buf_str(&counts));
    else if (whole)
        stream_put_check(out, CHECK_BUNDLE_ARTIFACTS, STATUS_PASSED, note.len ? buf_str(&note) : "",
                         (const char *const[]){"manifest.json", NULL}, NEXT_NONE, buf_str(&counts));
    else
        put_check(out, CHECK_BUNDLE_ARTIFACTS, &v.faults, NULL, "manifest.json", NEXT_DO_NOT_TRUST_BUNDLE, buf_str(&counts));
    bundle_verified_free(&v);
    buf_free(&counts);
    buf_free(&note);
    return whole;
}

static void check_behind(struct stream_out *out, const struct bundle *b, bool whole)
{
    static const enum check_name names[] = {CHECK_CHECKPOINT_MARKER, CHECK_CHECKPOINT_RESTORE_RULE, CHECK_CHECKPOINT_PARTICIPANTS,
                                            CHECK_STATE_DECODE};
    struct bundle_faults states = BUNDLE_FAULTS_INIT;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bundle_faults f = BUNDLE_FAULTS_INIT;
        struct buf gap = BUF_INIT;
        if (!whole) {
            stream_put_check(out, names[i], STATUS_UNAVAILABLE, "the bundle's files are not what its manifest lists", NULL,
                             NEXT_DO_NOT_TRUST_BUNDLE, NULL);
            continue;
        }
        if (names[i] == CHECK_CHECKPOINT_MARKER)
            bundle_check_marker(b, &f, &gap);
        else if (names[i] == CHECK_CHECKPOINT_RESTORE_RULE)
            bundle_check_restore_rule(b, &f, &gap);
        else if (names[i] == CHECK_CHECKPOINT_PARTICIPANTS)
            bundle_check_participants(b, &f, &gap);
        else
            bundle_check_state(b, &f, &gap, &states);
        if (names[i] == CHECK_STATE_DECODE && f.total == 0 && states.n > 0)
            stream_put_check(out, names[i], STATUS_PASSED, "", states.text, NEXT_NONE, NULL);
        else
            put_check(out, names[i], &f, gap.len ? buf_str(&gap) : NULL, "manifest.json",
                      names[i] == CHECK_STATE_DECODE ? NEXT_COLLECT_STATE : NEXT_COLLECT_AGAIN, NULL);
        buf_free(&gap);
    }
    bundle_faults_free(&states);
}

static void check_bundle(struct stream_out *out, const struct bundle *b, bool consistency, struct err *err)
{
    struct bundle_faults f = BUNDLE_FAULTS_INIT;
    bundle_check_manifest(b, &f);
    put_check(out, CHECK_BUNDLE_MANIFEST, &f, NULL, "manifest.json", NEXT_NONE, NULL);
    bool whole = check_artifacts(out, b, err);
    bundle_check_completeness(b, &f);
    put_check(out, CHECK_BUNDLE_COMPLETENESS, &f, NULL, "manifest.json", NEXT_COLLECT_AGAIN, NULL);
    if (consistency)
        check_behind(out, b, whole);
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
        return err_set(err, ERR_REFUSED, "stdin: line %ju is a second bundle line", (uintmax_t)line->line_no);
    c->has_bundle = true;
    return stream_bundle(line, &c->arena, &c->bundle, err);
}

static int same_bundle(const struct bundle *b, const struct stream_bundle *said, struct err *err)
{
    if (strcmp(b->sha256, said->manifest_sha256) != 0)
        return err_set(err, ERR_REFUSED, "bundle '%s': its manifest is %s, the stream's bundle line says %s", b->path, b->sha256,
                       said->manifest_sha256);
    if (strcmp(b->m.job, said->job) != 0)
        return err_set(err, ERR_REFUSED, "bundle '%s': job '%s', the stream's bundle line says '%s'", b->path, b->m.job, said->job);
    return 0;
}

static void work(struct stream_out *out, const struct options *o, const char *path, const struct stream_bundle *said)
{
    struct bundle b;
    struct err err = ERR_INIT;
    bool ok = bundle_open(&b, path, &err) == 0 && (!said || same_bundle(&b, said, &err) == 0);
    if (!ok) {
        stream_put_stop(out, &err, NEXT_DO_NOT_TRUST_BUNDLE);
    } else {
        if (!said)
            stream_put_bundle(out, &(struct stream_bundle){path, b.sha256, b.m.job, b.m.checkpoint});
        check_bundle(out, &b, o->consistency, &err);
        if (signalled)
            stream_put_stop(out, &err, NEXT_NONE);
    }
    bundle_close(&b);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.consistency = true, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0, rc = parse_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return opt_operand(argc, argv) ? stream_refuse(&err, NEXT_FIX_USAGE) : stream_refuse_filter(&err, NEXT_FIX_USAGE, o.max_line);
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    struct stream_out out;
    struct context c = {.arena = ARENA_INIT};
    struct stream_in in = {0};
    if (o.bundle) {
        stream_begin(&out, 1, NULL);
        work(&out, &o, o.bundle, NULL);
    } else if (stream_filter(&in, &out, o.max_line, on_line, &c)) {
        if (c.has_bundle)
            work(&out, &o, c.bundle.path, &c.bundle);
        else
            stream_put_stop(&out, &(struct err){ERR_REFUSED, "stdin: no bundle line, and no bundle was named"}, NEXT_FIX_USAGE);
    }
    status = stream_end(&out);
    stream_out_free(&out);
    stream_in_free(&in);
    arena_free(&c.arena);
    return status;
}
