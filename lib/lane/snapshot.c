/* SPDX-License-Identifier: Apache-2.0 */
/* A lane to a snapshot and back. Only a snapshot of this very log is taken over. */
#include "evidence/barrier.h"
#include "evidence/places.h"
#include "evidence/snapshot.h"
#include "lane/lane.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void lane_describe(const struct lane_state *l, uint32_t lane, const struct lane_owner *owner,
                   const struct kafka_log *log, uint64_t checkpoint, struct arena *a, struct snapshot *out)
{
    *out = (struct snapshot){.job = owner->job,
                             .operator_id = owner->operator_id,
                             .kind = "kafka-source",
                             .subtask = lane,
                             .checkpoint = checkpoint,
                             .isolation = kafka_isolation_name(owner->isolation)};
    out->log = (struct log_id){log->topic, log->cluster_id, log->topic_id};
    out->has_watermark = l->has_watermark;
    out->watermark = l->watermark;
    out->n_positions = out->n_declared = l->n_parts;
    out->positions = arena_alloc(a, (l->n_parts + 1) * sizeof *out->positions);
    out->partition_max = arena_alloc(a, (l->n_parts + 1) * sizeof *out->partition_max);
    out->declared = arena_alloc(a, (l->n_parts + 1) * sizeof *out->declared);
    for (size_t i = 0; i < l->n_parts; i++) {
        const struct lane_part *part = &l->parts[i];
        out->declared[i] = part->partition;
        out->positions[i] = (struct position){part->partition, part->position};
        if (part->timed)
            out->partition_max[out->n_partition_max++] = (struct position){part->partition, part->greatest};
    }
}

int lane_store(const struct lane_state *l, uint32_t lane, const struct lane_owner *owner, const struct kafka_log *log,
               uint64_t checkpoint, struct arena *a, struct left *entry, struct err *err)
{
    struct buf rel = BUF_INIT;
    struct snapshot s;
    lane_describe(l, lane, owner, log, checkpoint, a, &s);
    evidence_path_snapshot(&rel, owner->job, owner->generation, lane, checkpoint);
    int rc = snapshot_write(owner->checkpoint_dir, buf_str(&rel), &s, a, entry, err);
    buf_free(&rel);
    return rc;
}

int lane_store_start(const struct lane_state *l, uint32_t lane, const struct lane_owner *owner,
                     const struct kafka_log *log, uint64_t first_epoch, uint64_t restored_from, struct arena *a,
                     struct err *err)
{
    struct buf rel = BUF_INIT;
    struct snapshot s;
    lane_describe(l, lane, owner, log, first_epoch - 1, a, &s);
    s.is_start = true;
    s.first_epoch = first_epoch;
    s.restored_from = restored_from;
    s.attempt = owner->attempt;
    evidence_path_start(&rel, owner->job, owner->generation, lane, first_epoch);
    int rc = snapshot_write(owner->checkpoint_dir, buf_str(&rel), &s, a, NULL, err);
    buf_free(&rel);
    return rc;
}

static int check_log(const struct kafka_log *log, const struct snapshot *s, struct err *err)
{
    if (strcmp(s->log.topic, log->topic) != 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_STATE_OTHER), "its topic is %s, not %s", s->log.topic,
                        log->topic);
    if (strcmp(s->log.cluster_id, log->cluster_id) != 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_CLUSTER_OTHER), "topic %s: its cluster is %s, this one is %s",
                        log->topic, s->log.cluster_id, log->cluster_id);
    if (s->log.topic_id && log->topic_id && strcmp(s->log.topic_id, log->topic_id) != 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_TOPIC_RECREATED),
                        "topic %s was recreated: its id was %s and is %s", log->topic, s->log.topic_id, log->topic_id);
    return 0;
}

static struct lane_part *part_of(struct lane_state *l, uint64_t partition)
{
    return partition <= UINT32_MAX ? lane_part(l, (uint32_t)partition) : NULL;
}

int lane_restore(struct lane_state *l, const struct kafka_log *log, const struct snapshot *s, struct err *err)
{
    if (check_log(log, s, err) != 0)
        return -1;
    for (size_t i = 0; i < s->n_positions; i++) {
        struct lane_part *part = part_of(l, s->positions[i].partition);
        if (!part)
            return err_fail(err, ERR_REFUSED, BECAUSE(CODE_STATE_OTHER),
                            "partition %" PRIu64
                            " is not this lane's: the topic shrank, or the job ran with other lanes",
                            s->positions[i].partition);
        part->position = s->positions[i].value;
        part->restored = true;
    }
    for (size_t i = 0; i < s->n_partition_max; i++) {
        struct lane_part *part = part_of(l, s->partition_max[i].partition);
        if (part)
            lane_time(part, s->partition_max[i].value);
    }
    l->has_watermark = s->has_watermark;
    l->watermark = s->watermark;
    return 0;
}

int lane_position_check(const struct kafka_log *log, const struct lane_part *part, const struct kafka_bounds *b,
                        struct err *err)
{
    if (part->position < b->low)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_RANGE_EXPIRED),
                        "topic %s partition %u: offsets %" PRId64 " to %" PRId64 " were removed before they were read",
                        log->topic, part->partition, part->position, b->low - 1);
    if (part->position > b->high)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_RANGE_BEYOND),
                        "topic %s partition %u: the position %" PRId64 " is past the log's end %" PRId64
                        ": another log",
                        log->topic, part->partition, part->position, b->high);
    return 0;
}

static int check_owner(const struct lane_owner *owner, const struct snapshot *s, uint32_t lane, uint64_t checkpoint,
                       struct err *err)
{
    const char *isolation = kafka_isolation_name(owner->isolation);
    if (!snapshot_of_lane(s) || strcmp(s->job, owner->job) != 0 || strcmp(s->operator_id, owner->operator_id) != 0 ||
        s->subtask != lane || s->checkpoint != checkpoint)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_STATE_OTHER),
                        "it is of job %s, operator %s, subtask %" PRIu64 ", checkpoint %" PRIu64, s->job,
                        s->operator_id, s->subtask, s->checkpoint);
    if (strcmp(s->isolation, isolation) != 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_STATE_OTHER), "it was read as %s, not as %s", s->isolation,
                        isolation);
    return 0;
}

/* A lane more in the checkpoint owns partitions that would be taken for new ones here, and read a second time. Behind
 * the lanes stand the operators that keep state. */
static int no_more_lanes(uint32_t n, const struct lane_owner *owner, uint64_t checkpoint, int dir, struct arena *a,
                         struct err *err)
{
    struct buf rel = BUF_INIT;
    struct snapshot s;
    evidence_path_snapshot(&rel, owner->job, owner->generation, n, checkpoint);
    int rc = faccessat(dir, buf_str(&rel), F_OK, 0) == 0 ? snapshot_read(dir, rel.p, a, &s, err) : 1;
    if (rc == 0 && snapshot_of_lane(&s))
        rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_STATE_OTHER), "%s: the checkpoint is of more lanes than %u", rel.p,
                      n);
    else if (rc != 0 && rc != 1)
        rc = err_cause(err, BECAUSE(CODE_STATE_MALFORMED));
    buf_free(&rel);
    return rc < 0 ? -1 : 0;
}

static int restore_lanes(struct lane_state *lanes, uint32_t n, const struct lane_owner *owner,
                         const struct kafka_log *log, uint64_t checkpoint, int dir, struct arena *a, struct err *err)
{
    struct buf rel = BUF_INIT;
    int rc = 0;
    for (uint32_t i = 0; !rc && i < n; i++) {
        struct snapshot s;
        evidence_path_snapshot(&rel, owner->job, owner->generation, i, checkpoint);
        rc = snapshot_read(dir, buf_str(&rel), a, &s, err);
        if (rc && err->kind == ERR_REFUSED)
            err_cause(err, BECAUSE(CODE_STATE_MALFORMED));
        if (!rc && (check_owner(owner, &s, i, checkpoint, err) != 0 || lane_restore(&lanes[i], log, &s, err) != 0))
            rc = err_prefix(err, "%s", buf_str(&rel));
    }
    if (!rc)
        rc = no_more_lanes(n, owner, checkpoint, dir, a, err);
    buf_free(&rel);
    return rc;
}

int lane_restore_all(struct lane_state *lanes, uint32_t n, const struct lane_owner *owner, const struct kafka_log *log,
                     const struct kafka_bounds *bounds, uint64_t checkpoint, struct err *err)
{
    struct arena arena = ARENA_INIT;
    uint32_t known = 0;
    int dir = open(owner->checkpoint_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(err, "%s", owner->checkpoint_dir);
    int rc = restore_lanes(lanes, n, owner, log, checkpoint, dir, &arena, err);
    close(dir);
    for (uint32_t p = 0; !rc && p < log->partitions; p++)
        if (lane_part(&lanes[p % n], p)->restored)
            known = p + 1;
    for (uint32_t p = 0; !rc && p < known; p++) {
        const struct lane_part *part = lane_part(&lanes[p % n], p);
        if (!part->restored)
            rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_POSITIONS_MISSING),
                          "checkpoint %" PRIu64 " has no position of partition %u", checkpoint, p);
        else
            rc = lane_position_check(log, part, &bounds[p], err);
    }
    arena_free(&arena);
    return rc;
}
