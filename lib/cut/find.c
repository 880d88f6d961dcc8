/* SPDX-License-Identifier: Apache-2.0 */
/* Which sink is meant, what the job is made of, and the sink's columns. */
#include "cut/pairs.h"

#include <string.h>

/* ---- the sink ---- */

struct candidate {
    const char *op;
    const char *database, *table; /* NULL: not known */
};

static const char *operator_of(struct cut *c, const char *path)
{
    static const char head[] = "capture/op-";
    if (strncmp(path, head, sizeof head - 1) != 0)
        return NULL;
    const char *from = path + sizeof head - 1;
    return arena_strndup(&c->a, from, strcspn(from, "/"));
}

static bool names_destination(struct cut *c, struct candidate *s, const struct bundle_artifact *f)
{
    struct buf text = BUF_INIT;
    struct interval iv;
    const char *op = f->role == ROLE_INTERVAL ? operator_of(c, f->path) : NULL;
    bool named = false;
    if (op && strcmp(op, s->op) == 0 && bundle_read(c->b, f->path, (size_t)64 << 20, &text, NULL) == 0) {
        const char *own = arena_strndup(&c->a, text.p ? text.p : "", text.len);
        named = interval_parse(own, text.len, f->path, &c->a, &iv, NULL) == 0;
        if (named) {
            s->database = iv.destination.database;
            s->table = iv.destination.table;
        }
    }
    buf_free(&text);
    return named;
}

/* The destination that a sink's evidence names: that of the checkpoint's own interval, which is of the scope; else of
 * the first that can be read. A sink may have written elsewhere before. */
static void destination_of(struct cut *c, struct candidate *s)
{
    const struct bundle_manifest *m = &c->b->m;
    bool named = false;
    for (size_t i = 0; i < m->n_artifacts && !named; i++) {
        const char *name = strrchr(m->artifacts[i].path, '/');
        uint64_t epoch;
        if (evidence_name_id(name + 1, "epoch-", ".sink.json", &epoch) && epoch == c->scope.bundle.checkpoint)
            named = names_destination(c, s, &m->artifacts[i]);
    }
    for (size_t i = 0; i < m->n_artifacts && !named; i++)
        named = names_destination(c, s, &m->artifacts[i]);
}

static size_t candidates(struct cut *c, struct candidate *list, size_t max)
{
    const struct bundle_manifest *m = &c->b->m;
    size_t n = 0;
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const char *op = m->artifacts[i].role == ROLE_INTERVAL ? operator_of(c, m->artifacts[i].path) : NULL;
        size_t k = 0;
        while (op && k < n && strcmp(list[k].op, op) != 0)
            k++;
        if (op && k == n && n < max)
            list[n++] = (struct candidate){op, NULL, NULL};
    }
    for (size_t k = 0; k < n; k++)
        destination_of(c, &list[k]);
    return n;
}

static bool fits(const struct cut_request *r, const struct candidate *s)
{
    return (!r->sink || strcmp(r->sink, s->op) == 0) &&
           (!r->database || !s->database || strcmp(r->database, s->database) == 0) &&
           (!r->table || !s->table || strcmp(r->table, s->table) == 0);
}

static void describe(const struct candidate *list, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%s (%s.%s)", i ? ", " : "", list[i].op, list[i].database ? list[i].database : "?",
                   list[i].table ? list[i].table : "?");
    buf_str(out);
}

int cut_find_sink(struct cut *c, struct err *err)
{
    const struct cut_request *r = c->r;
    struct candidate list[64];
    struct buf all = BUF_INIT;
    size_t n = candidates(c, list, sizeof list / sizeof *list), fit = 0;
    for (size_t i = 0; i < n; i++) {
        if (fits(r, &list[i])) {
            c->sink = list[i].op;
            fit++;
        }
    }
    describe(list, n, &all);
    int rc = 0;
    if (n == 0)
        cut_say(c, STATUS_UNAVAILABLE,
                BECAUSE(c->b->m.has_captures ? CODE_EPOCHS_NOT_COLLECTED : CODE_CAPTURES_NOT_COLLECTED),
                "the bundle holds no sink's interval evidence");
    else if (fit == 0)
        rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_SINK_UNKNOWN, {"sinks", buf_str(&all)}),
                      "no sink of the bundle is --sink=%s --database=%s --table=%s; its sinks are: %s",
                      r->sink ? r->sink : "(any)", r->database ? r->database : "(any)", r->table ? r->table : "(any)",
                      all.p);
    else if (fit > 1)
        rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_SINK_UNKNOWN, {"sinks", buf_str(&all)}),
                      "the bundle has several sinks and none is named with --sink: %s", all.p);
    if (rc != 0)
        c->sink = NULL;
    c->scope.bundle.sink = c->sink;
    buf_free(&all);
    return rc;
}

/* ---- the job's operators ---- */

static bool known_type(const char *type)
{
    return strcmp(type, "kafka-source") == 0 || strcmp(type, "map") == 0 || strcmp(type, "clickhouse-sink") == 0;
}

/* An operator that may keep state leaves the delivery as it is, and no reference to hold the rows against. */
static void check_type(struct cut *c, const char *id, const char *type)
{
    if (c->sink && strcmp(id, c->sink) == 0 && strcmp(type, "clickhouse-sink") != 0)
        cut_say(c, STATUS_UNSUPPORTED, BECAUSE(CODE_JOB_UNSUPPORTED),
                "operator %s is of type '%.100s', no ClickHouse sink", id, type);
    else if (!known_type(type))
        buf_printf(&c->unknown, "%soperator %s is of type '%.100s', which keeps state across records or is not known",
                   c->unknown.len ? "; " : "", id, type);
}

/* By operator: do its rows reach the sink (any, where none is named)? */
static const bool *upstream(struct cut *c, const struct job_manifest *job)
{
    bool *up = arena_zalloc(&c->a, job->n_operators + 1);
    size_t *todo = arena_alloc(&c->a, (job->n_operators + 1) * sizeof *todo), n = 0; /* each enters it once */
    size_t *into = arena_zalloc(&c->a, (job->n_operators + 1) * sizeof *into);       /* one past an edge, 0: none */
    size_t *next = arena_zalloc(&c->a, (job->n_edges + 1) * sizeof *next);           /* the same, of one more */
    struct map ids = MAP_INIT;
    for (size_t i = 0; i < job->n_operators; i++) {
        map_add(&ids, job->operators[i].id, strlen(job->operators[i].id), i);
        if (!c->sink || strcmp(job->operators[i].id, c->sink) == 0)
            up[todo[n++] = i] = true;
    }
    for (size_t e = 0; e < job->n_edges; e++) {
        const uint64_t *to = map_find(&ids, job->edges[e][1], strlen(job->edges[e][1]));
        if (!to)
            continue;
        next[e] = into[*to];
        into[*to] = e + 1;
    }
    while (n > 0)
        for (size_t e = into[todo[--n]]; e > 0; e = next[e - 1]) {
            const uint64_t *from = map_find(&ids, job->edges[e - 1][0], strlen(job->edges[e - 1][0]));
            if (from && !up[*from])
                up[todo[n++] = *from] = true;
        }
    map_free(&ids);
    return up;
}

static void count_windows(struct cut *c, const struct job_manifest *job, const bool *up)
{
    for (size_t i = 0; i < job->n_operators; i++) {
        uint64_t n = job->operators[i].parallelism;
        if (up[i] && strcmp(job->operators[i].type, "window") == 0)
            c->windows += n < PARALLELISM_MAX ? n : PARALLELISM_MAX;
    }
}

static void check_graph(struct cut *c, const struct job_manifest *job)
{
    const bool *up = upstream(c, job);
    size_t sources = 0;
    count_windows(c, job, up);
    struct map fed = MAP_INIT; /* operators that something leads to */
    for (size_t e = 0; e < job->n_edges; e++)
        map_add(&fed, job->edges[e][1], strlen(job->edges[e][1]), e);
    for (size_t i = 0; i < job->n_operators; i++) {
        const struct graph_operator *o = &job->operators[i];
        if (!up[i])
            continue;
        check_type(c, o->id, o->type);
        /* From its window on a job runs once. */
        if (c->windows == 0 || o->parallelism != 1)
            cut_hold(c, NODE_JOB, (struct said){o->id, o}, (struct said){"the job", job});
        if (c->sink && strcmp(o->id, c->sink) == 0)
            c->sink_node = o;
        if (strcmp(o->type, "kafka-source") == 0) {
            c->source_node = o;
            sources++;
        } else if (!map_find(&fed, o->id, strlen(o->id)))
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_JOB_UNKNOWN),
                    "nothing leads to operator %s of the job's graph, which is no source", o->id);
    }
    map_free(&fed);
    if (c->sink && !c->sink_node)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_JOB_UNKNOWN), "the job's graph has no operator %s", c->sink);
    else if (sources != 1)
        cut_say(c, STATUS_UNSUPPORTED, BECAUSE(CODE_JOB_UNSUPPORTED),
                "%zu Kafka sources lead to the sink, one is supported", sources);
}

/* True where the bundle lists the job's manifest, whatever is in it. */
static bool check_manifest(struct cut *c)
{
    static const char path[] = "job/manifest.json";
    struct job_manifest *job = arena_zalloc(&c->a, sizeof *job);
    struct err err = ERR_INIT;
    const char *p;
    size_t n;
    if (!bundle_find(&c->b->m, path))
        return false;
    if (!cut_read(c, path, CODE_JOB_UNKNOWN, &p, &n))
        return true;
    if (job_manifest_parse(p, n, path, &c->a, job, &err) != 0) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_JOB_UNKNOWN), "%s", err.text);
        return true;
    }
    struct said said = {path, job};
    struct place at = {.job = c->b->m.job};
    if (cut_hold(c, JOB_PLACE, said, (struct said){"the bundle", &at})) {
        cut_hold(c, JOB_BUNDLE, said, (struct said){"the bundle", &c->b->m});
        cut_hold(c, JOB_CONTRACT, said, (struct said){"the contract", NULL});
        c->job = job;
        c->scope.bundle.job_graph_sha256 = arena_strndup(&c->a, job->graph_sha256, SHA256_HEX);
        check_graph(c, job);
    }
    return true;
}

static const struct graph_operator *node_of(const struct cut *c, const struct map *nodes, const char *id)
{
    const uint64_t *at = map_find(nodes, id, strlen(id));
    return at ? &c->job->operators[*at] : NULL;
}

static const struct op_spec *operator_read(struct cut *c, const char *path)
{
    struct op_spec *op = arena_alloc(&c->a, sizeof *op);
    struct err err = ERR_INIT;
    const char *p;
    size_t n;
    if (!cut_read(c, path, CODE_JOB_UNKNOWN, &p, &n))
        return NULL;
    if (op_spec_parse(p, n, path, &c->a, op, &err) != 0) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_JOB_UNKNOWN), "%s", err.text);
        return NULL;
    }
    struct place at = {.job = c->b->m.job, .operator_id = operator_of(c, path)};
    return cut_hold(c, OPERATOR_PLACE, (struct said){path, op}, (struct said){"its place", &at}) ? op : NULL;
}

/* What the recorder wrote of each operator: alike in its subtasks, and as the job's graph has it. A job that ended has
 * no manifest, and then this alone says what it was. */
void cut_check_operators(struct cut *c)
{
    const struct bundle_manifest *m = &c->b->m;
    bool has_manifest = check_manifest(c), sink = false, other = false;
    struct said before = {NULL, NULL};
    struct map nodes = MAP_INIT;
    for (size_t i = 0; c->job && i < c->job->n_operators; i++)
        map_add(&nodes, c->job->operators[i].id, strlen(c->job->operators[i].id), i);
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const char *path = m->artifacts[i].path;
        const struct op_spec *op = m->artifacts[i].role == ROLE_OPERATOR ? operator_read(c, path) : NULL;
        if (!op)
            continue;
        const struct op_spec *last = before.doc;
        const struct graph_operator *node = node_of(c, &nodes, op->operator_id);
        bool is_sink = c->sink && strcmp(op->operator_id, c->sink) == 0,
             again = last && strcmp(last->operator_id, op->operator_id) == 0;
        if (again)
            cut_hold(c, OPERATOR_LANE, before, (struct said){path, op});
        if (node)
            cut_hold(c, NODE_OPERATOR, (struct said){"the job's graph", node}, (struct said){path, op});
        if (!has_manifest && !again) {
            check_type(c, op->operator_id, op->kind);
            c->windows += strcmp(op->kind, "window") == 0; /* from its window on a job runs once */
        }
        sink |= is_sink;
        other |= !is_sink;
        before = (struct said){path, op};
    }
    map_free(&nodes);
    if (!has_manifest && (!sink || !other))
        cut_say(c, STATUS_UNAVAILABLE, (struct cause[]){cut_lack(c, "", CODE_JOB_UNKNOWN)},
                "nothing in the bundle says what the job is made of: no job manifest, and no op.json of %s",
                sink ? "the operators before the sink" : "the sink");
}

/* ---- columns ---- */

static int mark_keys(struct cut *c, struct err *err)
{
    struct columns *all = &c->scope.columns;
    for (size_t i = 0; i < c->r->n_keys; i++) {
        const char *name = c->r->keys[i];
        size_t at;
        const struct column *k = columns_find(all, name, strlen(name), &at);
        if (!k)
            return err_fail(err, ERR_REFUSED, BECAUSE(CODE_USAGE, {"option", "--key"}),
                            "--key=%s, and the sink writes no such column of %s.%s", name, c->scope.database,
                            c->scope.table);
        if (k->key)
            return err_set(err, ERR_REFUSED, "--key names '%s' twice", name);
        all->at[at].key = true;
        if (!type_is_key(&k->type))
            cut_say(c, STATUS_UNSUPPORTED, BECAUSE(CODE_KEY_UNSUPPORTED, {"column", name}),
                    "key column '%s' is %s: a scalar type, no float and not Nullable, is needed", name, k->type.name);
    }
    const char *what;
    for (size_t i = 0; i < all->n; i++) /* no option here says how a JSON is compared */
        if (column_lacks(&all->at[i], &what) != CODE_NONE)
            cut_say(c, STATUS_UNSUPPORTED, BECAUSE(CODE_COLUMN_TYPE_UNSUPPORTED, {"column", all->at[i].name}),
                    "column '%s' is %s, which is not compared", all->at[i].name, all->at[i].type.name);
    return 0;
}

int cut_columns(struct cut *c, struct err *err)
{
    if (c->n_intervals == 0)
        return 0;
    const struct destination *d = &c->intervals[0].iv.destination;
    struct err why = ERR_INIT;
    const struct cut_request *r = c->r;
    if ((r->database && strcmp(r->database, d->database) != 0) || (r->table && strcmp(r->table, d->table) != 0))
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_SINK_UNKNOWN, {"sinks", d->table}),
                        "--database=%s --table=%s, and the scope's rows went to %s.%s",
                        r->database ? r->database : "(any)", r->table ? r->table : "(any)", d->database, d->table);
    struct json *list = json_parse_named(d->columns, strlen(d->columns), &c->a, c->intervals[0].path, &why);
    c->scope.server_uuid = d->server_uuid;
    c->scope.server_version = d->server_version;
    c->scope.database = d->database;
    c->scope.table = d->table;
    c->scope.table_uuid = d->table_uuid;
    if (!list || columns_parse(list, true, &c->scope.columns, &why) != 0) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_INTERVAL_MALFORMED), "%s: the sink's columns: %s",
                c->intervals[0].path, why.text);
        return 0;
    }
    if (mark_keys(c, err) != 0)
        return -1;
    c->has_columns = true;
    return 0;
}
