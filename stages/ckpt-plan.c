/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ckpt-plan: what a job's next attempt starts from. It applies the one restore
 * rule to the markers on disk, makes the RESTORED record durable, and prints
 * the plan as `key=value` lines for a shell: attempt, generation, restore
 * (0: from nothing) and first_epoch, a number that nothing on disk has used.
 *
 * Exit: 0 planned, 2 usage or a checkpoint that does not fit, 3 else.
 */
#include "evidence/changelog.h"
#include "evidence/marker.h"
#include "evidence/options.h"
#include "evidence/places.h"
#include "evidence/snapshot.h"
#include "evidence/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct plan {
    const char *dir, *capture_dir, *trace_dir, *job;
    uint64_t parallelism, windows, generation;
    uint64_t restore, first_epoch;
    unsigned confirmed; /* 1: only a confirmed checkpoint is restored */
    bool fresh;         /* nothing on disk names this job: its very first run */
    char attempt[64];
    struct trace trace;
};

static int read_options(int argc, char **argv, struct plan *p, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("ckpt-plan --checkpoint-dir=DIR --job=JOB --parallelism=N [options]\n"
                  "Choose the checkpoint that the job's next attempt restores, record it, and print the plan:\n"
                  "attempt=<id> generation=<n> restore=<checkpoint, 0 from nothing> first_epoch=<n>, a line each."),
        EVIDENCE_OPTION_CHECKPOINT_DIR(&p->dir),
        EVIDENCE_OPTION_JOB(&p->job),
        EVIDENCE_OPTION_PARALLELISM(&p->parallelism),
        EVIDENCE_OPTION_WINDOWS(&p->windows),
        EVIDENCE_OPTION_GENERATION(&p->generation),
        EVIDENCE_OPTION_CAPTURE_DIR(&p->capture_dir),
        EVIDENCE_OPTION_TRACE_DIR(&p->trace_dir),
        OPT_WORD("commit-confirmation", "no|yes", &p->confirmed,
                 "yes: the sinks confirm their commits, and only a confirmed checkpoint is restored (no)"),
        MODE_OPTION,
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && (!p->dir || !p->job || !p->parallelism))
        return err_set(err, ERR_REFUSED, "--checkpoint-dir, --job and --parallelism are needed");
    return rc;
}

/* A window's state in a lane's place, or the other way round, is another job's under this one's name. */
static int check_kind(const struct plan *p, const struct snapshot *s, struct err *err)
{
    bool is_window = !snapshot_of_lane(s);
    if (is_window == (s->subtask >= p->parallelism))
        return 0;
    return err_set(err, ERR_REFUSED,
                   "checkpoint %" PRIu64 ": participant %" PRIu64 " is %s window, and the attempt has %" PRIu64
                   " lanes with %" PRIu64 " windows behind them",
                   p->restore, s->subtask, is_window ? "a" : "no", p->parallelism, p->windows);
}

/* The restore point must fit the attempt: same generation and participants, every snapshot whole. */
static int check_point(const struct plan *p, int fd, struct arena *a, struct err *err)
{
    struct buf path = BUF_INIT, text = BUF_INIT;
    struct marker m;
    const char *rel = evidence_path_marker(&path, p->job, MARKER_COMPLETED, p->restore);
    int file = open_beneath(fd, rel, O_RDONLY, err);
    int rc = file < 0 ? -1 : file_read_fd(file, rel, 1 << 20, &text, err);
    if (file >= 0)
        close(file);
    if (rc == 0)
        rc = marker_parse(text.p, text.len, rel, a, &m, err);
    if (rc == 0 && (m.generation != p->generation || m.n_subtasks != p->parallelism + p->windows))
        rc = err_set(err, ERR_REFUSED,
                     "checkpoint %" PRIu64 " is of generation %" PRIu64
                     " with %zu participants, the attempt of generation %" PRIu64 " with %" PRIu64
                     ": a change of parallelism is not supported",
                     p->restore, m.generation, m.n_subtasks, p->generation, p->parallelism + p->windows);
    struct state_root root;
    if (rc == 0)
        rc = state_root_parse(m.state_root, a, &root, rel, err);
    /* The attempt would look for its state in the wrong place. */
    if (rc == 0 && root.kind != ROOT_OWN)
        rc = err_set(err, ERR_REFUSED,
                     "checkpoint %" PRIu64 " keeps its state in the root that its marker names, not in %s/_state",
                     p->restore, p->dir);
    for (size_t i = 0; rc == 0 && i < m.n_subtasks; i++) {
        struct snapshot s;
        rc = snapshot_read(fd, evidence_path_snapshot(&path, p->job, m.generation, m.subtasks[i], p->restore), a, &s,
                           err);
        if (rc == 0)
            rc = check_kind(p, &s, err);
    }
    buf_free(&path);
    buf_free(&text);
    return rc;
}

static int make_plan(struct plan *p, struct arena *a, struct err *err)
{
    struct markers m;
    uint64_t greatest;
    if (dir_make(p->dir, err) != 0)
        return -1;
    int fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", p->dir);
    int rc = markers_scan(fd, p->job, a, &m, err);
    if (rc == 0 && !restore_point(&m, p->confirmed == 1, &p->restore))
        p->restore = 0;
    if (rc == 0 && p->restore)
        rc = check_point(p, fd, a, err);
    close(fd);
    if (rc == 0)
        rc = evidence_greatest_id(p->dir, p->capture_dir, p->job, &greatest, err);
    if (rc == 0) {
        p->first_epoch = greatest + 1;
        p->fresh = greatest == 0 && !m.has_restored;
    }
    return rc;
}

static int name_attempt(struct plan *p, struct err *err)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_sys(err, "cannot draw an attempt's id");
    snprintf(p->attempt, sizeof p->attempt, "%" PRIu64 "-%016" PRIx64, p->first_epoch, random);
    return 0;
}

/* The plan is made; from here on the attempt has a number among the job's. */
static void begin_trace(struct plan *p)
{
    struct err err = ERR_INIT;
    struct trace_event e = {.kind = TRACE_PLANNED,
                            .fresh = p->fresh,
                            .checkpoint = p->restore,
                            .first = p->first_epoch,
                            .generation = p->generation,
                            .parallel = p->parallelism,
                            .windows = p->windows,
                            .confirmation = p->confirmed == 1};
    if (p->trace_dir && (trace_next_run(p->trace_dir, p->job, &e.run, &err) != 0 ||
                         trace_open(&p->trace, p->trace_dir, p->job, p->attempt, "ckpt-plan", NULL, 0, &err) != 0))
        msg_error("there is no trace: %s", err.text);
    trace_put(&p->trace, &e);
}

/* A run that starts after another one, from a checkpoint or from nothing, is recorded before it begins. */
static int redeploy(struct plan *p, struct err *err)
{
    struct restored r = {.job = p->job, .checkpoint = p->restore, .next = p->first_epoch};
    if (p->fresh)
        return 0;
    int rc = restored_write(p->dir, &r, err);
    if (rc == 0)
        trace_put(&p->trace,
                  &(struct trace_event){.kind = TRACE_REDEPLOYED, .checkpoint = p->restore, .first = p->first_epoch});
    return rc;
}

static int print_plan(const struct plan *p, struct err *err)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "attempt=%s\ngeneration=%" PRIu64 "\nrestore=%" PRIu64 "\nfirst_epoch=%" PRIu64 "\n", p->attempt,
               p->generation, p->restore, p->first_epoch);
    int rc = fd_write_all(STDOUT_FILENO, text.p, text.len, "standard output", err);
    if (rc == 0 && close(STDOUT_FILENO) != 0)
        rc = err_sys(err, "cannot write standard output");
    buf_free(&text);
    return rc;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct plan p = {.generation = 1, .trace = TRACE_OFF};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = read_options(argc, argv, &p, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0) {
        msg_error("%s", err.text);
        return err_exit(&err);
    }
    struct arena arena = ARENA_INIT;
    rc = make_plan(&p, &arena, &err);
    if (rc == 0)
        rc = name_attempt(&p, &err);
    if (rc == 0) {
        begin_trace(&p);
        rc = redeploy(&p, &err);
        trace_settle(&p.trace);
    }
    if (rc == 0)
        rc = print_plan(&p, &err);
    if (rc != 0)
        msg_error("%s", err.text);
    status = rc == 0 ? OWED_OK : err_exit(&err);
    if (trace_close(&p.trace, status, &err) != 0)
        msg_error("the trace lacks events: %s", err.text);
    arena_free(&arena);
    return status;
}
