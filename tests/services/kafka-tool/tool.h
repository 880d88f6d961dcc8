/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka-tool's parts: administration and producing, for tests. Each command returns an exit status and says what
 * went wrong on standard error.
 */
#ifndef KAFKA_TOOL_H
#define KAFKA_TOOL_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#define TOOL_TIMEOUT_MS 15000

/* A client on `bootstrap` with further properties (name, value, …, NULL); ends the program on failure. */
rd_kafka_t *tool_client(rd_kafka_type_t type, const char *bootstrap, const char *const *properties);
int tool_fail(const char *what, const char *why);

int tool_create_topic(const char *bootstrap, const char *topic, int partitions, char *const *configs, int n);
int tool_add_partitions(const char *bootstrap, const char *topic, int total);
int tool_alter_topic(const char *bootstrap, const char *topic, const char *config);
int tool_delete_topic(const char *bootstrap, const char *topic);
int tool_delete_records(const char *bootstrap, const char *topic, int partition, long long before);
int tool_topic_info(const char *bootstrap, const char *topic);

enum tool_ending { END_COMMIT, END_ABORT };

struct tool_produce {
    const char *topic;
    const char *transactional_id; /* NULL: no transaction */
    enum tool_ending ending;      /* of the transaction that is open when standard input ends */
    bool hold;                    /* deliver and report each line before the next is read */
};
int tool_produce(const char *bootstrap, const struct tool_produce *p);

#endif
