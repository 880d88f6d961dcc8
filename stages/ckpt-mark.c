/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ckpt-mark: the end of a job's lanes. A barrier that arrives here was let
 * through by every stage, so its checkpoint is complete: the COMPLETED marker
 * is made durable, then the barrier goes on, then old snapshots are removed.
 *
 * In: the joined lane. Out: the lane, a barrier only once its marker stands.
 * Exit: 0 the lane ended whole, 2 usage or a lane outside the contract, 3 else.
 */
#include "evidence/barrier.h"
#include "evidence/marker.h"
#include "evidence/options.h"
#include "evidence/trace.h"
#include "stream/stream.h"

#include <inttypes.h>

struct mark {
    const char *dir, *job, *attempt, *trace_dir;
    uint64_t parallelism, windows, generation, retain, max_line;
    struct trace trace;
    struct stream_out out;
    struct arena arena;
    bool said; /* that checkpoints do not complete */
};

static int read_options(int argc, char **argv, struct mark *m, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE(
            "ckpt-mark --checkpoint-dir=DIR --job=JOB --parallelism=N [options] <lane >lane\n"
            "Complete checkpoints: write the marker of each barrier that arrives, and keep the newest snapshots."),
        EVIDENCE_OPTION_CHECKPOINT_DIR(&m->dir),
        EVIDENCE_OPTION_JOB(&m->job),
        EVIDENCE_OPTION_PARALLELISM(&m->parallelism),
        EVIDENCE_OPTION_WINDOWS(&m->windows),
        EVIDENCE_OPTION_GENERATION(&m->generation),
        EVIDENCE_OPTION_TRACED(&m->trace_dir, &m->attempt),
        OPT_U64("retain", &m->retain, 1, UINT32_MAX,
                "completed checkpoints whose snapshots are kept (2); markers are never removed"),
        MODE_OPTION,
        STREAM_OPTIONS(&m->max_line),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && (!m->dir || !m->job || !m->parallelism))
        return err_set(err, ERR_REFUSED, "--checkpoint-dir, --job and --parallelism are needed");
    return rc == 0 ? evidence_traced(m->trace_dir, m->attempt, err) : rc;
}

/* A checkpoint that lacks a participant's snapshot does not complete; its interval goes to the next that does. Said
 * once, and once more when it is over: a full disk can last for many. */
static bool complete(struct mark *m, const struct barrier *b, const uint64_t *subtasks, size_t n)
{
    for (uint64_t s = 0; s < m->parallelism + m->windows; s++) {
        if (s < n && subtasks[s] == s)
            continue;
        if (!m->said)
            msg_error("checkpoint %" PRIu64 " does not complete: participant %" PRIu64 " left no snapshot",
                      b->checkpoint, s);
        m->said = true;
        return false;
    }
    if (m->said)
        msg_error("checkpoint %" PRIu64 " completes again", b->checkpoint);
    m->said = false;
    return true;
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct mark *m = ctx;
    if (line->type != LINE_BARRIER)
        return 0;
    struct barrier b;
    arena_reset(&m->arena);
    if (barrier_parse(line->p, line->n, "barrier", &m->arena, &b, err) != 0)
        return -1;
    struct marker marker = {.job = m->job, .checkpoint = b.checkpoint, .generation = m->generation};
    barrier_participants(&b, &m->arena, &marker.subtasks, &marker.n_subtasks);
    if (!complete(m, &b, marker.subtasks, marker.n_subtasks))
        return 0;
    if (marker_write(m->dir, MARKER_COMPLETED, &marker, err) != 0)
        return -1;
    trace_put(&m->trace, &(struct trace_event){.kind = TRACE_COMPLETED, .checkpoint = b.checkpoint});
    trace_settle(&m->trace);
    struct err failure = ERR_INIT;
    if (evidence_retain(m->dir, m->job, m->generation, m->retain, &failure) != 0)
        msg_error("old snapshots stay: %s", failure.text);
    return 0;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct mark m = {.generation = 1, .retain = 2, .max_line = STREAM_MAX_LINE, .arena = ARENA_INIT};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = read_options(argc, argv, &m, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return stream_refuse(&err, STREAM_NO_INPUT);
    if (trace_open(&m.trace, m.trace_dir, m.job, m.attempt, "ckpt-mark", NULL, 0, &err) != 0)
        msg_error("there is no trace: %s", err.text);
    struct stream_in in = {.lane = true};
    stream_filter(&in, &m.out, m.max_line, on_line, &m);
    status = stream_end(&m.out);
    if (trace_close(&m.trace, status, &err) != 0)
        msg_error("the trace lacks events: %s", err.text);
    stream_in_free(&in);
    stream_out_free(&m.out);
    arena_free(&m.arena);
    return status;
}
