/* SPDX-License-Identifier: Apache-2.0 */
/* A stage's stream around its checks of a bundle. */
#include "bundle/stage.h"
#include "bundle/say.h"
#include "stream/check.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- signals ---- */

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

/* ---- the input ---- */

struct input {
    struct arena arena;
    struct stream_bundle bundle;
    bool has_bundle;
    bool checked, broken; /* a bundle.artifacts is there; and one that did not pass */
};

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct input *in = ctx;
    struct check_line check;
    if (line->type == LINE_CHECK) {
        if (stream_check(line, &in->arena, &check, err) != 0)
            return -1;
        bool about = check.name == CHECK_BUNDLE_ARTIFACTS;
        in->checked = in->checked || about;
        in->broken = in->broken || (about && check.status != STATUS_PASSED);
        return 0;
    }
    if (line->type != LINE_BUNDLE)
        return 0;
    if (in->has_bundle)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 " is a second bundle line", line->line_no);
    in->has_bundle = true;
    return stream_bundle(line, &in->arena, &in->bundle, err);
}

/* ---- the work ---- */

static bool files_hold(const struct bundle_stage *s, struct stream_out *out, struct bundle *b, const struct input *in)
{
    struct buf not_passed = BUF_INIT;
    struct err err = ERR_INIT;
    if (!s->needs_files || (in && in->checked))
        return s->needs_files && !in->broken;
    bool intact = bundle_put_integrity(out, b, true, &signalled, &not_passed, &err) == STATUS_PASSED;
    buf_free(&not_passed);
    return intact;
}

/* in: NULL where the bundle was named. */
static void work(const struct bundle_stage *s, struct stream_out *out, const char *path, const struct input *in)
{
    struct bundle b;
    struct err err = ERR_INIT;
    catch_signals();
    if (bundle_open(&b, path, &err) != 0 || (in && bundle_is(&b, &in->bundle, &err) != 0)) {
        stream_put_stop(out, &err, CODE_MANIFEST_MALFORMED);
        bundle_close(&b);
        return;
    }
    if (!in)
        stream_put_bundle(out, &(struct stream_bundle){path, b.sha256, b.m.job, b.m.checkpoint});
    s->work(s->ctx, out, &b, files_hold(s, out, &b, in), &signalled);
    if (signalled) {
        err_set(&err, ERR_TROUBLE,
                "not finished: interrupted by signal %d (%s); the bundle '%s' is not checked to its end", signalled,
                strsignal(signalled), path);
        stream_put_stop(out, &err, CODE_INTERRUPTED);
    }
    bundle_close(&b);
}

int bundle_stage_path(const char *path, struct err *err)
{
    if (!path || utf8_valid(path, strlen(path)))
        return 0;
    return err_set(err, ERR_REFUSED, "the bundle's path is not UTF-8: no stream can name it");
}

int bundle_stage_run(const struct bundle_stage *s)
{
    struct stream_out out;
    struct input in = {.arena = ARENA_INIT};
    struct stream_in lines = {0};
    struct err err = ERR_INIT;
    if (s->path) {
        stream_begin(&out, STDOUT_FILENO, NULL);
        work(s, &out, s->path, NULL);
    } else if (stream_filter(&lines, &out, s->max_line, on_line, &in)) {
        if (in.has_bundle)
            work(s, &out, in.bundle.path, &in);
        else if (err_set(&err, ERR_REFUSED, "stdin: no bundle line, and no bundle was named"))
            stream_put_stop(&out, &err, CODE_BUNDLE_LINE_MISSING);
    }
    int status = stream_end(&out);
    stream_out_free(&out);
    stream_in_free(&lines);
    arena_free(&in.arena);
    return status;
}
