/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log-look: what a topic is and holds, as a `log` line: its cluster's id and
 * its own, its cleanup policy, and of each partition the first offset, the
 * end, and how far committed data reaches.
 */
#include "kafka/kafka.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    struct kafka_options kafka;
    struct opt_list topics;
};

static int take_topic(const char *topic, void *ctx, struct err *err)
{
    struct opt_list *topics = ctx;
    if (!kafka_topic_ok(topic))
        return err_set(err, ERR_REFUSED, "--topic: not a topic's name: %s", topic);
    if (opt_list_has(topics, topic))
        return err_set(err, ERR_REFUSED, "--topic=%s is given twice", topic);
    opt_list_add(topics, topic, strlen(topic));
    return 0;
}

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("log-look -b HOST:PORT -t TOPIC [options]\n"
                  "Write a topic's ids, cleanup policy, bounds and stable offsets as a log line of an owed-stream."),
        OPT_TAKE("t,topic", "TOPIC", take_topic, &o->topics, "the topic; may be given again"), KAFKA_OPTIONS(&o->kafka),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    return rc == 0 && o->topics.n == 0 ? err_set(err, ERR_REFUSED, "no topic is named (-t)") : rc;
}

static void put_log(struct stream_out *out, const struct kafka_log *log, const char *policy,
                    const struct kafka_bounds *bounds)
{
    struct buf text = BUF_INIT;
    struct json_w w;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "topic", log->topic);
    jw_str(&w, "cluster_id", log->cluster_id);
    jw_str(&w, "topic_id", log->topic_id);
    jw_str(&w, "cleanup_policy", policy);
    jw_arr(&w, "partitions");
    for (uint32_t p = 0; p < log->partitions; p++) {
        jw_obj(&w, NULL);
        jw_u64(&w, "partition", p);
        jw_i64(&w, "low", bounds[p].low);
        jw_i64(&w, "high", bounds[p].high);
        jw_i64(&w, "stable", bounds[p].stable);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    jw_end_obj(&w);
    struct buf *line = stream_build(out, LINE_LOG);
    buf_addc(line, ',');
    buf_add(line, text.p + 1, text.len - 2);
    stream_put_built(out, LINE_LOG);
    buf_free(&text);
}

static int look(struct stream_out *out, const struct options *o, const char *topic, struct err *err)
{
    struct kafka_client *k;
    struct err why = ERR_INIT;
    char *policy = NULL;
    if (kafka_open(o->kafka.conf, topic, KAFKA_READ_COMMITTED, (int)o->kafka.timeout_ms, &k, err) != 0)
        return err_prefix(err, "topic %s", topic);
    const struct kafka_log *log = kafka_log(k);
    struct kafka_bounds *bounds = xcalloc(log->partitions, sizeof *bounds);
    int rc = kafka_log_bounds(k, bounds, err);
    if (rc == 0) {
        if (!log->topic_id)
            msg_error("topic %s: its id is not to be had: %s", topic, log->topic_id_lack);
        if (kafka_log_policy(k, &policy, &why) != 0) /* may need a right of its own */
            msg_error("topic %s: %s", topic, why.text);
        put_log(out, log, policy, bounds);
    }
    free(policy);
    free(bounds);
    kafka_close(k);
    return rc == 0 ? 0 : err_prefix(err, "topic %s", topic);
}

int main(int argc, char **argv)
{
    struct options o = {.kafka = {kafka_conf_new(), KAFKA_TIMEOUT_MS}};
    struct stream_out out;
    struct err err = ERR_INIT;
    int status = OWED_OK;
    msg_init(argv[0]);
    int options = read_options(argc, argv, &o, &status, &err);
    if (options < 0) {
        status = stream_refuse(&err, STREAM_NO_INPUT);
    } else if (options == 0) {
        int rc = 0;
        stream_begin(&out, STDOUT_FILENO, NULL);
        for (size_t i = 0; rc == 0 && i < o.topics.n; i++)
            rc = look(&out, &o, o.topics.at[i], &err);
        if (rc != 0)
            stream_put_stop(&out, &err, CODE_USAGE);
        status = stream_end(&out);
        stream_out_free(&out);
    }
    kafka_conf_free(o.kafka.conf);
    opt_list_free(&o.topics);
    return status;
}
