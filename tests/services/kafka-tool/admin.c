/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topics made, deleted, shortened and described, each with one wait for the broker's answer.
 */
#include "tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tool_fail(const char *what, const char *why)
{
    fprintf(stderr, "kafka-tool: %s: %s\n", what, why);
    return 3;
}

rd_kafka_t *tool_client(rd_kafka_type_t type, const char *bootstrap, const char *const *properties)
{
    char errstr[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    bool ok = rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, errstr, sizeof errstr) == RD_KAFKA_CONF_OK;
    /* A coordinator that still loads is tried again; nobody needs to read of it. */
    ok = ok && rd_kafka_conf_set(conf, "log_level", "2", errstr, sizeof errstr) == RD_KAFKA_CONF_OK;
    for (; ok && properties && properties[0]; properties += 2)
        ok = rd_kafka_conf_set(conf, properties[0], properties[1], errstr, sizeof errstr) == RD_KAFKA_CONF_OK;
    rd_kafka_t *rk = ok ? rd_kafka_new(type, conf, errstr, sizeof errstr) : NULL;
    if (!rk)
        exit(tool_fail("client", errstr));
    return rk;
}

/* The answer to one admin request, or NULL with the reason said (what NULL: not said). */
static rd_kafka_event_t *answer(rd_kafka_queue_t *queue, const char *what)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TOOL_TIMEOUT_MS);
    if (!event) {
        if (what)
            tool_fail(what, "no answer");
    } else if (rd_kafka_event_error(event)) {
        if (what)
            tool_fail(what, rd_kafka_event_error_string(event));
        rd_kafka_event_destroy(event);
        event = NULL;
    }
    return event;
}

static int topic_results(const rd_kafka_topic_result_t **results, size_t n)
{
    int status = 0;
    for (size_t i = 0; i < n; i++) {
        if (rd_kafka_topic_result_error(results[i])) {
            const char *why = rd_kafka_topic_result_error_string(results[i]);
            status = tool_fail(rd_kafka_topic_result_name(results[i]), why ? why : "failed");
        }
    }
    return status;
}

int tool_add_partitions(const char *bootstrap, const char *topic, int total)
{
    char errstr[512];
    rd_kafka_NewPartitions_t *more = rd_kafka_NewPartitions_new(topic, (size_t)total, errstr, sizeof errstr);
    if (!more)
        return tool_fail(topic, errstr);
    rd_kafka_t *rk = tool_client(RD_KAFKA_PRODUCER, bootstrap, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_CreatePartitions(rk, &more, 1, NULL, queue);
    int status = 3;
    rd_kafka_event_t *event = answer(queue, topic);
    if (event) {
        size_t count;
        const rd_kafka_topic_result_t **results = rd_kafka_CreatePartitions_result_topics(
            rd_kafka_event_CreatePartitions_result(event), &count);
        status = topic_results(results, count);
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewPartitions_destroy(more);
    rd_kafka_destroy(rk);
    return status;
}

int tool_alter_topic(const char *bootstrap, const char *topic, const char *config)
{
    char name[128];
    const char *eq = strchr(config, '=');
    if (!eq || (size_t)(eq - config) >= sizeof name)
        return tool_fail(config, "a configuration is NAME=VALUE");
    snprintf(name, sizeof name, "%.*s", (int)(eq - config), config);
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    rd_kafka_error_destroy(
        rd_kafka_ConfigResource_add_incremental_config(resource, name, RD_KAFKA_ALTER_CONFIG_OP_TYPE_SET, eq + 1));
    rd_kafka_t *rk = tool_client(RD_KAFKA_PRODUCER, bootstrap, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_IncrementalAlterConfigs(rk, &resource, 1, NULL, queue);
    int status = 3;
    rd_kafka_event_t *event = answer(queue, topic);
    if (event) {
        size_t count;
        const rd_kafka_ConfigResource_t **done = rd_kafka_IncrementalAlterConfigs_result_resources(
            rd_kafka_event_IncrementalAlterConfigs_result(event), &count);
        const char *why = count == 1 ? rd_kafka_ConfigResource_error_string(done[0]) : "no answer";
        status = why ? tool_fail(topic, why) : 0;
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_destroy(rk);
    return status;
}

int tool_delete_topic(const char *bootstrap, const char *topic)
{
    rd_kafka_DeleteTopic_t *del = rd_kafka_DeleteTopic_new(topic);
    rd_kafka_t *rk = tool_client(RD_KAFKA_PRODUCER, bootstrap, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_DeleteTopics(rk, &del, 1, NULL, queue);
    int status = 3;
    rd_kafka_event_t *event = answer(queue, topic);
    if (event) {
        size_t count;
        const rd_kafka_topic_result_t **results = rd_kafka_DeleteTopics_result_topics(
            rd_kafka_event_DeleteTopics_result(event), &count);
        status = topic_results(results, count);
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_DeleteTopic_destroy(del);
    rd_kafka_destroy(rk);
    return status;
}

int tool_delete_records(const char *bootstrap, const char *topic, int partition, long long before)
{
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(offsets, topic, partition)->offset = before;
    rd_kafka_DeleteRecords_t *del = rd_kafka_DeleteRecords_new(offsets);
    rd_kafka_t *rk = tool_client(RD_KAFKA_PRODUCER, bootstrap, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_DeleteRecords(rk, &del, 1, NULL, queue);
    int status = 3;
    rd_kafka_event_t *event = answer(queue, topic);
    if (event) {
        const rd_kafka_topic_partition_list_t *done = rd_kafka_DeleteRecords_result_offsets(
            rd_kafka_event_DeleteRecords_result(event));
        status = done->elems[0].err ? tool_fail(topic, rd_kafka_err2str(done->elems[0].err)) : 0;
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_DeleteRecords_destroy(del);
    rd_kafka_topic_partition_list_destroy(offsets);
    rd_kafka_destroy(rk);
    return status;
}

/* The offset that `spec` names, for every partition; the last stable one where `committed`. */
static int list_offsets(rd_kafka_t *rk, rd_kafka_queue_t *queue, const char *what, const char *topic, size_t partitions,
                        rd_kafka_OffsetSpec_t spec, bool committed, int64_t *out)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)partitions);
    for (size_t p = 0; p < partitions; p++)
        rd_kafka_topic_partition_list_add(list, topic, (int32_t)p)->offset = spec;
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(rk, RD_KAFKA_ADMIN_OP_LISTOFFSETS);
    rd_kafka_error_destroy(rd_kafka_AdminOptions_set_isolation_level(
        options, committed ? RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED : RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED));
    rd_kafka_ListOffsets(rk, list, options, queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_event_t *event = answer(queue, what);
    if (!event)
        return -1;
    size_t count;
    const rd_kafka_ListOffsetsResultInfo_t **infos = rd_kafka_ListOffsets_result_infos(
        rd_kafka_event_ListOffsets_result(event), &count);
    for (size_t i = 0; i < count; i++) {
        const rd_kafka_topic_partition_t *tp = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
        if ((size_t)tp->partition < partitions)
            out[tp->partition] = tp->err ? -1 : tp->offset;
    }
    rd_kafka_event_destroy(event);
    return 0;
}

/* A topic just made has partitions that do not answer yet; a test must not meet them. */
static int await_leaders(rd_kafka_t *rk, rd_kafka_queue_t *queue, const char *topic, size_t partitions)
{
    int64_t *low = calloc(partitions, sizeof *low);
    for (int tries = 0; low && tries < 100; tries++) {
        size_t answering = 0;
        bool asked = list_offsets(rk, queue, NULL, topic, partitions, RD_KAFKA_OFFSET_SPEC_EARLIEST, false, low) == 0;
        while (asked && answering < partitions && low[answering] >= 0)
            answering++;
        if (answering == partitions) {
            free(low);
            return 0;
        }
        usleep(50000);
    }
    free(low);
    return tool_fail(topic, "its partitions do not answer");
}

int tool_create_topic(const char *bootstrap, const char *topic, int partitions, char *const *configs, int n)
{
    char errstr[512];
    rd_kafka_NewTopic_t *new_topic = rd_kafka_NewTopic_new(topic, partitions, -1, errstr, sizeof errstr);
    if (!new_topic)
        return tool_fail(topic, errstr);
    for (int i = 0; i < n; i++) {
        char *eq = strchr(configs[i], '=');
        if (!eq)
            return tool_fail(configs[i], "a configuration is NAME=VALUE");
        *eq = '\0';
        rd_kafka_NewTopic_set_config(new_topic, configs[i], eq + 1);
    }
    rd_kafka_t *rk = tool_client(RD_KAFKA_PRODUCER, bootstrap, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_CreateTopics(rk, &new_topic, 1, NULL, queue);
    int status = 3;
    rd_kafka_event_t *event = answer(queue, topic);
    if (event) {
        size_t count;
        const rd_kafka_topic_result_t **results = rd_kafka_CreateTopics_result_topics(
            rd_kafka_event_CreateTopics_result(event), &count);
        status = topic_results(results, count);
        rd_kafka_event_destroy(event);
    }
    if (!status)
        status = await_leaders(rk, queue, topic, (size_t)partitions);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(new_topic);
    rd_kafka_destroy(rk);
    return status;
}

static int print_bounds(rd_kafka_t *rk, rd_kafka_queue_t *queue, const char *topic, size_t n)
{
    int64_t *low = calloc(3 * n, sizeof *low), *high = low + n, *stable = high + n;
    int status = 3;
    if (low && list_offsets(rk, queue, topic, topic, n, RD_KAFKA_OFFSET_SPEC_EARLIEST, false, low) == 0 &&
        list_offsets(rk, queue, topic, topic, n, RD_KAFKA_OFFSET_SPEC_LATEST, false, high) == 0 &&
        list_offsets(rk, queue, topic, topic, n, RD_KAFKA_OFFSET_SPEC_LATEST, true, stable) == 0) {
        for (size_t p = 0; p < n; p++)
            printf("%s{\"partition\":%zu,\"low\":%" PRId64 ",\"high\":%" PRId64 ",\"stable\":%" PRId64 "}",
                   p ? "," : "", p, low[p], high[p], stable[p]);
        status = 0;
    }
    free(low);
    return status;
}

int tool_topic_info(const char *bootstrap, const char *topic)
{
    rd_kafka_t *rk = tool_client(RD_KAFKA_PRODUCER, bootstrap, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    const char *names[] = {topic};
    rd_kafka_TopicCollection_t *topics = rd_kafka_TopicCollection_of_topic_names(names, 1);
    char *cluster = rd_kafka_clusterid(rk, TOOL_TIMEOUT_MS);
    rd_kafka_DescribeTopics(rk, topics, NULL, queue);
    rd_kafka_event_t *event = answer(queue, topic);
    int status = 3;
    if (event) {
        size_t count, partitions;
        const rd_kafka_TopicDescription_t *d = rd_kafka_DescribeTopics_result_topics(
            rd_kafka_event_DescribeTopics_result(event), &count)[0];
        const rd_kafka_error_t *error = rd_kafka_TopicDescription_error(d);
        if (rd_kafka_error_code(error)) {
            status = tool_fail(topic, rd_kafka_error_string(error));
        } else {
            rd_kafka_TopicDescription_partitions(d, &partitions);
            printf("{\"topic\":\"%s\",\"topic_id\":\"%s\",\"cluster_id\":\"%s\",\"partitions\":[", topic,
                   rd_kafka_Uuid_base64str(rd_kafka_TopicDescription_topic_id(d)), cluster ? cluster : "");
            status = print_bounds(rk, queue, topic, partitions);
            printf("]}\n");
        }
        rd_kafka_event_destroy(event);
    }
    rd_kafka_TopicCollection_destroy(topics);
    rd_kafka_queue_destroy(queue);
    if (cluster)
        rd_kafka_mem_free(rk, cluster);
    rd_kafka_destroy(rk);
    return status;
}
