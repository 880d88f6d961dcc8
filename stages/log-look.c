/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log-look: what a topic is and holds, as a `log` line: its cluster's id and
 * its own, its cleanup policy, and of each partition the first offset, the
 * end, and how far committed data reaches; and, of the consumer groups that are
 * named, what each has committed of it and who is in it.
 *
 * With --again it is a filter: when its input has ended it looks once more at the
 * topics that were looked at, for whoever must know whether they went on.
 */
#include "kafka/kafka.h"
#include "stream/log.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    struct kafka_options kafka;
    struct opt_list topics, groups;
    bool again;
    struct arena names; /* of the stream's topics */
    uint64_t max_line;
    struct instant {
        bool given;
        int64_t ms;
    } since, until;
};

static int take_instant(const char *option, const char *value, struct instant *out, struct err *err)
{
    out->given = true;
    return time_parse_ms(value, &out->ms)
               ? 0
               : err_set(err, ERR_REFUSED, "%s: an instant is YYYY-MM-DDThh:mm[:ss[.mmm]] with Z or +hh:mm, not '%s'",
                         option, value);
}

static int take_since(const char *value, void *ctx, struct err *err)
{
    return take_instant("--since", value, ctx, err);
}

static int take_until(const char *value, void *ctx, struct err *err)
{
    return take_instant("--until", value, ctx, err);
}

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

static int take_group(const char *group, void *ctx, struct err *err)
{
    struct opt_list *groups = ctx;
    if (!*group || !utf8_valid(group, strlen(group)))
        return err_set(err, ERR_REFUSED, "--group: not a group's name: '%s'", group);
    if (opt_list_has(groups, group))
        return err_set(err, ERR_REFUSED, "--group=%s is given twice", group);
    opt_list_add(groups, group, strlen(group));
    return 0;
}

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("log-look -b HOST:PORT -t TOPIC [options]\n"
                  "log-look -b HOST:PORT --again [options] <stream >stream\n"
                  "Write a topic's ids, cleanup policy, bounds and stable offsets as a log line of an owed-stream,\n"
                  "and how far consumer groups have read it."),
        OPT_TAKE("t,topic", "TOPIC", take_topic, &o->topics, "the topic; may be given again"),
        OPT_TAKE("group", "NAME", take_group, &o->groups,
                 "also what this consumer group has committed (Kafka Connect's: connect-NAME); may be\ngiven again"),
        OPT_TAKE("since", "INSTANT", take_since, &o->since,
                 "also where each partition has its first record of this time or later: a scope that is declared\n"
                 "of it begins there"),
        OPT_TAKE("until", "INSTANT", take_until, &o->until, "the same, where it ends"),
        OPT_FLAG("again", &o->again,
                 "read a stream, and look at its topics once more when it has ended: behind ch-read,\n"
                 "for a scope of a complete table"),
        KAFKA_OPTIONS(&o->kafka),
        STREAM_OPTIONS(&o->max_line),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && o->since.given && o->until.given && o->since.ms >= o->until.ms)
        return err_set(err, ERR_REFUSED, "--until is not after --since");
    if (rc == 0 && o->again && (o->topics.n > 0 || o->groups.n > 0 || o->since.given || o->until.given))
        return err_set(
            err, ERR_REFUSED,
            "--again looks at the topics of the stream, and at nothing else of them (-t, --group, --since, --until)");
    return rc == 0 && !o->again && o->topics.n == 0 ? err_set(err, ERR_REFUSED, "no topic is named (-t)") : rc;
}

/* What the groups that are named have committed, in arena. */
static int look_groups(struct kafka_client *k, const struct opt_list *names, struct log_group *groups,
                       struct arena *arena, struct err *err)
{
    uint32_t partitions = kafka_log(k)->partitions;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < names->n; i++) {
        struct kafka_group found;
        if ((rc = kafka_group_look(k, names->at[i], &found, err)) == 0) {
            struct log_position *at = arena_zalloc(arena, (partitions + 1) * sizeof *at);
            groups[i] = (struct log_group){
                .name = found.name, .state = found.state, .members = found.members, .at = at};
            for (uint32_t p = 0; p < partitions; p++)
                if (found.committed[p] != KAFKA_NOT_COMMITTED)
                    at[groups[i].n++] = (struct log_position){.partition = p, .committed = found.committed[p]};
            if (strcmp(found.state, LOG_GROUP_UNKNOWN) == 0)
                msg_error("group %s: the cluster knows no such group", found.name);
        }
        kafka_group_free(&found);
    }
    return rc;
}

/* Who reads uncommitted records can be past the stable end. */
static void count_lag(struct log_group *g, const struct kafka_bounds *bounds)
{
    for (size_t i = 0; i < g->n; i++) {
        int64_t stable = bounds[g->at[i].partition].stable;
        g->at[i].lag = stable > g->at[i].committed ? stable - g->at[i].committed : 0;
    }
}

/* Where the range begins and ends that was asked for by its times; NULL: it was not. */
struct range_asked {
    const struct options *o;
    int64_t *since, *until;
};

static void put_asked(struct json_w *w, const char *name, const struct instant *at)
{
    char text[32];
    time_iso_ms(at->ms, text);
    if (at->given)
        jw_str(w, name, text);
}

static void put_log(struct stream_out *out, const struct kafka_log *log, const char *policy,
                    const struct kafka_bounds *bounds, const struct range_asked *asked, const struct log_group *groups,
                    size_t n_groups)
{
    struct buf text = BUF_INIT;
    struct json_w w;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "topic", log->topic);
    jw_str(&w, "cluster_id", log->cluster_id);
    jw_str(&w, "topic_id", log->topic_id);
    jw_str(&w, "cleanup_policy", policy);
    put_asked(&w, "since", &asked->o->since);
    put_asked(&w, "until", &asked->o->until);
    jw_arr(&w, "partitions");
    for (uint32_t p = 0; p < log->partitions; p++) {
        jw_obj(&w, NULL);
        jw_u64(&w, "partition", p);
        jw_i64(&w, "low", bounds[p].low);
        jw_i64(&w, "high", bounds[p].high);
        jw_i64(&w, "stable", bounds[p].stable);
        if (asked->o->since.given)
            jw_i64(&w, "since", asked->since[p]);
        if (asked->o->until.given)
            jw_i64(&w, "until", asked->until[p]);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    stream_log_put_groups(&w, groups, n_groups);
    if (asked->o->again)
        jw_bool(&w, "again", true);
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
    struct arena arena = ARENA_INIT;
    struct log_group *groups = arena_zalloc(&arena, (o->groups.n + 1) * sizeof *groups);
    const size_t room = (log->partitions + 1) * sizeof(int64_t);
    const struct range_asked asked = {o, arena_zalloc(&arena, room), arena_zalloc(&arena, room)};
    /* The groups first: what they commit meanwhile must not lie past the ends. */
    int rc = look_groups(k, &o->groups, groups, &arena, err);
    rc = rc == 0 ? kafka_log_bounds(k, bounds, err) : rc;
    if (rc == 0 && o->since.given)
        rc = kafka_log_at(k, o->since.ms, bounds, asked.since, err);
    if (rc == 0 && o->until.given)
        rc = kafka_log_at(k, o->until.ms, bounds, asked.until, err);
    if (rc == 0) {
        for (size_t i = 0; i < o->groups.n; i++)
            count_lag(&groups[i], bounds);
        if (!log->topic_id)
            msg_error("topic %s: its id is not to be had: %s", topic, log->topic_id_lack);
        if (kafka_log_policy(k, &policy, &why) != 0) /* may need a right of its own */
            msg_error("topic %s: %s", topic, why.text);
        put_log(out, log, policy, bounds, &asked, groups, o->groups.n);
    }
    arena_free(&arena);
    free(policy);
    free(bounds);
    kafka_close(k);
    return rc == 0 ? 0 : err_prefix(err, "topic %s", topic);
}

/* ---- again ---- */

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct options *o = ctx;
    struct arena arena = ARENA_INIT;
    struct stream_log log;
    int rc = 0;
    if (line->type != LINE_LOG)
        return 0;
    if (stream_log(line, &arena, &log, err) != 0)
        rc = err_prefix(err, "stdin");
    else if (log.again || opt_list_has(&o->topics, log.topic))
        rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                      "stdin: line %" PRIu64 ": topic '%.100s' was looked at twice already", line->line_no, log.topic);
    else
        rc = take_topic(arena_strndup(&o->names, log.topic, strlen(log.topic)), &o->topics, err);
    arena_free(&arena);
    return rc;
}

/* What cannot be looked at leaves the whole table unknown, and nothing else. */
static void look_again(struct options *o, struct stream_out *out)
{
    struct err err = ERR_INIT;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < o->topics.n; i++)
        rc = look(out, o, o->topics.at[i], &err);
    if (rc == 0)
        return;
    struct cause cause = code_of_err(&err, CODE_BROKER_FAILED);
    struct buf why = BUF_INIT;
    buf_printf(&why, "the log could not be looked at again: %s", err.text);
    msg_error("%s", buf_str(&why));
    stream_put_check(out, CHECK_DESTINATION_COVERAGE, STATUS_UNAVAILABLE, &cause, buf_str(&why), NULL, NULL);
    buf_free(&why);
}

static int filter(struct options *o)
{
    struct stream_in in = {.rows_unchecked = true, .data_unchecked = true};
    struct stream_out out;
    if (stream_filter(&in, &out, (size_t)o->max_line, on_line, o))
        look_again(o, &out);
    int status = stream_end(&out);
    stream_in_free(&in);
    stream_out_free(&out);
    return status;
}

int main(int argc, char **argv)
{
    struct options o = {.kafka = {kafka_conf_new(), KAFKA_TIMEOUT_MS}, .max_line = STREAM_MAX_LINE};
    struct stream_out out;
    struct err err = ERR_INIT;
    int status = OWED_OK;
    msg_init(argv[0]);
    int options = read_options(argc, argv, &o, &status, &err);
    if (options < 0) {
        status = stream_refuse(&err, o.again ? (size_t)o.max_line : STREAM_NO_INPUT);
    } else if (options == 0 && o.again) {
        status = filter(&o);
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
    opt_list_free(&o.groups);
    arena_free(&o.names);
    return status;
}
