/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane: the live source of a job. What a source lane knows of its partitions
 * (positions, event time, watermark), and how it is stored and restored.
 *
 * A position is the next offset to read; times are in ms. ERR_REFUSED for
 * another topic, cluster, owner or number of lanes than the snapshot's,
 * ERR_TROUBLE for records that were removed before they were read.
 */
#ifndef OWED_LANE_H
#define OWED_LANE_H

#include "kafka/kafka.h"
#include "evidence/barrier.h"
#include "evidence/snapshot.h"

/* ---- a source lane: its partitions, positions, and event time ---- */

struct lane_part {
    uint32_t partition;
    int64_t position;
    bool restored;    /* the position is a snapshot's */
    int64_t stop;     /* the lane reads nothing at or past it; -1: no end */
    bool at_end;      /* nothing lay beyond the position when last heard */
    bool timed;       /* `greatest` is set */
    int64_t greatest; /* event time of the records so far */
};

struct lane_state {
    struct lane_part *parts; /* ascending; owned */
    size_t n_parts;
    uint32_t lanes; /* partition p belongs to lane p mod lanes, at parts[p / lanes] */
    int64_t lag_ms;
    bool has_watermark;
    int64_t watermark; /* never falls */
};

/* The lane's share of a topic's partitions. Positions start at 0. */
void lane_init(struct lane_state *l, uint32_t lane, uint32_t lanes, uint32_t partitions, int64_t lag_ms);
void lane_free(struct lane_state *l);
/* NULL where the partition is not the lane's. */
struct lane_part *lane_part(struct lane_state *l, uint32_t partition);
/* An event moves the partition's position. Returns true for a record that is the lane's to hand on, false for an end
 * and for what lies at or past the stop. Refuses a record below the position: it was handed on before. */
int lane_take(struct lane_part *part, const struct kafka_event *e, bool *hand_on, struct err *err);
/* A record's event time. */
void lane_time(struct lane_part *part, int64_t time);
/* Recompute the watermark: the least of the partitions' greatest times, less the lag, once every partition has one.
 * True when it rose. */
bool lane_advance(struct lane_state *l);
/* True when no partition of the lane has anything to give for now. Only then may silence be taken for idleness. */
bool lane_at_end(const struct lane_state *l);
bool lane_part_done(const struct lane_part *part); /* the stop is reached */
bool lane_done(const struct lane_state *l);        /* by every partition of it */
/* A position for each partition that no snapshot placed (one that came after the restored checkpoint is read from its
 * beginning): the log's first offset, or its end as the isolation delivers it. stop_at_end: that end is the stop of
 * all. */
void lane_place(struct lane_state *l, const struct kafka_bounds *bounds, enum kafka_isolation isolation, bool from_end,
                bool stop_at_end);

/* ---- lanes on disk: snapshots as evidence.h has them ---- */

/* Whose they are, and where. */
struct lane_owner {
    const char *checkpoint_dir, *job, *operator_id, *attempt;
    uint64_t generation;
    enum kafka_isolation isolation;
};
struct snapshot;
struct left;

/* Take over what one snapshot knows. Refuses one of another topic, cluster or topic id (naming both), and one with a
 * partition that is not this lane's. An id that is not known on either side refuses nothing. */
int lane_restore(struct lane_state *l, const struct kafka_log *log, const struct snapshot *s, struct err *err);
/* Take over checkpoint `checkpoint` of all lanes. Refuses also another owner or isolation, another number of lanes, a
 * partition without a position, and a position past the log's end; ERR_TROUBLE for records that were removed before
 * they were read. Partitions that came since are left as they are. */
int lane_restore_all(struct lane_state *lanes, uint32_t n, const struct lane_owner *owner, const struct kafka_log *log,
                     const struct kafka_bounds *bounds, uint64_t checkpoint, struct err *err);
/* Lane `lane` as the snapshot of `checkpoint`; strings are the owner's and the log's, arrays in a. */
void lane_describe(const struct lane_state *l, uint32_t lane, const struct lane_owner *owner,
                   const struct kafka_log *log, uint64_t checkpoint, struct arena *a, struct snapshot *out);
/* Store lane `lane` as snapshot of `checkpoint`, durable. entry: what to say of it in the barrier, strings in a. */
int lane_store(const struct lane_state *l, uint32_t lane, const struct lane_owner *owner, const struct kafka_log *log,
               uint64_t checkpoint, struct arena *a, struct left *entry, struct err *err);
/* Store what a run whose first epoch is first_epoch starts with; restored_from 0: nothing was restored. */
int lane_store_start(const struct lane_state *l, uint32_t lane, const struct lane_owner *owner,
                     const struct kafka_log *log, uint64_t first_epoch, uint64_t restored_from, struct arena *a,
                     struct err *err);
/* A position must be in the log. */
int lane_position_check(const struct kafka_log *log, const struct lane_part *part, const struct kafka_bounds *b,
                        struct err *err);

#endif
