/* SPDX-License-Identifier: Apache-2.0 */
/* The account line, read and written. */
#include "stream/account.h"

#include "stream/stream.h"

#include <string.h>

#define X(id, text) [ACCOUNT_##id] = text,
static const char *const roles[] = {ACCOUNT_TABLE(X)};
#undef X

const char *account_role_name(enum account_role r)
{
    return roles[r];
}

const struct account_range *account_range(const struct account *a, const char *topic, uint64_t partition)
{
    for (size_t i = 0; i < a->n_ranges; i++)
        if (a->ranges[i].partition == partition && strcmp(a->ranges[i].topic, topic) == 0)
            return &a->ranges[i];
    return NULL;
}

const struct account_log *account_log(const struct account *a, const char *topic)
{
    for (size_t i = 0; i < a->n_logs; i++)
        if (strcmp(a->logs[i].topic, topic) == 0)
            return &a->logs[i];
    return NULL;
}

/* ---- reading ---- */

struct number_member {
    const char *name;
    struct account_number *to;
};

static int numbers_parse(const struct json *doc, const struct number_member *m, const char *where, struct err *err)
{
    for (; m->name; m++) {
        const struct json *v = json_get(doc, m->name);
        m->to->has = v && v->type != JSON_NULL;
        if (m->to->has && json_need_u64(doc, m->name, &m->to->n, where, err) != 0)
            return -1;
    }
    return 0;
}

static int range_parse(const struct json *v, const char *where, struct arena *a, struct account_range *r,
                       struct err *err)
{
    const struct number_member numbers[] = {{"from", &r->from},
                                            {"to", &r->to},
                                            {"position", &r->position},
                                            {"offsets", &r->offsets},
                                            {"delivered", &r->delivered},
                                            {"null_values", &r->null_values},
                                            {"not_delivered", &r->not_delivered},
                                            {"aborted", &r->aborted},
                                            {"marker_or_absent", &r->marker_or_absent},
                                            {NULL, NULL}};
    r->reason = "";
    r->has_complete = json_get(v, "complete") != NULL;
    if (json_need_str(v, "topic", a, &r->topic, where, err) != 0 ||
        json_need_u64(v, "partition", &r->partition, where, err) != 0 || numbers_parse(v, numbers, where, err) != 0 ||
        json_opt_bool(v, "complete", &r->complete, where, err) != 0)
        return -1;
    return json_opt_str(v, "reason", a, &r->reason, where, err);
}

static int list_parse(const struct json *doc, const char *name, struct json **out, const char *where, struct err *err)
{
    *out = NULL;
    return json_get(doc, name) ? json_need(doc, name, JSON_ARRAY, out, where, err) : 0;
}

static int ranges_parse(const struct json *doc, const char *where, struct arena *arena, struct account *a,
                        struct err *err)
{
    struct json *ranges, *logs;
    char at[80];
    if (list_parse(doc, "ranges", &ranges, where, err) != 0 || list_parse(doc, "logs", &logs, where, err) != 0)
        return -1;
    a->n_ranges = ranges ? ranges->len : 0;
    a->n_logs = logs ? logs->len : 0;
    struct account_range *r = arena_zalloc(arena, (a->n_ranges + 1) * sizeof *r);
    struct account_log *l = arena_zalloc(arena, (a->n_logs + 1) * sizeof *l);
    a->ranges = r;
    a->logs = l;
    for (size_t i = 0; i < a->n_ranges; i++) {
        snprintf(at, sizeof at, "%.40s.ranges[%zu]", where, i);
        if (range_parse(ranges->u.items[i], at, arena, &r[i], err) != 0)
            return -1;
    }
    for (size_t i = 0; i < a->n_logs; i++) {
        snprintf(at, sizeof at, "%.40s.logs[%zu]", where, i);
        if (json_need_str(logs->u.items[i], "topic", arena, &l[i].topic, at, err) != 0 ||
            json_opt_str(logs->u.items[i], "cluster_id", arena, &l[i].cluster_id, at, err) != 0 ||
            json_opt_str(logs->u.items[i], "topic_id", arena, &l[i].topic_id, at, err) != 0)
            return -1;
    }
    return 0;
}

/* An object, or an array of texts where texts is set, as it stands. */
static int text_parse(const struct json *doc, const char *name, bool texts, struct account_text *out, const char *where,
                      struct err *err)
{
    struct json *v = json_get(doc, name);
    if (!v || (!texts && v->type == JSON_NULL))
        return 0;
    if (json_need(doc, name, texts ? JSON_ARRAY : JSON_OBJECT, &v, where, err) != 0)
        return -1;
    for (size_t i = 0; texts && i < v->len; i++)
        if (v->u.items[i]->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "%s.%s[%zu]: not a string", where, name, i);
    *out = (struct account_text){v->raw, v->raw_len};
    return 0;
}

static int reader_parse(const struct json *doc, struct arena *arena, const char *where, struct account *out,
                        struct err *err)
{
    if (json_opt_str(doc, "client", arena, &out->client, where, err) != 0 ||
        json_opt_str(doc, "isolation", arena, &out->isolation, where, err) != 0)
        return -1;
    return ranges_parse(doc, where, arena, out, err);
}

int account_kept(const struct json *doc, enum account_role role, struct arena *arena, const char *where,
                 struct account *out, struct err *err)
{
    *out = (struct account){.role = role, .doc = doc};
    const struct number_member numbers[] = {{"rows", &out->rows},
                                            {"delivered", &out->delivered},
                                            {"records", &out->records},
                                            {"skips", &out->skips},
                                            {"without_row", &out->without_row},
                                            {"value_errors", &out->value_errors},
                                            {"excluded", &out->excluded},
                                            {NULL, NULL}};
    if (json_opt_str(doc, "stage", arena, &out->stage, where, err) != 0 ||
        numbers_parse(doc, numbers, where, err) != 0 ||
        text_parse(doc, "reasons", true, &out->reasons, where, err) != 0 ||
        text_parse(doc, "verified", true, &out->verified, where, err) != 0 ||
        text_parse(doc, "recorded", false, &out->recorded, where, err) != 0)
        return -1;
    switch (role) {
    case ACCOUNT_READER: return reader_parse(doc, arena, where, out, err);
    case ACCOUNT_PROGRAM: return json_opt_str(doc, "program", arena, &out->program, where, err);
    case ACCOUNT_SEALER: return json_opt_bool(doc, "complete_by_the_operator", &out->word, where, err);
    default: return 0;
    }
}

int stream_account(const struct stream_line *line, struct arena *arena, struct account *out, struct err *err)
{
    static const char at[] = "account";
    const struct json *doc = stream_doc(line, arena, err), *said = json_get(doc, "role");
    struct json *stage;
    size_t role = 0;
    if (!doc)
        return -1;
    while (role < ACCOUNT_ROLES && !json_is(said, roles[role]))
        role++;
    if (role == ACCOUNT_ROLES)
        err_set(err, ERR_REFUSED, "account.role: none of reader, program, sealer and binder");
    if (role == ACCOUNT_ROLES || json_need(doc, "stage", JSON_STRING, &stage, at, err) != 0 ||
        account_kept(doc, (enum account_role)role, arena, at, out, err) != 0 ||
        json_need_bool(doc, "complete", &out->complete, at, err) != 0 || cause_parse(doc, at, &out->cause, err) != 0 ||
        text_parse(doc, "implementation", false, &out->implementation, at, err) != 0 ||
        text_parse(doc, "verified_by_writer", true, &out->verified_by_writer, at, err) != 0)
        return stream_misfit(line, err);
    out->line_no = line->line_no;
    return 0;
}

/* ---- writing ---- */

static void put_text(struct json_w *w, const char *name, struct account_text t)
{
    if (t.p)
        jw_raw(w, name, t.p, t.n);
}

static void put_number(struct json_w *w, const char *name, struct account_number v)
{
    if (v.has)
        jw_u64(w, name, v.n);
}

static void put_string(struct json_w *w, const char *name, const char *s)
{
    if (s)
        jw_str(w, name, s);
}

static void put_reader(struct json_w *w, const struct account *a)
{
    jw_str(w, "client", a->client);
    jw_str(w, "isolation", a->isolation);
    jw_arr(w, "logs");
    for (size_t i = 0; i < a->n_logs; i++) {
        jw_obj(w, NULL);
        jw_str(w, "topic", a->logs[i].topic);
        jw_str(w, "cluster_id", a->logs[i].cluster_id);
        jw_str(w, "topic_id", a->logs[i].topic_id);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_arr(w, "ranges");
    for (size_t i = 0; i < a->n_ranges; i++) {
        const struct account_range *r = &a->ranges[i];
        jw_obj(w, NULL);
        jw_str(w, "topic", r->topic);
        jw_u64(w, "partition", r->partition);
        put_number(w, "from", r->from);
        put_number(w, "to", r->to);
        put_number(w, "position", r->position);
        put_number(w, "offsets", r->offsets);
        put_number(w, "delivered", r->delivered);
        put_number(w, "null_values", r->null_values);
        put_number(w, "not_delivered", r->not_delivered);
        put_number(w, "aborted", r->aborted);
        put_number(w, "marker_or_absent", r->marker_or_absent);
        jw_bool(w, "complete", r->complete);
        jw_str(w, "reason", r->reason);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    put_number(w, "delivered", a->delivered);
}

static void put_program(struct json_w *w, const struct account *a)
{
    jw_str(w, "program", a->program);
    put_number(w, "records", a->records);
    put_number(w, "rows", a->rows);
    put_number(w, "skips", a->skips);
    if (a->without_row.has)
        jw_u64(w, "without_row", a->without_row.n);
    else
        jw_null(w, "without_row");
    put_string(w, "json", a->numbers);
    put_number(w, "value_errors", a->value_errors);
    put_string(w, "first_value_error", a->first_value_error);
    if (a->exit.has)
        jw_u64(w, "exit", a->exit.n);
    else
        jw_null(w, "exit");
    put_number(w, "signal", a->signal);
}

static void put_artifact(struct json_w *w, const struct account *a)
{
    put_text(w, "implementation", a->implementation);
    put_number(w, "rows", a->rows);
    put_number(w, "unfit_rows", a->unfit_rows);
    put_number(w, "failed_rows", a->failed_rows);
    put_string(w, "path", a->path);
    put_string(w, "header_sha256", a->header_sha256);
    put_string(w, "rows_sha256", a->rows_sha256);
    put_text(w, "verified_here", a->verified_here);
    put_text(w, "verified_by_writer", a->verified_by_writer);
}

void stream_put_account(struct stream_out *out, const struct account *a)
{
    struct buf text = BUF_INIT;
    struct json_w w;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "type", line_type_name(LINE_ACCOUNT));
    jw_str(&w, "stage", msg_program());
    jw_str(&w, "role", account_role_name(a->role));
    jw_bool(&w, "complete", a->complete);
    cause_put(&text, &a->cause);
    put_text(&w, "reasons", a->reasons);
    if (a->role == ACCOUNT_READER)
        put_reader(&w, a);
    else if (a->role == ACCOUNT_PROGRAM)
        put_program(&w, a);
    else
        put_artifact(&w, a);
    put_text(&w, "verified", a->verified);
    put_text(&w, "recorded", a->recorded);
    jw_end_obj(&w);
    stream_put(out, LINE_ACCOUNT, text.p, text.len);
    buf_free(&text);
}
