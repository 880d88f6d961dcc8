/* SPDX-License-Identifier: Apache-2.0 */
/* Inside kafka only: what stands behind the handles. */
#ifndef OWED_KAFKA_INTERNAL_H
#define OWED_KAFKA_INTERNAL_H

#include "kafka/kafka.h"

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>

/* Topic ids and offsets under a stated isolation came with 2.3. */
#define HAVE_TOPIC_IDS (RD_KAFKA_VERSION >= 0x02030000)

struct kafka_conf {
    rd_kafka_conf_t *rd;
};

struct kafka_client {
    rd_kafka_t *rk;
    rd_kafka_t *admin; /* questions of its own: behind a fetch that waits for records they would take half a second */
    rd_kafka_topic_t *topic;
    rd_kafka_queue_t *queue; /* of all assigned partitions */
    struct kafka_log log;
    char *name, *cluster_id, *topic_id; /* what log points to */
    int timeout_ms;
    rd_kafka_resp_err_t trouble; /* last error of the connection */
    char trouble_text[512];
    atomic_int certificate; /* why a broker's was refused, as OpenSSL counts; 0: none was */
    rd_kafka_message_t *batch[KAFKA_BATCH];
    size_t n_batch;
};

/* The text of a reason, malloc'd: it may quote what a broker said, which need not be fit for a line. */
char *kafka_reason(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/* Read the open ranges of s over k until none is left, handing on with `record` (NULL: only counting). -1 with what
 * `record` said. */
int kafka_ranges_read(struct kafka_client *k, struct kafka_source *s, const struct kafka_reading *how, struct err *err);
/* Read under read_uncommitted, where offsets without a record are ends of transactions or records that were removed
 * from the log: fails the ranges that have more of them than transactions can have ended, counted from the log's start.
 */
void kafka_gaps_judge(struct kafka_source *s, const struct kafka_reading *how, const struct kafka_bounds *bounds);
/* Append a record's headers as their member of its line. */
void kafka_headers_put(struct buf *line, const rd_kafka_headers_t *headers);
/* Ms from now until the deadline, at most `most` and at least 1. */
int kafka_until(int64_t deadline_ms, int most);
/* Bounds as kafka_log_bounds, asked again while the broker is away, for at most timeout_ms or until the deadline. */
int kafka_bounds_again(struct kafka_client *k, const struct kafka_reading *how, struct kafka_bounds *out,
                       struct err *err);

/* The topic as it is now: its id, malloc'd (*id NULL and *lack set where the library or the broker has none), and how
 * many partitions it has (as before, where the library cannot ask). */
int kafka_topic_look(struct kafka_client *k, int wait_ms, char **id, const char **lack, uint32_t *partitions,
                     struct err *err);
/* Wait until a broker answers: the library's admin requests look for one without a pause, at the cost of a core, for as
 * long as connections are refused. The ms left of wait_ms, at least 1; -1 where none answered. */
int kafka_reach(struct kafka_client *k, int wait_ms, struct err *err);
/* The options of an admin request, which waits so long; and its answer, or NULL with why there is none. */
rd_kafka_AdminOptions_t *kafka_ask(struct kafka_client *k, int wait_ms, rd_kafka_admin_op_t op);
rd_kafka_event_t *kafka_answer(int wait_ms, rd_kafka_queue_t *queue, struct err *err);
/* The cause of a broker's or the library's error, in room. */
const struct cause *kafka_cause(struct cause *room, rd_kafka_resp_err_t code);
/* An error of the broker's about the topic, with the kind and the code that fit. */
int kafka_err(struct err *err, rd_kafka_resp_err_t code);

#endif
