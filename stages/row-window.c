/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-window: the job's window. Each row is counted and summed in its window;
 * a window's rows go on once the watermark has passed its end, before that
 * watermark does. At a barrier what is open is stored, durable before the
 * barrier goes on: the window is a participant of the checkpoint.
 *
 * Exit: 0 the lane ended whole, 2 usage, the parameters, the state or a row, 3 else.
 */
#include "evidence/barrier.h"
#include "evidence/options.h"
#include "evidence/places.h"
#include "evidence/snapshot.h"
#include "evidence/trace_pass.h"
#include "ops/ops.h"
#include "stream/stream.h"
#include "stream/watermark.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PARAMETERS_MAX ((size_t)16 << 20)

struct options {
    const char *parameters, *checkpoint_dir, *trace_dir, *job, *operator_id, *attempt;
    uint64_t subtask, participant, generation, restore, max_line;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("row-window --parameters=FILE [options] <lane >lane\n"
                  "Count and sum a job's rows by key in tumbling windows, exactly, a row a key and window."),
        OPT_TEXT("parameters", "FILE", &o->parameters, "the operator's parameters as one JSON object"),
        EVIDENCE_OPTION_CHECKPOINT_DIR(&o->checkpoint_dir),
        EVIDENCE_OPTION_TRACE_DIR(&o->trace_dir),
        EVIDENCE_OPTIONS_WRITER(&o->job, &o->operator_id, &o->subtask, &o->attempt),
        OPT_U64("participant", &o->participant, 0, UINT32_MAX, "the window's number among the job's participants"),
        EVIDENCE_OPTION_GENERATION(&o->generation),
        EVIDENCE_OPTION_RESTORE(&o->restore),
        MODE_OPTION,
        STREAM_OPTIONS(&o->max_line),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc != 0)
        return rc;
    if (!o->parameters)
        return err_set(err, ERR_REFUSED, "--parameters is needed");
    if (o->checkpoint_dir && (!o->job || !o->operator_id || o->participant == EVIDENCE_NO_SUBTASK))
        return err_set(err, ERR_REFUSED, "--checkpoint-dir needs --job, --operator and --participant");
    if (o->restore && !o->checkpoint_dir)
        return err_set(err, ERR_REFUSED, "--restore needs --checkpoint-dir");
    if (o->trace_dir && (!o->job || !o->operator_id || !o->attempt || o->subtask == EVIDENCE_NO_SUBTASK))
        return err_set(err, ERR_REFUSED, "--trace-dir needs --job, --operator, --subtask and --attempt");
    return 0;
}

static int open_operator(const struct options *o, struct op **op, struct err *err)
{
    struct buf text = BUF_INIT;
    struct arena arena = ARENA_INIT;
    int rc = file_read(o->parameters, PARAMETERS_MAX, &text, err);
    const struct json *parameters = rc == 0 ? json_parse_named(buf_str(&text), text.len, &arena, o->parameters, err)
                                            : NULL;
    rc = parameters ? op_open(op, "window", parameters, err) : -1;
    buf_free(&text);
    arena_free(&arena);
    return rc;
}

/* ---- state ---- */

struct windower {
    const struct options *o;
    struct op *op;
    struct trace trace;
    struct stream_out out;
    struct arena arena; /* of one line */
    bool begun;         /* what the state says of time was handed on */
    bool said;          /* that a snapshot could not be written */
};

static int is_own(const struct options *o, const struct snapshot *s, struct err *err)
{
    if (strcmp(s->kind, "window") == 0 && strcmp(s->job, o->job) == 0 && strcmp(s->operator_id, o->operator_id) == 0 &&
        s->subtask == o->participant && s->checkpoint == o->restore)
        return 0;
    return err_fail(err, ERR_REFUSED, BECAUSE(CODE_STATE_OTHER),
                    "it is of job %s, operator %s, a %s, participant %" PRIu64 ", checkpoint %" PRIu64, s->job,
                    s->operator_id, s->kind, s->subtask, s->checkpoint);
}

static int restore(const struct options *o, struct op *op, struct err *err)
{
    struct buf rel = BUF_INIT;
    struct arena arena = ARENA_INIT;
    struct snapshot s;
    int dir = open(o->checkpoint_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(err, "%s", o->checkpoint_dir);
    evidence_path_snapshot(&rel, o->job, o->generation, o->participant, o->restore);
    int rc = snapshot_read(dir, buf_str(&rel), &arena, &s, err);
    close(dir);
    if (rc != 0 && err->kind == ERR_REFUSED)
        err_cause(err, BECAUSE(CODE_STATE_MALFORMED));
    if (rc == 0 && (is_own(o, &s, err) != 0 || op_restore(op, s.state, s.state_len, err) != 0))
        rc = err_prefix(err, "%s", rel.p);
    buf_free(&rel);
    arena_free(&arena);
    return rc;
}

/* What is open at the barrier, durable before the barrier goes on. A failed write leaves the barrier without it, so
 * that the checkpoint does not complete, and never stops the job. */
static int store(struct windower *w, struct barrier *b, struct err *err)
{
    struct buf state = BUF_INIT, rel = BUF_INIT;
    struct left entry;
    if (op_snapshot(w->op, &state, err) != 0) {
        buf_free(&state);
        return -1;
    }
    struct err why = ERR_INIT;
    struct snapshot s = {.job = w->o->job,
                         .operator_id = w->o->operator_id,
                         .kind = "window",
                         .subtask = w->o->participant,
                         .checkpoint = b->checkpoint,
                         .state = buf_str(&state),
                         .state_len = state.len};
    evidence_path_snapshot(&rel, w->o->job, w->o->generation, w->o->participant, b->checkpoint);
    bool ok = snapshot_write(w->o->checkpoint_dir, rel.p, &s, &w->arena, &entry, &why) == 0;
    trace_put(&w->trace,
              &(struct trace_event){
                  .kind = TRACE_STATE, .checkpoint = b->checkpoint, .participant = w->o->participant, .ok = ok});
    if (ok) {
        barrier_add(b, &w->arena, &entry);
        w->said = false;
    } else {
        if (!w->said)
            msg_error("%s; checkpoints without it do not complete", why.text);
        w->said = true;
    }
    buf_free(&state);
    buf_free(&rel);
    return 0;
}

/* ---- the lane ---- */

static void put_event(void *ctx, const char *p, size_t n)
{
    struct windower *w = ctx;
    stream_put(&w->out, LINE_EVENT, p, n);
}

static void put_time(struct windower *w)
{
    int64_t ms;
    if (!op_time(w->op, &ms))
        return;
    stream_put_watermark(&w->out, &(struct stream_watermark){.has_time = true, .time = ms});
}

/* What goes on is the window's own time, which does not fall: after a restore the lanes can stand behind it. */
static int on_watermark(struct windower *w, const struct stream_line *line, struct err *err)
{
    struct stream_watermark said;
    if (stream_watermark(line, &said, err) != 0)
        return -1;
    if (!said.has_time)
        return 0;
    if (op_watermark(w->op, said.time, &(struct op_output){put_event, w}, err) != 0)
        return -1;
    put_time(w);
    return 1;
}

static int on_barrier(struct windower *w, const struct stream_line *line, struct err *err)
{
    struct barrier b;
    if (barrier_parse(line->p, line->n, "barrier", &w->arena, &b, err) != 0)
        return -1;
    if (op_barrier(w->op, b.checkpoint, &(struct op_output){put_event, w}, err) != 0)
        return -1;
    if (!w->o->checkpoint_dir)
        return trace_pass_line(&w->trace, &w->out, line, err);
    if (strcmp(b.job, w->o->job) != 0)
        return err_set(err, ERR_REFUSED, "the barrier is of job '%s', not '%s'", b.job, w->o->job);
    if (store(w, &b, err) != 0)
        return -1;
    trace_pass(&w->trace, &w->out, &b);
    return 1;
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct windower *w = ctx;
    struct op_output out = {put_event, w};
    if (!w->begun)
        put_time(w);
    w->begun = true;
    arena_reset(&w->arena);
    switch (line->type) {
    case LINE_EVENT: return op_event(w->op, line->p, line->n, &out, err) == 0 ? 1 : -1;
    case LINE_RECORD: return op_record(w->op, line->p, line->n, &out, err) == 0 ? 1 : -1;
    case LINE_WATERMARK: return on_watermark(w, line, err);
    case LINE_BARRIER: return on_barrier(w, line, err);
    default: return 0;
    }
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.subtask = EVIDENCE_NO_SUBTASK,
                        .participant = EVIDENCE_NO_SUBTASK,
                        .generation = 1,
                        .max_line = STREAM_MAX_LINE};
    struct windower w = {.o = &o, .arena = ARENA_INIT};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = read_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0 || open_operator(&o, &w.op, &err) < 0 || (o.restore && restore(&o, w.op, &err) != 0)) {
        op_close(w.op);
        return stream_refuse(&err, STREAM_NO_INPUT);
    }
    if (trace_open(&w.trace, o.trace_dir, o.job, o.attempt, "row-window", o.operator_id, o.subtask, &err) != 0)
        msg_error("there is no trace: %s", err.text);
    struct stream_in in = {.lane = true, .code = CODE_EVENT_NOT_WINDOWED};
    stream_filter(&in, &w.out, o.max_line, on_line, &w);
    status = stream_end(&w.out);
    if (trace_close(&w.trace, status, &err) != 0)
        msg_error("the trace lacks events: %s", err.text);
    stream_in_free(&in);
    stream_out_free(&w.out);
    arena_free(&w.arena);
    op_close(w.op);
    return status;
}
