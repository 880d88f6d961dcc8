/* SPDX-License-Identifier: Apache-2.0 */
/* The finding line, read and written. */
#include "stream/finding.h"

#include "stream/stream.h"

#include <string.h>

static const char at_where[] = "finding";

/* ---- reading ---- */

static int cells_parse(const struct json *doc, const char *name, struct finding_cells *out, struct err *err)
{
    const struct json *v = json_get(doc, name);
    struct json *cells;
    *out = (struct finding_cells){NULL, 0};
    if (!v || v->type == JSON_NULL)
        return 0;
    if (json_need(doc, name, JSON_ARRAY, &cells, at_where, err) != 0)
        return -1;
    const struct json_text raw = json_raw(cells);
    *out = (struct finding_cells){raw.p, raw.n};
    return 0;
}

static int differ_parse(const struct json *doc, struct arena *arena, struct finding *f, struct err *err)
{
    struct json *list;
    if (!json_get(doc, "differ"))
        return 0;
    if (json_need(doc, "differ", JSON_ARRAY, &list, at_where, err) != 0)
        return -1;
    struct finding_name *names = arena_alloc(arena, (list->len + 1) * sizeof *names);
    const struct json *v = json_first(list);
    for (size_t i = 0; i < list->len; i++, v = json_next(list, v)) {
        if (v->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "finding.differ[%zu]: not a string", i);
        names[i] = (struct finding_name){v->str, v->len};
    }
    f->differ = names;
    f->n_differ = list->len;
    return 0;
}

static int words_parse(const struct json *doc, struct finding *f, struct err *err)
{
    struct json *relation, *kind;
    if (json_need(doc, "relation", JSON_STRING, &relation, at_where, err) != 0 ||
        json_need(doc, "kind", JSON_STRING, &kind, at_where, err) != 0)
        return -1;
    f->relation = relation_of(relation->str, relation->len);
    f->kind = finding_kind_of(kind->str, kind->len);
    if (f->relation == RELATION_TYPES)
        return err_set(err, ERR_REFUSED, "finding.relation: not known here");
    return f->kind < KIND_TYPES ? 0 : err_set(err, ERR_REFUSED, "finding.kind: not known here");
}

static int explained_parse(const struct json *doc, struct arena *arena, struct finding *f, struct err *err)
{
    const char *text = NULL;
    if (json_opt_str(doc, "explained", arena, &text, at_where, err) != 0 ||
        json_opt_u64(doc, "explained_copies", &f->explained_copies, at_where, err) != 0)
        return -1;
    if (!text || again_parse(text, strlen(text), &f->explained))
        return 0;
    return err_set(err, ERR_REFUSED, "finding.explained: not known here");
}

static int absent_read(const struct json *doc, struct arena *arena, struct finding *f, struct err *err)
{
    struct json *why;
    f->absent = ABSENT_TYPES;
    if (!json_get(doc, "absent"))
        return 0;
    if (json_need(doc, "absent", JSON_STRING, &why, at_where, err) != 0 ||
        json_opt_str(doc, "absent_at", arena, &f->absent_at, at_where, err) != 0)
        return -1;
    f->absent = absent_why_of(why);
    return f->absent < ABSENT_TYPES ? 0 : err_set(err, ERR_REFUSED, "finding.absent: not known here");
}

int stream_finding(const struct stream_line *line, struct arena *arena, struct finding *out, struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err);
    *out = (struct finding){.relation = RELATION_TYPES};
    if (!doc)
        return -1;
    if (words_parse(doc, out, err) != 0 || cells_parse(doc, "key", &out->key, err) != 0 ||
        cells_parse(doc, "owed", &out->owed, err) != 0 || cells_parse(doc, "found", &out->found, err) != 0 ||
        json_need_u64(doc, "owed_copies", &out->owed_copies, at_where, err) != 0 ||
        json_need_u64(doc, "found_copies", &out->found_copies, at_where, err) != 0 ||
        json_need_u64(doc, "rows", &out->rows, at_where, err) != 0 || differ_parse(doc, arena, out, err) != 0 ||
        json_opt_str(doc, "at", arena, &out->at, at_where, err) != 0 ||
        ts_parse(doc, "ts", &out->ts, at_where, err) != 0 || explained_parse(doc, arena, out, err) != 0 ||
        absent_read(doc, arena, out, err) != 0 || json_opt_bool(doc, "cut", &out->cut, at_where, err) != 0 ||
        json_opt_bool(doc, "others", &out->others, at_where, err) != 0 ||
        json_opt_bool(doc, "undecided", &out->undecided, at_where, err) != 0 ||
        json_opt_u64(doc, "read", &out->read, at_where, err) != 0)
        return stream_misfit(line, err);
    return 0;
}

/* ---- writing ---- */

static void cells_put(struct json_w *w, const char *name, struct finding_cells cells)
{
    if (cells.p)
        jw_raw(w, name, cells.p, cells.n);
    else
        jw_null(w, name);
}

void stream_put_finding(struct stream_out *out, const struct finding *f)
{
    struct json_w w;
    struct buf text = BUF_INIT, explained = BUF_INIT;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "type", line_type_name(LINE_FINDING));
    jw_str(&w, "relation", relation_name(f->relation));
    jw_str(&w, "kind", finding_kind_name(f->kind));
    cells_put(&w, "key", f->key);
    cells_put(&w, "owed", f->owed);
    cells_put(&w, "found", f->found);
    jw_u64(&w, "owed_copies", f->owed_copies);
    jw_u64(&w, "found_copies", f->found_copies);
    jw_u64(&w, "rows", f->rows);
    if (f->differ) {
        jw_arr(&w, "differ");
        for (size_t i = 0; i < f->n_differ; i++)
            jw_strn(&w, NULL, f->differ[i].p, f->differ[i].n);
        jw_end_arr(&w);
    }
    jw_str(&w, "at", f->at);
    ts_jw(&w, "ts", f->ts);
    again_put(&explained, &f->explained);
    jw_str(&w, "explained", explained.len ? buf_str(&explained) : NULL);
    if (f->explained_copies)
        jw_u64(&w, "explained_copies", f->explained_copies);
    if (f->absent < ABSENT_TYPES) {
        jw_str(&w, "absent", absent_why_name(f->absent));
        if (f->absent_at)
            jw_str(&w, "absent_at", f->absent_at);
    }
    if (f->cut)
        jw_bool(&w, "cut", true);
    if (f->others)
        jw_bool(&w, "others", true);
    if (f->undecided) {
        jw_bool(&w, "undecided", true);
        jw_u64(&w, "read", f->read);
    }
    jw_end_obj(&w);
    stream_put(out, LINE_FINDING, text.p, text.len);
    buf_free(&explained);
    buf_free(&text);
}
