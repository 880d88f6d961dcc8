/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane-join: the one fan-in of a job. Several lanes in, one lane out: a lane is
 * held at its barrier until all have it, their `left` are joined, and the least
 * watermark goes on; an idle lane holds nothing back.
 *
 * Exit: 0 every lane ended whole, 2 usage or a lane outside the contract, 3 else.
 */
#include "evidence/barrier.h"
#include "evidence/options.h"
#include "evidence/trace_pass.h"
#include "stream/stream.h"
#include "stream/watermark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lane {
    const char *path;
    struct stream_in in;
    bool ended, held; /* held: at its barrier */
    bool idle, has_time;
    int64_t time; /* its watermark */
};

struct join {
    struct lane *lanes;
    size_t n, held, ended;
    struct stream_out out;
    struct arena arena; /* of the barrier being gathered */
    struct barrier barrier;
    struct trace trace;
    bool sent_time, sent_idle;
    int64_t time; /* the watermark last sent */
};

static int open_lanes(struct join *j, const char **paths, size_t max_line, struct err *err)
{
    for (size_t i = 0; i < j->n; i++) {
        struct lane *l = &j->lanes[i];
        l->path = paths[i];
        int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
        stream_in_init(&l->in, fd, paths[i], max_line);
        if (fd < 0)
            return err_sys(err, "cannot open the lane '%s'", paths[i]);
    }
    return 0;
}

/* Send the least watermark of the lanes that are not idle, where it moved. A lane that ended keeps its last one: rows
 * that it could still have owed are not there, so no time past it is known to be whole. */
static void send_watermark(struct join *j)
{
    bool any = false;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < j->n; i++) {
        const struct lane *l = &j->lanes[i];
        if (l->idle)
            continue;
        if (!l->has_time)
            return;
        any = true;
        if (l->time < least)
            least = l->time;
    }
    if (!any && !j->sent_idle)
        stream_put_watermark(&j->out, &(struct stream_watermark){.idle = true});
    if (any && (!j->sent_time || least > j->time || j->sent_idle)) {
        /* A lane that comes back from idleness may stand behind; what went out is not taken back. */
        if (!j->sent_time || least > j->time)
            j->time = least;
        j->sent_time = true;
        stream_put_watermark(&j->out, &(struct stream_watermark){.has_time = true, .time = j->time});
    }
    j->sent_idle = !any;
}

static int on_watermark(struct join *j, struct lane *l, const struct stream_line *line, struct err *err)
{
    struct stream_watermark w;
    if (stream_watermark(line, &w, err) != 0)
        return err_prefix(err, "lane '%s'", l->path);
    l->idle = w.idle;
    /* A lane that is no longer idle and has no time yet says only that. */
    if (w.has_time) {
        l->time = w.time;
        l->has_time = true;
    }
    send_watermark(j);
    return 0;
}

/* All lanes stand at one barrier: it goes on, and so do they. */
static void release(struct join *j)
{
    trace_pass(&j->trace, &j->out, &j->barrier);
    for (size_t i = 0; i < j->n; i++)
        j->lanes[i].held = false;
    j->held = 0;
    arena_reset(&j->arena);
}

static int on_barrier(struct join *j, struct lane *l, const struct stream_line *line, struct err *err)
{
    struct barrier b;
    /* The line goes with the next read; the barrier waits for the other lanes. */
    const char *copy = arena_strndup(&j->arena, line->p, line->n);
    if (barrier_parse(copy, line->n, l->path, &j->arena, &b, err) != 0)
        return -1;
    if (j->held == 0)
        j->barrier = b;
    else if (barrier_join(&j->barrier, &b, &j->arena, err) != 0)
        return err_prefix(err, "lane '%s'", l->path);
    l->held = true;
    j->held++;
    if (j->held + j->ended == j->n && j->ended > 0)
        return err_set(err, ERR_TROUBLE, "a lane ended before barrier %" PRIu64, j->barrier.checkpoint);
    if (j->held == j->n)
        release(j);
    return 0;
}

static int on_line(struct join *j, struct lane *l, const struct stream_line *line, struct err *err)
{
    switch (line->type) {
    case LINE_WATERMARK: return on_watermark(j, l, line, err);
    case LINE_BARRIER: return on_barrier(j, l, line, err);
    case LINE_STOP: return err_set(err, ERR_TROUBLE, "the lane '%s' was stopped upstream", l->path);
    default: stream_pass(&j->out, line); return 0;
    }
}

/* Take what a lane has in memory, and one read more. The header is a read of its own: what is behind it may be long in
 * coming, and to wait for it would hold up the other lanes, and with them who writes to all. */
static int drain(struct join *j, struct lane *l, struct err *err)
{
    if (!l->in.stages) {
        if (stream_open(&l->in, err) != 0)
            return -1;
        if (!line_in_ready(&l->in.lines))
            return 0;
    }
    do {
        struct stream_line line;
        int rc = stream_next(&l->in, &line, err);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            l->ended = true;
            j->ended++;
            if (j->held > 0)
                return err_set(err, ERR_TROUBLE, "the lane '%s' ended before barrier %" PRIu64, l->path,
                               j->barrier.checkpoint);
            return 0;
        }
        if (on_line(j, l, &line, err) != 0)
            return -1;
    } while (!l->held && line_in_ready(&l->in.lines));
    return 0;
}

/* Wait until a lane that is not held has something. */
static int wait_lanes(struct join *j, struct pollfd *fds, struct err *err)
{
    bool ready = false;
    for (size_t i = 0; i < j->n; i++) {
        struct lane *l = &j->lanes[i];
        bool open = !l->held && !l->ended;
        fds[i] = (struct pollfd){.fd = open ? l->in.lines.fd : -1, .events = POLLIN};
        if (open && line_in_ready(&l->in.lines))
            ready = true;
    }
    if (!ready && stream_flush(&j->out) != 0)
        return -1;
    while (poll(fds, (nfds_t)j->n, ready ? 0 : -1) < 0)
        if (errno != EINTR)
            return err_sys(err, "cannot wait for the lanes");
    return 0;
}

static int join_lanes(struct join *j, struct err *err)
{
    struct pollfd *fds = xcalloc(j->n, sizeof *fds);
    int rc = 0;
    while (rc == 0 && j->ended < j->n && !j->out.broken) {
        rc = wait_lanes(j, fds, err);
        for (size_t i = 0; rc == 0 && i < j->n; i++) {
            struct lane *l = &j->lanes[i];
            if (!l->held && !l->ended && (fds[i].revents || line_in_ready(&l->in.lines)))
                rc = drain(j, l, err);
        }
    }
    free(fds);
    return rc;
}

struct options {
    struct opt_list lanes;
    const char *trace_dir, *job, *attempt;
    uint64_t max_line;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {OPT_USAGE("lane-join [options] LANE... >lane\n"
                                          "Join a job's lanes (FIFOs or files) into one, aligned at their barriers."),
                                OPT_OPERANDS(&o->lanes),
                                EVIDENCE_OPTION_TRACED(&o->trace_dir, &o->attempt),
                                EVIDENCE_OPTION_JOB(&o->job),
                                MODE_OPTION,
                                STREAM_OPTIONS(&o->max_line),
                                OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && o->lanes.n == 0)
        return err_set(err, ERR_REFUSED, "no lane is named");
    if (rc == 0 && o->trace_dir && !o->job)
        return err_set(err, ERR_REFUSED, "--trace-dir needs --job");
    return rc == 0 ? evidence_traced(o->trace_dir, o->attempt, err) : rc;
}

/* Returns the exit status. */
static int run(const struct options *o)
{
    struct join j = {.n = o->lanes.n, .arena = ARENA_INIT};
    struct err err = ERR_INIT;
    j.lanes = xcalloc(j.n, sizeof *j.lanes);
    int rc = open_lanes(&j, o->lanes.at, o->max_line, &err);
    if (rc == 0)
        rc = stream_open(&j.lanes[0].in, &err);
    stream_begin(&j.out, STDOUT_FILENO, rc == 0 ? &j.lanes[0].in : NULL);
    struct err failure = ERR_INIT;
    if (trace_open(&j.trace, o->trace_dir, o->job, o->attempt, "lane-join", NULL, 0, &failure) != 0)
        msg_error("there is no trace: %s", failure.text);
    if (rc == 0)
        rc = join_lanes(&j, &err);
    if (rc != 0)
        stream_put_stop(&j.out, &err, CODE_LANES_APART);
    int status = stream_end(&j.out);
    if (trace_close(&j.trace, status, &failure) != 0)
        msg_error("the trace lacks events: %s", failure.text);
    for (size_t i = 0; i < j.n; i++)
        stream_in_free(&j.lanes[i].in);
    free(j.lanes);
    stream_out_free(&j.out);
    arena_free(&j.arena);
    return status;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &o, &status, &err);
    if (rc < 0)
        status = stream_refuse(&err, STREAM_NO_INPUT);
    else if (rc == 0)
        status = run(&o);
    opt_list_free(&o.lanes);
    return status;
}
