/* SPDX-License-Identifier: Apache-2.0 */
/* What a consumer group has committed of the topic, and who is in it. No group is joined, and nothing is committed. */
#include "kafka/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOT_READY_PAUSE_MS 50

static int group_err(struct err *err, rd_kafka_resp_err_t code, const char *group)
{
    if (code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_GROUP_NOT_GRANTED, {"group", group}), "%s",
                        rd_kafka_err2str(code));
    return kafka_err(err, code);
}

/* A group that the cluster does not know is no error: it has committed nothing. */
static bool unknown_group(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND;
}

static int take_offsets(const struct kafka_client *k, rd_kafka_event_t *event, struct kafka_group *out, struct err *err)
{
    size_t n;
    const rd_kafka_group_result_t **groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event), &n);
    if (n != 1)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_BROKER_FAILED), "the broker tells of %zu groups", n);
    const rd_kafka_error_t *error = rd_kafka_group_result_error(groups[0]);
    if (error && !unknown_group(rd_kafka_error_code(error)))
        return group_err(err, rd_kafka_error_code(error), out->name);
    const rd_kafka_topic_partition_list_t *list = error ? NULL : rd_kafka_group_result_partitions(groups[0]);
    for (int i = 0; list && i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &list->elems[i];
        if (p->err) {
            group_err(err, p->err, out->name);
            return err_prefix(err, "partition %d", p->partition);
        }
        if (p->partition >= 0 && (uint32_t)p->partition < k->log.partitions && p->offset >= 0)
            out->committed[p->partition] = p->offset;
    }
    return 0;
}

static int ask_offsets(struct kafka_client *k, struct kafka_group *out, struct err *err)
{
    int wait_ms = kafka_reach(k, k->timeout_ms, err);
    if (wait_ms < 0)
        return -1;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)k->log.partitions);
    for (uint32_t p = 0; p < k->log.partitions; p++)
        rd_kafka_topic_partition_list_add(list, k->name, (int32_t)p);
    rd_kafka_ListConsumerGroupOffsets_t *ask = rd_kafka_ListConsumerGroupOffsets_new(out->name, list);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(k->admin);
    rd_kafka_AdminOptions_t *o = kafka_ask(k, wait_ms, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);
    rd_kafka_ListConsumerGroupOffsets(k->admin, &ask, 1, o, queue);
    rd_kafka_AdminOptions_destroy(o);
    rd_kafka_ListConsumerGroupOffsets_destroy(ask);
    rd_kafka_event_t *event = kafka_answer(wait_ms, queue, err);
    int rc = event ? take_offsets(k, event, out, err) : -1;
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    return rc;
}

static int take_description(rd_kafka_event_t *event, struct kafka_group *out, struct err *err)
{
    size_t n;
    const rd_kafka_ConsumerGroupDescription_t **groups = rd_kafka_DescribeConsumerGroups_result_groups(
        rd_kafka_event_DescribeConsumerGroups_result(event), &n);
    if (n != 1)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_BROKER_FAILED), "the broker describes %zu groups", n);
    const rd_kafka_error_t *error = rd_kafka_ConsumerGroupDescription_error(groups[0]);
    rd_kafka_resp_err_t code = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_consumer_group_state_t state = rd_kafka_ConsumerGroupDescription_state(groups[0]);
    if (code && !unknown_group(code))
        return group_err(err, code, out->name);
    out->state = rd_kafka_consumer_group_state_name(code ? RD_KAFKA_CONSUMER_GROUP_STATE_DEAD : state);
    out->members = code ? 0 : rd_kafka_ConsumerGroupDescription_member_count(groups[0]);
    return 0;
}

static int ask_description(struct kafka_client *k, struct kafka_group *out, struct err *err)
{
    int wait_ms = kafka_reach(k, k->timeout_ms, err);
    const char *names[] = {out->name};
    if (wait_ms < 0)
        return -1;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(k->admin);
    rd_kafka_AdminOptions_t *o = kafka_ask(k, wait_ms, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS);
    rd_kafka_DescribeConsumerGroups(k->admin, names, 1, o, queue);
    rd_kafka_AdminOptions_destroy(o);
    rd_kafka_event_t *event = kafka_answer(wait_ms, queue, err);
    int rc = event ? take_description(event, out, err) : -1;
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    return rc;
}

/* A coordinator that has just been chosen first reads what the groups have committed, and says so as an error. */
int kafka_group_look(struct kafka_client *k, const char *group, struct kafka_group *out, struct err *err)
{
    int64_t end = time_mono_ms() + k->timeout_ms;
    *out = (struct kafka_group){.name = group, .committed = xcalloc(k->log.partitions, sizeof *out->committed)};
    for (uint32_t p = 0; p < k->log.partitions; p++)
        out->committed[p] = KAFKA_NOT_COMMITTED;
    while (ask_description(k, out, err) != 0 || ask_offsets(k, out, err) != 0) {
        if (err->cause.code != CODE_GROUP_NOT_READY || time_mono_ms() >= end)
            return err_prefix(err, "group %s", group);
        *err = ERR_INIT;
        nanosleep(&(struct timespec){.tv_nsec = NOT_READY_PAUSE_MS * 1000000L}, NULL);
    }
    return 0;
}

void kafka_group_free(struct kafka_group *g)
{
    free(g->committed);
    g->committed = NULL;
}
