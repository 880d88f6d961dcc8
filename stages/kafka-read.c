/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka-read: the exact ranges of a scope document as record lines, and the
 * account of every offset in them. What it cannot read whole it says, with the
 * reason; it knows nothing of a job and its evidence.
 */
#include "kafka/kafka.h"
#include "scope/line.h"
#include "stream/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCOPE_MAX ((size_t)64 << 20)
#define YEAR_S ((uint64_t)366 * 86400)
#define SAID_MAX 10 /* reasons on standard error; the account has them all */

/* A first offset that the operator gives. */
struct start {
    const char *topic; /* NULL: of the only topic; not NUL-terminated */
    size_t topic_len;
    bool all, used;
    uint64_t partition;
    int64_t offset;
    const char *given;
};

struct options {
    struct kafka_options kafka;
    const char *scope;
    struct start *starts;
    size_t n_starts;
    bool account, aborted;
    int64_t stable_wait_s, deadline_s;
    uint64_t max_records, max_bytes;
};

struct reader {
    struct options o;
    struct buf text; /* of the scope document */
    struct arena arena;
    struct scope scope;
    struct kafka_source *sources; /* as the scope has them */
    struct buf *topics;           /* each one's name as JSON text */
    struct buf given;             /* members of recorded.run_start_offsets */
    struct stream_out out;
    uint64_t records, aborted, bytes;
    size_t reasons;
};

/* ---- options ---- */

/* P=O, TOPIC/P=O or ALL=O. */
static int take_start(const char *given, void *ctx, struct err *err)
{
    struct options *o = ctx;
    struct start s = {.given = given};
    const char *eq = strrchr(given, '='), *slash = strchr(given, '/'), *p = given;
    if (slash) {
        s.topic = given;
        s.topic_len = (size_t)(slash - given);
        p = slash + 1;
    }
    s.all = eq && !slash && (size_t)(eq - p) == strlen("ALL") && memcmp(p, "ALL", strlen("ALL")) == 0;
    if (!eq || eq < p || (!s.all && (!scan_u64(p, (size_t)(eq - p), &s.partition) || s.partition > INT32_MAX)) ||
        !scan_i64(eq + 1, strlen(eq + 1), &s.offset) || s.offset < 0)
        return err_set(err, ERR_REFUSED, "--run-start-offset is P=O, TOPIC/P=O or ALL=O, not %s", given);
    o->starts = xrealloc(o->starts, (o->n_starts + 1) * sizeof *o->starts);
    o->starts[o->n_starts++] = s;
    return 0;
}

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE(
            "kafka-read --scope=FILE -b HOST:PORT [options]\n"
            "Write the records of a scope's exact Kafka ranges as an owed-stream, and the account of every offset in them."),
        OPT_TEXT("scope", "FILE", &o->scope, "the scope document"),
        OPT_FLAG("account", &o->account,
                 "read once more under read_uncommitted, to tell aborted records from the rest"),
        OPT_FLAG("aborted", &o->aborted,
                 "bring what aborted transactions wrote too, marked; no row of the table may come of it"),
        OPT_TAKE("run-start-offset", "P=O", take_start, o,
                 "first offset of partition P (or TOPIC/P, or ALL) where the scope has none"),
        OPT_I64("stable-wait-s", &o->stable_wait_s, 0, YEAR_S,
                "wait so long for an open transaction under a range's end (90)"),
        OPT_I64("deadline-s", &o->deadline_s, 0, YEAR_S, "end after so long, incomplete (3600; 0: never)"),
        OPT_U64("max-records", &o->max_records, 0, UINT64_MAX, "end before more records than this, incomplete"),
        OPT_SIZE("max-bytes", &o->max_bytes, 0, UINT64_MAX,
                 "end before more bytes of record lines than this, incomplete"),
        KAFKA_OPTIONS(&o->kafka),
        OPT_END};
    /* An answer that has nothing is awaited at every range whose end is a marker. */
    if (kafka_conf_set(o->kafka.conf, "fetch.wait.max.ms", "100", err) != 0)
        return -1;
    int rc = opt_read(argc, argv, table, status, err);
    return rc == 0 && !o->scope ? err_set(err, ERR_REFUSED, "no scope is named (--scope)") : rc;
}

/* ---- the scope and its ranges ---- */

/* The last of the operator's offsets that fit this partition, one of its own before one for all. */
static struct start *start_of(struct options *o, const char *topic, uint64_t partition, size_t n_sources)
{
    struct start *found = NULL;
    for (size_t i = 0; i < o->n_starts; i++) {
        struct start *s = &o->starts[i];
        bool here = s->topic ? s->topic_len == strlen(topic) && memcmp(s->topic, topic, s->topic_len) == 0
                             : n_sources == 1 || s->all;
        if (here && (s->all ? !found || found->all : s->partition == partition))
            found = s;
    }
    return found;
}

static int take_range(struct reader *r, const struct scope_source *from, const struct scope_range *given,
                      struct kafka_range *range, struct err *err)
{
    struct start *start = start_of(&r->o, from->topic, given->partition, r->scope.n_sources);
    int64_t first = given->from;
    if (given->partition > INT32_MAX || given->to < 0)
        return err_set(err, ERR_REFUSED, "%s: scope: %s/%" PRIu64 ": no range of a partition", r->o.scope, from->topic,
                       given->partition);
    if (given->has_from && start && !start->all)
        return err_set(err, ERR_REFUSED,
                       "--run-start-offset=%s: the scope has the first position of %s/%" PRIu64 ": %" PRId64,
                       start->given, from->topic, given->partition, given->from);
    if (!given->has_from) {
        if (!start)
            return err_set(err, ERR_REFUSED,
                           "the scope has no first position of %s/%" PRIu64 ": give it with --run-start-offset=%" PRIu64
                           "=OFFSET",
                           from->topic, given->partition, given->partition);
        first = start->offset;
        start->used = true;
        if (first > given->to)
            return err_set(err, ERR_REFUSED, "--run-start-offset=%s: past the range's end %" PRId64 " of %s/%" PRIu64,
                           start->given, given->to, from->topic, given->partition);
        buf_printf(&r->given, "%s\"%s/%" PRIu64 "\":", r->given.len ? "," : "", from->topic, given->partition);
        json_put_i64(&r->given, first);
    }
    kafka_range_init(range, (uint32_t)given->partition, first, given->to);
    return 0;
}

static int take_source(struct reader *r, size_t at, struct err *err)
{
    const struct scope_source *from = &r->scope.sources[at];
    struct kafka_source *s = &r->sources[at];
    *s = (struct kafka_source){.topic = from->topic, .cluster_id = from->cluster_id, .topic_id = from->topic_id};
    if (!kafka_topic_ok(from->topic))
        return err_set(err, ERR_REFUSED, "%s: scope.sources[%zu].topic: not a topic's name", r->o.scope, at);
    if (!kafka_isolation_of(from->isolation, &s->isolation))
        return err_set(err, ERR_REFUSED, "%s: scope.sources[%zu].isolation: '%.40s' is not known here", r->o.scope, at,
                       from->isolation);
    if (r->o.aborted && s->isolation == KAFKA_READ_UNCOMMITTED)
        return err_set(
            err, ERR_REFUSED,
            "--aborted: the scope is of read_uncommitted, under which aborted records of %s are owed as all others",
            from->topic);
    s->ranges = arena_zalloc(&r->arena, (from->n_partitions + 1) * sizeof *s->ranges);
    s->n_ranges = from->n_partitions;
    json_put_s(&r->topics[at], from->topic);
    buf_str(&r->topics[at]);
    for (size_t i = 0; i < s->n_ranges; i++)
        if (take_range(r, from, &from->partitions[i], &s->ranges[i], err) != 0)
            return -1;
    return 0;
}

static int take_scope(struct reader *r, struct err *err)
{
    if (file_read(r->o.scope, SCOPE_MAX, &r->text, err) != 0)
        return -1;
    if (scope_parse(buf_str(&r->text), r->text.len, &r->arena, &r->scope, err) != 0) {
        err_cause(err, BECAUSE(CODE_INPUT_MALFORMED, {"file", r->o.scope}));
        return err_prefix(err, "%s", r->o.scope);
    }
    if (r->scope.n_sources == 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_INPUT_MALFORMED, {"file", r->o.scope}),
                        "%s: scope.sources: none", r->o.scope);
    r->sources = arena_zalloc(&r->arena, r->scope.n_sources * sizeof *r->sources);
    r->topics = arena_zalloc(&r->arena, r->scope.n_sources * sizeof *r->topics);
    size_t most = 0; /* ranges that are read side by side */
    for (size_t i = 0; i < r->scope.n_sources; i++) {
        if (take_source(r, i, err) != 0)
            return -1;
        most = r->sources[i].n_ranges > most ? r->sources[i].n_ranges : most;
    }
    kafka_conf_share(r->o.kafka.conf, most);
    for (size_t i = 0; i < r->o.n_starts; i++)
        if (!r->o.starts[i].used && !r->o.starts[i].all)
            return err_set(
                err, ERR_REFUSED, "--run-start-offset=%s: the scope has no such partition%s", r->o.starts[i].given,
                r->scope.n_sources > 1 && !r->o.starts[i].topic ? "; it has several topics: write TOPIC/P=O" : "");
    return 0;
}

/* The document as it was written, where that is one line; else the same one as one line. */
static void put_scope(struct reader *r)
{
    while (r->text.len > 0 && strchr(" \t\r\n", r->text.p[r->text.len - 1]))
        r->text.len--;
    bool lines = memchr(r->text.p, '\n', r->text.len) || memchr(r->text.p, '\r', r->text.len);
    if (lines) {
        buf_reset(&r->text);
        scope_put(&r->text, &r->scope);
    }
    stream_put_scope(&r->out, r->text.p, r->text.len);
}

/* ---- progress ---- */

static void say(void *ctx, const char *text)
{
    (void)ctx;
    msg_error("%s", text);
}

/* How many offsets of all ranges are behind us. */
static void show_progress(const struct reader *r)
{
    uint64_t done = 0, of = 0;
    for (size_t i = 0; i < r->scope.n_sources; i++)
        for (size_t k = 0; k < r->sources[i].n_ranges; k++) {
            const struct kafka_range *at = &r->sources[i].ranges[k];
            done += (uint64_t)(at->position - at->from);
            of += (uint64_t)(at->to - at->from);
        }
    progress_share(done, of);
}

static void tick(void *ctx, const struct kafka_source *s, bool waiting)
{
    struct reader *r = ctx;
    (void)s;
    if (waiting)
        stream_flush(&r->out);
    show_progress(r);
}

/* ---- records ---- */

static int put_record(void *ctx, const struct kafka_source *s, const struct kafka_range *range,
                      const struct kafka_event *e, bool aborted, struct err *err)
{
    struct reader *r = ctx;
    (void)range;
    if (r->records >= r->o.max_records)
        return err_fail(err, ERR_BOUND, BECAUSE(CODE_BOUND_PASSED, {"option", "--max-records"}),
                        "--max-records=%" PRIu64 " was reached", r->o.max_records);
    struct buf *line = stream_build(&r->out, LINE_RECORD);
    kafka_record_put(line, r->topics[s - r->sources].p, e);
    buf_adds(line, aborted ? ",\"aborted\":true" : "");
    if (line->len + 2 > r->o.max_bytes - r->bytes) /* with its brace and its newline */
        return err_fail(err, ERR_BOUND, BECAUSE(CODE_BOUND_PASSED, {"option", "--max-bytes"}),
                        "--max-bytes=%" PRIu64 " was reached", r->o.max_bytes);
    r->bytes += line->len + 2;
    r->records++;
    r->aborted += aborted;
    stream_put_built(&r->out, LINE_RECORD);
    return r->out.broken ? err_fail(err, ERR_TROUBLE, BECAUSE(CODE_IO_FAILED), "standard output could not be written")
                         : 0;
}

/* 0, or -1 with what no reading mends (ERR_REFUSED). */
static int read_sources(struct reader *r, struct err *err)
{
    struct kafka_reading how = {.conf = r->o.kafka.conf,
                                .timeout_ms = (int)r->o.kafka.timeout_ms,
                                .deadline_ms = INT64_MAX,
                                .stable_wait_ms = r->o.stable_wait_s * 1000,
                                .account = r->o.account,
                                .aborted = r->o.aborted,
                                .ctx = r,
                                .record = put_record,
                                .tick = tick,
                                .say = say};
    int rc = 0;
    if (r->o.deadline_s)
        how.deadline_ms = time_mono_ms() + r->o.deadline_s * 1000;
    for (size_t i = 0; i < r->scope.n_sources; i++) {
        if (rc == 0)
            rc = kafka_source_read(&r->sources[i], &how, err);
        if (rc != 0 && err->kind == ERR_REFUSED)
            break;
        if (rc != 0) {
            struct cause cause = code_of_err(err, CODE_IO_FAILED);
            kafka_source_fail(&r->sources[i], &cause, "%s", err->text);
        }
    }
    progress_clear();
    return rc != 0 && err->kind == ERR_REFUSED ? -1 : 0;
}

/* ---- the account ---- */

static void say_reason(void *ctx, const char *text)
{
    struct reader *r = ctx;
    if (r->reasons++ < SAID_MAX)
        msg_error("%s", text);
}

static struct account_text recorded(struct reader *r, struct buf *text)
{
    const char *sep = "";
    buf_adds(text, "{\"run_start_offsets\":{");
    buf_add(text, r->given.p, r->given.len);
    buf_adds(text, "},\"not_in_scope\":[");
    for (size_t i = 0; i < r->scope.n_sources; i++) {
        const struct kafka_source *s = &r->sources[i];
        if (!s->cluster_id)
            buf_printf(text, "%s\"cluster id of %s\"", sep, s->topic);
        sep = !s->cluster_id ? "," : sep;
        if (!s->topic_id)
            buf_printf(text, "%s\"topic id of %s\"", sep, s->topic);
        sep = !s->topic_id ? "," : sep;
    }
    buf_adds(text, "]}");
    return (struct account_text){text->p, text->len};
}

static void put_account(struct reader *r)
{
    struct stream_account a;
    struct buf text = BUF_INIT;
    kafka_account(r->sources, r->scope.n_sources, &r->arena, &a);
    a.recorded = recorded(r, &text);
    a.aborted = (struct account_number){r->o.aborted, r->aborted};
    stream_put_account(&r->out, &a);
    buf_free(&text);
    for (size_t i = 0; i < r->scope.n_sources; i++) {
        if (!r->sources[i].topic_id)
            msg_error("%s: topic id: not in the scope", r->sources[i].topic);
        if (!r->sources[i].cluster_id)
            msg_error("%s: cluster id: not in the scope", r->sources[i].topic);
    }
    kafka_account_reasons(r->sources, r->scope.n_sources, say_reason, r);
    if (r->reasons > SAID_MAX)
        msg_error("%zu more reasons stand in the account", r->reasons - SAID_MAX);
    if (!a.complete)
        stream_status(&r->out, OWED_TROUBLE);
}

int main(int argc, char **argv)
{
    static struct reader r;
    struct err err = ERR_INIT;
    int status = OWED_OK;
    msg_init(argv[0]);
    r.o = (struct options){.kafka = {kafka_conf_new(), KAFKA_TIMEOUT_MS},
                           .stable_wait_s = 90,
                           .deadline_s = 3600,
                           .max_records = UINT64_MAX,
                           .max_bytes = UINT64_MAX};
    int options = read_options(argc, argv, &r.o, &status, &err);
    if (options < 0 || (options == 0 && take_scope(&r, &err) != 0)) {
        status = stream_refuse(&err, STREAM_NO_INPUT);
    } else if (options == 0) {
        stream_begin(&r.out, STDOUT_FILENO, NULL);
        put_scope(&r);
        if (read_sources(&r, &err) == 0)
            put_account(&r);
        else
            stream_put_stop(&r.out, &err, CODE_USAGE);
        status = stream_end(&r.out);
    }
    for (size_t i = 0; r.sources && i < r.scope.n_sources; i++) {
        kafka_source_free(&r.sources[i]);
        buf_free(&r.topics[i]);
    }
    kafka_conf_free(r.o.kafka.conf);
    scope_free(&r.scope);
    free(r.o.starts);
    buf_free(&r.text);
    buf_free(&r.given);
    stream_out_free(&r.out);
    arena_free(&r.arena);
    return status;
}
