/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replay's rows against the capture of the one operator behind, where that
 * is the same stream: one consumer, with one input, each of parallelism 1, in
 * the same epoch. Order holds within a key alone, since what fires many keys at
 * one watermark may visit them in another order after a restore; where no group
 * columns are declared it holds row for row.
 */
#include "replay/internal.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the operator behind ---- */

static const struct graph_operator *by_id(const struct job_manifest *job, const char *id)
{
    for (size_t i = 0; i < job->n_operators; i++)
        if (strcmp(job->operators[i].id, id) == 0)
            return &job->operators[i];
    return NULL;
}

/* The operator of the graph that a description is of: by its type, and by its uid or else its parameters. NULL with
 * *ambiguous where several are so. */
static const struct graph_operator *node_of(const struct job_manifest *job, const struct replay_operator *o,
                                            bool *ambiguous)
{
    const struct graph_operator *found = NULL;
    *ambiguous = false;
    for (size_t i = 0; i < job->n_operators; i++) {
        const struct graph_operator *g = &job->operators[i];
        bool is = strcmp(g->type, o->spec.kind) == 0 &&
                  (o->spec.uid ? g->uid && strcmp(g->uid, o->spec.uid) == 0
                               : replay_same_parameters(g->parameters, o->parameters));
        if (is && found) {
            *ambiguous = true;
            return NULL;
        }
        found = is ? g : found;
    }
    return found;
}

/* How many edges have this id at one end; *other is the last one's other end. */
static size_t edges(const struct job_manifest *job, const char *id, int end, const char **other)
{
    size_t n = 0;
    for (size_t i = 0; i < job->n_edges; i++) {
        if (strcmp(job->edges[i][end], id) != 0)
            continue;
        *other = job->edges[i][1 - end];
        n++;
    }
    return n;
}

/* The one consumer; NULL once o says why what it received is not what was handed on. */
static const struct graph_operator *consumer(struct replay *p, const struct replay_epoch *e, struct outcome *o)
{
    const char *id = e->operator_id, *behind = NULL, *before = NULL;
    bool ambiguous;
    if (!p->job) {
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_JOB_UNKNOWN),
                    "the bundle holds no job manifest, so that nothing says where operator %s's rows went", id);
        return NULL;
    }
    const struct graph_operator *own = node_of(p->job, e->op, &ambiguous);
    if (!own) {
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_JOB_UNKNOWN),
                    "%s operator of the job's graph is the one of '%s'", ambiguous ? "more than one" : "no",
                    e->op->path);
        return NULL;
    }
    size_t n = edges(p->job, own->id, 0, &behind);
    const struct graph_operator *to = n == 1 ? by_id(p->job, behind) : NULL;
    const struct cause *topology = BECAUSE(CODE_OUTPUT_NOT_RECORDED, {"operator", id});
    if (!to)
        outcome_set(p, o, REPLAY_UNSUPPORTED, topology, "%zu operators take what operator %s hands on, and not one", n,
                    id);
    else if (replay_is_sink(to->type))
        outcome_set(p, o, REPLAY_UNSUPPORTED, topology, "operator %s feeds the sink", id);
    else if (edges(p->job, to->id, 1, &before) != 1)
        outcome_set(p, o, REPLAY_UNSUPPORTED, topology, "operator %s, behind operator %s, has other inputs too", to->id,
                    id);
    else if (own->parallelism != 1 || to->parallelism != 1)
        outcome_set(p, o, REPLAY_UNSUPPORTED, topology,
                    "operator %s runs %" PRIu64 " times and operator %s, behind it, %" PRIu64 " times", id,
                    own->parallelism, to->id, to->parallelism);
    else
        return to;
    return NULL;
}

/* The consumer's capture of the same epoch. That either ran several times then, whatever the manifest says of today,
 * shows in the captures: the job may have been rescaled since. NULL once o says why there is none. */
static const struct bundle_captured *capture_of(struct replay *p, const struct graph_operator *to,
                                                const struct replay_epoch *e, struct outcome *o)
{
    const struct bundle_manifest *m = &p->b->m;
    const struct bundle_captured *at = NULL;
    size_t found = 0;
    bool ambiguous, several = e->subtask > 0;
    const struct graph_operator *own = node_of(p->job, e->op, &ambiguous);
    for (size_t i = 0; i < m->n_captured; i++) {
        const struct bundle_captured *c = &m->captured[i];
        if (c->epoch != e->epoch || (strcmp(c->operator_id, e->operator_id) == 0 && c->subtask == e->subtask))
            continue;
        const struct replay_operator *op = replay_operator(p, c->operator_id, c->subtask);
        const struct graph_operator *is = op->parameters ? node_of(p->job, op, &ambiguous) : NULL;
        several |= strcmp(c->operator_id, e->operator_id) == 0 || is == own || (is == to && c->subtask > 0);
        if (is == to && strcmp(c->operator_id, e->operator_id) != 0) {
            at = c;
            found++;
        }
    }
    if (several)
        outcome_set(p, o, REPLAY_UNSUPPORTED, BECAUSE(CODE_OUTPUT_NOT_RECORDED, {"operator", e->operator_id}),
                    "in epoch %" PRIu64
                    " operator %s, or operator %s behind it, ran more than once by the captures, and "
                    "once by the job's manifest",
                    e->epoch, e->operator_id, to->id);
    else if (found != 1)
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_CAPTURE_MISSING, {"epoch", FACT_NUMBER(e->epoch)}),
                    "the bundle holds %zu captures of operator %s, behind operator %s, in epoch %" PRIu64, found,
                    to->id, e->operator_id, e->epoch);
    return several || found != 1 ? NULL : at;
}

/* ---- rows by their key ---- */

const struct json *replay_group(const struct json *parameters)
{
    static const char *const names[] = {"group_key_outputs", "partition_columns", "partition_keys", "partition_by"};
    const struct json *group = NULL;
    for (size_t i = 0; !group && i < sizeof names / sizeof *names; i++)
        group = json_get(parameters, names[i]);
    return group && group->type == JSON_ARRAY && group->len > 0 ? group : NULL;
}

bool replay_key(const struct json *group, const char *text, size_t n, struct arena *a, struct buf *key)
{
    buf_reset(key);
    if (!group)
        return true;
    const struct json *row = json_parse(text, n, a, NULL), *values = json_get(row, "values");
    for (const struct json *name = json_first(group); name; name = json_next(group, name)) {
        const struct json *v = name->type == JSON_STRING ? json_get(values, arena_strndup(a, name->str, name->len))
                                                         : NULL;
        if (!v)
            return false;
        json_canonical(key, v);
        buf_addc(key, ',');
    }
    return true;
}

struct line {
    size_t at, n; /* in bytes */
    size_t next;  /* of the same key; one past it, 0: none */
};
struct lines {
    struct map keys; /* number: where its next line is, one past */
    struct line *at;
    size_t n, cap;
    struct buf bytes;
    struct arena names;
    const struct json *group; /* the names of the columns; NULL: one key */
};

static void lines_add(struct lines *l, const char *key, size_t key_len, const char *text, size_t n, struct map *last)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 1024;
        l->at = xrealloc(l->at, l->cap * sizeof *l->at);
    }
    l->at[l->n] = (struct line){l->bytes.len, n, 0};
    buf_add(&l->bytes, text, n);
    l->n++;
    uint64_t *before = map_find(last, key, key_len);
    if (before) {
        l->at[*before - 1].next = l->n;
        *before = l->n;
        return;
    }
    const char *name = arena_strndup(&l->names, key, key_len);
    map_add(&l->keys, name, key_len, l->n);
    map_add(last, name, key_len, l->n);
}

static int lines_read(struct lines *l, int fd, struct err *err)
{
    struct line_in in;
    struct arena a = ARENA_INIT;
    struct buf key = BUF_INIT;
    struct map last = MAP_INIT;
    const char *text;
    size_t n;
    int got = lseek(fd, 0, SEEK_SET) < 0 ? err_sys(err, "cannot read the scratch file") : 0;
    line_in_init(&in, fd, "the replay's rows", STREAM_MAX_LINE);
    while (got == 0 && (got = line_in_next(&in, &text, &n, err)) == 1) {
        arena_reset(&a);
        if (replay_key(l->group, text, n, &a, &key))
            lines_add(l, buf_str(&key), key.len, text, n, &last);
        else
            got = err_set(err, ERR_REFUSED, "row %" PRIu64 " lacks a column that its operator groups by", in.line_no);
        got = got == 1 ? 0 : got;
    }
    line_in_free(&in);
    arena_free(&a);
    buf_free(&key);
    map_free(&last);
    return got;
}

static void lines_free(struct lines *l)
{
    map_free(&l->keys);
    free(l->at);
    buf_free(&l->bytes);
    arena_free(&l->names);
}

/* ---- the comparison ---- */

/* One recorded row against the next of its key. False once o says where they part. */
static bool hold(struct replay *p, struct lines *l, const char *path, uint64_t row, const char *text, size_t n,
                 struct arena *a, struct buf *key, struct outcome *o)
{
    const struct cause *cause = BECAUSE(CODE_OUTPUT_DIFFERS);
    uint64_t *next = replay_key(l->group, text, n, a, key) ? map_find(&l->keys, buf_str(key), key->len) : NULL;
    const struct line *at = next && *next ? &l->at[*next - 1] : NULL;
    if (!at)
        outcome_set(p, o, REPLAY_FAILED, cause, "'%s', row %" PRIu64 ": the replay gives no such row: %s", path, row,
                    replay_shown(p, text, n));
    else if (at->n != n || memcmp(l->bytes.p + at->at, text, n) != 0)
        outcome_set(p, o, REPLAY_FAILED, cause, "'%s', row %" PRIu64 ": %s, and the replay gives %s", path, row,
                    replay_shown(p, text, n), replay_shown(p, l->bytes.p + at->at, at->n));
    else
        *next = at->next;
    return o->is == REPLAY_PASSED;
}

static int hold_all(struct replay *p, struct lines *l, struct capture_reader *r, const char *path, struct outcome *o,
                    struct err *err)
{
    struct arena a = ARENA_INIT;
    struct buf key = BUF_INIT;
    const char *text;
    size_t n;
    bool is_data;
    uint64_t row = 0;
    int got = 0;
    while (o->is == REPLAY_PASSED && (got = capture_read_next(r, &text, &n, &is_data, err)) == 1) {
        if (!is_data)
            continue;
        arena_reset(&a);
        hold(p, l, path, ++row, text, n, &a, &key, o);
    }
    if (o->is == REPLAY_PASSED && got == 0 && row < l->n)
        outcome_set(p, o, REPLAY_FAILED, BECAUSE(CODE_OUTPUT_DIFFERS),
                    "'%s' holds %" PRIu64 " rows, and the replay gives %zu", path, row, l->n);
    arena_free(&a);
    buf_free(&key);
    return got < 0 ? -1 : 0;
}

static void against(struct replay *p, struct lines *l, const struct bundle_captured *at, const char *attempt,
                    struct outcome *o)
{
    const char *path = at->path;
    const struct bundle_artifact *listed;
    struct capture_reader r;
    struct err err = ERR_INIT;
    int fd = bundle_open_file(p->b, path, &listed, &err);
    if (fd < 0) {
        outcome_err(p, o, REPLAY_UNAVAILABLE, CODE_CAPTURE_MISSING, &err);
        return;
    }
    int rc = capture_read_open(&r, fd, path, &err);
    if (rc == 0)
        rc = replay_place(p, &r.h, at, &err);
    if (rc == 0 && strncmp(r.h.attempt, attempt, REPLAY_ATTEMPT_MAX - 1) != 0)
        rc = err_set(&err, ERR_REFUSED, "'%s' is of attempt '%.100s', and what it is held against of '%.100s'", path,
                     r.h.attempt, attempt);
    if (rc == 0 && r.h.truncated)
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_CAPTURE_TRUNCATED),
                    "'%s' is truncated: it holds a part of what was handed on", path);
    else if (rc == 0)
        rc = hold_all(p, l, &r, path, o, &err);
    if (rc == 0 && o->is == REPLAY_PASSED)
        rc = bundle_hold_capture(listed, &r, &err);
    else if (bundle_hold(listed, fd, &err) != 0) /* what is not the manifest's file is that, whatever it holds */
        rc = -1;
    if (rc != 0)
        outcome_err(p, o, REPLAY_UNAVAILABLE, CODE_CAPTURE_MALFORMED, &err);
    capture_read_close(&r);
    close(fd);
}

struct outcome replay_recorded(struct replay *p, const struct replay_epoch *e, const struct replayed *r)
{
    struct outcome o = {.is = REPLAY_PASSED};
    struct err err = ERR_INIT;
    const struct graph_operator *to = consumer(p, e, &o);
    const struct bundle_captured *at = to ? capture_of(p, to, e, &o) : NULL;
    if (!at)
        return o;
    struct lines l = {
        .keys = MAP_INIT, .bytes = BUF_INIT, .names = ARENA_INIT, .group = replay_group(e->op->parameters)};
    if (lines_read(&l, r->out[0], &err) != 0)
        outcome_err(p, &o, REPLAY_UNAVAILABLE, CODE_IO_FAILED, &err);
    else
        against(p, &l, at, r->attempt, &o);
    lines_free(&l);
    return o;
}
