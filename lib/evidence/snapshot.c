/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of a source lane: where it stood at a barrier, or what a run began
 * with; and of an operator, what it kept. The snapshot is renamed into place before its sidecar, so that a
 * sidecar never vouches for a file that is not there.
 */
#include "evidence/barrier.h"
#include "evidence/places.h"
#include "evidence/sidecar.h"
#include "evidence/snapshot.h"
#include "evidence/window_state.h"
#include "json/json.h"
#include "evidence/fields.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SNAPSHOT_MAX ((size_t)256 << 20)

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

bool log_id_same(const struct log_id *a, const struct log_id *b)
{
    if (!same_text(a->topic, b->topic) || !same_text(a->cluster_id, b->cluster_id))
        return false;
    return !a->topic_id || !b->topic_id || strcmp(a->topic_id, b->topic_id) == 0;
}

/* [{"partition":P,"<value>":V}], ascending by partition, each once. */
static int positions_parse(const struct json *doc, const char *name, const char *value, const char *where,
                           struct arena *a, struct position **out, size_t *n, struct err *err)
{
    struct json *list;
    if (json_need(doc, name, JSON_ARRAY, &list, where, err) != 0)
        return -1;
    *out = arena_alloc(a, (list->len + 1) * sizeof **out);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char place[300];
        snprintf(place, sizeof place, "%.200s.%s[%zu]", where, name, i);
        struct position *p = &(*out)[i];
        if (json_need_u64(item, "partition", &p->partition, place, err) != 0 ||
            json_need_i64(item, value, &p->value, place, err) != 0)
            return -1;
        if (i > 0 && p->partition <= (*out)[i - 1].partition)
            return err_set(err, ERR_REFUSED, "%s.partition: not ascending", place);
    }
    *n = list->len;
    return 0;
}

static int log_parse(const struct json *doc, const char *where, struct arena *a, struct log_id *out, struct err *err)
{
    struct json *log;
    if (json_need(doc, "log", JSON_OBJECT, &log, where, err) != 0 ||
        json_need_str(log, "topic", a, &out->topic, where, err) != 0 ||
        json_need_str(log, "cluster_id", a, &out->cluster_id, where, err) != 0)
        return -1;
    return json_opt_str(log, "topic_id", a, &out->topic_id, where, err);
}

static int declared_parse(const struct json *doc, const char *where, struct arena *a, struct snapshot *out,
                          struct err *err)
{
    struct json *list;
    if (json_need(doc, "declared", JSON_ARRAY, &list, where, err) != 0)
        return -1;
    out->declared = arena_alloc(a, (list->len + 1) * sizeof *out->declared);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item))
        if (!json_u64(item, &out->declared[i]))
            return err_set(err, ERR_REFUSED, "%s.declared[%zu]: not a partition", where, i);
    out->n_declared = list->len;
    return 0;
}

static int watermark_parse(const struct json *doc, const char *where, bool *has, int64_t *out, struct err *err)
{
    const struct json *v = json_get(doc, "watermark");
    *has = v && v->type != JSON_NULL;
    return *has ? json_need_i64(doc, "watermark", out, where, err) : 0;
}

static int run_parse(const struct json *doc, const char *where, struct arena *a, struct snapshot *out, struct err *err)
{
    struct json *run;
    if (!json_get(doc, "run"))
        return 0;
    if (json_need(doc, "run", JSON_OBJECT, &run, where, err) != 0 ||
        json_need_u64(run, "first_epoch", &out->first_epoch, where, err) != 0 ||
        json_need_u64(run, "restored_from", &out->restored_from, where, err) != 0 ||
        json_need_str(run, "attempt", a, &out->attempt, where, err) != 0)
        return -1;
    out->is_start = true;
    return 0;
}

bool snapshot_kind_known(const char *kind)
{
    return strcmp(kind, "kafka-source") == 0 || strcmp(kind, "window") == 0;
}

bool snapshot_of_lane(const struct snapshot *s)
{
    return strcmp(s->kind, "kafka-source") == 0;
}

/* Read through as a restart reads it. */
static int state_parse(const struct json *doc, const char *where, struct arena *a, struct snapshot *out,
                       struct err *err)
{
    struct window_state window;
    struct json *state;
    char place[300];
    snprintf(place, sizeof place, "%.200s.state", where);
    if (json_need(doc, "state", JSON_OBJECT, &state, where, err) != 0 ||
        window_state_parse(state, place, a, &window, err) != 0)
        return -1;
    struct json_text text = json_raw(state);
    out->state = text.p;
    out->state_len = text.n;
    out->has_watermark = window.has_watermark;
    out->watermark = window.watermark;
    return json_get(doc, "run")
               ? err_set(err, ERR_REFUSED, "%s.run: an operator begins with no snapshot of its own", where)
               : 0;
}

static int lane_parse(const struct json *doc, const char *where, struct arena *a, struct snapshot *out, struct err *err)
{
    if (log_parse(doc, where, a, &out->log, err) != 0 ||
        json_need_str(doc, "isolation", a, &out->isolation, where, err) != 0 ||
        positions_parse(doc, "positions", "offset", where, a, &out->positions, &out->n_positions, err) != 0 ||
        declared_parse(doc, where, a, out, err) != 0 ||
        watermark_parse(doc, where, &out->has_watermark, &out->watermark, err) != 0 ||
        positions_parse(doc, "partition_max", "time", where, a, &out->partition_max, &out->n_partition_max, err) != 0)
        return -1;
    /* Below zero a client's offset is a command, as -2 is "from the beginning". */
    for (size_t i = 0; i < out->n_positions; i++)
        if (out->positions[i].value < 0)
            return err_set(err, ERR_REFUSED, "%s.positions[%zu].offset: below zero", where, i);
    return run_parse(doc, where, a, out, err);
}

int snapshot_parse(const char *p, size_t n, const char *where, struct arena *a, struct snapshot *out, struct err *err)
{
    *out = (struct snapshot){0};
    struct json *doc = json_parse_named(p, n, a, where, err);
    if (!doc || format_check(doc, "owed-state", where, a, err) != 0)
        return -1;
    if (json_need_str(doc, "job", a, &out->job, where, err) != 0 ||
        json_need_str(doc, "operator", a, &out->operator_id, where, err) != 0 ||
        json_need_str(doc, "kind", a, &out->kind, where, err) != 0 ||
        json_need_u64(doc, "subtask", &out->subtask, where, err) != 0 ||
        json_need_u64(doc, "checkpoint", &out->checkpoint, where, err) != 0)
        return -1;
    if (!snapshot_kind_known(out->kind))
        return err_set(err, ERR_REFUSED, "%s: state of kind '%.100s' is not known here", where, out->kind);
    if (!evidence_operator_ok(out->operator_id))
        return err_set(err, ERR_REFUSED, "%s.operator: '%.100s' is no operator id", where, out->operator_id);
    return snapshot_of_lane(out) ? lane_parse(doc, where, a, out, err) : state_parse(doc, where, a, out, err);
}

static void positions_put(struct json_w *w, const char *name, const char *value, const struct position *p, size_t n)
{
    jw_arr(w, name);
    for (size_t i = 0; i < n; i++) {
        jw_obj(w, NULL);
        jw_u64(w, "partition", p[i].partition);
        jw_i64(w, value, p[i].value);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void lane_put(struct json_w *w, const struct snapshot *s)
{
    jw_obj(w, "log");
    jw_str(w, "topic", s->log.topic);
    jw_str(w, "cluster_id", s->log.cluster_id);
    jw_str(w, "topic_id", s->log.topic_id);
    jw_end_obj(w);
    jw_str(w, "isolation", s->isolation);
    positions_put(w, "positions", "offset", s->positions, s->n_positions);
    jw_arr(w, "declared");
    for (size_t i = 0; i < s->n_declared; i++)
        jw_u64(w, NULL, s->declared[i]);
    jw_end_arr(w);
    if (s->has_watermark)
        jw_i64(w, "watermark", s->watermark);
    else
        jw_null(w, "watermark");
    positions_put(w, "partition_max", "time", s->partition_max, s->n_partition_max);
    if (s->is_start) {
        jw_obj(w, "run");
        jw_u64(w, "first_epoch", s->first_epoch);
        jw_u64(w, "restored_from", s->restored_from);
        jw_str(w, "attempt", s->attempt);
        jw_end_obj(w);
    }
}

void snapshot_put(struct buf *out, const struct snapshot *s)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    jw_str(&w, "format", "owed-state");
    jw_u64(&w, "version", 1);
    jw_str(&w, "job", s->job);
    jw_str(&w, "operator", s->operator_id);
    jw_str(&w, "kind", s->kind);
    jw_u64(&w, "subtask", s->subtask);
    jw_u64(&w, "checkpoint", s->checkpoint);
    if (s->state)
        jw_raw(&w, "state", s->state, s->state_len);
    else
        lane_put(&w, s);
    jw_end_obj(&w);
    buf_addc(out, '\n');
}

int snapshot_write(const char *ckpt_dir, const char *rel, const struct snapshot *s, struct arena *a, struct left *entry,
                   struct err *err)
{
    struct buf text = BUF_INIT, meta = BUF_INIT, path = BUF_INIT;
    snapshot_put(&text, s);
    if (text.len > SNAPSHOT_MAX) { /* nobody would read it */
        buf_free(&text);
        return err_set(err, ERR_BOUND, "%s: the state is past %zu bytes", rel, SNAPSHOT_MAX);
    }
    sidecar_put(&meta, s->checkpoint, text.p, text.len);
    path_join(&path, ckpt_dir, rel);
    int rc = make_parent(path.p, err);
    if (rc == 0)
        rc = file_publish(path.p, text.p, text.len, err);
    if (rc == 0) {
        buf_adds(&path, ".meta");
        rc = file_publish(buf_str(&path), meta.p, meta.len, err);
    }
    if (rc == 0 && entry) {
        char sha[SHA256_HEX + 1];
        sha256_of(text.p, text.len, sha);
        *entry = (struct left){.operator_id = arena_strndup(a, s->operator_id, strlen(s->operator_id)),
                               .subtask = s->subtask,
                               .kind = LEFT_SNAPSHOT,
                               .file = arena_strndup(a, rel, strlen(rel)),
                               .bytes = text.len,
                               .sha256 = arena_strndup(a, sha, SHA256_HEX)};
    }
    buf_free(&text);
    buf_free(&meta);
    buf_free(&path);
    return rc;
}

static int read_beneath(int fd, const char *rel, size_t max, struct buf *out, struct err *err)
{
    int file = open_beneath(fd, rel, O_RDONLY | O_NONBLOCK, err);
    if (file < 0)
        return -1;
    int rc = file_read_fd(file, rel, max, out, err);
    close(file);
    return rc;
}

int snapshot_read(int ckpt_fd, const char *rel, struct arena *a, struct snapshot *out, struct err *err)
{
    struct buf text = BUF_INIT, meta = BUF_INIT, name = BUF_INIT;
    struct sidecar side = {0};
    buf_printf(&name, "%s.meta", rel);
    int rc = read_beneath(ckpt_fd, rel, SNAPSHOT_MAX, &text, err);
    if (rc == 0)
        rc = read_beneath(ckpt_fd, buf_str(&name), 1 << 20, &meta, err);
    if (rc == 0)
        rc = sidecar_parse(meta.p, meta.len, name.p, &side, err);
    if (rc == 0)
        rc = sidecar_verify(&side, text.p, text.len, rel, err);
    if (rc == 0)
        rc = snapshot_parse(arena_strndup(a, text.p, text.len), text.len, rel, a, out, err);
    if (rc == 0 && side.checkpoint != out->checkpoint)
        rc = err_set(err, ERR_REFUSED, "%s is of checkpoint %" PRIu64 ", its sidecar of %" PRIu64, rel, out->checkpoint,
                     side.checkpoint);
    buf_free(&text);
    buf_free(&meta);
    buf_free(&name);
    return rc;
}
