/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One epoch, driven twice from its start, each time in a process of its own
 * beside the other: what a program does to libjq ends one epoch and nothing
 * else, and neither replay can leave the other anything.
 */
#include "ops/ops.h"
#include "replay/internal.h"
#include "stream/watermark.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK ((size_t)64 << 10)

/* What a replay says of itself, in memory that both processes see. */
struct said {
    bool ended;           /* it came to its end, or to err */
    bool truncated;       /* the capture's own word */
    bool short_of_memory; /* it failed where it may have been memory that failed */
    char attempt[REPLAY_ATTEMPT_MAX];
    uint64_t rows;
    struct err err;
    enum replay_outcome is;
};

struct pass {
    struct replay *p;
    const struct replay_epoch *e;
    const struct buf *state;
    struct said *said;
    struct buf held;
    int out;
    uint64_t bytes;
    struct err failed; /* the output could not be written */
};

/* ---- in the child ---- */

static void flush(struct pass *s)
{
    if (s->failed.kind == ERR_NONE && s->held.len > 0)
        fd_write_all(s->out, s->held.p, s->held.len, "the scratch file", &s->failed);
    buf_reset(&s->held);
}

static void on_event(void *ctx, const char *text, size_t n)
{
    struct pass *s = ctx;
    s->bytes += n + 1;
    s->said->rows++;
    if (s->bytes > REPLAY_OUTPUT_MAX && s->failed.kind == ERR_NONE)
        err_fail(&s->failed, ERR_BOUND, BECAUSE(CODE_BOUND_PASSED), "the replay gives more than %" PRIu64 " bytes",
                 REPLAY_OUTPUT_MAX);
    if (s->failed.kind != ERR_NONE)
        return;
    buf_add(&s->held, text, n);
    buf_addc(&s->held, '\n');
    if (s->held.len >= BLOCK)
        flush(s);
}

/* Of a lane that is idle, or no longer is and has no time yet, nothing moves. */
static int watermark(struct op *op, const char *text, size_t n, const struct op_output *out, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct stream_watermark w;
    const struct json *doc = json_parse_named(text, n, &a, "watermark", err);
    int rc = doc ? watermark_parse(doc, &w, err) : -1;
    arena_free(&a);
    return rc != 0 || !w.has_time ? rc : op_watermark(op, w.time, out, err);
}

/* A line that no stage of a job hands on: it is the capture's fault, and not the operator's. */
static bool malformed(const char *text, size_t n)
{
    struct arena a = ARENA_INIT;
    const struct json *doc = json_parse(text, n, &a, NULL), *values = json_get(doc, "values");
    bool event = doc && json_is(json_get(doc, "type"), "event");
    bool ok = event ? values && values->type == JSON_OBJECT
                    : doc && json_get(doc, "topic") && json_get(doc, "partition") && json_get(doc, "offset") &&
                          (json_get(doc, "payload") || json_get(doc, "payload_b64"));
    arena_free(&a);
    return !ok;
}

static int lines(struct pass *s, struct op *op, struct capture_reader *r, struct err *err)
{
    const struct op_output out = {on_event, s};
    const char *text;
    size_t n;
    bool is_data;
    int got;
    while ((got = capture_read_next(r, &text, &n, &is_data, err)) == 1) {
        int rc = !is_data                              ? watermark(op, text, n, &out, err)
                 : text[strlen("{\"type\":\"")] == 'r' ? op_record(op, text, n, &out, err)
                                                       : op_event(op, text, n, &out, err);
        if (rc != 0 && (is_data ? malformed(text, n) : err->cause.code == CODE_NONE)) {
            err_prefix(err, "'%s', line %" PRIu64, s->e->path, r->lines.line_no);
            err->cause = *BECAUSE(CODE_CAPTURE_MALFORMED);
            return -1;
        }
        if (rc != 0) {
            s->said->is = REPLAY_FAILED;
            return -1;
        }
        if (s->failed.kind != ERR_NONE)
            return -1;
    }
    return got;
}

int replay_place(const struct replay *p, const struct capture_header *h, const struct bundle_captured *at,
                 struct err *err)
{
    if (strcmp(h->job, p->b->m.job) == 0 && strcmp(h->operator_id, at->operator_id) == 0 && h->subtask == at->subtask &&
        h->epoch == at->epoch)
        return 0;
    return err_set(err, ERR_REFUSED,
                   "'%s' is the capture of another place: of job %.64s, operator %.40s, subtask "
                   "%" PRIu64 ", epoch %" PRIu64,
                   at->path, h->job, h->operator_id, h->subtask, h->epoch);
}

/* The capture must be of its place, and its bytes those that the manifest lists. */
static int replay_capture(struct pass *s, struct op *op, struct err *err)
{
    const struct replay_epoch *e = s->e;
    const struct bundle_artifact *listed;
    struct capture_reader r;
    int fd = bundle_open_file(s->p->b, e->path, &listed, err);
    if (fd < 0)
        return -1;
    int rc = capture_read_open(&r, fd, e->path, err);
    if (rc == 0)
        rc = replay_place(s->p, &r.h, &(struct bundle_captured){e->operator_id, e->subtask, e->epoch, e->path}, err);
    if (rc == 0) {
        snprintf(s->said->attempt, sizeof s->said->attempt, "%s", r.h.attempt);
        rc = lines(s, op, &r, err);
    }
    s->said->truncated = rc == 0 && r.h.truncated;
    if (rc == 0)
        rc = bundle_hold_capture(listed, &r, err);
    else if (bundle_hold(listed, fd, err) != 0) /* what is not the manifest's file is that, whatever it holds */
        s->said->is = REPLAY_UNAVAILABLE;
    capture_read_close(&r);
    close(fd);
    return rc;
}

/* With this process's own copy of the operator as it was opened. */
static int replay(struct pass *s, struct err *err)
{
    struct op *op = s->e->op->op;
    const struct op_output out = {on_event, s};
    int rc = s->state->len > 0 ? op_restore(op, s->state->p, s->state->len, err) : 0;
    if (rc == 0)
        rc = replay_capture(s, op, err);
    if (rc == 0)
        rc = op_barrier(op, s->e->epoch, &out, err);
    flush(s);
    if (s->failed.kind == ERR_NONE)
        return rc;
    s->said->is = REPLAY_UNAVAILABLE;
    *err = s->failed;
    return -1;
}

static void child(struct pass *s, pid_t parent)
{
    replay_child(s->p, parent, s->p->r->cpu_s);
    s->said->is = REPLAY_UNAVAILABLE;
    if (replay(s, &s->said->err) == 0)
        s->said->is = REPLAY_PASSED;
    else if (s->said->is == REPLAY_FAILED)
        s->said->short_of_memory = replay_short_of_memory(s->p);
    s->said->ended = true;
    _exit(0);
}

/* ---- here ---- */

static void start(struct pass *s, pid_t *pid, struct err *err)
{
    pid_t here = getpid();
    s->out = scratch_open(s->p->r->scratch, err);
    if (s->out < 0)
        return;
    *pid = fork();
    if (*pid == 0)
        child(s, here);
    if (*pid < 0)
        err_sys(err, "cannot start a replay");
}

static void ended(struct replay *p, const struct replay_epoch *e, const struct said *said, pid_t pid, struct outcome *o)
{
    int status = 0;
    replay_wait(p, pid, &status);
    if (o->is != REPLAY_PASSED || (said->ended && said->is == REPLAY_PASSED))
        return;
    if (!said->ended)
        replay_cut_off(p, e->path, status, o);
    else if (said->short_of_memory)
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_BOUND_PASSED, {"option", "--max-memory"}),
                    "the replay stopped with so much memory taken that it may have been for want of more than "
                    "--max-memory=%" PRIu64 ": %s",
                    p->r->memory, said->err.text);
    else if (said->is == REPLAY_FAILED)
        outcome_set(p, o, REPLAY_FAILED, BECAUSE(CODE_REPLAY_STOPPED), "%s", said->err.text);
    else
        outcome_err(p, o, said->is, CODE_CAPTURE_MALFORMED, &said->err);
}

static void both(struct replay *p, const struct replay_epoch *e, const struct buf *state, struct said *said,
                 struct replayed *out)
{
    struct pass pass[2] = {{.p = p, .e = e, .state = state, .said = &said[0], .out = -1},
                           {.p = p, .e = e, .state = state, .said = &said[1], .out = -1}};
    pid_t pid[2] = {0, 0};
    struct err err = ERR_INIT;
    for (int i = 0; i < 2 && err.kind == ERR_NONE; i++)
        start(&pass[i], &pid[i], &err);
    if (err.kind != ERR_NONE)
        outcome_err(p, &out->is, REPLAY_UNAVAILABLE, CODE_IO_FAILED, &err);
    for (int i = 0; i < 2; i++) {
        out->out[i] = pass[i].out;
        if (pid[i] > 0)
            ended(p, e, &said[i], pid[i], &out->is);
    }
    out->rows = said[0].rows;
    out->truncated = said[0].truncated;
    memcpy(out->attempt, said[0].attempt, sizeof out->attempt);
}

/* The same twice; with a prefix, what there was of it, which decides nothing. */
static void compare(struct replay *p, const struct replay_epoch *e, struct replayed *out)
{
    struct parting at = {.line = 0};
    struct err err = ERR_INIT;
    int rc = output_differs(p, out->out[0], out->out[1], &at, &err);
    if (rc < 0)
        outcome_err(p, &out->is, REPLAY_UNAVAILABLE, CODE_IO_FAILED, &err);
    else if (out->truncated)
        outcome_set(p, &out->is, REPLAY_UNAVAILABLE, BECAUSE(CODE_CAPTURE_TRUNCATED),
                    "'%s' is truncated: of what it holds two replays %s", e->path,
                    rc == 0 ? "gave the same rows" : "gave different rows");
    else if (rc > 0)
        outcome_set(p, &out->is, REPLAY_FAILED, BECAUSE(CODE_REPLAY_DIFFERS),
                    "two replays of '%s' part at row %" PRIu64 ": %s, and %s", e->path, at.line, at.a ? at.a : "no row",
                    at.b ? at.b : "no row");
}

void replay_drive(struct replay *p, const struct replay_epoch *e, struct replayed *out)
{
    struct buf state = BUF_INIT;
    size_t size = 2 * sizeof(struct said);
    replay_judge(p, e->op);
    *out = (struct replayed){.out = {-1, -1}, .is = e->op->judged};
    if (out->is.is == REPLAY_PASSED)
        out->is = replay_start(p, e, &out->begin, &state);
    if (out->is.is == REPLAY_PASSED) {
        struct said *said = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (said == MAP_FAILED) {
            outcome_set(p, &out->is, REPLAY_UNAVAILABLE, BECAUSE(CODE_IO_FAILED), "no memory for a replay");
        } else {
            both(p, e, &state, said, out);
            munmap(said, size);
        }
    }
    if (out->is.is == REPLAY_PASSED)
        compare(p, e, out);
    buf_free(&state);
}

void replayed_free(struct replayed *r)
{
    for (int i = 0; i < 2; i++)
        if (r->out[i] >= 0)
            close(r->out[i]);
}
