/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interval evidence of a sink, read: what its interval's capture came to, the
 * destination as the sink's open found it, and the ledger of acknowledged
 * INSERTs.
 */
#include "evidence/interval.h"
#include "evidence/places.h"
#include "json/json.h"
#include "evidence/fields.h"

#include <string.h>

static const char *const outcome_names[] = {"written", "empty", "disarmed"};

const char *capture_outcome_name(enum capture_outcome o)
{
    return outcome_names[o];
}

static int outcome_parse(const char *name, const char *where, enum capture_outcome *out, struct err *err)
{
    for (unsigned i = 0; i < sizeof outcome_names / sizeof *outcome_names; i++) {
        if (strcmp(outcome_names[i], name) == 0) {
            *out = (enum capture_outcome)i;
            return 0;
        }
    }
    return err_set(err, ERR_REFUSED, "%s: capture.outcome '%.40s' is not known here", where, name);
}

static int capture_parse(const struct json *doc, const char *where, struct arena *a, struct interval *out,
                         struct err *err)
{
    struct json *c;
    const char *name;
    if (json_need(doc, "capture", JSON_OBJECT, &c, where, err) != 0 ||
        json_need_str(c, "outcome", a, &name, where, err) != 0 || outcome_parse(name, where, &out->outcome, err) != 0)
        return -1;
    if (json_need_u64(c, "seen", &out->seen, where, err) != 0 ||
        json_opt_u64(c, "stored", &out->stored, where, err) != 0 ||
        json_opt_bool(c, "truncated", &out->truncated, where, err) != 0)
        return -1;
    if (out->outcome == CAPTURE_DISARMED)
        return 0;
    if (json_need_u64(c, "stored", &out->stored, where, err) != 0 ||
        json_need_bool(c, "truncated", &out->truncated, where, err) != 0 ||
        json_need_str(c, "file", a, &out->file, where, err) != 0 ||
        json_need_u64(c, "bytes", &out->bytes, where, err) != 0 ||
        json_need_str(c, "sha256", a, &out->sha256, where, err) != 0)
        return -1;
    if (!path_is_plain(out->file, strlen(out->file)) || strchr(out->file, '/'))
        return err_set(err, ERR_REFUSED, "%s: capture.file is no plain name", where);
    if (!sha256_is_hex(out->sha256, strlen(out->sha256)))
        return err_set(err, ERR_REFUSED, "%s: capture.sha256 is not a SHA-256", where);
    if ((out->outcome == CAPTURE_EMPTY) != (out->seen == 0))
        return err_set(err, ERR_REFUSED, "%s: capture.outcome is '%s' with %" PRIu64 " seen", where, name, out->seen);
    return 0;
}

/* As text with what is known of each; members that nobody here reads may hold anything. */
static int columns_parse_text(const struct json *list, const char *where, struct arena *a, struct buf *out,
                              struct err *err)
{
    struct json_w w;
    jw_init(&w, out);
    jw_arr(&w, NULL);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char place[300];
        const char *name, *type, *from = NULL;
        snprintf(place, sizeof place, "%.200s.destination.columns[%zu]", where, i);
        if (json_need_str(item, "name", a, &name, place, err) != 0 ||
            json_need_str(item, "type", a, &type, place, err) != 0 ||
            json_opt_str(item, "from", a, &from, place, err) != 0)
            return -1;
        jw_obj(&w, NULL);
        jw_str(&w, "name", name);
        jw_str(&w, "type", type);
        if (from)
            jw_str(&w, "from", from);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    return 0;
}

int destination_parse(const struct json *doc, const char *where, struct arena *a, struct destination *d,
                      struct err *err)
{
    struct json *o, *columns;
    if (json_need(doc, "destination", JSON_OBJECT, &o, where, err) != 0)
        return -1;
    const struct {
        const char *name;
        const char **to;
    } f[] = {{"endpoint", &d->endpoint},
             {"server_uuid", &d->server_uuid},
             {"server_version", &d->server_version},
             {"database", &d->database},
             {"table", &d->table},
             {"table_uuid", &d->table_uuid},
             {"engine", &d->engine},
             {"engine_full", &d->engine_full},
             {"create_table_query", &d->create_table_query}};
    for (size_t i = 0; i < sizeof f / sizeof *f; i++)
        if (json_need_str(o, f[i].name, a, f[i].to, where, err) != 0)
            return -1;
    const struct {
        const char *name;
        const char **to;
    } opt[] = {{"server_host", &d->server_host},
               {"partition_key", &d->partition_key},
               {"dedup_window", &d->dedup_window},
               {"async_insert", &d->async_insert},
               {"wait_for_async_insert", &d->wait_for_async_insert}};
    for (size_t i = 0; i < sizeof opt / sizeof *opt; i++)
        if (json_opt_str(o, opt[i].name, a, opt[i].to, where, err) != 0)
            return -1;
    if (json_need(o, "columns", JSON_ARRAY, &columns, where, err) != 0)
        return -1;
    struct buf text = BUF_INIT;
    int rc = columns_parse_text(columns, where, a, &text, err);
    d->columns = arena_strndup(a, buf_str(&text), text.len);
    buf_free(&text);
    return rc;
}

int interval_members(const struct json *doc, const char *where, struct arena *a, struct interval *out, struct err *err)
{
    if (json_need_str(doc, "operator", a, &out->operator_id, where, err) != 0 ||
        json_need_u64(doc, "subtask", &out->subtask, where, err) != 0 ||
        json_need_u64(doc, "epoch", &out->epoch, where, err) != 0 ||
        json_need_u64(doc, "previous", &out->previous, where, err) != 0 ||
        json_need_str(doc, "attempt", a, &out->attempt, where, err) != 0)
        return -1;
    if (!evidence_operator_ok(out->operator_id))
        return err_set(err, ERR_REFUSED, "%s.operator: '%.100s' is no operator id", where, out->operator_id);
    if (out->epoch <= out->previous)
        return err_set(err, ERR_REFUSED, "%s: epoch %" PRIu64 " is not past the barrier before it, %" PRIu64, where,
                       out->epoch, out->previous);
    const struct json *mark = json_get(doc, "watermark");
    out->has_watermark = mark && mark->type != JSON_NULL;
    if ((out->has_watermark && json_need_i64(doc, "watermark", &out->watermark, where, err) != 0) ||
        capture_parse(doc, where, a, out, err) != 0 ||
        ledger_parse(doc, where, a, &out->ledger, &out->n_ledger, err) != 0)
        return -1;
    return 0;
}

int interval_parse(const char *p, size_t n, const char *where, struct arena *a, struct interval *out, struct err *err)
{
    *out = (struct interval){0};
    struct json *doc = json_parse_named(p, n, a, where, err);
    if (!doc || format_check(doc, "owed-sink-interval", where, a, err) != 0 ||
        json_need_str(doc, "job", a, &out->job, where, err) != 0 || interval_members(doc, where, a, out, err) != 0)
        return -1;
    return destination_parse(doc, where, a, &out->destination, err);
}
