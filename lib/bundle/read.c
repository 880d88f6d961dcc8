/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest, read. Every field that a check reads has its type checked here,
 * so that a malformed one refuses the bundle and never reaches a check.
 */
#include "bundle/bundle.h"
#include "bundle/paths.h"
#include "bundle/state.h"
#include "evidence/places.h"

#include <stdlib.h>
#include <string.h>

static const char where[] = "manifest.json";

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct bundle_artifact *)a)->path, ((const struct bundle_artifact *)b)->path);
}

void bundle_manifest_sort(struct bundle_manifest *m)
{
    if (m->n_artifacts > 1)
        qsort(m->artifacts, m->n_artifacts, sizeof *m->artifacts, by_path);
}

const struct bundle_artifact *bundle_find(const struct bundle_manifest *m, const char *path)
{
    struct bundle_artifact key = {.path = path};
    return m->n_artifacts ? bsearch(&key, m->artifacts, m->n_artifacts, sizeof key, by_path) : NULL;
}

/* ---- lists ---- */

/* A member that may be null must still be there: a manifest that leaves it out is another program's. */
static int need_given(const struct json *obj, const char *name, const char *place, struct err *err)
{
    return json_get(obj, name) ? 0 : err_set(err, ERR_REFUSED, "%s.%s: missing", place, name);
}

static int list_of(const struct json *obj, const char *name, const char *place, size_t max, struct json **out,
                   struct err *err)
{
    if (json_need(obj, name, JSON_ARRAY, out, place, err) != 0)
        return -1;
    if ((*out)->len > max)
        return err_set(err, ERR_REFUSED, "%s.%s: %" PRIu32 " entries, the bound is %zu", place, name, (*out)->len, max);
    return 0;
}

static int artifacts_parse(const struct json *doc, struct arena *a, struct bundle_manifest *out, struct err *err)
{
    struct json *list;
    if (list_of(doc, "artifacts", where, BUNDLE_ARTIFACTS_MAX, &list, err) != 0)
        return -1;
    out->artifacts = arena_alloc(a, (list->len + 1) * sizeof *out->artifacts);
    const struct json *v = json_first(list);
    for (size_t i = 0; i < list->len; i++, v = json_next(list, v)) {
        struct bundle_artifact *f = &out->artifacts[i];
        const char *role;
        char place[64];
        snprintf(place, sizeof place, "%s.artifacts[%zu]", where, i);
        if (json_need_str(v, "path", a, &f->path, place, err) != 0 || bundle_path_check(f->path, place, err) != 0 ||
            json_need_str(v, "role", a, &role, place, err) != 0 ||
            json_need_u64(v, "bytes", &f->bytes, place, err) != 0 ||
            json_need_str(v, "sha256", a, &f->sha256, place, err) != 0)
            return -1;
        f->role = bundle_role_of(role);
        if (f->role == ROLE_TYPES)
            return err_set(err, ERR_REFUSED, "%s.role: '%.100s' is not known here", place, role);
        if (!sha256_is_hex(f->sha256, strlen(f->sha256)))
            return err_set(err, ERR_REFUSED, "%s.sha256: not 64 lower-case hex digits", place);
    }
    out->n_artifacts = list->len;
    bundle_manifest_sort(out);
    return bundle_paths_once(out, where, err);
}

static int captured_parse(const struct json *doc, struct arena *a, struct bundle_manifest *out, struct err *err)
{
    struct json *list;
    struct buf path = BUF_INIT, rel = BUF_INIT;
    if (list_of(doc, "captured", where, BUNDLE_ARTIFACTS_MAX, &list, err) != 0)
        return -1;
    out->captured = arena_alloc(a, (list->len + 1) * sizeof *out->captured);
    int rc = 0;
    const struct json *v = json_first(list);
    for (size_t i = 0; i < list->len && rc == 0; i++, v = json_next(list, v)) {
        struct bundle_captured *c = &out->captured[i];
        char place[64];
        snprintf(place, sizeof place, "%s.captured[%zu]", where, i);
        if (json_need_str(v, "operator", a, &c->operator_id, place, err) != 0 ||
            json_need_u64(v, "subtask", &c->subtask, place, err) != 0 ||
            json_need_u64(v, "epoch", &c->epoch, place, err) != 0 ||
            json_need_str(v, "path", a, &c->path, place, err) != 0)
            rc = -1;
        else if (!evidence_operator_ok(c->operator_id))
            rc = err_set(err, ERR_REFUSED, "%s.operator: '%.100s' is no operator id", place, c->operator_id);
        else if (strcmp(path_join(&path, "capture", evidence_path_capture(&rel, c->operator_id, c->subtask, c->epoch)),
                        c->path))
            rc = err_set(err, ERR_REFUSED, "%s.path: '%.200s' is not where this epoch lies, '%.200s'", place, c->path,
                         path.p);
    }
    out->n_captured = list->len;
    buf_free(&path);
    buf_free(&rel);
    return rc;
}

static int notes_parse(const struct json *obj, const char *name, const char *what, const char *place, struct arena *a,
                       struct bundle_note **out, size_t *n, struct err *err)
{
    struct json *list;
    if (list_of(obj, name, place, BUNDLE_ARTIFACTS_MAX, &list, err) != 0)
        return -1;
    *out = arena_alloc(a, (list->len + 1) * sizeof **out);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char at[100];
        snprintf(at, sizeof at, "%s.%s[%zu]", place, name, i);
        if (json_need_str(item, what, a, &(*out)[i].what, at, err) != 0 ||
            json_need_str(item, "why", a, &(*out)[i].why, at, err) != 0)
            return -1;
    }
    *n = list->len;
    return 0;
}

static int ids_parse(const struct json *obj, const char *name, const char *place, struct arena *a, uint64_t **out,
                     size_t *n, struct err *err)
{
    struct json *list;
    if (list_of(obj, name, place, BUNDLE_ARTIFACTS_MAX, &list, err) != 0)
        return -1;
    *out = arena_alloc(a, (list->len + 1) * sizeof **out);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item))
        if (!json_u64(item, &(*out)[i]))
            return err_set(err, ERR_REFUSED, "%s.%s[%zu]: not a whole number", place, name, i);
    *n = list->len;
    return 0;
}

/* ---- objects ---- */

/* Where the bundle's state lies: one of two places. One that does not say has it in the first. */
static int state_root_of(const struct json *c, const char *at, struct arena *a, struct bundle_manifest *out,
                         struct err *err)
{
    const struct json *v = json_get(c, "state_root");
    struct buf mirror = BUF_INIT;
    out->state_root = v ? NULL : "checkpoint/_state";
    int rc = json_opt_str(c, "state_root", a, &out->state_root, at, err);
    buf_printf(&mirror, "checkpoint/_external/%s", out->job);
    if (rc == 0 && out->state_root && strcmp(out->state_root, "checkpoint/_state") != 0 &&
        strcmp(out->state_root, buf_str(&mirror)) != 0)
        rc = err_set(err, ERR_REFUSED, "%s.state_root: '%.200s' is neither checkpoint/_state nor %s", at,
                     out->state_root, mirror.p);
    buf_free(&mirror);
    return rc;
}

static int checkpoint_parse(const struct json *doc, struct arena *a, struct bundle_manifest *out, struct err *err)
{
    static const char at[] = "manifest.json.checkpoint";
    struct json *c;
    const char *rule = NULL;
    if (json_need(doc, "checkpoint", JSON_OBJECT, &c, where, err) != 0 ||
        json_need_u64(c, "id", &out->checkpoint, at, err) != 0 || need_given(c, "rule", at, err) != 0 ||
        json_opt_str(c, "rule", a, &rule, at, err) != 0 || need_given(c, "rule_choice", at, err) != 0 ||
        json_opt_u64(c, "rule_choice", &out->choice, at, err) != 0 ||
        json_need_bool(c, "named", &out->named, at, err) != 0 ||
        json_need_u64(c, "generation", &out->generation, at, err) != 0 ||
        ids_parse(c, "subtasks", at, a, &out->subtasks, &out->n_subtasks, err) != 0 ||
        state_root_of(c, at, a, out, err) != 0)
        return -1;
    const struct json *choice = json_get(c, "rule_choice");
    out->has_choice = choice && choice->type != JSON_NULL;
    if (rule && strcmp(rule, "completed") != 0 && strcmp(rule, "confirmed") != 0)
        return err_set(err, ERR_REFUSED, "%s.rule: '%.100s' is not known here", at, rule);
    out->rule = !rule ? RULE_NONE : strcmp(rule, "completed") == 0 ? RULE_COMPLETED : RULE_CONFIRMED;
    return 0;
}

static int job_parse(const struct json *doc, struct arena *a, struct bundle_manifest *out, struct err *err)
{
    struct json *job, *collector;
    if (json_need(doc, "collector", JSON_OBJECT, &collector, where, err) != 0 ||
        json_need_str(collector, "name", a, &out->collector_name, "manifest.json.collector", err) != 0 ||
        json_need_str(collector, "version", a, &out->collector_version, "manifest.json.collector", err) != 0 ||
        json_need(doc, "job", JSON_OBJECT, &job, where, err) != 0 ||
        json_need_str(job, "id", a, &out->job, "manifest.json.job", err) != 0 ||
        need_given(job, "manifest", "manifest.json.job", err) != 0 ||
        json_opt_str(job, "manifest", a, &out->job_manifest, "manifest.json.job", err) != 0 ||
        need_given(doc, "delivery", where, err) != 0)
        return -1;
    if (!evidence_job_ok(out->job))
        return err_set(err, ERR_REFUSED, "manifest.json.job.id: '%.100s' is no job id", out->job);
    if (out->job_manifest && strcmp(out->job_manifest, "job/manifest.json") != 0)
        return err_set(err, ERR_REFUSED, "manifest.json.job.manifest: not job/manifest.json");
    const struct json *delivery = json_get(doc, "delivery");
    if (delivery->type != JSON_OBJECT && delivery->type != JSON_NULL)
        return err_set(err, ERR_REFUSED, "manifest.json.delivery: neither null nor an object");
    if (delivery->type == JSON_OBJECT)
        out->delivery = json_raw_dup(a, delivery);
    return 0;
}

static int contains_parse(const struct json *doc, struct bundle_manifest *out, struct err *err)
{
    static const char at[] = "manifest.json.contains", bounds_at[] = "manifest.json.bounds";
    struct json *c, *b;
    if (json_need(doc, "contains", JSON_OBJECT, &c, where, err) != 0 ||
        json_need_bool(c, "job", &out->has_job, at, err) != 0 ||
        json_need_bool(c, "state", &out->has_state, at, err) != 0 ||
        json_need_bool(c, "captures", &out->has_captures, at, err) != 0 ||
        json_need_bool(c, "traces", &out->has_traces, at, err) != 0)
        return -1;
    if (json_need(doc, "bounds", JSON_OBJECT, &b, where, err) != 0 ||
        json_need_u64(b, "max_bytes", &out->max_bytes, bounds_at, err) != 0 ||
        json_need_u64(b, "max_files", &out->max_files, bounds_at, err) != 0 ||
        json_need_u64(b, "timeout_s", &out->timeout_s, bounds_at, err) != 0)
        return -1;
    return 0;
}

/* A form that this reader does not know would be state that nobody looks at. */
static bool form_known(const char *form)
{
    static const char *const forms[] = {FORM_FILE, FORM_CHANGELOG, FORM_ROCKSDB, FORM_REMOTE};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i], form) == 0)
            return true;
    return false;
}

static int by_subtask(const void *a, const void *b)
{
    const struct bundle_participant *x = a, *y = b;
    return x->subtask < y->subtask ? -1 : x->subtask > y->subtask;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int participants_parse(const struct json *sel, const char *at, struct arena *a, struct bundle_manifest *out,
                              struct err *err)
{
    struct json *list;
    if (list_of(sel, "participant_state", at, BUNDLE_ARTIFACTS_MAX, &list, err) != 0)
        return -1;
    out->participants = arena_alloc(a, (list->len + 1) * sizeof *out->participants);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char place[100];
        snprintf(place, sizeof place, "%s.participant_state[%zu]", at, i);
        if (json_need_u64(item, "subtask", &out->participants[i].subtask, place, err) != 0 ||
            json_need_str(item, "form", a, &out->participants[i].form, place, err) != 0)
            return -1;
        if (!form_known(out->participants[i].form))
            return err_set(err, ERR_REFUSED, "%s.form: '%.100s' is not known here", place, out->participants[i].form);
    }
    out->n_participants = list->len;
    qsort(out->participants, out->n_participants, sizeof *out->participants, by_subtask);
    return 0;
}

static int selection_parse(const struct json *doc, struct arena *a, struct bundle_manifest *out, struct err *err)
{
    static const char at[] = "manifest.json.selection";
    struct json *sel, *ops;
    if (json_need(doc, "selection", JSON_OBJECT, &sel, where, err) != 0 ||
        list_of(sel, "operators", at, BUNDLE_ARTIFACTS_MAX, &ops, err) != 0)
        return -1;
    out->operators = arena_alloc(a, (ops->len + 1) * sizeof *out->operators);
    const struct json *v = json_first(ops);
    for (size_t i = 0; i < ops->len; i++, v = json_next(ops, v)) {
        if (v->type != JSON_STRING || !evidence_operator_ok(out->operators[i] = arena_strndup(a, v->str, v->len)))
            return err_set(err, ERR_REFUSED, "%s.operators[%zu]: no operator id", at, i);
    }
    out->n_operators = ops->len;
    qsort(out->operators, out->n_operators, sizeof *out->operators, by_text);
    const struct json *epochs = json_get(sel, "epochs");
    if (!epochs)
        return need_given(sel, "epochs", at, err);
    if (epochs->type != JSON_NULL && (epochs->type != JSON_ARRAY || epochs->len != 2))
        return err_set(err, ERR_REFUSED, "%s.epochs: neither null nor two numbers", at);
    if (epochs->type == JSON_ARRAY) {
        if (!json_u64(json_at(epochs, 0), &out->first_epoch) || !json_u64(json_at(epochs, 1), &out->last_epoch))
            return err_set(err, ERR_REFUSED, "%s.epochs: neither null nor two numbers", at);
        out->has_epochs = true;
    }
    if (participants_parse(sel, at, a, out, err) != 0)
        return -1;
    if (notes_parse(sel, "excluded", "path", at, a, &out->excluded, &out->n_excluded, err) != 0)
        return -1;
    for (size_t i = 0; i < out->n_excluded; i++)
        if (!path_is_plain(out->excluded[i].what, strlen(out->excluded[i].what)))
            return err_set(err, ERR_REFUSED, "%s.excluded[%zu].path: not a plain relative path: '%.200s'", at, i,
                           out->excluded[i].what);
    return 0;
}

static int format_parse(const struct json *doc, struct arena *a, struct err *err)
{
    const char *format;
    uint64_t version;
    if (doc->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s: not an object", where);
    if (json_need_str(doc, "format", a, &format, where, err) != 0)
        return -1;
    if (strcmp(format, BUNDLE_FORMAT) != 0)
        return err_set(err, ERR_REFUSED, "%s.format: '%.100s' is not '%s'", where, format, BUNDLE_FORMAT);
    if (json_need_u64(doc, "version", &version, where, err) != 0)
        return -1;
    if (version != 1)
        return err_set(err, ERR_REFUSED, "%s.version: %" PRIu64 " is not known here, only 1", where, version);
    return 0;
}

/* A tree costs up to six times its text: a text of nothing but commas must not take a machine's memory. Commas and
 * opening brackets outside strings are never fewer than the values. */
size_t bundle_values(const char *p, size_t n)
{
    size_t values = 1;
    bool in_string = false;
    for (size_t i = 0; i < n; i++) {
        char c = p[i];
        if (c == '"')
            in_string = !in_string;
        else if (c == '\\' && in_string)
            i++;
        else if (!in_string && (c == ',' || c == '[' || c == '{'))
            values++;
    }
    return values;
}

int bundle_manifest_parse(const char *p, size_t n, struct arena *a, struct bundle_manifest *out, struct err *err)
{
    *out = (struct bundle_manifest){0};
    size_t values = bundle_values(p, n);
    if (values > BUNDLE_VALUES_MAX)
        return err_set(err, ERR_REFUSED, "%s: %zu values, the bound is %d", where, values, BUNDLE_VALUES_MAX);
    struct json *doc = json_parse_named(p, n, a, where, err);
    if (!doc || format_parse(doc, a, err) != 0 || job_parse(doc, a, out, err) != 0 ||
        checkpoint_parse(doc, a, out, err) != 0 || contains_parse(doc, out, err) != 0 ||
        artifacts_parse(doc, a, out, err) != 0 || captured_parse(doc, a, out, err) != 0 ||
        notes_parse(doc, "absent", "what", where, a, &out->absent, &out->n_absent, err) != 0)
        return -1;
    return selection_parse(doc, a, out, err);
}
