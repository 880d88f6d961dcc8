/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What consumer groups had committed of a topic, as a log line says it. The line's ids and bounds are read by who
 * declares a scope of them (scope/declare.h).
 */
#ifndef OWED_STREAM_LOG_H
#define OWED_STREAM_LOG_H

#include "base/base.h"

struct json_w;
struct stream_line;

struct log_position {
    uint64_t partition;
    int64_t committed; /* the next offset that the group will read */
    int64_t lag;       /* offsets from there to the log's stable end, markers among them */
};

/* The state of a group that the cluster does not know. */
#define LOG_GROUP_UNKNOWN "Dead"

struct log_group {
    const char *name, *state; /* state: as Kafka names it */
    uint64_t members;
    struct log_position *at; /* ascending; the partitions that it has committed anything of */
    size_t n;
};

struct stream_log {
    const char *topic;
    bool again;                     /* looked at once more, behind a read of the table */
    const struct log_group *groups; /* those that were looked at */
    size_t n_groups;
};

/* Parse a log line; everything lives in arena. ERR_REFUSED, with the line's number. */
int stream_log(const struct stream_line *line, struct arena *arena, struct stream_log *out, struct err *err);
/* The line's member `groups`; left out where no group was looked at. */
void stream_log_put_groups(struct json_w *w, const struct log_group *groups, size_t n);

/* The group's position in a partition, or NULL where it has committed nothing of it. */
const struct log_position *log_group_at(const struct log_group *g, uint64_t partition);

#endif
