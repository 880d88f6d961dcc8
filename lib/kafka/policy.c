/* SPDX-License-Identifier: Apache-2.0 */
/* What else a broker says of a log: whether it compacts the topic, and which cluster it is of. */
#include "kafka/internal.h"

#include <string.h>

const char *kafka_library(void)
{
    static char text[64];
    snprintf(text, sizeof text, "librdkafka %s", rd_kafka_version_str());
    return text;
}

/* The value of one entry of the topic's configuration, malloc'd; NULL where it is not among them. */
static char *entry_of(const rd_kafka_ConfigResource_t *topic, const char *name)
{
    size_t n;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(topic, &n);
    for (size_t i = 0; i < n; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value && strcmp(rd_kafka_ConfigEntry_name(entries[i]), name) == 0)
            return xstrdup(value);
    }
    return NULL;
}

int kafka_log_policy(struct kafka_client *k, char **policy, struct err *err)
{
    int wait_ms = kafka_reach(k, k->timeout_ms, err);
    *policy = NULL;
    if (wait_ms < 0)
        return -1;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(k->admin);
    rd_kafka_ConfigResource_t *topic = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, k->name);
    rd_kafka_AdminOptions_t *o = kafka_ask(k, wait_ms, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_DescribeConfigs(k->admin, &topic, 1, o, queue);
    rd_kafka_AdminOptions_destroy(o);
    rd_kafka_ConfigResource_destroy(topic);
    rd_kafka_event_t *event = kafka_answer(wait_ms, queue, err);
    int rc = event ? 0 : -1;
    if (event) {
        size_t n;
        const rd_kafka_ConfigResource_t **found = rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(event), &n);
        if (n == 1 && rd_kafka_ConfigResource_error(found[0])) {
            kafka_err(err, rd_kafka_ConfigResource_error(found[0]));
            rc = err_prefix(err, "its configuration");
        } else if (n != 1 || !(*policy = entry_of(found[0], "cleanup.policy")))
            rc = err_fail(err, ERR_TROUBLE, BECAUSE(CODE_BROKER_FAILED), "the broker tells no cleanup.policy");
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    return rc;
}

#if HAVE_TOPIC_IDS

int kafka_log_cluster(struct kafka_client *k, char **id, struct err *err)
{
    int wait_ms = kafka_reach(k, k->timeout_ms, err);
    *id = NULL;
    if (wait_ms < 0)
        return -1;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(k->admin);
    rd_kafka_AdminOptions_t *o = kafka_ask(k, wait_ms, RD_KAFKA_ADMIN_OP_DESCRIBECLUSTER);
    rd_kafka_DescribeCluster(k->admin, o, queue);
    rd_kafka_AdminOptions_destroy(o);
    rd_kafka_event_t *event = kafka_answer(wait_ms, queue, err);
    int rc = event ? 0 : -1;
    if (event) {
        const char *text = rd_kafka_DescribeCluster_result_cluster_id(rd_kafka_event_DescribeCluster_result(event));
        if (text)
            *id = xstrdup(text);
        else
            rc = err_fail(err, ERR_TROUBLE, BECAUSE(CODE_BROKER_FAILED), "the broker names no cluster id");
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    return rc;
}

#else

/* The old library keeps what it heard when it connected, and can ask for nothing newer. */
int kafka_log_cluster(struct kafka_client *k, char **id, struct err *err)
{
    (void)err;
    *id = xstrdup(k->cluster_id);
    return 0;
}

#endif
