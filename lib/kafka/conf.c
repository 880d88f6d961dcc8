/* SPDX-License-Identifier: Apache-2.0 */
/* Connection properties: set one by one, so that a bad one is named where it stands. */
#include "kafka/internal.h"

#include "json/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CONF_FILE_MAX ((size_t)1 << 20)
#define QUEUE_KB "8192"               /* read ahead of one partition */
#define QUEUES_KB ((size_t)128 << 10) /* of all together */

/* What this module sets itself, because it decides which records are read. */
static const char *const OURS[] = {"group.id",
                                   "group.instance.id",
                                   "group.protocol",
                                   "enable.auto.commit",
                                   "auto.commit.enable",
                                   "auto.offset.reset",
                                   "enable.auto.offset.store",
                                   "enable.partition.eof",
                                   "isolation.level",
                                   "allow.auto.create.topics",
                                   NULL};

struct kafka_conf *kafka_conf_new(void)
{
    struct kafka_conf *c = xcalloc(1, sizeof *c);
    c->rd = rd_kafka_conf_new();
    /* Silently flipped bits would be taken for what the log holds. A slow reader downstream need not fill memory; and
     * once the queue is full, the library's own second of waiting leaves a fast one idle: six times slower on a local
     * broker. */
    static const char *const defaults[][2] = {
        {"check.crcs", "true"},
        {"queued.max.messages.kbytes", QUEUE_KB},
        {"queued.min.messages", "20000"},
        {"fetch.queue.backoff.ms", "5"},
        {"reconnect.backoff.max.ms", "1000"}}; /* a broker that comes back is found at once */
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        rd_kafka_conf_set(c->rd, defaults[i][0], defaults[i][1], NULL, 0);
    return c;
}

void kafka_conf_free(struct kafka_conf *c)
{
    if (!c)
        return;
    rd_kafka_conf_destroy(c->rd);
    free(c);
}

void kafka_conf_share(struct kafka_conf *c, size_t partitions)
{
    char value[32] = "";
    size_t size = sizeof value, each = QUEUES_KB / (partitions ? partitions : 1);
    if (each >= strtoul(QUEUE_KB, NULL, 10) ||
        rd_kafka_conf_get(c->rd, "queued.max.messages.kbytes", value, &size) != RD_KAFKA_CONF_OK ||
        strcmp(value, QUEUE_KB) != 0)
        return;
    snprintf(value, sizeof value, "%zu", each > 64 ? each : 64);
    rd_kafka_conf_set(c->rd, "queued.max.messages.kbytes", value, NULL, 0);
}

bool kafka_conf_secret(const char *name)
{
    /* A property of such an end says where a secret lies or whose it is. */
    static const char *const ends[] = {".url", ".location", ".file", ".id", NULL};
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && ends[i]; i++)
        if (strcasecmp(end, ends[i]) == 0)
            return false;
    return redact_name(name, strlen(name));
}

int kafka_conf_set(struct kafka_conf *c, const char *name, const char *value, struct err *err)
{
    char why[512];
    for (size_t i = 0; OURS[i]; i++)
        if (strcasecmp(name, OURS[i]) == 0)
            return err_set(err, ERR_REFUSED, "%s: not to be set; positions and isolation are this program's", name);
    rd_kafka_conf_res_t res = rd_kafka_conf_set(c->rd, name, value, why, sizeof why);
    if (res == RD_KAFKA_CONF_UNKNOWN)
        return err_set(err, ERR_REFUSED, "%s: librdkafka %s knows no such property", name, rd_kafka_version_str());
    /* The library repeats the value, which may be a secret at the wrong property. */
    return res == RD_KAFKA_CONF_OK ? 0 : err_set(err, ERR_REFUSED, "%s: its value is not accepted", name);
}

/* The name before '=' into name; the value, or NULL where there is no '=' or no name. */
static const char *split(const char *assignment, struct buf *name)
{
    const char *eq = strchr(assignment, '=');
    if (!eq || eq == assignment)
        return NULL;
    buf_reset(name);
    buf_add(name, assignment, (size_t)(eq - assignment));
    buf_str(name);
    return eq + 1;
}

int kafka_conf_arg(struct kafka_conf *c, const char *assignment, struct err *err)
{
    struct buf name = BUF_INIT;
    const char *value = split(assignment, &name);
    int rc = -1;
    if (!value)
        err_set(err, ERR_REFUSED, "a property is given as NAME=VALUE");
    else if (kafka_conf_secret(name.p))
        err_set(err, ERR_REFUSED, "%s: a secret does not belong among the arguments; use -F FILE or -E %s=VARIABLE",
                name.p, name.p);
    else
        rc = kafka_conf_set(c, name.p, value, err);
    buf_free(&name);
    return rc;
}

int kafka_conf_env(struct kafka_conf *c, const char *assignment, struct err *err)
{
    struct buf name = BUF_INIT;
    const char *variable = split(assignment, &name);
    const char *value = variable ? getenv(variable) : NULL;
    int rc = -1;
    if (!variable || !*variable)
        err_set(err, ERR_REFUSED, "a property from the environment is given as NAME=VARIABLE");
    else if (!value)
        env_missing(variable, err), err_prefix(err, "%s", name.p);
    else
        rc = kafka_conf_set(c, name.p, value, err);
    buf_free(&name);
    return rc;
}

/* A line without the white space around it; false where nothing is to be set. */
static bool trim(char **line)
{
    char *p = *line, *end;
    while (isspace((unsigned char)*p))
        p++;
    end = p + strlen(p);
    while (end > p && isspace((unsigned char)end[-1]))
        *--end = '\0';
    *line = p;
    return *p && *p != '#';
}

int kafka_conf_file(struct kafka_conf *c, const char *path, struct err *err)
{
    struct buf text = BUF_INIT, name = BUF_INIT;
    unsigned line_no = 0;
    int rc = file_read(path, CONF_FILE_MAX, &text, err);
    if (!rc && text.len && memchr(text.p, '\0', text.len))
        rc = err_set(err, ERR_REFUSED, "%s: a zero byte", path);
    char *rest = rc ? NULL : (char *)(uintptr_t)buf_str(&text);
    for (char *line; !rc && (line = strsep(&rest, "\n"));) {
        line_no++;
        if (!trim(&line))
            continue;
        const char *value = split(line, &name);
        if (!value)
            rc = err_set(err, ERR_REFUSED, "%s: line %u: not NAME=VALUE", path, line_no);
        else if (kafka_conf_set(c, name.p, value, err) != 0)
            rc = err_prefix(err, "%s: line %u", path, line_no);
    }
    buf_free(&text);
    buf_free(&name);
    return rc;
}

bool kafka_topic_ok(const char *topic)
{
    size_t n = strlen(topic);
    return n > 0 && n < 250 &&
           strspn(topic, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n &&
           strcmp(topic, ".") != 0 && strcmp(topic, "..") != 0;
}

int kafka_take_bootstrap(const char *value, void *conf, struct err *err)
{
    if (strchr(value, '@')) /* the library would repeat it */
        return err_set(err, ERR_REFUSED, "brokers are HOST:PORT, and no user belongs there");
    return kafka_conf_set(conf, "bootstrap.servers", value, err);
}

int kafka_take_property(const char *value, void *conf, struct err *err)
{
    return kafka_conf_arg(conf, value, err);
}

int kafka_take_env(const char *value, void *conf, struct err *err)
{
    return kafka_conf_env(conf, value, err);
}

int kafka_take_file(const char *value, void *conf, struct err *err)
{
    return kafka_conf_file(conf, value, err);
}
