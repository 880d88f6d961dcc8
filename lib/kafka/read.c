/* SPDX-License-Identifier: Apache-2.0 */
/* Assigned partitions through one queue, in batches. */
#include "kafka/internal.h"

#include <inttypes.h>

int kafka_assign(struct kafka_client *k, uint32_t partition, int64_t offset, struct err *err)
{
    if (rd_kafka_consume_start_queue(k->topic, (int32_t)partition, offset, k->queue) == 0)
        return 0;
    kafka_err(err, rd_kafka_last_error());
    return err_prefix(err, "partition %u", partition);
}

void kafka_unassign(struct kafka_client *k, uint32_t partition)
{
    rd_kafka_consume_stop(k->topic, (int32_t)partition);
}

static void take_record(const rd_kafka_message_t *m, struct kafka_event *e)
{
    rd_kafka_timestamp_type_t type;
    e->ts = rd_kafka_message_timestamp(m, &type);
    e->ts_type = type == RD_KAFKA_TIMESTAMP_CREATE_TIME       ? "create"
                 : type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? "logappend"
                                                              : "unknown";
    e->key = m->key;
    e->key_len = m->key_len;
    e->value = m->payload;
    e->value_len = m->len;
}

static void take(const rd_kafka_message_t *m, struct kafka_event *e)
{
    e->partition = (uint32_t)m->partition;
    e->offset = m->offset;
    e->end = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    e->message = (void *)(uintptr_t)m;
    if (!m->err)
        take_record(m, e);
}

bool kafka_event_failed(const struct kafka_event *e, struct err *err)
{
    const rd_kafka_message_t *m = e->message;
    if (!m->err || e->end)
        return false;
    if (m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
        err_fail(err, ERR_TROUBLE, BECAUSE(CODE_RANGE_EXPIRED), "the position is no longer in the log: %s",
                 rd_kafka_message_errstr(m));
    } else {
        kafka_err(err, m->err);
        err_prefix(err, "offset %" PRId64, m->offset);
    }
    return true;
}

int kafka_read_each(struct kafka_client *k, int wait_ms, struct kafka_event *events, size_t max, size_t *n,
                    struct err *err)
{
    for (size_t i = 0; i < k->n_batch; i++)
        rd_kafka_message_destroy(k->batch[i]);
    k->n_batch = 0;
    *n = 0;
    rd_kafka_poll(k->rk, 0);
    ssize_t got = rd_kafka_consume_batch_queue(k->queue, wait_ms, k->batch, max < KAFKA_BATCH ? max : KAFKA_BATCH);
    if (got < 0)
        return kafka_err(err, rd_kafka_last_error());
    k->n_batch = (size_t)got;
    if (got > 0)
        k->trouble = RD_KAFKA_RESP_ERR_NO_ERROR;
    else if (k->trouble == RD_KAFKA_RESP_ERR__AUTHENTICATION || k->trouble == RD_KAFKA_RESP_ERR__FATAL)
        return err_fail(err, ERR_TROUBLE, kafka_cause(&CAUSE_INIT, k->trouble), "%s", k->trouble_text);
    for (size_t i = 0; i < k->n_batch; i++)
        take(k->batch[i], &events[i]);
    *n = k->n_batch;
    return 0;
}

int kafka_read(struct kafka_client *k, int wait_ms, struct kafka_event *events, size_t max, size_t *n, struct err *err)
{
    size_t got;
    *n = 0;
    if (kafka_read_each(k, wait_ms, events, max, &got, err) != 0)
        return -1;
    while (*n < got && !kafka_event_failed(&events[*n], err))
        (*n)++;
    return *n < got ? err_prefix(err, "partition %u", events[*n].partition) : 0;
}
