/* SPDX-License-Identifier: Apache-2.0 */
/* Connecting: a broker that is not there is waited for, one that turns us away is not. */
#include "kafka/internal.h"

#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MS 500   /* how long one question is waited for before its answers so far are looked at */
#define VALUE_SHOWN 6 /* a value of fewer characters is no secret, and may be any word */

static enum code code_of_broker(rd_kafka_resp_err_t code)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return CODE_TOPIC_MISSING;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED: return CODE_TOPIC_NOT_GRANTED;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED: return CODE_LOGIN_REFUSED;
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT: return CODE_BROKER_UNREACHABLE;
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET: return CODE_RANGE_EXPIRED;
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR: return CODE_GROUP_NOT_READY;
    default: return CODE_BROKER_FAILED;
    }
}

const struct cause *kafka_cause(struct cause *room, rd_kafka_resp_err_t code)
{
    enum code c = code_of_broker(code);
    const struct fact facts[] = {
        {"option", c == CODE_LOGIN_REFUSED ? "the SASL and SSL properties of -X, -E and -F" : NULL}, {NULL, NULL}};
    *room = CAUSE_INIT;
    return cause_of(room, c, facts);
}

int kafka_err(struct err *err, rd_kafka_resp_err_t code)
{
    enum err_kind kind = ERR_TROUBLE;
    if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
        code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
        kind = ERR_MISSING;
    else if (code == RD_KAFKA_RESP_ERR__TIMED_OUT || code == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT)
        kind = ERR_TIMEOUT;
    return err_fail(err, kind, kafka_cause(&CAUSE_INIT, code), "%s", rd_kafka_err2str(code));
}

const char *kafka_isolation_name(enum kafka_isolation i)
{
    return i == KAFKA_READ_COMMITTED ? "read_committed" : "read_uncommitted";
}

bool kafka_isolation_of(const char *text, enum kafka_isolation *out)
{
    *out = strcmp(text, "read_committed") == 0 ? KAFKA_READ_COMMITTED : KAFKA_READ_UNCOMMITTED;
    return strcmp(text, kafka_isolation_name(*out)) == 0;
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
    struct kafka_client *k = opaque;
    (void)rk;
    /* That all are down follows on why the last one is, and says less. */
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && k->trouble)
        return;
    k->trouble = (rd_kafka_resp_err_t)code;
    int fault = code == RD_KAFKA_RESP_ERR__SSL ? atomic_load(&k->certificate) : X509_V_OK;
    if (fault != X509_V_OK)
        snprintf(k->trouble_text, sizeof k->trouble_text, "%.*s the broker's certificate was refused: %s",
                 (int)strcspn(reason, " "), reason, X509_verify_cert_error_string(fault));
    else
        snprintf(k->trouble_text, sizeof k->trouble_text, "%s", reason);
}

static void unheard(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
    (void)rk, (void)code, (void)reason, (void)opaque;
}

const char *kafka_trouble(const struct kafka_client *k)
{
    return k->trouble ? k->trouble_text : NULL;
}

/* Without a `debug` property the library's own log lines repeat what errors say. */
static void quiet(const rd_kafka_t *rk, int level, const char *fac, const char *text)
{
    (void)rk, (void)level, (void)fac, (void)text;
}

static bool wants_log(const rd_kafka_conf_t *conf)
{
    char value[256] = "";
    size_t size = sizeof value;
    return rd_kafka_conf_get(conf, "debug", value, &size) == RD_KAFKA_CONF_OK && value[0];
}

static bool has_brokers(const rd_kafka_conf_t *conf)
{
    char value[2] = "";
    size_t size = 0;
    if (rd_kafka_conf_get(conf, "bootstrap.servers", NULL, &size) == RD_KAFKA_CONF_OK && size > 1)
        return true;
    size = sizeof value;
    return rd_kafka_conf_get(conf, "test.mock.num.brokers", value, &size) != RD_KAFKA_CONF_OK || value[0] != '0';
}

/* The library says only that a broker's certificate was not verified; here, on a thread of its own, it is known why. */
static int verify(rd_kafka_t *rk, const char *broker, int32_t id, int *fault, int depth, const char *der, size_t len,
                  char *why, size_t size, void *opaque)
{
    struct kafka_client *k = opaque;
    (void)rk, (void)broker, (void)id, (void)depth, (void)der, (void)len;
    if (*fault == X509_V_OK)
        return 1;
    if (k)
        atomic_store(&k->certificate, *fault);
    snprintf(why, size, "%s", X509_verify_cert_error_string(*fault));
    return 0;
}

static bool verifies(const rd_kafka_conf_t *conf)
{
    char value[8] = "";
    size_t size = sizeof value;
    return rd_kafka_conf_get(conf, "enable.ssl.certificate.verification", value, &size) == RD_KAFKA_CONF_OK &&
           strcmp(value, "true") == 0;
}

/* The library repeats values of properties, and one may be a secret at the wrong place: each is taken out. */
static void hide_values(const rd_kafka_conf_t *conf, char *why)
{
    size_t n;
    const char **all = rd_kafka_conf_dump((rd_kafka_conf_t *)(uintptr_t)conf, &n);
    for (size_t i = 1; i < n; i += 2) {
        size_t len = strlen(all[i]);
        for (char *at = why; len >= VALUE_SHOWN && (at = strstr(at, all[i])) != NULL; at += len)
            memset(at, '*', len);
    }
    rd_kafka_conf_dump_free(all, n);
}

/* A handle whose errors k hears of; k NULL: nobody does. */
static rd_kafka_t *create(struct kafka_client *k, const struct kafka_conf *c, enum kafka_isolation isolation,
                          struct err *err)
{
    char why[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_dup(c->rd);
    if (!has_brokers(conf)) {
        rd_kafka_conf_destroy(conf);
        err_set(err, ERR_REFUSED, "no broker is named");
        return NULL;
    }
    rd_kafka_conf_set(conf, "isolation.level", kafka_isolation_name(isolation), NULL, 0);
    rd_kafka_conf_set(conf, "enable.partition.eof", "true", NULL, 0);
    rd_kafka_conf_set(conf, "enable.auto.commit", "false", NULL, 0);
    rd_kafka_conf_set(conf, "auto.offset.reset", "error", NULL, 0);
    rd_kafka_conf_set_opaque(conf, k);
    rd_kafka_conf_set_error_cb(conf, k ? on_error : unheard);
    if (verifies(conf))
        rd_kafka_conf_set_ssl_cert_verify_cb(conf, verify);
    if (!wants_log(conf))
        rd_kafka_conf_set_log_cb(conf, quiet);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    if (!rk) {
        hide_values(conf, why);
        rd_kafka_conf_destroy(conf);
        err_set(err, ERR_REFUSED, "these connection properties do not fit together: %s", why);
    }
    return rk;
}

static bool turned_away(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL ||
           code == RD_KAFKA_RESP_ERR__FATAL || code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED ||
           code == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE;
}

/* What metadata says of the topic: 0 usable, 1 not yet (its leaders are being chosen), -1 refused by the broker. */
static int topic_state(struct kafka_client *k, const rd_kafka_metadata_topic_t *t, struct err *err)
{
    if (t->err == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
        return 1;
    if (t->err)
        return kafka_err(err, t->err);
    if (t->partition_cnt == 0)
        return err_fail(err, ERR_MISSING, BECAUSE(CODE_TOPIC_MISSING), "it has no partition");
    for (int i = 0; i < t->partition_cnt; i++)
        if (t->partitions[i].err && t->partitions[i].err != RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE)
            return 1;
    k->log.partitions = (uint32_t)t->partition_cnt;
    return 0;
}

/* Ask for the topic until it is usable, the broker turns us away, or the time is up. */
static int look(struct kafka_client *k, struct err *err)
{
    int64_t end = time_mono_ms() + k->timeout_ms;
    bool answered = false;
    for (;;) {
        const rd_kafka_metadata_t *md = NULL;
        int64_t left = end - time_mono_ms();
        rd_kafka_resp_err_t code = rd_kafka_metadata(k->rk, 0, k->topic, &md,
                                                     left < STEP_MS ? (left > 1 ? (int)left : 1) : STEP_MS);
        int state = 1;
        if (!code) {
            answered = true;
            state = md->topic_cnt == 1 ? topic_state(k, &md->topics[0], err) : 1;
            rd_kafka_metadata_destroy(md);
        }
        if (state != 1)
            return state;
        rd_kafka_poll(k->rk, 0);
        if (turned_away(k->trouble))
            return err_fail(err, ERR_TROUBLE, kafka_cause(&CAUSE_INIT, k->trouble), "%s", k->trouble_text);
        if (time_mono_ms() >= end)
            break;
        if (!code)
            sleep_ms(50);
    }
    if (answered)
        return err_fail(err, ERR_TIMEOUT, BECAUSE(CODE_BROKER_UNREACHABLE), "a partition has had no leader for %d ms",
                        k->timeout_ms);
    return err_fail(err, ERR_TIMEOUT, BECAUSE(CODE_BROKER_UNREACHABLE), "no broker answered in %d ms%s%s",
                    k->timeout_ms, k->trouble ? ": " : "", k->trouble ? k->trouble_text : "");
}

static int identify(struct kafka_client *k, struct err *err)
{
    char *cluster = rd_kafka_clusterid(k->rk, k->timeout_ms);
    if (!cluster)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_BROKER_FAILED), "the broker names no cluster id");
    k->cluster_id = xstrdup(cluster);
    rd_kafka_mem_free(k->rk, cluster);
    if (kafka_topic_look(k, k->timeout_ms, &k->topic_id, &k->log.topic_id_lack, &k->log.partitions, err) != 0)
        return -1;
    k->log.topic = k->name;
    k->log.cluster_id = k->cluster_id;
    k->log.topic_id = k->topic_id;
    return 0;
}

int kafka_open(const struct kafka_conf *c, const char *topic, enum kafka_isolation isolation, int timeout_ms,
               struct kafka_client **out, struct err *err)
{
    struct kafka_client *k = xcalloc(1, sizeof *k);
    k->name = xstrdup(topic);
    k->timeout_ms = timeout_ms;
    k->rk = create(k, c, isolation, err);
    k->topic = k->rk ? rd_kafka_topic_new(k->rk, topic, NULL) : NULL;
    if (k->rk && !k->topic)
        kafka_err(err, rd_kafka_last_error());
    if (!k->topic || look(k, err) != 0 || !(k->admin = create(NULL, c, isolation, err)) || identify(k, err) != 0) {
        kafka_close(k);
        return -1;
    }
    k->queue = rd_kafka_queue_new(k->rk);
    k->trouble = RD_KAFKA_RESP_ERR_NO_ERROR;
    *out = k;
    return 0;
}

void kafka_close(struct kafka_client *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->n_batch; i++)
        rd_kafka_message_destroy(k->batch[i]);
    if (k->queue)
        rd_kafka_queue_destroy(k->queue);
    if (k->topic)
        rd_kafka_topic_destroy(k->topic);
    if (k->admin)
        rd_kafka_destroy(k->admin);
    if (k->rk)
        rd_kafka_destroy(k->rk);
    free(k->name);
    free(k->cluster_id);
    free(k->topic_id);
    free(k);
}
