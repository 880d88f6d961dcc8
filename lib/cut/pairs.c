/* SPDX-License-Identifier: Apache-2.0 */
/* The table of pairs: what is compared, where both say it, and the code where they do not say the same. */
#include "cut/pairs.h"
#include "json/redact.h"

#include <stdlib.h>
#include <string.h>

/* What a piece says, as text; NULL where it does not say it. */
typedef const char *reads_fn(struct arena *a, const void *doc);

static const char *text_of(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const char *text_of(struct arena *a, const char *fmt, ...)
{
    struct buf b = BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    const char *s = arena_strndup(a, b.p ? b.p : "", b.len);
    buf_free(&b);
    return s;
}

/* clang-format off */
#define TEXT(name, type, member) \
    static const char *name(struct arena *a, const void *doc) { (void)a; return ((const struct type *)doc)->member; }
#define NUMBER(name, type, member) \
    static const char *name(struct arena *a, const void *doc) { return text_of(a, "%" PRIu64, (uint64_t)((const struct type *)doc)->member); }
#define HOLDS(name, type, condition) \
    static const char *name(struct arena *a, const void *doc) { (void)a; const struct type *d = doc; return (condition) ? yes : "otherwise"; }
#define WORD(name, word) \
    static const char *name(struct arena *a, const void *doc) { (void)a; (void)doc; return word; }

static const char yes[] = "as it must be";

TEXT(place_job, place, job) TEXT(place_operator, place, operator_id) TEXT(place_file, place, file)
NUMBER(place_subtask, place, subtask) NUMBER(place_id, place, id) NUMBER(place_generation, place, generation)

TEXT(marker_job, marker, job) NUMBER(marker_checkpoint, marker, checkpoint) NUMBER(marker_generation, marker, generation)
TEXT(marker_root, marker, state_root)
TEXT(restored_job, restored, job) NUMBER(restored_from, restored, checkpoint)

TEXT(job_job, job_manifest, job) TEXT(job_alignment, job_manifest, alignment)
NUMBER(job_generation, job_manifest, generation) NUMBER(job_parallelism, job_manifest, parallelism)
NUMBER(bundle_generation, bundle_manifest, generation) TEXT(bundle_delivery, bundle_manifest, delivery)

TEXT(node_id, graph_operator, id) TEXT(node_uid, graph_operator, uid) TEXT(node_type, graph_operator, type)
NUMBER(node_parallelism, graph_operator, parallelism)
TEXT(op_job, op_spec, job) TEXT(op_operator, op_spec, operator_id) TEXT(op_name, op_spec, name) TEXT(op_kind, op_spec, kind)
TEXT(op_uid, op_spec, uid) TEXT(op_parameters, op_spec, parameters)

TEXT(state_job, snapshot, job) TEXT(state_operator, snapshot, operator_id) TEXT(state_kind, snapshot, kind)
TEXT(state_topic, snapshot, log.topic) TEXT(state_cluster, snapshot, log.cluster_id) TEXT(state_topic_id, snapshot, log.topic_id)
TEXT(state_isolation, snapshot, isolation) TEXT(start_attempt, snapshot, attempt)
NUMBER(state_subtask, snapshot, subtask) NUMBER(state_checkpoint, snapshot, checkpoint)
NUMBER(start_first, snapshot, first_epoch) NUMBER(start_restored, snapshot, restored_from)
NUMBER(sidecar_checkpoint, sidecar, checkpoint)

TEXT(interval_job, interval, job) TEXT(interval_operator, interval, operator_id) TEXT(interval_attempt, interval, attempt)
TEXT(interval_file, interval, file) NUMBER(interval_subtask, interval, subtask) NUMBER(interval_epoch, interval, epoch)
NUMBER(interval_previous, interval, previous) NUMBER(interval_seen, interval, seen) NUMBER(interval_stored, interval, stored)
NUMBER(interval_truncated, interval, truncated)
TEXT(to_endpoint, interval, destination.endpoint) TEXT(to_server, interval, destination.server_uuid)
TEXT(to_version, interval, destination.server_version) TEXT(to_host, interval, destination.server_host) TEXT(to_database, interval, destination.database)
TEXT(to_table, interval, destination.table) TEXT(to_table_uuid, interval, destination.table_uuid)
TEXT(to_engine, interval, destination.engine) TEXT(to_full, interval, destination.engine_full)
TEXT(to_query, interval, destination.create_table_query) TEXT(to_partition_key, interval, destination.partition_key)
TEXT(to_window, interval, destination.dedup_window) TEXT(to_async, interval, destination.async_insert)
TEXT(to_wait, interval, destination.wait_for_async_insert) TEXT(to_columns, interval, destination.columns)

TEXT(header_job, capture_header, job) TEXT(header_operator, capture_header, operator_id) TEXT(header_attempt, capture_header, attempt)
NUMBER(header_subtask, capture_header, subtask) NUMBER(header_epoch, capture_header, epoch) NUMBER(header_seen, capture_header, seen)
NUMBER(header_stored, capture_header, stored) NUMBER(header_truncated, capture_header, truncated)

HOLDS(entry_doubt, ledger_entry, !d->recorded || d->in_doubt == (d->cut + d->errors > 0))
HOLDS(entry_resend, ledger_entry, d->in_doubt == (d->resend != RESEND_NONE))
HOLDS(entry_attempts, ledger_entry, d->attempts > (d->recorded ? d->cut + d->errors : d->in_doubt))
HOLDS(entry_tokens, ledger_entry, !d->recorded || (d->tokens > 0 && d->tokens <= d->attempts))
HOLDS(entry_restarted, ledger_entry, !d->restarted || d->in_doubt)
HOLDS(entry_blocks, ledger_entry, d->blocks > 0)

WORD(is_right, yes) WORD(is_aligned, "aligned") WORD(is_merge_tree, "MergeTree") WORD(is_off, "0") WORD(is_on, "1")
    /* clang-format on */

    static const char *marker_subtasks(struct arena *a, const void *doc)
{
    const struct marker *m = doc;
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < m->n_subtasks; i++)
        buf_printf(&b, "%s%" PRIu64, i ? "," : "", m->subtasks[i]);
    const char *s = arena_strndup(a, b.p ? b.p : "", b.len);
    buf_free(&b);
    return s;
}

static const char *job_rule(struct arena *a, const void *doc)
{
    const struct job_manifest *j = doc;
    (void)a;
    return !j->has_confirmation ? NULL : j->requires_commit_confirmation ? "confirmed" : "completed";
}

static const char *bundle_rule(struct arena *a, const void *doc)
{
    const struct bundle_manifest *m = doc;
    (void)a;
    return m->rule == RULE_NONE ? NULL : m->rule == RULE_CONFIRMED ? "confirmed" : "completed";
}

static const char *canonical(struct arena *a, const struct json *v)
{
    struct buf b = BUF_INIT;
    if (!v)
        return NULL;
    json_canonical(&b, v);
    const char *s = arena_strndup(a, b.p, b.len);
    buf_free(&b);
    return s;
}

static const char *canonical_text(struct arena *a, const char *text)
{
    return text ? canonical(a, json_parse(text, strlen(text), a, NULL)) : NULL;
}

static const char *job_delivery(struct arena *a, const void *doc)
{
    return canonical(a, ((const struct job_manifest *)doc)->delivery);
}

static const char *said_delivery(struct arena *a, const void *doc)
{
    return canonical_text(a, bundle_delivery(a, doc));
}

static const char *node_parameters(struct arena *a, const void *doc)
{
    return canonical(a, ((const struct graph_operator *)doc)->parameters);
}

static const char *said_parameters(struct arena *a, const void *doc)
{
    return canonical_text(a, op_parameters(a, doc));
}

static const char *parameter(struct arena *a, const void *doc, const char *name)
{
    const struct json *all = ((const struct graph_operator *)doc)->parameters, *v = json_get(all, name);
    return v && v->type == JSON_STRING ? arena_strndup(a, v->str, v->len) : NULL;
}

/* clang-format off */
#define PARAMETER(fn, name) static const char *fn(struct arena *a, const void *doc) { return parameter(a, doc, name); }
PARAMETER(node_topic, "topic") PARAMETER(node_isolation, "isolation") PARAMETER(node_database, "database") PARAMETER(node_table, "table")
    /* clang-format on */

    /* A URL as a sink writes its endpoint: with its port, and without a slash at the end. */
    static const char *node_url(struct arena *a, const void *doc)
{
    const char *url = parameter(a, doc, "url"), *host = url ? strstr(url, "://") : NULL;
    if (!host)
        return NULL;
    host += 3;
    size_t n = strlen(url), in = strcspn(host, "/");
    while (n > 0 && url[n - 1] == '/')
        n--;
    const char *close = memchr(host, ']', in), *from = close ? close : host;
    if (memchr(from, ':', in - (size_t)(from - host)))
        return arena_strndup(a, url, n);
    size_t head = (size_t)(host - url) + in;
    return text_of(a, "%.*s:%s%.*s", (int)head, url, strncmp(url, "https", 5) == 0 ? "443" : "80",
                   n > head ? (int)(n - head) : 0, url + head);
}

static int by_number(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

static const char *declared(struct arena *a, const void *doc)
{
    const struct snapshot *s = doc;
    uint64_t *sorted = arena_alloc(a, (s->n_declared + 1) * sizeof *sorted);
    if (s->n_declared > 0)
        memcpy(sorted, s->declared, s->n_declared * sizeof *sorted);
    if (s->n_declared > 1)
        qsort(sorted, s->n_declared, sizeof *sorted, by_number);
    return marker_subtasks(a, &(struct marker){.subtasks = sorted, .n_subtasks = s->n_declared});
}

static const char *positioned(struct arena *a, const void *doc)
{
    const struct snapshot *s = doc;
    uint64_t *of = arena_alloc(a, (s->n_positions + 1) * sizeof *of);
    for (size_t i = 0; i < s->n_positions; i++)
        of[i] = s->positions[i].partition;
    return marker_subtasks(a, &(struct marker){.subtasks = of, .n_subtasks = s->n_positions});
}

static const char *start_epoch(struct arena *a, const void *doc)
{
    const struct snapshot *s = doc;
    return text_of(a, "%" PRIu64, s->checkpoint + 1);
}

static const char *offset_of(struct arena *a, const void *doc)
{
    const struct stand *s = doc;
    return text_of(a, "%" PRIu64 " at %" PRId64, s->partition, s->offset);
}

/* ---- what a definition says of its own parts ---- */

static const char *full_engine(struct arena *a, const void *doc)
{
    const char *full = to_full(a, doc);
    return arena_strndup(a, full, strcspn(full, " ("));
}

/* As much of what the query creates as the engine's own text has. */
static const char *query_full(struct arena *a, const void *doc)
{
    const char *at = strstr(to_query(a, doc), "ENGINE = ");
    return at ? arena_strndup(a, at + 9, strnlen(at + 9, strlen(to_full(a, doc)))) : NULL;
}

static const char *full_window(struct arena *a, const void *doc)
{
    static const char name[] = "non_replicated_deduplication_window = ";
    const char *at = strstr(to_full(a, doc), name);
    return at ? arena_strndup(a, at + sizeof name - 1, strspn(at + sizeof name - 1, "0123456789")) : NULL;
}

/* A token of this program's sinks says whose INSERT it is; another's is its own affair. */
static const char *token_of(struct arena *a, const void *doc)
{
    const char *token = ((const struct ledger_entry *)doc)->token, *end = token;
    unsigned parts = 0;
    for (const char *p = token + strlen(token); p > token && parts < 2; p--)
        if (*p == '-' && ++parts)
            end = p;
    return strncmp(token, "owed-", 5) == 0 && parts == 2 ? arena_strndup(a, token, (size_t)(end - token)) : NULL;
}

static const char *token_must(struct arena *a, const void *doc)
{
    const struct interval *iv = doc;
    return text_of(a, "owed-%s-%" PRIu64 "-%" PRIu64, iv->job, iv->subtask, iv->previous);
}

/* ---- the table ---- */

enum {
    BOTH = 0,        /* where one does not say it, they differ */
    MAY_LACK = 1,    /* where one does not say it, nothing is known */
    UNSUPPORTED = 2, /* what differs is no contradiction: the contract leaves it out */
    UNSHOWN = 4      /* the values are long, or may hold what is nobody's to see */
};

static const struct pair {
    enum pair_of of;
    const char *what;
    reads_fn *one, *other;
    enum code code;
    unsigned flags;
} pairs[] = {
    {MARKER_PLACE, "job", marker_job, place_job, CODE_MARKER_OTHER, BOTH},
    {MARKER_PLACE, "checkpoint", marker_checkpoint, place_id, CODE_MARKER_OTHER, BOTH},
    {MARKER_PLACE, "generation", marker_generation, place_generation, CODE_MARKER_OTHER, BOTH},
    {MARKER_RUN, "participants", marker_subtasks, marker_subtasks, CODE_MARKER_OTHER, BOTH},
    {MARKER_RUN, "state root", marker_root, marker_root, CODE_MARKER_OTHER, BOTH},
    {RESTORED_PLACE, "job", restored_job, place_job, CODE_MARKER_OTHER, BOTH},

    {JOB_PLACE, "job", job_job, place_job, CODE_JOB_UNKNOWN, BOTH},
    {JOB_BUNDLE, "generation", job_generation, bundle_generation, CODE_EVIDENCE_DIFFERS, BOTH},
    {JOB_BUNDLE, "restore rule", job_rule, bundle_rule, CODE_EVIDENCE_DIFFERS, MAY_LACK},
    {JOB_BUNDLE, "delivery report", job_delivery, said_delivery, CODE_EVIDENCE_DIFFERS, UNSHOWN},
    {JOB_CONTRACT, "alignment of checkpoints", job_alignment, is_aligned, CODE_JOB_UNSUPPORTED, UNSUPPORTED},
    {NODE_JOB, "parallelism", node_parallelism, job_parallelism, CODE_EVIDENCE_DIFFERS, BOTH},
    {NODE_OPERATOR, "type", node_type, op_kind, CODE_EVIDENCE_DIFFERS, BOTH},
    {NODE_OPERATOR, "uid", node_uid, op_uid, CODE_EVIDENCE_DIFFERS, BOTH},
    {NODE_OPERATOR, "parameters", node_parameters, said_parameters, CODE_EVIDENCE_DIFFERS, UNSHOWN},
    {NODE_SINK, "endpoint", node_url, to_endpoint, CODE_EVIDENCE_DIFFERS, MAY_LACK},
    {NODE_SINK, "database", node_database, to_database, CODE_EVIDENCE_DIFFERS, MAY_LACK},
    {NODE_SINK, "table", node_table, to_table, CODE_EVIDENCE_DIFFERS, MAY_LACK},
    {NODE_SOURCE, "source operator", node_id, state_operator, CODE_EVIDENCE_DIFFERS, BOTH},
    {NODE_SOURCE, "topic", node_topic, state_topic, CODE_EVIDENCE_DIFFERS, MAY_LACK},
    {NODE_SOURCE, "isolation", node_isolation, state_isolation, CODE_EVIDENCE_DIFFERS, MAY_LACK},
    {OPERATOR_PLACE, "job", op_job, place_job, CODE_JOB_UNKNOWN, BOTH},
    {OPERATOR_PLACE, "operator", op_operator, place_operator, CODE_JOB_UNKNOWN, BOTH},
    {OPERATOR_LANE, "name", op_name, op_name, CODE_EVIDENCE_DIFFERS, BOTH},
    {OPERATOR_LANE, "kind", op_kind, op_kind, CODE_EVIDENCE_DIFFERS, BOTH},
    {OPERATOR_LANE, "uid", op_uid, op_uid, CODE_EVIDENCE_DIFFERS, BOTH},
    {OPERATOR_LANE, "parameters", said_parameters, said_parameters, CODE_EVIDENCE_DIFFERS, UNSHOWN},

    {STATE_PLACE, "job", state_job, place_job, CODE_STATE_OTHER, BOTH},
    {STATE_PLACE, "subtask", state_subtask, place_subtask, CODE_STATE_OTHER, BOTH},
    {STATE_PLACE, "checkpoint", state_checkpoint, place_id, CODE_STATE_OTHER, BOTH},
    {STATE_SIDECAR, "checkpoint", state_checkpoint, sidecar_checkpoint, CODE_STATE_OTHER, BOTH},
    {STATE_SELF, "partitions", declared, positioned, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_RUN, "source operator", state_operator, state_operator, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_RUN, "kind", state_kind, state_kind, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_RUN, "topic", state_topic, state_topic, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_RUN, "cluster", state_cluster, state_cluster, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_RUN, "topic id", state_topic_id, state_topic_id, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_RUN, "isolation", state_isolation, state_isolation, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_RUN, "declared partitions", declared, declared, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_LANE, "source operator", state_operator, state_operator, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_LANE, "topic", state_topic, state_topic, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_LANE, "cluster", state_cluster, state_cluster, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_LANE, "topic id", state_topic_id, state_topic_id, CODE_POSITIONS_CONTRADICT, BOTH},
    {STATE_LANE, "isolation", state_isolation, state_isolation, CODE_POSITIONS_CONTRADICT, BOTH},
    {START_SELF, "first epoch", start_first, start_epoch, CODE_START_UNKNOWN, BOTH},
    {START_INTERVAL, "first epoch", start_first, interval_epoch, CODE_START_UNKNOWN, BOTH},
    {START_INTERVAL, "attempt", start_attempt, interval_attempt, CODE_START_UNKNOWN, BOTH},
    {START_LANE, "restored checkpoint", start_restored, start_restored, CODE_START_UNKNOWN, BOTH},
    {START_RESTORED, "restored checkpoint", start_restored, restored_from, CODE_START_UNKNOWN, BOTH},
    {START_POINT, "source operator", state_operator, state_operator, CODE_POSITIONS_CONTRADICT, BOTH},
    {STAND_RESTORED, "partition", offset_of, offset_of, CODE_POSITIONS_CONTRADICT, BOTH},

    {INTERVAL_PLACE, "job", interval_job, place_job, CODE_INTERVAL_OTHER, BOTH},
    {INTERVAL_PLACE, "operator", interval_operator, place_operator, CODE_INTERVAL_OTHER, BOTH},
    {INTERVAL_PLACE, "subtask", interval_subtask, place_subtask, CODE_INTERVAL_OTHER, BOTH},
    {INTERVAL_PLACE, "epoch", interval_epoch, place_id, CODE_INTERVAL_OTHER, BOTH},
    {INTERVAL_PLACE, "capture", interval_file, place_file, CODE_CAPTURE_CHANGED, MAY_LACK},
    {INTERVAL_RUN, "attempt", interval_attempt, interval_attempt, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "endpoint", to_endpoint, to_endpoint, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "server_uuid", to_server, to_server, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "server_version", to_version, to_version, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "server_host", to_host, to_host, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "database", to_database, to_database, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "table", to_table, to_table, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "table_uuid", to_table_uuid, to_table_uuid, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "engine", to_engine, to_engine, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "engine_full", to_full, to_full, CODE_RUNS_MIXED, UNSHOWN},
    {INTERVAL_RUN, "create_table_query", to_query, to_query, CODE_RUNS_MIXED, UNSHOWN},
    {INTERVAL_RUN, "partition_key", to_partition_key, to_partition_key, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "dedup_window", to_window, to_window, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "async_insert", to_async, to_async, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "wait_for_async_insert", to_wait, to_wait, CODE_RUNS_MIXED, BOTH},
    {INTERVAL_RUN, "columns", to_columns, to_columns, CODE_RUNS_MIXED, UNSHOWN},
    {INTERVAL_LANE, "barrier before", interval_previous, interval_previous, CODE_INTERVALS_APART, BOTH},
    {INTERVAL_CAPTURE, "job", interval_job, header_job, CODE_CAPTURE_CHANGED, BOTH},
    {INTERVAL_CAPTURE, "operator", interval_operator, header_operator, CODE_CAPTURE_CHANGED, BOTH},
    {INTERVAL_CAPTURE, "subtask", interval_subtask, header_subtask, CODE_CAPTURE_CHANGED, BOTH},
    {INTERVAL_CAPTURE, "epoch", interval_epoch, header_epoch, CODE_CAPTURE_CHANGED, BOTH},
    {INTERVAL_CAPTURE, "attempt", interval_attempt, header_attempt, CODE_CAPTURE_CHANGED, BOTH},
    {INTERVAL_CAPTURE, "rows seen", interval_seen, header_seen, CODE_CAPTURE_CHANGED, BOTH},
    {INTERVAL_CAPTURE, "rows stored", interval_stored, header_stored, CODE_CAPTURE_CHANGED, BOTH},
    {INTERVAL_CAPTURE, "truncated", interval_truncated, header_truncated, CODE_CAPTURE_CHANGED, BOTH},
    {INTERVAL_SELF, "engine", to_engine, full_engine, CODE_EVIDENCE_DIFFERS, BOTH},
    {INTERVAL_SELF, "definition", to_full, query_full, CODE_EVIDENCE_DIFFERS, MAY_LACK | UNSHOWN},
    {INTERVAL_SELF, "dedup_window", to_window, full_window, CODE_EVIDENCE_DIFFERS, MAY_LACK},
    {INTERVAL_CONTRACT, "engine", to_engine, is_merge_tree, CODE_ENGINE_UNSUPPORTED, UNSUPPORTED},
    {INTERVAL_CONTRACT, "async_insert", to_async, is_off, CODE_INSERT_ASYNCHRONOUS, UNSUPPORTED},
    {INTERVAL_CONTRACT, "wait_for_async_insert", to_wait, is_on, CODE_INSERT_ASYNCHRONOUS, UNSUPPORTED},
    {LEDGER_INTERVAL, "token", token_of, token_must, CODE_LEDGER_DIFFERS, MAY_LACK},
    {LEDGER_INTERVAL, "in_doubt", entry_doubt, is_right, CODE_LEDGER_DIFFERS, BOTH},
    {LEDGER_INTERVAL, "resend", entry_resend, is_right, CODE_LEDGER_DIFFERS, BOTH},
    {LEDGER_INTERVAL, "attempts", entry_attempts, is_right, CODE_LEDGER_DIFFERS, BOTH},
    {LEDGER_INTERVAL, "tokens", entry_tokens, is_right, CODE_LEDGER_DIFFERS, BOTH},
    {LEDGER_INTERVAL, "restarted", entry_restarted, is_right, CODE_LEDGER_DIFFERS, BOTH},
    {LEDGER_INTERVAL, "blocks", entry_blocks, is_right, CODE_LEDGER_DIFFERS, BOTH},
};

static bool differ(struct arena *a, const struct pair *p, const void *one, const void *other, const char *value[2])
{
    value[0] = p->one(a, one);
    value[1] = p->other(a, other);
    if (!value[0] || !value[1])
        return (p->flags & MAY_LACK) == 0 && value[0] != value[1];
    return strcmp(value[0], value[1]) != 0;
}

static void put_value(struct buf *out, const struct pair *p, const char *value)
{
    if (!value)
        buf_adds(out, "nothing");
    else if (p->flags & UNSHOWN)
        buf_adds(out, "another");
    else {
        buf_addc(out, '\'');
        redact_text(out, value, strnlen(value, 100));
        buf_addc(out, '\'');
    }
}

static void say(struct cut *c, const struct pair *p, struct said one, struct said other, const char *const value[2])
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s: %s says ", p->what, one.where);
    put_value(&text, p, value[0]);
    buf_printf(&text, ", %s says ", other.where);
    put_value(&text, p, value[1]);
    cut_say(c, p->flags & UNSUPPORTED ? STATUS_UNSUPPORTED : STATUS_UNAVAILABLE,
            BECAUSE(p->code, {"what", p->what}, {"one", one.where}, {"other", other.where}), "%s", buf_str(&text));
    buf_free(&text);
}

bool cut_hold(struct cut *c, enum pair_of of, struct said one, struct said other)
{
    const char *value[2];
    bool alike = true;
    struct arena a = ARENA_INIT;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].of == of && differ(&a, &pairs[i], one.doc, other.doc, value)) {
            say(c, &pairs[i], one, other, value);
            alike = false;
        }
    arena_free(&a);
    return alike;
}

const char *cut_differs(enum pair_of of, const void *one, const void *other)
{
    const char *value[2], *what = NULL;
    struct arena a = ARENA_INIT;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !what; i++)
        if (pairs[i].of == of && differ(&a, &pairs[i], one, other, value))
            what = pairs[i].what;
    arena_free(&a);
    return what;
}
