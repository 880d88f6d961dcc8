/* SPDX-License-Identifier: Apache-2.0 */
/* The replica of a table that a reader spoke to: what system.replicas showed of it, and whether it then held all that
 * the table's log did. */
#ifndef OWED_STREAM_REPLICA_H
#define OWED_STREAM_REPLICA_H

#include "stream/codes.h"

struct arena;
struct json;
struct json_w;

struct replica_state {
    uint64_t readonly, expired;                     /* 0 or 1 */
    uint64_t queue, inserts, merges, mutations;     /* entries of its queue, and those among them */
    uint64_t checks;                                /* parts that may be damaged or lost */
    uint64_t log_max, log_pointer;                  /* the log's last entry, and the next one to be taken from it */
    uint64_t delay_s, lost_parts, active, replicas; /* lost_parts: of the table, ever; active: of all replicas */
    const char *exception, *queue_exception;        /* "" where the server had none */
};

struct replica {
    const char *path, *name; /* the table's in the coordination service, and this replica's under it */
    uint64_t max_delay_s;
    bool has_before, has_after; /* seen before the first read, and after the last */
    struct replica_state before, after;
};

/* The setting that makes a server refuse a read of a replica without what a quorum has. */
#define REPLICA_SETTING "select_sequential_consistency"

/* The numbers of a state by their names in a line, in the order of replica_state. */
#define REPLICA_NUMBERS 13
struct replica_number {
    const char *name, *column; /* column: of system.replicas */
    size_t at;
};
extern const struct replica_number replica_numbers[REPLICA_NUMBERS];
uint64_t *replica_number(struct replica_state *s, size_t i);

/* Why the rows of the replica may not be the table's, appended to *why; CODE_NONE where all that is in the log is done.
 */
enum code replica_lacks(const struct replica_state *s, uint64_t max_delay_s, struct buf *why);
/* The same of both states, and of what changed between them. */
enum code replica_unfit(const struct replica *r, struct buf *why);

/* The member `replica` of doc: *has where it is there. */
int replica_parse(const struct json *doc, struct arena *arena, bool *has, struct replica *out, struct err *err);
void replica_put(struct json_w *w, const struct replica *r);

#endif
