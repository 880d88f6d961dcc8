/* SPDX-License-Identifier: Apache-2.0 */
/* The summary line, read and written. */
#include "stream/summary.h"

#include "stream/stream.h"

#include <stddef.h>
#include <string.h>

static const char *copies_name(enum finding_kind k)
{
    return k == KIND_DUPLICATED ? "surplus" : "rows";
}

static const char explained[] = "explained", tail[] = "tail", beside[] = "beside", oldest[] = "oldest_ts",
                  newest[] = "newest_ts";

/* Where each number stands: its member, or its member in a group. */
static const struct number {
    const char *group, *name;
    size_t at;
} numbers[] = {
    {NULL, "owed_rows", offsetof(struct summary, owed_rows)},
    {NULL, "found_rows", offsetof(struct summary, found_rows)},
    {NULL, "keys", offsetof(struct summary, keys)},
    {explained, AGAIN_RESENT, offsetof(struct summary, resent)},
    {explained, AGAIN_REPLAYED, offsetof(struct summary, replayed)},
    {explained, "unexplained", offsetof(struct summary, unexplained)},
    {NULL, "owed_duplicate_keys", offsetof(struct summary, repeated_keys)},
    {NULL, "unsupported_keys", offsetof(struct summary, ambiguous_keys)},
    {NULL, "excluded_keys", offsetof(struct summary, excluded_keys)},
    {NULL, "runs_total", offsetof(struct summary, runs_total)},
    {tail, "rows", offsetof(struct summary, tail_rows)},
    {tail, "partitions", offsetof(struct summary, tail_partitions)},
    {NULL, "listed", offsetof(struct summary, listed)},
};

/* Those that stand there only where they are any. */
static const struct number others[] = {
    {NULL, "absent_keys", offsetof(struct summary, absent_keys)},
    {NULL, "deleted_rows", offsetof(struct summary, deleted_rows)},
};

/* ---- reading ---- */

static int kind_parse(const struct json *v, enum finding_kind *out, const char *where, struct err *err)
{
    *out = v && v->type == JSON_STRING ? finding_kind_of(v->str, v->len) : KIND_TYPES;
    return *out < KIND_TYPES ? 0 : err_set(err, ERR_REFUSED, "%s.kind: not known here", where);
}

static int runs_parse(const struct json *doc, struct arena *arena, struct summary *s, struct err *err)
{
    struct json *runs, *unordered;
    if (json_need(doc, "runs", JSON_ARRAY, &runs, "summary", err) != 0 ||
        json_need(doc, "runs_unordered", JSON_ARRAY, &unordered, "summary", err) != 0)
        return -1;
    struct summary_run *run = arena_zalloc(arena, (runs->len + 1) * sizeof *run);
    const char **name = arena_zalloc(arena, (unordered->len + 1) * sizeof(*name));
    const struct json *v = json_first(runs);
    for (size_t i = 0; i < runs->len; i++, v = json_next(runs, v)) {
        if (kind_parse(json_get(v, "kind"), &run[i].kind, "summary.runs", err) != 0 ||
            json_need_str(v, "topic", arena, &run[i].topic, "summary.runs", err) != 0 ||
            json_need_u64(v, "partition", &run[i].partition, "summary.runs", err) != 0 ||
            json_need_u64(v, "first", &run[i].first, "summary.runs", err) != 0 ||
            json_need_u64(v, "last", &run[i].last, "summary.runs", err) != 0 ||
            json_need_u64(v, "rows", &run[i].rows, "summary.runs", err) != 0 ||
            ts_parse(v, oldest, &run[i].oldest, "summary.runs", err) != 0 ||
            ts_parse(v, newest, &run[i].newest, "summary.runs", err) != 0)
            return -1;
        if (run[i].oldest.has != run[i].newest.has)
            return err_set(err, ERR_REFUSED, "summary.runs[%zu]: one of %s and %s alone", i, oldest, newest);
    }
    v = json_first(unordered);
    for (size_t i = 0; i < unordered->len; i++, v = json_next(unordered, v)) {
        if (v->type != JSON_STRING || memchr(v->str, '\0', v->len))
            return err_set(err, ERR_REFUSED, "summary.runs_unordered[%zu]: not a text", i);
        name[i] = arena_strndup(arena, v->str, v->len);
    }
    s->runs = run;
    s->runs_listed = runs->len;
    s->unordered = name;
    s->unordered_n = unordered->len;
    return 0;
}

static int counts_parse(const struct json *doc, struct summary *s, struct err *err)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (json_opt_u64(doc, others[i].name, (uint64_t *)(void *)((char *)s + others[i].at), "summary", err) != 0)
            return -1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct json *of = numbers[i].group ? json_get(doc, numbers[i].group) : doc;
        uint64_t *to = (uint64_t *)(void *)((char *)s + numbers[i].at);
        if (json_need_u64(of, numbers[i].name, to, numbers[i].group ? numbers[i].group : "summary", err) != 0)
            return -1;
    }
    for (size_t k = 0; k < KIND_TYPES; k++) {
        const char *name = finding_kind_name((enum finding_kind)k);
        const struct json *of = json_get(doc, name);
        if (json_need_u64(of, "keys", &s->kind_keys[k], name, err) != 0 ||
            json_need_u64(of, copies_name((enum finding_kind)k), &s->kind_rows[k], name, err) != 0 ||
            (k == KIND_MISSING && json_get(of, AGAIN_KEPT) && json_need_u64(of, AGAIN_KEPT, &s->kept, name, err) != 0))
            return -1;
        if (k == KIND_UNEXPECTED && json_opt_u64(of, beside, &s->beside, name, err) != 0)
            return -1;
        for (size_t a = 0; k == KIND_UNEXPECTED && a < ABSENT_TYPES; a++)
            if (json_opt_u64(of, absent_why_name((enum absent_why)a), &s->unwanted[a], name, err) != 0)
                return -1;
    }
    return 0;
}

int stream_summary(const struct stream_line *line, struct arena *arena, struct summary *out, struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err), *relation = json_get(doc, "relation");
    *out = (struct summary){.relation = RELATION_TYPES};
    if (!doc)
        return -1;
    if (relation && relation->type == JSON_STRING)
        out->relation = relation_of(relation->str, relation->len);
    if (out->relation == RELATION_TYPES)
        err_set(err, ERR_REFUSED, "summary.relation: not known here");
    if (out->relation == RELATION_TYPES || counts_parse(doc, out, err) != 0 ||
        json_opt_bool(doc, "undecided", &out->undecided, "summary", err) != 0 || runs_parse(doc, arena, out, err) != 0)
        return stream_misfit(line, err);
    return 0;
}

/* ---- writing ---- */

static void runs_put(struct json_w *w, const struct summary *s)
{
    jw_arr(w, "runs");
    for (size_t i = 0; i < s->runs_listed; i++) {
        const struct summary_run *run = &s->runs[i];
        jw_obj(w, NULL);
        jw_str(w, "kind", finding_kind_name(run->kind));
        jw_str(w, "topic", run->topic);
        jw_u64(w, "partition", run->partition);
        jw_u64(w, "first", run->first);
        jw_u64(w, "last", run->last);
        jw_u64(w, "rows", run->rows);
        ts_jw(w, oldest, run->oldest);
        ts_jw(w, newest, run->newest);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_arr(w, "runs_unordered");
    for (size_t i = 0; i < s->unordered_n; i++)
        jw_str(w, NULL, s->unordered[i]);
    jw_end_arr(w);
}

void stream_put_summary(struct stream_out *out, const struct summary *s)
{
    struct json_w w;
    struct buf text = BUF_INIT;
    const char *open = NULL;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "type", line_type_name(LINE_SUMMARY));
    jw_str(&w, "relation", relation_name(s->relation));
    for (size_t k = 0; k < KIND_TYPES; k++) {
        jw_obj(&w, finding_kind_name((enum finding_kind)k));
        jw_u64(&w, "keys", s->kind_keys[k]);
        jw_u64(&w, copies_name((enum finding_kind)k), s->kind_rows[k]);
        if (k == KIND_MISSING && s->kept)
            jw_u64(&w, AGAIN_KEPT, s->kept);
        if (k == KIND_UNEXPECTED && s->beside)
            jw_u64(&w, beside, s->beside);
        for (size_t a = 0; k == KIND_UNEXPECTED && a < ABSENT_TYPES; a++)
            if (s->unwanted[a])
                jw_u64(&w, absent_why_name((enum absent_why)a), s->unwanted[a]);
        jw_end_obj(&w);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct number *n = &numbers[i];
        if (open && open != n->group)
            jw_end_obj(&w);
        if (n->group && open != n->group)
            jw_obj(&w, n->group);
        open = n->group;
        jw_u64(&w, n->name, *(const uint64_t *)(const void *)((const char *)s + n->at));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        uint64_t n = *(const uint64_t *)(const void *)((const char *)s + others[i].at);
        if (n)
            jw_u64(&w, others[i].name, n);
    }
    runs_put(&w, s);
    if (s->undecided)
        jw_bool(&w, "undecided", true);
    jw_end_obj(&w);
    stream_put(out, LINE_SUMMARY, text.p, text.len);
    buf_free(&text);
}
