/* SPDX-License-Identifier: Apache-2.0 */
/* What a source lane knows: positions that only rise, and the watermark of all its partitions. */
#include "lane/lane.h"

#include <inttypes.h>
#include <stdlib.h>

void lane_init(struct lane_state *l, uint32_t lane, uint32_t lanes, uint32_t partitions, int64_t lag_ms)
{
    *l = (struct lane_state){.lanes = lanes, .lag_ms = lag_ms};
    l->parts = xcalloc(partitions / lanes + 1, sizeof *l->parts);
    for (uint32_t p = lane; p < partitions; p += lanes)
        l->parts[l->n_parts++] = (struct lane_part){.partition = p, .stop = -1};
}

void lane_free(struct lane_state *l)
{
    free(l->parts);
    l->parts = NULL;
    l->n_parts = 0;
}

struct lane_part *lane_part(struct lane_state *l, uint32_t partition)
{
    size_t i = partition / l->lanes;
    return i < l->n_parts && l->parts[i].partition == partition ? &l->parts[i] : NULL;
}

bool lane_part_done(const struct lane_part *part)
{
    return part->stop >= 0 && part->position >= part->stop;
}

bool lane_done(const struct lane_state *l)
{
    for (size_t i = 0; i < l->n_parts; i++)
        if (!lane_part_done(&l->parts[i]))
            return false;
    return true;
}

void lane_place(struct lane_state *l, const struct kafka_bounds *bounds, enum kafka_isolation isolation, bool from_end,
                bool stop_at_end)
{
    for (size_t i = 0; i < l->n_parts; i++) {
        struct lane_part *part = &l->parts[i];
        const struct kafka_bounds *b = &bounds[part->partition];
        int64_t end = isolation == KAFKA_READ_COMMITTED ? b->stable : b->high;
        if (!part->restored)
            part->position = from_end ? end : b->low;
        if (stop_at_end)
            part->stop = end;
    }
}

bool lane_at_end(const struct lane_state *l)
{
    for (size_t i = 0; i < l->n_parts; i++)
        if (!l->parts[i].at_end && !lane_part_done(&l->parts[i]))
            return false;
    return true;
}

int lane_take(struct lane_part *part, const struct kafka_event *e, bool *hand_on, struct err *err)
{
    *hand_on = false;
    if (lane_part_done(part))
        return 0;
    part->at_end = e->end;
    if (e->end) {
        /* Markers and aborted records before the end take offsets that are never delivered. */
        if (e->offset > part->position)
            part->position = part->stop >= 0 && e->offset > part->stop ? part->stop : e->offset;
        return 0;
    }
    if (e->offset < part->position)
        return err_set(err, ERR_TROUBLE, "partition %u: offset %" PRId64 " came after the position %" PRId64,
                       part->partition, e->offset, part->position);
    if (part->stop >= 0 && e->offset >= part->stop) {
        part->position = part->stop;
        return 0;
    }
    part->position = e->offset + 1;
    *hand_on = true;
    return 0;
}

void lane_time(struct lane_part *part, int64_t time)
{
    if (!part->timed || time > part->greatest)
        part->greatest = time;
    part->timed = true;
}

bool lane_advance(struct lane_state *l)
{
    int64_t least = INT64_MAX, mark;
    if (!l->n_parts)
        return false;
    for (size_t i = 0; i < l->n_parts; i++) {
        if (!l->parts[i].timed)
            return false;
        if (l->parts[i].greatest < least)
            least = l->parts[i].greatest;
    }
    if (__builtin_sub_overflow(least, l->lag_ms, &mark))
        mark = l->lag_ms > 0 ? INT64_MIN : INT64_MAX;
    if (l->has_watermark && mark <= l->watermark)
        return false;
    l->has_watermark = true;
    l->watermark = mark;
    return true;
}
