/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cap-tee: the flight recorder. Standard input's lane passes unchanged; a copy
 * of the data that flows between two barriers goes to that interval's capture
 * file, which is whole on disk before its barrier goes on.
 *
 * Out: the lane, each barrier with what was written added to its `left`. A
 * failed write disarms the interval and never stops the job.
 * Exit: 0 the lane ended whole, 2 usage or a lane outside the contract, 3 else.
 */
#include "evidence/barrier.h"
#include "evidence/capture.h"
#include "evidence/manifest.h"
#include "evidence/options.h"
#include "evidence/trace_pass.h"
#include "json/json.h"
#include "stream/stream.h"

#include <string.h>

struct options {
    const char *dir, *attempt, *parameters, *trace_dir;
    struct op_spec op;
    uint64_t subtask, records, max_line;
    bool data_unchecked;
};

struct tee {
    struct capture_writer capture;
    struct trace trace;
    struct stream_out out;
    struct arena arena;
    uint64_t last_epoch;
    bool said;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("cap-tee --capture-dir=DIR --job=JOB --operator=ID --subtask=N --attempt=ID [options] <lane >lane\n"
                  "Record a job's lane, interval by interval, and pass it on."),
        EVIDENCE_OPTION_CAPTURE_DIR(&o->dir),
        EVIDENCE_OPTIONS_WRITER(&o->op.job, &o->op.operator_id, &o->subtask, &o->attempt),
        EVIDENCE_OPTION_TRACE_DIR(&o->trace_dir),
        OPT_U64("capture-records", &o->records, 1, UINT32_MAX,
                "data lines stored an interval (10000); past it the capture is marked truncated"),
        OPT_TEXT("name", "NAME", &o->op.name, "the operator's name, for op.json"),
        OPT_TEXT("kind", "KIND", &o->op.kind, "its kind"),
        OPT_TEXT("uid", "UID", &o->op.uid, "its id in the job's program"),
        OPT_TEXT("parameters", "FILE", &o->parameters, "the operator's parameters as one JSON object"),
        OPT_FLAG("data-unchecked", &o->data_unchecked,
                 "do not read records and events through: whoever reads the output does"),
        MODE_OPTION,
        STREAM_OPTIONS(&o->max_line),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && (!o->dir || !o->op.job || !o->op.operator_id || !o->attempt || o->subtask == EVIDENCE_NO_SUBTASK))
        return err_set(err, ERR_REFUSED, "--capture-dir, --job, --operator, --subtask and --attempt are needed");
    return rc;
}

/* Evidence that cannot be written is absent, not fatal; it is said once. */
static void disarmed(struct tee *t, const char *what, const struct err *err)
{
    if (!t->said)
        msg_error("%s: the capture is disarmed: %s", what, err->text);
    t->said = true;
}

static int on_barrier(struct tee *t, const struct stream_line *line, struct err *err)
{
    struct barrier b;
    arena_reset(&t->arena);
    if (barrier_parse(line->p, line->n, "barrier", &t->arena, &b, err) != 0)
        return -1;
    struct left entry;
    struct err failure = ERR_INIT;
    char what[64];
    snprintf(what, sizeof what, "checkpoint %" PRIu64, b.checkpoint);
    bool ok = capture_end(&t->capture, b.checkpoint, &t->arena, &entry, &failure) == 0;
    if (ok)
        barrier_add(&b, &t->arena, &entry);
    else
        disarmed(t, what, &failure);
    trace_put(&t->trace, &(struct trace_event){.kind = TRACE_EVIDENCE, .checkpoint = b.checkpoint, .ok = ok});
    t->last_epoch = b.checkpoint;
    trace_pass(&t->trace, &t->out, &b);
    return 1;
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct tee *t = ctx;
    switch (line->type) {
    case LINE_RECORD:
    case LINE_EVENT: capture_data(&t->capture, line->p, line->n); return 0;
    case LINE_WATERMARK: capture_control(&t->capture, line->p, line->n); return 0;
    case LINE_BARRIER: return on_barrier(t, line, err);
    default: return 0;
    }
}

/* The operator's own description, once a run. */
static int describe(struct tee *t, struct options *o, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = 0;
    if (o->parameters) {
        rc = file_read(o->parameters, (size_t)16 << 20, &text, err);
        o->op.parameters = rc == 0 ? buf_str(&text) : NULL;
        struct json_error e;
        if (rc == 0 && !json_valid(text.p, text.len, &e))
            rc = err_set(err, ERR_REFUSED, "'%s': byte %zu: %s", o->parameters, e.offset + 1, e.why);
    }
    struct err failure = ERR_INIT;
    if (rc == 0 && op_spec_write(o->dir, o->subtask, &o->op, &failure) != 0)
        disarmed(t, "op.json", &failure);
    buf_free(&text);
    return rc;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {
        .op = {.name = "operator", .kind = "unknown"}, .subtask = EVIDENCE_NO_SUBTASK, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = read_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    struct tee t = {.arena = ARENA_INIT};
    if (rc < 0 || describe(&t, &o, &err) != 0)
        return stream_refuse(&err, STREAM_NO_INPUT);
    if (trace_open(&t.trace, o.trace_dir, o.op.job, o.attempt, "cap-tee", o.op.operator_id, o.subtask, &err) != 0)
        msg_error("there is no trace: %s", err.text);
    capture_open(&t.capture, o.dir, o.op.job, o.op.operator_id, o.subtask, o.attempt, o.records);
    /* In a job the next stage reads each of these lines in full before it lets their barrier on, so that no interval
     * with a bad one completes; to read them twice is most of what a recorder costs. */
    struct stream_in in = {.lane = true, .data_unchecked = o.data_unchecked};
    bool whole = stream_filter(&in, &t.out, o.max_line, on_line, &t);
    if (whole && capture_final(&t.capture, t.last_epoch, &err) != 0)
        disarmed(&t, "final.cap", &err);
    capture_close(&t.capture);
    status = stream_end(&t.out);
    if (trace_close(&t.trace, status, &err) != 0)
        msg_error("the trace lacks events: %s", err.text);
    stream_in_free(&in);
    stream_out_free(&t.out);
    arena_free(&t.arena);
    return status;
}
