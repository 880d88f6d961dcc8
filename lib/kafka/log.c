/* SPDX-License-Identifier: Apache-2.0 */
/* The log's identity and bounds, asked of the broker at the time. */
#include "kafka/internal.h"

#include <stdlib.h>
#include <string.h>

const struct kafka_log *kafka_log(const struct kafka_client *k)
{
    return &k->log;
}

rd_kafka_event_t *kafka_answer(int wait_ms, rd_kafka_queue_t *queue, struct err *err)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, wait_ms);
    if (!event) {
        err_fail(err, ERR_TIMEOUT, BECAUSE(CODE_BROKER_UNREACHABLE), "no answer in %d ms", wait_ms);
    } else if (rd_kafka_event_error(event)) {
        kafka_err(err, rd_kafka_event_error(event));
        rd_kafka_event_destroy(event);
        event = NULL;
    }
    return event;
}

int kafka_reach(struct kafka_client *k, int wait_ms, struct err *err)
{
    const rd_kafka_metadata_t *md = NULL;
    int64_t end = time_mono_ms() + wait_ms;
    rd_kafka_resp_err_t code = rd_kafka_metadata(k->admin, 0, NULL, &md, wait_ms);
    if (code) {
        kafka_err(err, code);
        return err_prefix(err, "no broker answers");
    }
    rd_kafka_metadata_destroy(md);
    return kafka_until(end, wait_ms);
}

rd_kafka_AdminOptions_t *kafka_ask(struct kafka_client *k, int wait_ms, rd_kafka_admin_op_t op)
{
    rd_kafka_AdminOptions_t *o = rd_kafka_AdminOptions_new(k->admin, op);
    rd_kafka_AdminOptions_set_request_timeout(o, wait_ms, NULL, 0);
    return o;
}

#if HAVE_TOPIC_IDS

/* librdkafka gives plain base64; Kafka's own tools write the URL-safe letters. */
static char *id_text(const rd_kafka_Uuid_t *id)
{
    if (!id || (rd_kafka_Uuid_most_significant_bits(id) == 0 && rd_kafka_Uuid_least_significant_bits(id) == 0))
        return NULL;
    char *text = xstrdup(rd_kafka_Uuid_base64str(id));
    for (char *p = text; *p; p++)
        *p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
    return text;
}

int kafka_topic_look(struct kafka_client *k, int wait_ms, char **id, const char **lack, uint32_t *partitions,
                     struct err *err)
{
    const char *names[] = {k->name};
    *id = NULL;
    *lack = NULL;
    if ((wait_ms = kafka_reach(k, wait_ms, err)) < 0)
        return -1;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(k->admin);
    rd_kafka_TopicCollection_t *topics = rd_kafka_TopicCollection_of_topic_names(names, 1);
    rd_kafka_AdminOptions_t *o = kafka_ask(k, wait_ms, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS);
    rd_kafka_DescribeTopics(k->admin, topics, o, queue);
    rd_kafka_AdminOptions_destroy(o);
    rd_kafka_TopicCollection_destroy(topics);
    rd_kafka_event_t *event = kafka_answer(wait_ms, queue, err);
    int rc = event ? 0 : -1;
    if (event) {
        size_t n = 0;
        const rd_kafka_TopicDescription_t **found = rd_kafka_DescribeTopics_result_topics(
            rd_kafka_event_DescribeTopics_result(event), &n);
        const rd_kafka_error_t *error = n == 1 ? rd_kafka_TopicDescription_error(found[0]) : NULL;
        if (n != 1)
            rc = err_fail(err, ERR_TROUBLE, BECAUSE(CODE_BROKER_FAILED), "the broker describes %zu topics of this name",
                          n);
        else if (rd_kafka_error_code(error))
            rc = kafka_err(err, rd_kafka_error_code(error));
        else if (!(*id = id_text(rd_kafka_TopicDescription_topic_id(found[0]))))
            *lack = "the broker gives topics no ids";
        if (!rc) {
            rd_kafka_TopicDescription_partitions(found[0], &n);
            *partitions = (uint32_t)n;
        }
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    return rc;
}

/* The first (low) or last offset of every partition, under one isolation, into `out` at offset `field`. */
static int list_offsets(struct kafka_client *k, rd_kafka_OffsetSpec_t spec, rd_kafka_IsolationLevel_t isolation,
                        size_t field, struct kafka_bounds *out, struct err *err)
{
    int wait_ms = kafka_reach(k, k->timeout_ms, err);
    if (wait_ms < 0)
        return -1;
    rd_kafka_topic_partition_list_t *ask = rd_kafka_topic_partition_list_new((int)k->log.partitions);
    for (uint32_t p = 0; p < k->log.partitions; p++)
        rd_kafka_topic_partition_list_add(ask, k->name, (int32_t)p)->offset = spec;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(k->admin);
    rd_kafka_AdminOptions_t *o = kafka_ask(k, wait_ms, RD_KAFKA_ADMIN_OP_LISTOFFSETS);
    rd_kafka_error_destroy(rd_kafka_AdminOptions_set_isolation_level(o, isolation));
    rd_kafka_ListOffsets(k->admin, ask, o, queue);
    rd_kafka_AdminOptions_destroy(o);
    rd_kafka_topic_partition_list_destroy(ask);
    rd_kafka_event_t *event = kafka_answer(wait_ms, queue, err);
    int rc = event ? 0 : -1;
    size_t n = 0, got = 0;
    if (event) {
        const rd_kafka_ListOffsetsResultInfo_t **infos = rd_kafka_ListOffsets_result_infos(
            rd_kafka_event_ListOffsets_result(event), &n);
        for (size_t i = 0; i < n && !rc; i++) {
            const rd_kafka_topic_partition_t *tp = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
            if (tp->err) {
                kafka_err(err, tp->err);
                rc = err_prefix(err, "partition %d", tp->partition);
            } else if (tp->partition >= 0 && (uint32_t)tp->partition < k->log.partitions && tp->offset >= 0) {
                memcpy((char *)&out[tp->partition] + field, &tp->offset, sizeof tp->offset);
                got++;
            }
        }
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    if (!rc && got != k->log.partitions)
        rc = err_fail(err, ERR_TROUBLE, BECAUSE(CODE_BROKER_FAILED), "the broker told %zu of %u offsets", got,
                      k->log.partitions);
    return rc;
}

int kafka_log_bounds(struct kafka_client *k, struct kafka_bounds *out, struct err *err)
{
    if (list_offsets(k, RD_KAFKA_OFFSET_SPEC_EARLIEST, RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED,
                     offsetof(struct kafka_bounds, low), out, err) != 0 ||
        list_offsets(k, RD_KAFKA_OFFSET_SPEC_LATEST, RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED,
                     offsetof(struct kafka_bounds, stable), out, err) != 0)
        return -1;
    return list_offsets(k, RD_KAFKA_OFFSET_SPEC_LATEST, RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED,
                        offsetof(struct kafka_bounds, high), out, err);
}

#else

int kafka_topic_look(struct kafka_client *k, int wait_ms, char **id, const char **lack, uint32_t *partitions,
                     struct err *err)
{
    (void)k, (void)wait_ms, (void)err, (void)partitions;
    *id = NULL;
    *lack = "this librdkafka is older than 2.3 and cannot ask for topic ids";
    return 0;
}

/* The old question answers under the client's own isolation, so both ends are the same here. */
int kafka_log_bounds(struct kafka_client *k, struct kafka_bounds *out, struct err *err)
{
    for (uint32_t p = 0; p < k->log.partitions; p++) {
        rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(k->admin, k->name, (int32_t)p, &out[p].low,
                                                                    &out[p].high, k->timeout_ms);
        if (code) {
            kafka_err(err, code);
            return err_prefix(err, "partition %u", p);
        }
        out[p].stable = out[p].high;
    }
    return 0;
}

#endif

int kafka_log_at(struct kafka_client *k, int64_t ms, const struct kafka_bounds *bounds, int64_t *out, struct err *err)
{
    rd_kafka_topic_partition_list_t *ask = rd_kafka_topic_partition_list_new((int)k->log.partitions);
    for (uint32_t p = 0; p < k->log.partitions; p++)
        rd_kafka_topic_partition_list_add(ask, k->name, (int32_t)p)->offset = ms;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(k->admin, ask, k->timeout_ms);
    int rc = code ? kafka_err(err, code) : 0;
    for (int i = 0; i < ask->cnt && rc == 0; i++) {
        const rd_kafka_topic_partition_t *tp = &ask->elems[i];
        if (tp->err)
            rc = kafka_err(err, tp->err);
        else
            out[tp->partition] = tp->offset >= 0 ? tp->offset : bounds[tp->partition].high;
    }
    rd_kafka_topic_partition_list_destroy(ask);
    return rc == 0 ? 0 : err_prefix(err, "which offsets have which times");
}

int kafka_log_check(struct kafka_client *k, int wait_ms, struct err *err)
{
    char *now = NULL;
    const char *lack;
    uint32_t partitions = k->log.partitions;
    int rc = kafka_topic_look(k, wait_ms, &now, &lack, &partitions, err);
    if (!rc && k->topic_id && now && strcmp(k->topic_id, now) != 0)
        rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_TOPIC_RECREATED, {"topic", k->name}),
                      "it was recreated while it was read: its id was %s and is %s", k->topic_id, now);
    else if (!rc && partitions != k->log.partitions)
        rc = err_fail(err, ERR_CHANGED, BECAUSE(CODE_PARTITIONS_CHANGED),
                      "it has %u partitions now, not %u: start again to read them", partitions, k->log.partitions);
    if (!rc)
        k->trouble = RD_KAFKA_RESP_ERR_NO_ERROR; /* the broker answers again; what still fails is heard of anew */
    free(now);
    return rc;
}
