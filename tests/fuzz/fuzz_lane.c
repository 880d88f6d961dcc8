/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes. With an even first byte, one that is restored from a snapshot, takes events and is stored again: four bytes
 * say which lane of which topic and how many events, each event is three, and the snapshot's text follows. With an odd
 * one, barriers line by line, joined as they come.
 */
#include "json/json.h"
#include "lane/lane.h"

#include <stdlib.h>
#include <string.h>

static struct arena arena;

static void insist(bool ok)
{
    if (!ok)
        abort();
}

/* ---- a lane ---- */

static void same_lanes(const struct lane_state *a, const struct lane_state *b)
{
    insist(a->n_parts == b->n_parts && a->has_watermark == b->has_watermark);
    insist(!a->has_watermark || a->watermark == b->watermark);
    for (size_t i = 0; i < a->n_parts; i++) {
        const struct lane_part *p = &a->parts[i], *q = &b->parts[i];
        insist(p->partition == q->partition && p->position == q->position && p->timed == q->timed);
        insist(!p->timed || p->greatest == q->greatest);
    }
}

/* Positions and the watermark only rise, and what is handed on was not handed on before. */
static void take(struct lane_state *l, const uint8_t *p)
{
    struct lane_part *part = lane_part(l, p[0] % 16);
    if (!part)
        return;
    int64_t before = part->position, mark = l->watermark;
    bool had = l->has_watermark, hand_on;
    struct kafka_event e = {.partition = part->partition, .end = p[0] & 16, .offset = p[1]};
    if (p[0] & 32 && before < INT64_MAX - 256)
        e.offset += before;
    if (lane_take(part, &e, &hand_on, NULL) == 0 && hand_on) {
        insist(e.offset >= before && part->position == e.offset + 1);
        lane_time(part, (int64_t)(int8_t)p[2] * 1000);
    }
    lane_advance(l);
    insist(part->position >= before && (!had || (l->has_watermark && l->watermark >= mark)));
}

/* Stored and taken over, a lane is the same. */
static void there_and_back(const struct lane_state *l, uint32_t lane, uint32_t partitions, const struct kafka_log *log,
                           const struct snapshot *was)
{
    struct lane_owner owner = {.job = was->job, .operator_id = was->operator_id, .isolation = KAFKA_READ_COMMITTED};
    struct snapshot s, again;
    struct lane_state back;
    struct buf text = BUF_INIT;
    lane_describe(l, lane, &owner, log, was->checkpoint, &arena, &s);
    snapshot_put(&text, &s);
    insist(snapshot_parse(text.p, text.len, "f", &arena, &again, NULL) == 0);
    lane_init(&back, lane, l->lanes, partitions, l->lag_ms);
    insist(lane_restore(&back, log, &again, NULL) == 0);
    same_lanes(l, &back);
    lane_free(&back);
    buf_free(&text);
}

static void lane(const uint8_t *data, size_t size)
{
    if (size < 4)
        return;
    uint32_t lanes = data[0] % 4 + 1U, partitions = data[1] % 16 + 1U, which = data[2] % lanes;
    size_t events = data[3] % 32, n;
    const uint8_t *p = data + 4;
    size -= 4;
    if (3 * events > size)
        events = size / 3;
    n = size - 3 * events;
    const char *text = arena_strndup(&arena, (const char *)p + 3 * events, n);
    struct snapshot s;
    struct lane_state l;
    if (snapshot_parse(text, n, "f", &arena, &s, NULL) != 0)
        return;
    struct kafka_log log = {s.log.topic, s.log.cluster_id, s.log.topic_id, NULL, partitions};
    lane_init(&l, which, lanes, partitions, 1000);
    if (lane_restore(&l, &log, &s, NULL) == 0) {
        for (size_t i = 0; i < events; i++)
            take(&l, p + 3 * i);
        there_and_back(&l, which, partitions, &log, &s);
    }
    lane_free(&l);
}

/* ---- barriers ---- */

static void barriers(const char *text, size_t n)
{
    struct barrier all, one, again;
    struct buf line = BUF_INIT;
    size_t joined = 0, left = 0;
    for (size_t at = 0, len; at < n; at += len + 1) {
        const char *nl = memchr(text + at, '\n', n - at);
        len = nl ? (size_t)(nl - text) - at : n - at;
        if (barrier_parse(text + at, len, "f", &arena, &one, NULL) != 0)
            continue;
        left = joined == 0 ? one.n_left : all.n_left + one.n_left;
        if (joined == 0)
            all = one;
        else if (barrier_join(&all, &one, &arena, NULL) != 0)
            continue;
        joined++;
        insist(all.n_left == left);
    }
    if (joined > 0) {
        barrier_put(&line, &all);
        insist(json_valid(line.p, line.len, NULL) && !memchr(line.p, '\n', line.len));
        insist(barrier_parse(line.p, line.len, "f", &arena, &again, NULL) == 0 && again.n_left == all.n_left);
    }
    buf_free(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return -1;
    arena = (struct arena)ARENA_INIT;
    if (data[0] & 1)
        barriers(arena_strndup(&arena, (const char *)data + 1, size - 1), size - 1);
    else
        lane(data + 1, size - 1);
    arena_free(&arena);
    return 0;
}
