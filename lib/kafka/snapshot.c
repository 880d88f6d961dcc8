/* SPDX-License-Identifier: Apache-2.0 */
/* A lane to a snapshot and back. Only a snapshot of this very log is taken over. */
#include "evidence/evidence.h"
#include "kafka/kafka.h"

#include <inttypes.h>
#include <string.h>

void kafka_lane_describe(const struct kafka_lane *l, const struct kafka_log *log, struct arena *a, struct snapshot *out)
{
    out->log = (struct log_id){log->topic, log->cluster_id, log->topic_id};
    out->has_watermark = l->has_watermark;
    out->watermark = l->watermark;
    out->n_positions = out->n_declared = l->n_parts;
    out->n_partition_max = 0;
    out->positions = arena_alloc(a, (l->n_parts + 1) * sizeof *out->positions);
    out->partition_max = arena_alloc(a, (l->n_parts + 1) * sizeof *out->partition_max);
    out->declared = arena_alloc(a, (l->n_parts + 1) * sizeof *out->declared);
    for (size_t i = 0; i < l->n_parts; i++) {
        const struct kafka_lane_part *part = &l->parts[i];
        out->declared[i] = part->partition;
        out->positions[i] = (struct position){part->partition, part->position};
        if (part->timed)
            out->partition_max[out->n_partition_max++] = (struct position){part->partition, part->greatest};
    }
}

static int check_log(const struct kafka_log *log, const struct snapshot *s, struct err *err)
{
    if (strcmp(s->log.topic, log->topic) != 0)
        return err_set(err, ERR_REFUSED, "its topic is %s, not %s", s->log.topic, log->topic);
    if (strcmp(s->log.cluster_id, log->cluster_id) != 0)
        return err_set(err, ERR_REFUSED, "topic %s: its cluster is %s, this one is %s", log->topic, s->log.cluster_id, log->cluster_id);
    if (s->log.topic_id && log->topic_id && strcmp(s->log.topic_id, log->topic_id) != 0)
        return err_set(err, ERR_REFUSED, "topic %s was recreated: its id was %s and is %s", log->topic, s->log.topic_id, log->topic_id);
    return 0;
}

static struct kafka_lane_part *part_of(struct kafka_lane *l, uint64_t partition)
{
    return partition <= UINT32_MAX ? kafka_lane_part(l, (uint32_t)partition) : NULL;
}

int kafka_lane_restore(struct kafka_lane *l, const struct kafka_log *log, const struct snapshot *s, struct err *err)
{
    if (check_log(log, s, err) != 0)
        return -1;
    for (size_t i = 0; i < s->n_positions; i++) {
        struct kafka_lane_part *part = part_of(l, s->positions[i].partition);
        if (!part)
            return err_set(err, ERR_REFUSED, "partition %" PRIu64 " is not this lane's: the topic shrank, or the job ran with other lanes",
                           s->positions[i].partition);
        part->position = s->positions[i].value;
        part->restored = true;
    }
    for (size_t i = 0; i < s->n_partition_max; i++) {
        struct kafka_lane_part *part = part_of(l, s->partition_max[i].partition);
        if (part)
            kafka_lane_time(part, s->partition_max[i].value);
    }
    l->has_watermark = s->has_watermark;
    l->watermark = s->watermark;
    return 0;
}

int kafka_position_check(const struct kafka_log *log, const struct kafka_lane_part *part, const struct kafka_bounds *b,
                         struct err *err)
{
    if (part->position < b->low)
        return err_set(err, ERR_TROUBLE, "topic %s partition %u: offsets %" PRId64 " to %" PRId64 " were removed before they were read",
                       log->topic, part->partition, part->position, b->low - 1);
    if (part->position > b->high)
        return err_set(err, ERR_REFUSED, "topic %s partition %u: the position %" PRId64 " is past the log's end %" PRId64 ": another log",
                       log->topic, part->partition, part->position, b->high);
    return 0;
}
