/* SPDX-License-Identifier: Apache-2.0 */
/* Inside kafka only: what stands behind the handles. */
#ifndef OWED_KAFKA_INSIDE_H
#define OWED_KAFKA_INSIDE_H

#include "kafka/kafka.h"

#include <librdkafka/rdkafka.h>

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
    rd_kafka_message_t *batch[KAFKA_BATCH];
    size_t n_batch;
};

/* The topic as it is now: its id, malloc'd (*id NULL and *lack set where the library or the broker has none), and how many
 * partitions it has (as before, where the library cannot ask). */
int kafka_topic_look(struct kafka_client *k, int wait_ms, char **id, const char **lack, uint32_t *partitions, struct err *err);
/* An error of the broker's about the topic, with the kind that fits. */
int kafka_err(struct err *err, rd_kafka_resp_err_t code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
