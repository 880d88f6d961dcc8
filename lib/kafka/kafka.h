/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka: librdkafka behind an interface of exact positions. Connection
 * properties without secrets among arguments, the log's identity and bounds,
 * reading of assigned partitions from exact offsets (no consumer group is
 * joined and nothing is committed), and record lines.
 *
 * Offsets are as Kafka counts them; a position is the next offset to read.
 * Times are in ms. Errors name topic, partition and reason: ERR_REFUSED for
 * what is outside the contract (a bad property, another topic than before),
 * ERR_TROUBLE for what the broker or the network did, ERR_MISSING for a topic
 * that is not there, ERR_TIMEOUT where nobody answered.
 */
#ifndef OWED_KAFKA_H
#define OWED_KAFKA_H

#include "base/base.h"
#include "base/options.h"
#include "json/json.h"
#include "stream/account.h"
#include "stream/codes.h"

/* ---- connection properties ---- */

struct kafka_conf;

struct kafka_conf *kafka_conf_new(void);
void kafka_conf_free(struct kafka_conf *c); /* NULL is fine */
/* True when a property of this name holds a credential, by the names of redact_name. */
bool kafka_conf_secret(const char *name);
/* One property. Refuses an unknown one, a bad value, and those that decide what is read (group.id, isolation.level,
 * auto.offset.reset, …): these are this module's. An error never shows the value of a secret. */
int kafka_conf_set(struct kafka_conf *c, const char *name, const char *value, struct err *err);
/* "name=value", from the command line: a secret is refused by its name. */
int kafka_conf_arg(struct kafka_conf *c, const char *assignment, struct err *err);
/* "name=VARIABLE": the value is the environment variable's. */
int kafka_conf_env(struct kafka_conf *c, const char *assignment, struct err *err);
/* A file of "name=value" lines; empty lines and those that begin with # are passed over. */
int kafka_conf_file(struct kafka_conf *c, const char *path, struct err *err);
/* Keep what is read ahead of so many partitions at once within bounds, unless a property said how much that is. */
void kafka_conf_share(struct kafka_conf *c, size_t partitions);
/* Kafka's own rule for a topic's name; it also keeps topic/partition/offset readable. */
bool kafka_topic_ok(const char *topic);

/* ---- the options of every program that talks to a broker ---- */

struct kafka_options {
    struct kafka_conf *conf;
    int64_t timeout_ms;
};
#define KAFKA_TIMEOUT_MS 30000

opt_take kafka_take_bootstrap, kafka_take_property, kafka_take_env, kafka_take_file;

/* clang-format off */
/* Entries for a table of options (base/options.h); K points to the options, whose conf is there already. */
#define KAFKA_OPTIONS(K) \
    OPT_TAKE("b,bootstrap", "HOST:PORT", kafka_take_bootstrap, (K)->conf, "brokers to ask first"), \
    OPT_TAKE("X", "NAME=VALUE", kafka_take_property, (K)->conf, "a librdkafka property; a secret is refused here"), \
    OPT_TAKE("E", "NAME=VARIABLE", kafka_take_env, (K)->conf, "the same, its value from the environment"), \
    OPT_TAKE("F", "FILE", kafka_take_file, (K)->conf, "the same, NAME=VALUE lines"), \
    OPT_I64("timeout-ms", &(K)->timeout_ms, 1, 3600000, "how long one answer of the broker is waited for (30000)")
/* clang-format on */

/* ---- the log ---- */

enum kafka_isolation { KAFKA_READ_COMMITTED, KAFKA_READ_UNCOMMITTED };
/* The name that Kafka gives it; and the reverse, false for any other text. */
const char *kafka_isolation_name(enum kafka_isolation i);
bool kafka_isolation_of(const char *text, enum kafka_isolation *out);

struct kafka_log {
    const char *topic;
    const char *cluster_id;
    const char *topic_id;      /* as Kafka's own tools spell it; NULL: not to be had */
    const char *topic_id_lack; /* why not, where it is NULL */
    uint32_t partitions;
};

struct kafka_bounds {
    int64_t low;    /* first offset that is still there */
    int64_t high;   /* one past the last */
    int64_t stable; /* end of what read_committed delivers: below high while a transaction is open */
};

struct kafka_client;

/* Connect and look at the topic, within timeout_ms (which also bounds kafka_log_bounds). c stays the
 * caller's. *out is closed with kafka_close. */
int kafka_open(const struct kafka_conf *c, const char *topic, enum kafka_isolation isolation, int timeout_ms,
               struct kafka_client **out, struct err *err);
void kafka_close(struct kafka_client *k); /* NULL is fine */
/* The log as kafka_open found it. Lives as long as the client. */
const struct kafka_log *kafka_log(const struct kafka_client *k);
/* Ask again, and wait for the answer so long. ERR_REFUSED when the topic of this name is another one by now,
 * ERR_CHANGED when it has other partitions, else why it could not be asked. */
int kafka_log_check(struct kafka_client *k, int wait_ms, struct err *err);
/* Bounds of every partition into out, which has room for kafka_log()->partitions. */
int kafka_log_bounds(struct kafka_client *k, struct kafka_bounds *out, struct err *err);
/* Of each partition the first offset whose record has this time or a later one; the partition's end where none has. */
int kafka_log_at(struct kafka_client *k, int64_t ms, const struct kafka_bounds *bounds, int64_t *out, struct err *err);
/* The topic's cleanup.policy ("delete", "compact", "compact,delete"); *policy is malloc'd. */
int kafka_log_policy(struct kafka_client *k, char **policy, struct err *err);
/* The id of the cluster that answers now; *id is malloc'd. */
int kafka_log_cluster(struct kafka_client *k, char **id, struct err *err);
/* "librdkafka 2.15.1" */
const char *kafka_library(void);

#define KAFKA_NOT_COMMITTED ((int64_t)-1)

/* A consumer group, as far as it concerns the topic. */
struct kafka_group {
    const char *name;   /* the caller's */
    const char *state;  /* as Kafka names it: "Stable", "Empty", …; "Dead": the cluster knows no such group */
    uint64_t members;   /* now; a consumer that was assigned its partitions is none */
    int64_t *committed; /* a partition each: the next offset that it will read, or KAFKA_NOT_COMMITTED */
};
/* Ask for it; kafka_group_free in any case. One that the cluster does not know has committed nothing. A coordinator
 * that is not ready yet is asked again until timeout_ms is over (CODE_GROUP_NOT_READY then). */
int kafka_group_look(struct kafka_client *k, const char *group, struct kafka_group *out, struct err *err);
void kafka_group_free(struct kafka_group *g);

/* ---- reading ---- */

/* What was read: a record, or (end) that the partition delivers nothing before `offset` any more and has nothing beyond
 * for now. The bytes live until the next kafka_read. */
struct kafka_event {
    uint32_t partition;
    bool end;
    int64_t offset;
    const char *ts_type; /* "create", "logappend", or "unknown": ts then says nothing */
    int64_t ts;
    const char *key, *value; /* NULL: null */
    size_t key_len, value_len;
    void *message; /* librdkafka's, for the headers */
};

/* Read partition from exactly this offset on. An offset that the log does not have shows as an error of kafka_read. */
int kafka_assign(struct kafka_client *k, uint32_t partition, int64_t offset, struct err *err);
/* No more of this partition. Events of it that wait already may still come. */
void kafka_unassign(struct kafka_client *k, uint32_t partition);
/* Up to max events (at most KAFKA_BATCH); *n 0 when none came within wait_ms. Events of one partition are in offset
 * order. A broker that cannot be reached is waited for, without an error: kafka_trouble has the reason. */
#define KAFKA_BATCH 1024
int kafka_read(struct kafka_client *k, int wait_ms, struct kafka_event *events, size_t max, size_t *n, struct err *err);
/* The same, but what befell one partition alone comes as its event, which kafka_event_failed tells from the others. */
int kafka_read_each(struct kafka_client *k, int wait_ms, struct kafka_event *events, size_t max, size_t *n,
                    struct err *err);
/* True when the event is that its partition delivers no more; err then says why. */
bool kafka_event_failed(const struct kafka_event *e, struct err *err);
/* What the connection last suffered, unless a record or an answer of kafka_log_check came since: else NULL. */
const char *kafka_trouble(const struct kafka_client *k);

/* ---- record lines ---- */

/* Append `,"topic":…,"partition":…,…,"payload":…` (kcat's names) of a record; topic_json is the topic as JSON text. */
void kafka_record_put(struct buf *line, const char *topic_json, const struct kafka_event *record);
/* A record's event time: the integer member `field` of its JSON payload (parsed into a), or Kafka's timestamp where
 * field is NULL. False where there is none. */
bool kafka_event_time(const struct kafka_event *record, const char *field, struct arena *a, int64_t *time);

/* ---- exact ranges ---- */

enum kafka_range_state { KAFKA_RANGE_OPEN, KAFKA_RANGE_COMPLETE, KAFKA_RANGE_INCOMPLETE };

/* Offsets that were passed and gave no record: markers, aborted records, and what is not there. */
struct kafka_gap {
    int64_t first, end;
};

/* The offsets [from, to) of one partition. Complete is what was passed to its end, and nothing else: neither a count of
 * records nor silence says anything, since markers and aborted records take offsets that are never delivered. */
struct kafka_range {
    uint32_t partition;
    int64_t from, to;
    int64_t position; /* next offset to read; never past `to` */
    uint64_t delivered, null_values;
    /* Offsets without a record that can be no end of a transaction, were none open at the range's start: each that ends
     * takes one, and has a record before it. The most at any offset, and the first of them. */
    uint64_t excess;
    int64_t excess_at;
    bool note_gaps;         /* set by the caller: keep them, 16 bytes each */
    struct kafka_gap *gaps; /* ascending; owned */
    size_t n_gaps, cap_gaps;
    bool recounted;   /* `aborted` is set */
    uint64_t aborted; /* of the offsets that were passed and not delivered */
    enum kafka_range_state state;
    char *reason;        /* why it is incomplete, else NULL; owned */
    struct cause cause;  /* of the same */
    bool of_source;      /* and it is the whole source's */
    bool at_end;         /* nothing lay beyond the position when last heard */
    int64_t waits_since; /* on the monotonic clock: since when an open transaction is waited for; 0: it is not */
};

enum kafka_range_wait { KAFKA_RANGE_MOVES, KAFKA_RANGE_WAITS /* for a transaction that is open */ };

/* An empty range is complete from the start. */
void kafka_range_init(struct kafka_range *r, uint32_t partition, int64_t from, int64_t to);
void kafka_range_free(struct kafka_range *r);
/* It is incomplete, also where it was complete; the first reason stays. */
void kafka_range_fail(struct kafka_range *r, const struct cause *cause, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Before the read: fails it where the log does not hold the range's start, or ends before it. */
void kafka_range_begin(struct kafka_range *r, const struct kafka_bounds *b);
/* Take what came. True for a record of the range, which the caller hands on and then counts with kafka_range_count; an
 * end, or a record past the range, moves the position. A record below the position fails the range. */
bool kafka_range_take(struct kafka_range *r, const struct kafka_event *e);
void kafka_range_count(struct kafka_range *r, const struct kafka_event *e);
/* True when, by what the log holds now, nothing can be delivered at the position. */
bool kafka_range_dry(const struct kafka_range *r, const struct kafka_bounds *b, enum kafka_isolation isolation);
/* Of an open range that is dry: fails it where the log ends early, else an open transaction holds it back. */
enum kafka_range_wait kafka_range_judge(struct kafka_range *r, const struct kafka_bounds *b,
                                        enum kafka_isolation isolation);
/* After the read: fails it where the log's start has passed the range's since. */
void kafka_range_end(struct kafka_range *r, const struct kafka_bounds *b);
/* Offsets that were passed and gave no record. */
uint64_t kafka_range_undelivered(const struct kafka_range *r);

/* ---- the sources of a scope ---- */

struct kafka_source {
    /* given; the strings are the caller's */
    const char *topic;
    const char *cluster_id, *topic_id; /* of the scope; NULL: not in the scope */
    enum kafka_isolation isolation;
    struct kafka_range *ranges; /* ascending; the caller's array */
    size_t n_ranges;
    /* found; owned */
    char *found_cluster, *found_id, *policy;
    bool same_cluster, same_id, not_compacted, start_held; /* what was confirmed, before the read and after it */
    char *reason;                                          /* why nothing of the source is complete, else NULL */
    struct cause cause;                                    /* of the same */
};

/* What a read may take, and whom it tells. */
struct kafka_reading {
    const struct kafka_conf *conf;
    int timeout_ms;         /* for one answer */
    int64_t deadline_ms;    /* on the monotonic clock; INT64_MAX: none */
    int64_t stable_wait_ms; /* for an open transaction under a range's end */
    bool aborted;           /* hand on what aborted transactions wrote too, after the rest, as `account` does */
    bool account;           /* read once more under read_uncommitted, to tell the aborted records */
    void *ctx;
    /* A record to hand on. -1 with *err ends the read: the reason of every range that is open. */
    int (*record)(void *ctx, const struct kafka_source *s, const struct kafka_range *r, const struct kafka_event *e,
                  bool aborted, struct err *err);
    /* Once a batch, and at least ten times a second; waiting: nothing came, so what is held should be written. */
    void (*tick)(void *ctx, const struct kafka_source *s, bool waiting);
    /* Something that a person should hear of at once. */
    void (*say)(void *ctx, const char *text);
};

/* Read the ranges of one source: identity first, then what is in them, then all that may have changed meanwhile. What
 * is not right stands in the source's and the ranges' reasons; no record is read where the log is not the scope's, or
 * is compacted. Returns 0, or -1 with what `record` said, or with why such a connection cannot be (ERR_REFUSED). */
int kafka_source_read(struct kafka_source *s, const struct kafka_reading *how, struct err *err);
void kafka_source_free(struct kafka_source *s); /* what it owns, and its ranges' reasons */
/* Nothing of it is complete. The first reason stays. */
void kafka_source_fail(struct kafka_source *s, const struct cause *cause, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool kafka_source_complete(const struct kafka_source *s);

/* ---- the account ---- */

/* The account of a reader over all sources, but `recorded`. Its texts are in arena or the sources'. */
void kafka_account(const struct kafka_source *sources, size_t n, struct arena *arena, struct stream_account *out);
/* Call each(ctx, text) with every reason for which something is incomplete, its place before it. */
void kafka_account_reasons(const struct kafka_source *sources, size_t n, void (*each)(void *ctx, const char *text),
                           void *ctx);

#endif
