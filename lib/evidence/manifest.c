/* SPDX-License-Identifier: Apache-2.0 */
/* What a job says of itself: each operator's op.json, and the job's manifest with its graph. */
#include "evidence/manifest.h"
#include "base/hash.h"
#include "evidence/places.h"
#include "json/json.h"
#include "json/redact.h"
#include "evidence/fields.h"

#include <string.h>

int op_spec_parse(const char *p, size_t n, const char *where, struct arena *a, struct op_spec *out, struct err *err)
{
    *out = (struct op_spec){0};
    struct json *doc = json_parse_named(p, n, a, where, err), *parameters;
    if (!doc || format_check(doc, "owed-operator", where, a, err) != 0)
        return -1;
    if (json_need_str(doc, "job", a, &out->job, where, err) != 0 ||
        json_need_str(doc, "operator", a, &out->operator_id, where, err) != 0 ||
        json_need_str(doc, "name", a, &out->name, where, err) != 0 ||
        json_need_str(doc, "kind", a, &out->kind, where, err) != 0 ||
        json_opt_str(doc, "uid", a, &out->uid, where, err) != 0 ||
        json_need(doc, "parameters", JSON_OBJECT, &parameters, where, err) != 0)
        return -1;
    if (!evidence_operator_ok(out->operator_id))
        return err_set(err, ERR_REFUSED, "%s.operator: '%.100s' is no operator id", where, out->operator_id);
    out->parameters = json_raw_dup(a, parameters);
    return 0;
}

int op_spec_write(const char *capture_dir, uint64_t subtask, const struct op_spec *op, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct buf parameters = BUF_INIT, text = BUF_INIT, rel = BUF_INIT, path = BUF_INIT;
    struct json_w w;
    int rc = -1;
    const char *given = op->parameters ? op->parameters : "{}";
    const struct json *v = json_parse_named(given, strlen(given), &a, "the operator's parameters", err);
    if (!v)
        goto done;
    redact_operators(&parameters, v);
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "format", "owed-operator");
    jw_u64(&w, "version", 1);
    jw_str(&w, "job", op->job);
    jw_str(&w, "operator", op->operator_id);
    jw_str(&w, "name", op->name);
    jw_str(&w, "kind", op->kind);
    if (op->uid)
        jw_str(&w, "uid", op->uid);
    jw_raw(&w, "parameters", parameters.p, parameters.len);
    jw_end_obj(&w);
    buf_addc(&text, '\n');
    buf_printf(&path, "%s/%s/op.json", capture_dir, evidence_path_op(&rel, op->operator_id, subtask));
    buf_str(&path);
    rc = make_parent(path.p, err);
    if (rc == 0)
        rc = file_publish(path.p, text.p, text.len, err);
done:
    arena_free(&a);
    buf_free(&parameters);
    buf_free(&text);
    buf_free(&rel);
    buf_free(&path);
    return rc;
}

static int operators_once(const struct job_manifest *m, const char *where, struct err *err)
{
    struct map ids = MAP_INIT;
    int rc = 0;
    for (size_t i = 0; i < m->n_operators && rc == 0; i++)
        if (!map_add(&ids, m->operators[i].id, strlen(m->operators[i].id), i))
            rc = err_set(err, ERR_REFUSED, "%.200s.graph.operators[%zu].id: operator '%s' stands twice", where, i,
                         m->operators[i].id);
    map_free(&ids);
    return rc;
}

static int operators_parse(const struct json *graph, const char *where, struct arena *a, struct job_manifest *out,
                           struct err *err)
{
    struct json *list;
    if (json_need(graph, "operators", JSON_ARRAY, &list, where, err) != 0)
        return -1;
    out->operators = arena_zalloc(a, (list->len + 1) * sizeof *out->operators);
    const struct json *v = json_first(list);
    for (size_t i = 0; i < list->len; i++, v = json_next(list, v)) {
        char place[300];
        struct graph_operator *o = &out->operators[i];
        snprintf(place, sizeof place, "%.200s.graph.operators[%zu]", where, i);
        if (json_need_str(v, "id", a, &o->id, place, err) != 0 ||
            json_need_str(v, "type", a, &o->type, place, err) != 0 ||
            json_opt_str(v, "uid", a, &o->uid, place, err) != 0 ||
            json_need_u64(v, "parallelism", &o->parallelism, place, err) != 0)
            return -1;
        if (!evidence_operator_ok(o->id))
            return err_set(err, ERR_REFUSED, "%s.id: '%.100s' is no operator id", place, o->id);
        o->parameters = json_get(v, "parameters");
    }
    out->n_operators = list->len;
    return operators_once(out, where, err);
}

static int edges_parse(const struct json *graph, const char *where, struct arena *a, struct job_manifest *out,
                       struct err *err)
{
    struct json *list;
    if (json_need(graph, "edges", JSON_ARRAY, &list, where, err) != 0)
        return -1;
    out->edges = arena_zalloc(a, (list->len + 1) * sizeof *out->edges);
    const struct json *e = json_first(list);
    for (size_t i = 0; i < list->len; i++, e = json_next(list, e)) {
        if (e->type != JSON_ARRAY || e->len != 2 || json_at(e, 0)->type != JSON_STRING ||
            json_at(e, 1)->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "%s.graph.edges[%zu]: not a pair of operator ids", where, i);
        for (size_t k = 0; k < 2; k++)
            out->edges[i][k] = arena_strndup(a, json_at(e, k)->str, json_at(e, k)->len);
    }
    out->n_edges = list->len;
    return 0;
}

int job_manifest_parse(const char *p, size_t n, const char *where, struct arena *a, struct job_manifest *out,
                       struct err *err)
{
    *out = (struct job_manifest){0};
    struct json *doc = json_parse_named(p, n, a, where, err), *graph;
    if (!doc || format_check(doc, "owed-job", where, a, err) != 0)
        return -1;
    if (json_need_str(doc, "job", a, &out->job, where, err) != 0 ||
        json_opt_str(doc, "name", a, &out->name, where, err) != 0 ||
        json_opt_str(doc, "alignment", a, &out->alignment, where, err) != 0 ||
        json_need_u64(doc, "generation", &out->generation, where, err) != 0 ||
        json_need_u64(doc, "parallelism", &out->parallelism, where, err) != 0 ||
        json_opt_bool(doc, "requires_commit_confirmation", &out->requires_commit_confirmation, where, err) != 0 ||
        json_need(doc, "graph", JSON_OBJECT, &graph, where, err) != 0)
        return -1;
    if (!evidence_job_ok(out->job))
        return err_set(err, ERR_REFUSED, "%s.job: '%.100s' is no job id", where, out->job);
    const struct json *confirm = json_get(doc, "requires_commit_confirmation"), *delivery = json_get(doc, "delivery");
    out->has_confirmation = confirm && confirm->type != JSON_NULL;
    if (delivery && delivery->type != JSON_NULL && delivery->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s.delivery: not an object", where);
    out->delivery = delivery && delivery->type == JSON_OBJECT ? delivery : NULL;
    out->document = doc;
    out->graph = graph;
    if (operators_parse(graph, where, a, out, err) != 0 || edges_parse(graph, where, a, out, err) != 0)
        return -1;
    struct buf canonical = BUF_INIT;
    json_canonical(&canonical, graph);
    sha256_of(canonical.p, canonical.len, out->graph_sha256);
    buf_free(&canonical);
    return 0;
}
