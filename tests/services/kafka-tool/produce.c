/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from standard input, one JSON object a line, to exactly the partition that each names and in that order:
 *   {"partition":0,"key":"k"|null,"value":"v"|null,"value_b64":"…","key_b64":"…","ts":1758000000000,"headers":[["n","v"]]}
 * and between them, with a transactional id, {"end":"commit"} or {"end":"abort"}: what is open ends so, and the next
 * transaction begins.
 */
#include "tool.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct producer {
    rd_kafka_t *rk;
    const struct tool_produce *what;
    struct arena arena;
    uint64_t sent, failed;
    bool open; /* a transaction is open */
};

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    struct producer *p = opaque;
    (void)rk;
    /* An abort purges what is on its way; that is no failure of the test's. */
    if (!m->err || m->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE || m->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
        return;
    p->failed++;
    tool_fail(p->what->topic, rd_kafka_err2str(m->err));
}

static int transaction(const char *what, rd_kafka_error_t *error)
{
    if (!error)
        return 0;
    int status = tool_fail(what, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return status;
}

static int end_transaction(struct producer *p, enum tool_ending ending)
{
    /* The records of an aborted transaction must be in the log, so they are delivered before it is aborted. */
    rd_kafka_flush(p->rk, TOOL_TIMEOUT_MS);
    p->open = false;
    return ending == END_COMMIT ? transaction("commit", rd_kafka_commit_transaction(p->rk, TOOL_TIMEOUT_MS))
                                : transaction("abort", rd_kafka_abort_transaction(p->rk, TOOL_TIMEOUT_MS));
}

static int begin_transaction(struct producer *p)
{
    if (!p->what->transactional_id || p->open)
        return 0;
    p->open = true;
    return transaction("begin", rd_kafka_begin_transaction(p->rk));
}

/* The bytes of `name` or `name`_b64; *out NULL for null and for neither. */
static int bytes_of(struct producer *p, const struct json *line, const char *name, const char **out, size_t *n)
{
    char b64[32];
    snprintf(b64, sizeof b64, "%s_b64", name);
    const struct json *text = json_get(line, name), *coded = json_get(line, b64);
    *out = NULL;
    *n = 0;
    if (coded && coded->type == JSON_STRING) {
        struct buf bytes = BUF_INIT;
        if (!base64_decode(&bytes, coded->str, coded->len))
            return tool_fail(b64, "not base64");
        *out = arena_strndup(&p->arena, bytes.p ? bytes.p : "", bytes.len);
        *n = bytes.len;
        buf_free(&bytes);
    } else if (text && text->type == JSON_STRING) {
        *out = text->str;
        *n = text->len;
    } else if (text && text->type != JSON_NULL) {
        return tool_fail(name, "neither a string nor null");
    }
    return 0;
}

static rd_kafka_headers_t *headers_of(const struct json *line)
{
    const struct json *list = json_get(line, "headers");
    if (!list || list->type != JSON_ARRAY)
        return NULL;
    rd_kafka_headers_t *headers = rd_kafka_headers_new(list->len);
    for (const struct json *pair = json_first(list); pair; pair = json_next(list, pair)) {
        if (pair->type != JSON_ARRAY || pair->len != 2)
            continue;
        const struct json *name = json_at(pair, 0), *value = json_at(pair, 1);
        bool null = value->type == JSON_NULL;
        rd_kafka_header_add(headers, name->str, (ssize_t)name->len, null ? NULL : value->str,
                            null ? 0 : (ssize_t)value->len);
    }
    return headers;
}

static int send_record(struct producer *p, const struct json *line)
{
    int64_t partition = 0, ts = 0;
    const char *key, *value;
    size_t key_len, value_len;
    const struct json *v = json_get(line, "partition");
    if (v && !json_i64(v, &partition))
        return tool_fail("partition", "not a number");
    if ((v = json_get(line, "ts")) && !json_i64(v, &ts))
        return tool_fail("ts", "not a number");
    if (bytes_of(p, line, "key", &key, &key_len) || bytes_of(p, line, "value", &value, &value_len))
        return 3;
    rd_kafka_headers_t *headers = headers_of(line);
    rd_kafka_resp_err_t err;
    do {
        rd_kafka_poll(p->rk, 0);
        err = rd_kafka_producev(p->rk, RD_KAFKA_V_TOPIC(p->what->topic), RD_KAFKA_V_PARTITION((int32_t)partition),
                                RD_KAFKA_V_KEY(key, key_len), RD_KAFKA_V_VALUE((void *)(uintptr_t)value, value_len),
                                RD_KAFKA_V_TIMESTAMP(ts), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
        if (err == RD_KAFKA_RESP_ERR__QUEUE_FULL)
            rd_kafka_poll(p->rk, 100);
    } while (err == RD_KAFKA_RESP_ERR__QUEUE_FULL);
    if (err) {
        if (headers)
            rd_kafka_headers_destroy(headers);
        return tool_fail(p->what->topic, rd_kafka_err2str(err));
    }
    p->sent++;
    return 0;
}

static int on_line(struct producer *p, const char *text, size_t n)
{
    struct json_error e;
    arena_reset(&p->arena);
    const struct json *line = json_parse(text, n, &p->arena, &e);
    if (!line)
        return tool_fail("standard input", e.why);
    const struct json *end = json_get(line, "end");
    if (end)
        return p->open ? end_transaction(p, json_is(end, "abort") ? END_ABORT : END_COMMIT) : 0;
    if (begin_transaction(p) || send_record(p, line))
        return 3;
    if (!p->what->hold)
        return 0;
    rd_kafka_flush(p->rk, TOOL_TIMEOUT_MS);
    printf("{\"delivered\":%" PRIu64 "}\n", p->sent);
    fflush(stdout);
    return 0;
}

static rd_kafka_t *new_producer(const char *bootstrap, struct producer *p)
{
    char errstr[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    const char *properties[][2] = {{"bootstrap.servers", bootstrap},
                                   {"log_level", "2"},
                                   {"message.max.bytes", "4000000"},
                                   /* Order without an idempotent producer, whose start waits for the coordinator. */
                                   {"max.in.flight", p->what->transactional_id ? NULL : "1"},
                                   {"linger.ms", p->what->hold ? "0" : "5"},
                                   {"transactional.id", p->what->transactional_id}};
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        if (properties[i][1] &&
            rd_kafka_conf_set(conf, properties[i][0], properties[i][1], errstr, sizeof errstr) != RD_KAFKA_CONF_OK)
            exit(tool_fail(properties[i][0], errstr));
    rd_kafka_conf_set_opaque(conf, p);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, errstr, sizeof errstr);
    if (!rk)
        exit(tool_fail("client", errstr));
    return rk;
}

int tool_produce(const char *bootstrap, const struct tool_produce *what)
{
    struct producer p = {.what = what, .arena = ARENA_INIT};
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int status = 0;
    p.rk = new_producer(bootstrap, &p);
    if (what->transactional_id)
        status = transaction("init", rd_kafka_init_transactions(p.rk, TOOL_TIMEOUT_MS));
    while (!status && (n = getline(&line, &cap, stdin)) > 0)
        status = on_line(&p, line, (size_t)n);
    if (!status && p.open)
        status = end_transaction(&p, what->ending);
    if (rd_kafka_flush(p.rk, TOOL_TIMEOUT_MS) || p.failed)
        status = tool_fail(what->topic, "not everything was delivered");
    free(line);
    arena_free(&p.arena);
    rd_kafka_destroy(p.rk);
    return status;
}
