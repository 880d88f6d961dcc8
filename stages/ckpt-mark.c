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
#include "evidence/places.h"
#include "stream/stream.h"

#include <getopt.h>
#include <inttypes.h>

static const char help[] =
    "usage: ckpt-mark --checkpoint-dir=DIR --job=JOB --parallelism=P [options] <lane >lane\n"
    "Complete checkpoints: write the marker of each barrier that arrives, and keep the newest snapshots.\n"
    "  --checkpoint-dir=DIR --job=JOB   where the markers and snapshots are\n"
    "  --parallelism=P         participants 0 to P-1 must each have left a snapshot\n"
    "  --generation=N          the state's generation (1)\n"
    "  --retain=N              completed checkpoints whose snapshots are kept (2); markers are never removed\n"
    "  --help, --version\n";

enum { OPT_DIR = 256, OPT_JOB, OPT_PARALLELISM, OPT_GENERATION, OPT_RETAIN };

static const struct option longopts[] = {
    {"checkpoint-dir", required_argument, NULL, OPT_DIR},
    {"job", required_argument, NULL, OPT_JOB},
    {"parallelism", required_argument, NULL, OPT_PARALLELISM},
    {"generation", required_argument, NULL, OPT_GENERATION},
    {"retain", required_argument, NULL, OPT_RETAIN},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct mark {
    const char *dir, *job;
    uint64_t parallelism, generation, retain;
    struct stream_out out;
    struct arena arena;
    bool said; /* that checkpoints do not complete */
};

static int parse_options(int argc, char **argv, struct mark *m, int *status, struct err *err)
{
    int c, rc = 0;
    while (rc == 0 && (c = getopt_long(argc, argv, "hV", longopts, NULL)) != -1) {
        switch (c) {
        case OPT_DIR: m->dir = optarg; break;
        case OPT_JOB: m->job = optarg; break;
        case OPT_PARALLELISM: rc = parse_u64(optarg, 1, 4096, &m->parallelism, "--parallelism", err); break;
        case OPT_GENERATION: rc = parse_u64(optarg, 1, UINT32_MAX, &m->generation, "--generation", err); break;
        case OPT_RETAIN: rc = parse_u64(optarg, 1, UINT32_MAX, &m->retain, "--retain", err); break;
        case 'h': *status = msg_help(help); return 1;
        case 'V': *status = msg_version(); return 1;
        default: return opt_refused(argv, optind - 1, err);
        }
    }
    if (rc != 0)
        return rc;
    if (optind < argc)
        return opt_refused(argv, optind, err);
    if (!m->dir || !m->job || !m->parallelism)
        return err_set(err, ERR_REFUSED, "--checkpoint-dir, --job and --parallelism are needed");
    return evidence_job_ok(m->job) ? 0 : err_set(err, ERR_REFUSED, "--job: '%s' is no job id", m->job);
}

/* A checkpoint that lacks a participant's snapshot does not complete; its interval goes to the next that does. Said
 * once, and once more when it is over: a full disk can last for many. */
static bool complete(struct mark *m, const struct barrier *b, const uint64_t *subtasks, size_t n)
{
    for (uint64_t s = 0; s < m->parallelism; s++) {
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
    struct err failure = ERR_INIT;
    if (evidence_retain(m->dir, m->job, m->generation, m->retain, &failure) != 0)
        msg_error("old snapshots stay: %s", failure.text);
    return 0;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct mark m = {.generation = 1, .retain = 2, .arena = ARENA_INIT};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = parse_options(argc, argv, &m, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return stream_refuse(&err, CODE_USAGE);
    struct stream_in in = {.lane = true};
    stream_filter(&in, &m.out, STREAM_MAX_LINE, on_line, &m);
    status = stream_end(&m.out);
    stream_in_free(&in);
    stream_out_free(&m.out);
    arena_free(&m.arena);
    return status;
}
