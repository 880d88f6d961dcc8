/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka-tail: a topic as record lines, one lane a source subtask, with event
 * time, numbered barriers, and at each barrier the positions on disk before
 * any line says so. Partitions are assigned; no consumer group is joined.
 */
#include "evidence/barrier.h"
#include "evidence/options.h"
#include "evidence/trace.h"
#include "json/json.h"
#include "lane/lane.h"
#include "stream/stream.h"
#include "stream/watermark.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define LANES_MAX 1024
#define WAIT_MS 100   /* longest block on an empty poll: what the connection suffers is heard between two */
#define CHECK_MS 1000 /* longest wait for the topic's identity at a barrier that can be put later */
#define DAY_MS 86400000
#define EMPTY_BARRIERS 2 /* after the last one: they show that nothing more was owed */
#define NEVER INT64_MAX

struct options {
    struct kafka_options kafka;
    const char *topic, *time_field, *checkpoint_dir, *job, *operator_id, *attempt, *trace_dir;
    const char *lanes[LANES_MAX];
    uint32_t n_lanes;
    unsigned isolation, start; /* in the order of their words */
    bool stop_at_end;
    int64_t lag_ms, watermark_ms, idle_ms, interval_ms;
    uint64_t generation, first_epoch, restore;
};
enum { START_BEGINNING, START_END };

struct lane {
    struct lane_state *kafka; /* of the tail's sources */
    struct stream_out out;
    int64_t last_record_ms, last_mark_ms;
    bool idle, mark_due;
};

struct tail {
    struct options o;
    struct lane *lanes;
    struct lane_state *sources;
    struct lane_owner owner;
    struct trace trace;
    struct kafka_client *kafka;
    struct kafka_bounds *bounds;
    struct buf topic_json;
    struct arena run, barrier, payload; /* memory by how long it is needed */
    uint64_t epoch, previous;
    int64_t next_barrier_ms;
    bool evidence_said, trouble_said;
    struct kafka_event events[KAFKA_BATCH];
};

/* ---- options ---- */

static int take_lane(const char *lane, void *ctx, struct err *err)
{
    struct options *o = ctx;
    if (o->n_lanes == LANES_MAX)
        return err_set(err, ERR_REFUSED, "more than %d lanes", LANES_MAX);
    for (uint32_t i = 0; i < o->n_lanes; i++)
        if (strcmp(o->lanes[i], lane) == 0)
            return err_set(err, ERR_REFUSED, "--lane=%s is given twice", lane);
    o->lanes[o->n_lanes++] = lane;
    return 0;
}

static int check_options(const struct options *o, struct err *err)
{
    if (!o->topic)
        return err_set(err, ERR_REFUSED, "no topic is named (-t)");
    if (!kafka_topic_ok(o->topic))
        return err_set(err, ERR_REFUSED, "--topic: not a topic's name: %s", o->topic);
    if (o->checkpoint_dir && !o->job)
        return err_set(err, ERR_REFUSED, "--checkpoint-dir needs --job");
    if (o->trace_dir && !o->checkpoint_dir)
        return err_set(err, ERR_REFUSED, "--trace-dir needs --checkpoint-dir");
    if (o->restore && !o->checkpoint_dir)
        return err_set(err, ERR_REFUSED, "--restore needs --checkpoint-dir");
    if (o->first_epoch <= o->restore)
        return err_set(err, ERR_REFUSED, "--first-epoch=%" PRIu64 " is not past --restore=%" PRIu64, o->first_epoch,
                       o->restore);
    if (o->start == START_END && o->checkpoint_dir)
        return err_set(err, ERR_REFUSED,
                       "--start=end does not go with --checkpoint-dir: a run begun again would pass over records");
    return 0;
}

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE(
            "kafka-tail -b HOST:PORT -t TOPIC [options]\n"
            "Write a topic's records as an owed-stream, one lane a source subtask, with watermarks and barriers."),
        OPT_TEXT("t,topic", "TOPIC", &o->topic, "topic to read; partition p belongs to lane p mod the number of lanes"),
        OPT_TAKE("lane", "FILE", take_lane, o,
                 "a lane's output (a FIFO, a file, or -), once a lane; none: one lane on standard output"),
        OPT_WORD("isolation", "read_committed|read_uncommitted", &o->isolation,
                 "which records are there (read_committed)"),
        OPT_WORD("start", "beginning|end", &o->start, "where to begin (beginning); end: not with --checkpoint-dir"),
        OPT_FLAG("stop-at-end", &o->stop_at_end,
                 "end at what the log holds at the start; with barriers, after a last one and two empty ones"),
        OPT_TEXT("time-field", "NAME", &o->time_field,
                 "event time: this integer member of the payload, in ms (Kafka's timestamp)"),
        OPT_I64("watermark-lag-ms", &o->lag_ms, 0, INT64_MAX, "how far the watermark stays behind (0)"),
        OPT_I64("watermark-ms", &o->watermark_ms, 0, DAY_MS, "least time between two watermark lines (200)"),
        OPT_I64("idle-ms", &o->idle_ms, 0, DAY_MS,
                "a lane without records for so long holds nothing back (1000; 0: never)"),
        EVIDENCE_OPTION_CHECKPOINT_DIR(&o->checkpoint_dir),
        OPT_I64(
            "interval-ms", &o->interval_ms, 0, DAY_MS,
            "with --checkpoint-dir and --job: time between two barriers\n(1000; 0: only where SIGUSR1 asks for one)"),
        EVIDENCE_OPTION_JOB(&o->job),
        EVIDENCE_OPTION_OPERATOR(&o->operator_id, " (1)"),
        EVIDENCE_OPTION_GENERATION(&o->generation),
        OPT_U64("first-epoch", &o->first_epoch, 1, UINT64_MAX - EMPTY_BARRIERS - 1,
                "number of the first barrier (1), as ckpt-plan says"),
        EVIDENCE_OPTION_RESTORE(&o->restore),
        EVIDENCE_OPTION_ATTEMPT(&o->attempt, " (one is made)"),
        EVIDENCE_OPTION_TRACE_DIR(&o->trace_dir),
        MODE_OPTION,
        KAFKA_OPTIONS(&o->kafka),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    return rc != 0 ? rc : check_options(o, err);
}

/* ---- lanes ---- */

static int open_lanes(struct tail *t, struct err *err)
{
    int fds[LANES_MAX];
    if (t->o.n_lanes == 0)
        t->o.lanes[t->o.n_lanes++] = "-";
    for (uint32_t i = 0; i < t->o.n_lanes; i++) {
        bool standard = strcmp(t->o.lanes[i], "-") == 0;
        fds[i] = standard ? STDOUT_FILENO : open(t->o.lanes[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fds[i] < 0)
            return err_sys(err, "--lane=%s", t->o.lanes[i]);
    }
    t->lanes = xcalloc(t->o.n_lanes, sizeof *t->lanes);
    t->sources = xcalloc(t->o.n_lanes, sizeof *t->sources);
    for (uint32_t i = 0; i < t->o.n_lanes; i++) {
        t->lanes[i].kafka = &t->sources[i];
        stream_begin(&t->lanes[i].out, fds[i], NULL);
    }
    return 0;
}

static void put_watermark(struct lane *lane)
{
    bool timed = !lane->idle && lane->kafka->has_watermark;
    stream_put_watermark(&lane->out, &(struct stream_watermark){lane->idle, timed, lane->kafka->watermark});
    lane->mark_due = false;
}

/* Watermarks that are due, and lanes that have been silent for long enough. */
static void tick(struct tail *t, int64_t now, bool at_barrier)
{
    for (uint32_t i = 0; i < t->o.n_lanes; i++) {
        struct lane *lane = &t->lanes[i];
        if (lane_advance(lane->kafka))
            lane->mark_due = true;
        if (lane->mark_due && (at_barrier || now - lane->last_mark_ms >= t->o.watermark_ms)) {
            put_watermark(lane);
            lane->last_mark_ms = now;
        }
        if (!lane->idle && t->o.idle_ms && now - lane->last_record_ms >= t->o.idle_ms && lane_at_end(lane->kafka)) {
            if (lane->mark_due)
                put_watermark(lane);
            lane->idle = true;
            put_watermark(lane);
        }
    }
}

static int flush_lanes(struct tail *t)
{
    int rc = 0;
    for (uint32_t i = 0; i < t->o.n_lanes; i++)
        if (stream_flush(&t->lanes[i].out) != 0)
            rc = -1;
    return rc;
}

/* ---- what a run starts from ---- */

static const char *make_attempt(struct arena *a)
{
    unsigned char bytes[16];
    char text[2 * sizeof bytes + 1];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        snprintf((char *)bytes, sizeof bytes, "%08x", (unsigned)(time_now_ms() ^ getpid()));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return arena_strndup(a, text, sizeof text - 1);
}

static int of_topic(const struct tail *t, struct err *err)
{
    return err_prefix(err, "topic %s", t->o.topic);
}

/* Connect, and give every partition its exact position. */
static int place(struct tail *t, struct err *err)
{
    if (kafka_open(t->o.kafka.conf, t->o.topic, t->o.isolation, (int)t->o.kafka.timeout_ms, &t->kafka, err) != 0)
        return of_topic(t, err);
    const struct kafka_log *log = kafka_log(t->kafka);
    if (!log->topic_id && t->o.checkpoint_dir)
        msg_error("topic %s: a recreated topic cannot be told from the old one: %s", log->topic, log->topic_id_lack);
    t->bounds = xcalloc(log->partitions, sizeof *t->bounds);
    for (uint32_t i = 0; i < t->o.n_lanes; i++)
        lane_init(&t->sources[i], i, t->o.n_lanes, log->partitions, t->o.lag_ms);
    if (kafka_log_bounds(t->kafka, t->bounds, err) != 0)
        return of_topic(t, err);
    if (t->o.restore && lane_restore_all(t->sources, t->o.n_lanes, &t->owner, log, t->bounds, t->o.restore, err) != 0)
        return -1;
    for (uint32_t i = 0; i < t->o.n_lanes; i++)
        lane_place(&t->sources[i], t->bounds, t->o.isolation, t->o.start == START_END, t->o.stop_at_end);
    return 0;
}

/* ---- barriers ---- */

/* Evidence that cannot be written is left out, said once, and never stops the job. */
static void evidence_failed(struct tail *t, const struct err *err)
{
    if (!t->evidence_said)
        msg_error("%s; checkpoints without it do not complete", err->text);
    t->evidence_said = true;
}

static void write_starts(struct tail *t)
{
    bool any = false;
    for (uint32_t i = 0; i < t->o.n_lanes; i++) {
        struct err err = ERR_INIT;
        if (lane_store_start(&t->sources[i], i, &t->owner, kafka_log(t->kafka), t->epoch, t->o.restore, &t->barrier,
                             &err) != 0)
            evidence_failed(t, &err);
        else
            any = true;
    }
    trace_put(&t->trace,
              &(struct trace_event){.kind = TRACE_RESTORED, .checkpoint = t->o.restore, .first = t->epoch, .ok = any});
    arena_reset(&t->barrier);
}

/* Barrier `epoch`: every lane's snapshot is durable before the first lane is told. Where none is, nothing on disk
 * carries the number, a later run would use it again, and no lane is told: the barrier stays due. */
static int put_barriers(struct tail *t)
{
    struct buf line = BUF_INIT;
    bool any = false;
    struct barrier *barriers = arena_zalloc(&t->barrier, t->o.n_lanes * sizeof *barriers);
    tick(t, time_mono_ms(), true);
    for (uint32_t i = 0; i < t->o.n_lanes; i++) {
        struct err err = ERR_INIT;
        struct left entry;
        barriers[i] = (struct barrier){
            .job = t->o.job, .checkpoint = t->epoch, .previous = t->previous, .attempt = t->owner.attempt};
        bool ok = lane_store(&t->sources[i], i, &t->owner, kafka_log(t->kafka), t->epoch, &t->barrier, &entry, &err) ==
                  0;
        any = any || ok;
        if (ok)
            barrier_add(&barriers[i], &t->barrier, &entry);
        else
            evidence_failed(t, &err);
        trace_put(&t->trace,
                  &(struct trace_event){.kind = TRACE_STATE, .checkpoint = t->epoch, .participant = i, .ok = ok});
    }
    trace_settle(&t->trace);
    for (uint32_t i = 0; any && i < t->o.n_lanes; i++) {
        buf_reset(&line);
        barrier_put(&line, &barriers[i]);
        stream_put(&t->lanes[i].out, LINE_BARRIER, line.p, line.len);
    }
    arena_reset(&t->barrier);
    buf_free(&line);
    if (flush_lanes(t) != 0)
        return -1;
    if (!any)
        return 0;
    trace_put(&t->trace, &(struct trace_event){.kind = TRACE_BARRIER, .checkpoint = t->epoch, .previous = t->previous});
    t->previous = t->epoch++;
    return 0;
}

/* The broker is waited for, without barriers; said once an outage. */
static void say_trouble(struct tail *t, const char *why)
{
    if (!t->trouble_said)
        msg_error("topic %s: waiting for the broker: %s", t->o.topic, why);
    t->trouble_said = true;
}

/* The positions are those of the log that the run began with, or there is no barrier: a topic recreated under the same
 * name would go on at the old offsets without a word. */
static int checkpoint(struct tail *t, bool last, struct err *err)
{
    struct err why = ERR_INIT;
    if (flush_lanes(t) != 0) /* the answer may take its time */
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_IO_FAILED), "a lane cannot be written");
    int wait = last || (int)t->o.kafka.timeout_ms < CHECK_MS ? (int)t->o.kafka.timeout_ms : CHECK_MS;
    if (kafka_log_check(t->kafka, wait, &why) != 0) {
        if (last || why.kind == ERR_REFUSED || why.kind == ERR_MISSING || why.kind == ERR_CHANGED) {
            *err = why;
            return of_topic(t, err);
        }
        say_trouble(t, kafka_trouble(t->kafka) ? kafka_trouble(t->kafka) : why.text);
        return 0;
    }
    t->trouble_said = false;
    return put_barriers(t) == 0 ? 0 : err_fail(err, ERR_TROUBLE, BECAUSE(CODE_IO_FAILED), "a lane cannot be written");
}

/* SIGUSR1 asks for a barrier. It is blocked, so that one that came at any time since the start is still pending here.
 */
static bool barrier_asked(void)
{
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    return sigtimedwait(&usr1, NULL, &(struct timespec){0}) == SIGUSR1;
}

static int64_t after_interval(const struct tail *t, int64_t now)
{
    return t->o.interval_ms ? now + t->o.interval_ms : NEVER;
}

/* The barrier that is due, if one is. One that had to be put off stays due, so that what was asked for comes. */
static int take_checkpoint(struct tail *t, struct err *err)
{
    int64_t now = time_mono_ms();
    uint64_t due = t->epoch;
    if (barrier_asked())
        t->next_barrier_ms = now;
    if (now < t->next_barrier_ms)
        return 0;
    if (checkpoint(t, false, err) != 0)
        return -1;
    t->next_barrier_ms = after_interval(t, now);
    if (t->epoch == due && t->next_barrier_ms > now + CHECK_MS)
        t->next_barrier_ms = now + CHECK_MS;
    return 0;
}

/* ---- records ---- */

static int take_event(struct tail *t, const struct kafka_event *e, int64_t now, struct err *err)
{
    struct lane *lane = &t->lanes[e->partition % t->o.n_lanes];
    struct lane_part *part = lane_part(lane->kafka, e->partition);
    bool hand_on, was_done = part && lane_part_done(part);
    if (!part)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_BROKER_FAILED),
                        "topic %s: a record of partition %u, which was not asked for", t->o.topic, e->partition);
    if (lane_take(part, e, &hand_on, err) != 0)
        return of_topic(t, err);
    if (!was_done && lane_part_done(part))
        kafka_unassign(t->kafka, part->partition);
    if (!hand_on)
        return 0;
    lane->last_record_ms = now;
    if (lane->idle) {
        lane->idle = false;
        put_watermark(lane);
    }
    int64_t time = 0;
    arena_reset(&t->payload);
    bool timed = kafka_event_time(e, t->o.time_field, &t->payload, &time);
    struct buf *line = stream_build(&lane->out, LINE_RECORD);
    kafka_record_put(line, t->topic_json.p, e);
    if (t->o.time_field) {
        buf_adds(line, ",\"event_time\":");
        if (timed)
            json_put_i64(line, time);
        else
            buf_adds(line, "null");
    }
    stream_put_built(&lane->out, LINE_RECORD);
    if (timed)
        lane_time(part, time);
    return lane->out.broken ? err_fail(err, ERR_TROUBLE, BECAUSE(CODE_IO_FAILED), "a lane cannot be written") : 0;
}

static bool all_done(const struct tail *t)
{
    for (uint32_t i = 0; i < t->o.n_lanes; i++)
        if (!lane_done(&t->sources[i]))
            return false;
    return true;
}

/* Nothing waits: hand on what is held, then block until a record, the next barrier, or WAIT_MS. */
static int wait_events(struct tail *t, size_t *n, struct err *err)
{
    int64_t now = time_mono_ms(), wait = WAIT_MS;
    tick(t, now, false);
    if (flush_lanes(t) != 0)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_IO_FAILED), "a lane cannot be written");
    if (t->o.checkpoint_dir && t->next_barrier_ms - now < wait)
        wait = t->next_barrier_ms > now ? t->next_barrier_ms - now : 0;
    if (kafka_read(t->kafka, (int)wait, t->events, 1, n, err) != 0)
        return of_topic(t, err);
    if (*n > 0)
        t->trouble_said = false;
    else if (kafka_trouble(t->kafka))
        say_trouble(t, kafka_trouble(t->kafka));
    return 0;
}

static int read_log(struct tail *t, struct err *err)
{
    for (uint32_t i = 0; i < t->o.n_lanes; i++)
        for (size_t p = 0; p < t->sources[i].n_parts; p++) {
            const struct lane_part *part = &t->sources[i].parts[p];
            if (!lane_part_done(part) && kafka_assign(t->kafka, part->partition, part->position, err) != 0)
                return of_topic(t, err);
        }
    while (!all_done(t)) {
        size_t n = 0;
        if (t->o.checkpoint_dir && take_checkpoint(t, err) != 0)
            return -1;
        if (kafka_read(t->kafka, 0, t->events, KAFKA_BATCH, &n, err) != 0)
            return of_topic(t, err);
        if (!n && wait_events(t, &n, err) != 0)
            return -1;
        int64_t now = time_mono_ms();
        for (size_t i = 0; i < n; i++)
            if (take_event(t, &t->events[i], now, err) != 0)
                return -1;
        tick(t, now, false);
    }
    tick(t, time_mono_ms(), true);
    for (int i = 0; t->o.checkpoint_dir && i <= EMPTY_BARRIERS; i++)
        if (checkpoint(t, true, err) != 0)
            return -1;
    return 0;
}

static int run(struct tail *t, struct err *err)
{
    t->epoch = t->o.first_epoch;
    t->owner = (struct lane_owner){.checkpoint_dir = t->o.checkpoint_dir,
                                   .job = t->o.job,
                                   .operator_id = t->o.operator_id,
                                   .attempt = t->o.attempt ? t->o.attempt : make_attempt(&t->run),
                                   .generation = t->o.generation,
                                   .isolation = (enum kafka_isolation)t->o.isolation};
    struct err failure = ERR_INIT;
    if (trace_open(&t->trace, t->o.trace_dir, t->o.job, t->owner.attempt, "kafka-tail", NULL, 0, &failure) != 0)
        msg_error("there is no trace: %s", failure.text);
    if (place(t, err) != 0)
        return -1;
    json_put_s(&t->topic_json, t->o.topic);
    buf_str(&t->topic_json);
    if (t->o.checkpoint_dir)
        write_starts(t);
    int64_t now = time_mono_ms();
    t->next_barrier_ms = after_interval(t, now);
    for (uint32_t i = 0; i < t->o.n_lanes; i++) {
        struct lane *lane = &t->lanes[i];
        lane->last_record_ms = now;
        lane->last_mark_ms = now - t->o.watermark_ms;
        lane->idle = lane->kafka->n_parts == 0; /* a lane that owns nothing holds nothing back */
        if (lane->idle || lane->kafka->has_watermark)
            put_watermark(lane);
    }
    /* Who reads all lanes waits for the first lines of each: no lane may be full before the others have theirs. */
    if (flush_lanes(t) != 0)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_IO_FAILED), "a lane cannot be written");
    return read_log(t, err);
}

/* ---- ending ---- */

static int end_lanes(struct tail *t, const struct err *err)
{
    struct stream_out *first = &t->lanes[0].out;
    int status = OWED_OK;
    if (err)
        stream_put_stop(first, err, CODE_USAGE);
    for (uint32_t i = 1; err && i < t->o.n_lanes; i++) { /* the same words, said once on standard error */
        stream_put(&t->lanes[i].out, LINE_STOP, first->line.p, first->line.len);
        stream_status(&t->lanes[i].out, err_exit(err));
    }
    for (uint32_t i = 0; i < t->o.n_lanes; i++) {
        int ended = stream_end(&t->lanes[i].out);
        if (ended > status && status != OWED_REFUSED)
            status = ended;
        stream_out_free(&t->lanes[i].out);
        lane_free(&t->sources[i]);
    }
    return status;
}

int main(int argc, char **argv)
{
    static struct tail t;
    struct err err = ERR_INIT;
    int status = OWED_OK;
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL); /* before any thread, so that it waits for barrier_asked in all of them */
    msg_init(argv[0]);
    t.trace = TRACE_OFF;
    t.o = (struct options){.kafka = {kafka_conf_new(), KAFKA_TIMEOUT_MS},
                           .operator_id = "1",
                           .watermark_ms = 200,
                           .idle_ms = 1000,
                           .interval_ms = 1000,
                           .generation = 1,
                           .first_epoch = 1};
    int options = read_options(argc, argv, &t.o, &status, &err);
    if (options == 0 && open_lanes(&t, &err) == 0) {
        int ran = run(&t, &err);
        status = end_lanes(&t, ran == 0 ? NULL : &err);
        if (trace_close(&t.trace, status, &err) != 0)
            msg_error("the trace lacks events: %s", err.text);
    } else if (options <= 0) {
        status = stream_refuse(&err, STREAM_NO_INPUT);
    }
    kafka_close(t.kafka);
    kafka_conf_free(t.o.kafka.conf);
    free(t.bounds);
    free(t.lanes);
    free(t.sources);
    buf_free(&t.topic_json);
    arena_free(&t.run);
    arena_free(&t.barrier);
    arena_free(&t.payload);
    return status;
}
