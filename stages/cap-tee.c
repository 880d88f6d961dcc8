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
#include "evidence/places.h"
#include "json/json.h"
#include "stream/stream.h"

#include <getopt.h>
#include <string.h>

static const char help[] =
    "usage: cap-tee --capture-dir=DIR --job=JOB --operator=ID --subtask=N --attempt=ID [options] <lane >lane\n"
    "Record a job's lane, interval by interval, and pass it on.\n"
    "  --capture-dir=DIR       where captures go: DIR/op-<operator>/subtask-<n>/epoch-<checkpoint>.cap\n"
    "  --job=JOB --operator=ID --subtask=N --attempt=ID   whose input this is\n"
    "  --capture-records=N     data lines stored an interval (10000); past it the capture is marked truncated\n"
    "  --name=NAME --kind=KIND --uid=UID --parameters=FILE   the operator's description, for op.json\n"
    "  --data-unchecked        do not read records and events through: whoever reads the output does\n"
    "  --max-line=SIZE         longest line accepted (64M)\n"
    "  --help, --version\n";

enum {
    OPT_DIR = 256,
    OPT_JOB,
    OPT_OPERATOR,
    OPT_SUBTASK,
    OPT_ATTEMPT,
    OPT_RECORDS,
    OPT_NAME,
    OPT_KIND,
    OPT_UID,
    OPT_PARAMETERS,
    OPT_UNCHECKED,
    OPT_MAX_LINE
};

static const struct option longopts[] = {
    {"capture-dir", required_argument, NULL, OPT_DIR},
    {"job", required_argument, NULL, OPT_JOB},
    {"operator", required_argument, NULL, OPT_OPERATOR},
    {"subtask", required_argument, NULL, OPT_SUBTASK},
    {"attempt", required_argument, NULL, OPT_ATTEMPT},
    {"capture-records", required_argument, NULL, OPT_RECORDS},
    {"name", required_argument, NULL, OPT_NAME},
    {"kind", required_argument, NULL, OPT_KIND},
    {"uid", required_argument, NULL, OPT_UID},
    {"parameters", required_argument, NULL, OPT_PARAMETERS},
    {"data-unchecked", no_argument, NULL, OPT_UNCHECKED},
    {"max-line", required_argument, NULL, OPT_MAX_LINE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct options {
    const char *dir, *attempt, *parameters;
    struct op_spec op;
    uint64_t subtask, records, max_line;
    bool has_subtask, data_unchecked;
};

struct tee {
    struct capture_writer capture;
    struct stream_out out;
    struct arena arena;
    uint64_t last_epoch;
    bool said;
};

/* 0 with o filled, 1 after --help or --version with *status, -1 with err. */
static int parse_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    int c;
    while ((c = getopt_long(argc, argv, "hV", longopts, NULL)) != -1) {
        switch (c) {
        case OPT_DIR: o->dir = optarg; break;
        case OPT_JOB: o->op.job = optarg; break;
        case OPT_OPERATOR: o->op.operator_id = optarg; break;
        case OPT_ATTEMPT: o->attempt = optarg; break;
        case OPT_NAME: o->op.name = optarg; break;
        case OPT_KIND: o->op.kind = optarg; break;
        case OPT_UID: o->op.uid = optarg; break;
        case OPT_PARAMETERS: o->parameters = optarg; break;
        case OPT_UNCHECKED: o->data_unchecked = true; break;
        case OPT_SUBTASK:
            o->has_subtask = true;
            if (parse_u64(optarg, 0, UINT32_MAX, &o->subtask, "--subtask", err) != 0)
                return -1;
            break;
        case OPT_RECORDS:
            if (parse_u64(optarg, 1, UINT32_MAX, &o->records, "--capture-records", err) != 0)
                return -1;
            break;
        case OPT_MAX_LINE:
            if (parse_size(optarg, 1024, (uint64_t)1 << 40, &o->max_line, "--max-line", err) != 0)
                return -1;
            break;
        case 'h': *status = msg_help(help); return 1;
        case 'V': *status = msg_version(); return 1;
        default: return opt_refused(argv, optind - 1, err);
        }
    }
    if (optind < argc)
        return opt_refused(argv, optind, err);
    if (!o->dir || !o->op.job || !o->op.operator_id || !o->attempt || !o->has_subtask)
        return err_set(err, ERR_REFUSED, "--capture-dir, --job, --operator, --subtask and --attempt are needed");
    if (!evidence_job_ok(o->op.job) || !evidence_operator_ok(o->op.operator_id))
        return err_set(err, ERR_REFUSED, "--job or --operator is no plain id");
    return 0;
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
    snprintf(what, sizeof what, "checkpoint %llu", (unsigned long long)b.checkpoint);
    if (capture_end(&t->capture, b.checkpoint, &t->arena, &entry, &failure) == 0)
        barrier_add(&b, &t->arena, &entry);
    else
        disarmed(t, what, &failure);
    t->last_epoch = b.checkpoint;
    struct buf text = BUF_INIT;
    barrier_put(&text, &b);
    stream_put(&t->out, LINE_BARRIER, text.p, text.len);
    buf_free(&text);
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
    struct options o = {.op = {.name = "operator", .kind = "unknown"}, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = parse_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    struct tee t = {.arena = ARENA_INIT};
    if (rc < 0 || describe(&t, &o, &err) != 0)
        return stream_refuse(&err, CODE_USAGE);
    capture_open(&t.capture, o.dir, o.op.job, o.op.operator_id, o.subtask, o.attempt, o.records);
    /* In a job the next stage reads each of these lines in full before it lets their barrier on, so that no interval
     * with a bad one completes; to read them twice is most of what a recorder costs. */
    struct stream_in in = {.lane = true, .data_unchecked = o.data_unchecked};
    bool whole = stream_filter(&in, &t.out, o.max_line, on_line, &t);
    if (whole && capture_final(&t.capture, t.last_epoch, &err) != 0)
        disarmed(&t, "final.cap", &err);
    capture_close(&t.capture);
    status = stream_end(&t.out);
    stream_in_free(&in);
    stream_out_free(&t.out);
    arena_free(&t.arena);
    return status;
}
