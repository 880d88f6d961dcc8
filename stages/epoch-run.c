/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch-run: runs a regression case that epoch-freeze wrote: its epoch is
 * replayed by the code that the job runs, and the rows must be the golden ones.
 * Begins a stream.
 *
 * Exit: 0 they are, 1 they are not, 2 refused, 3 the case cannot be believed, or
 * not be replayed by this build.
 */
#include "replay/case.h"
#include "replay/options.h"

#include <string.h>
#include <unistd.h>

struct options {
    struct replay_request r;
    const char *dir;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("epoch-run [options] CASE\n"
                  "Replay the epoch of a regression case, and hold the rows against the golden ones."),
        OPT_OPERAND(&o->dir),
        REPLAY_OPTION_BOUNDS(&o->r),
        STREAM_OPTION_SCRATCH(&o->r.scratch),
        OPT_EXIT("0 the golden rows, 1 other rows, 2 refused, 3 the case is damaged or cannot be replayed"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && !o->dir)
        return err_set(err, ERR_REFUSED, "a case's directory is needed");
    if (rc == 0 && !utf8_valid(o->dir, strlen(o->dir)))
        return err_set(err, ERR_REFUSED, "the case's path is not UTF-8: no stream can name it");
    return rc;
}

static int run(const struct options *o)
{
    struct stream_out out;
    struct case_run c;
    struct buf path = BUF_INIT;
    struct err err = ERR_INIT;
    int rc = case_run(o->dir, &o->r, &c, &err);
    stream_begin(&out, STDOUT_FILENO, NULL);
    if (rc == 0 && c.opened)
        stream_put_bundle(
            &out, &(struct stream_bundle){path_join(&path, o->dir, "bundle"), c.b.sha256, c.b.m.job, c.b.m.checkpoint});
    if (rc == 0) {
        stream_put_require(&out, &(struct run_known){.golden = true});
        replay_put_answer(&out, CHECK_REPLAY_DETERMINISM, &c.determinism);
        replay_put_answer(&out, CHECK_REPLAY_GOLDEN_OUTPUT, &c.golden);
    } else {
        stream_put_stop(&out, &err, CODE_USAGE);
    }
    int status = stream_end(&out);
    stream_out_free(&out);
    buf_free(&path);
    case_run_free(&c);
    return status;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.r = REPLAY_REQUEST_INIT};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    return rc < 0 ? stream_refuse(&err, STREAM_NO_INPUT) : run(&o);
}
