/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers: a checkpoint passing through the job, with what each stage before
 * wrote for it. A barrier that reaches the end of the job is the
 * acknowledgement of every stage it passed.
 */
#include "evidence/barrier.h"
#include "evidence/places.h"
#include "json/json.h"
#include "evidence/ids.h"

#include <string.h>

static int left_parse(const struct json *v, const char *where, struct arena *a, struct left *out, struct err *err)
{
    *out = (struct left){0};
    if (json_need_str(v, "operator", a, &out->operator_id, where, err) != 0 ||
        json_need_u64(v, "subtask", &out->subtask, where, err) != 0 ||
        json_need_str(v, "kind", a, &out->kind, where, err) != 0 ||
        json_need_str(v, "file", a, &out->file, where, err) != 0 ||
        json_need_u64(v, "bytes", &out->bytes, where, err) != 0 ||
        json_need_str(v, "sha256", a, &out->sha256, where, err) != 0)
        return -1;
    if (!evidence_operator_ok(out->operator_id))
        return err_set(err, ERR_REFUSED, "%s.operator: '%s' is no operator id", where, out->operator_id);
    if (!path_is_plain(out->file, strlen(out->file)))
        return err_set(err, ERR_REFUSED, "%s.file: not a plain relative path", where);
    if (!sha256_is_hex(out->sha256, strlen(out->sha256)))
        return err_set(err, ERR_REFUSED, "%s.sha256: not a SHA-256", where);
    if (strcmp(out->kind, LEFT_CAPTURE) != 0)
        return 0;
    if (json_need_u64(v, "seen", &out->seen, where, err) != 0 ||
        json_need_u64(v, "stored", &out->stored, where, err) != 0 ||
        json_need_bool(v, "truncated", &out->truncated, where, err) != 0)
        return -1;
    return 0;
}

static int barrier_left(const struct json *list, const char *where, struct arena *a, struct barrier *out,
                        struct err *err)
{
    out->left = arena_alloc(a, (list->len + 1) * sizeof *out->left);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char place[300];
        snprintf(place, sizeof place, "%.200s.left[%zu]", where, i);
        if (left_parse(item, place, a, &out->left[i], err) != 0)
            return -1;
    }
    out->n_left = list->len;
    return 0;
}

int barrier_parse(const char *p, size_t n, const char *where, struct arena *a, struct barrier *out, struct err *err)
{
    *out = (struct barrier){0};
    struct json *doc = json_parse_named(p, n, a, where, err), *list;
    if (!doc)
        return -1;
    if (doc->type != JSON_OBJECT || !json_is(json_get(doc, "type"), "barrier"))
        return err_set(err, ERR_REFUSED, "%s: not a barrier line", where);
    if (json_need_str(doc, "job", a, &out->job, where, err) != 0 ||
        json_need_u64(doc, "checkpoint", &out->checkpoint, where, err) != 0 ||
        json_need_u64(doc, "previous", &out->previous, where, err) != 0 ||
        json_need_str(doc, "attempt", a, &out->attempt, where, err) != 0 ||
        json_need(doc, "left", JSON_ARRAY, &list, where, err) != 0)
        return -1;
    if (!evidence_job_ok(out->job))
        return err_set(err, ERR_REFUSED, "%s.job: '%s' is no job id", where, out->job);
    if (out->checkpoint <= out->previous)
        return err_set(err, ERR_REFUSED, "%s: a barrier's checkpoint must be past the one before", where);
    return barrier_left(list, where, a, out, err);
}

static void left_put(struct json_w *w, const struct left *l)
{
    jw_obj(w, NULL);
    jw_str(w, "operator", l->operator_id);
    jw_u64(w, "subtask", l->subtask);
    jw_str(w, "kind", l->kind);
    jw_str(w, "file", l->file);
    jw_u64(w, "bytes", l->bytes);
    jw_str(w, "sha256", l->sha256);
    if (strcmp(l->kind, LEFT_CAPTURE) == 0) {
        jw_u64(w, "seen", l->seen);
        jw_u64(w, "stored", l->stored);
        jw_bool(w, "truncated", l->truncated);
    }
    jw_end_obj(w);
}

void barrier_put(struct buf *out, const struct barrier *b)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    jw_str(&w, "type", "barrier");
    jw_str(&w, "job", b->job);
    jw_u64(&w, "checkpoint", b->checkpoint);
    jw_u64(&w, "previous", b->previous);
    jw_str(&w, "attempt", b->attempt);
    jw_arr(&w, "left");
    for (size_t i = 0; i < b->n_left; i++)
        left_put(&w, &b->left[i]);
    jw_end_arr(&w);
    jw_end_obj(&w);
}

static const char *copied(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

/* Room for n entries more; those that stand are copied, so that many are asked for at once. */
static void left_room(struct barrier *b, struct arena *a, size_t n)
{
    struct left *grown = arena_alloc(a, (b->n_left + n) * sizeof *grown);
    if (b->n_left > 0)
        memcpy(grown, b->left, b->n_left * sizeof *grown);
    b->left = grown;
}

static void left_add(struct barrier *b, struct arena *a, const struct left *entry)
{
    struct left own = *entry;
    own.operator_id = copied(a, entry->operator_id);
    own.kind = copied(a, entry->kind);
    own.file = copied(a, entry->file);
    own.sha256 = copied(a, entry->sha256);
    b->left[b->n_left++] = own;
}

void barrier_add(struct barrier *b, struct arena *a, const struct left *entry)
{
    left_room(b, a, 1);
    left_add(b, a, entry);
}

int barrier_join(struct barrier *b, const struct barrier *from, struct arena *a, struct err *err)
{
    if (strcmp(b->job, from->job) != 0)
        return err_set(err, ERR_REFUSED, "lanes are of two jobs: '%s' and '%s'", b->job, from->job);
    if (b->checkpoint != from->checkpoint || b->previous != from->previous)
        return err_set(err, ERR_REFUSED,
                       "lanes are at two barriers: %" PRIu64 " after %" PRIu64 ", and %" PRIu64 " after %" PRIu64,
                       b->checkpoint, b->previous, from->checkpoint, from->previous);
    if (strcmp(b->attempt, from->attempt) != 0)
        return err_set(err, ERR_REFUSED, "lanes are of two attempts: '%s' and '%s'", b->attempt, from->attempt);
    left_room(b, a, from->n_left);
    for (size_t i = 0; i < from->n_left; i++)
        left_add(b, a, &from->left[i]);
    return 0;
}

const struct left *barrier_find(const struct barrier *b, const char *op, uint64_t subtask, const char *kind)
{
    for (size_t i = 0; i < b->n_left; i++) {
        const struct left *l = &b->left[i];
        if (l->subtask == subtask && strcmp(l->operator_id, op) == 0 && strcmp(l->kind, kind) == 0)
            return l;
    }
    return NULL;
}

void barrier_participants(const struct barrier *b, struct arena *a, uint64_t **subtasks, size_t *n)
{
    struct ids l = {NULL, 0, 0};
    for (size_t i = 0; i < b->n_left; i++)
        if (strcmp(b->left[i].kind, LEFT_SNAPSHOT) == 0)
            ids_add(&l, a, b->left[i].subtask);
    ids_sort(&l);
    *subtasks = l.at;
    *n = l.n;
}
