/* SPDX-License-Identifier: Apache-2.0 */
/* Interval evidence of a sink, written: the sink's own account of one interval. */
#include "evidence/barrier.h"
#include "evidence/interval.h"
#include "evidence/places.h"
#include "json/json.h"
#include "json/redact.h"
#include "evidence/fields.h"

#include <string.h>

void interval_set_capture(struct interval *iv, const struct left *capture, uint64_t sink_seen)
{
    iv->seen = sink_seen;
    iv->file = iv->sha256 = NULL;
    iv->bytes = iv->stored = 0;
    iv->truncated = false;
    if (!capture || capture->seen != sink_seen) {
        iv->outcome = CAPTURE_DISARMED;
        return;
    }
    const char *slash = strrchr(capture->file, '/');
    iv->outcome = sink_seen == 0 ? CAPTURE_EMPTY : CAPTURE_WRITTEN;
    iv->file = slash ? slash + 1 : capture->file;
    iv->sha256 = capture->sha256;
    iv->bytes = capture->bytes;
    iv->stored = capture->stored;
    iv->truncated = capture->truncated;
}

static void masked(struct json_w *w, const char *name, const char *text)
{
    jw_redacted(w, name, text ? text : "");
}

void capture_put(struct json_w *w, const struct interval *iv)
{
    jw_obj(w, "capture");
    jw_str(w, "outcome", capture_outcome_name(iv->outcome));
    if (iv->outcome != CAPTURE_DISARMED) {
        jw_str(w, "file", iv->file);
        jw_u64(w, "bytes", iv->bytes);
        jw_str(w, "sha256", iv->sha256);
    }
    jw_u64(w, "seen", iv->seen);
    if (iv->outcome != CAPTURE_DISARMED) {
        jw_u64(w, "stored", iv->stored);
        jw_bool(w, "truncated", iv->truncated);
    }
    jw_end_obj(w);
}

void destination_put(struct json_w *w, const struct destination *d)
{
    jw_obj(w, "destination");
    masked(w, "endpoint", d->endpoint);
    jw_str(w, "server_uuid", d->server_uuid);
    jw_str(w, "server_version", d->server_version);
    jw_str(w, "server_host", d->server_host);
    jw_str(w, "database", d->database);
    jw_str(w, "table", d->table);
    jw_str(w, "table_uuid", d->table_uuid);
    jw_str(w, "engine", d->engine);
    masked(w, "engine_full", d->engine_full);
    masked(w, "create_table_query", d->create_table_query);
    jw_str(w, "partition_key", d->partition_key);
    jw_str(w, "dedup_window", d->dedup_window);
    jw_str(w, "async_insert", d->async_insert);
    jw_str(w, "wait_for_async_insert", d->wait_for_async_insert);
    jw_raw(w, "columns", d->columns, strlen(d->columns));
    jw_end_obj(w);
}

void interval_put(struct buf *out, const struct interval *iv)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    jw_str(&w, "format", "owed-sink-interval");
    jw_u64(&w, "version", 1);
    jw_str(&w, "job", iv->job);
    jw_str(&w, "operator", iv->operator_id);
    jw_u64(&w, "subtask", iv->subtask);
    jw_u64(&w, "epoch", iv->epoch);
    jw_u64(&w, "previous", iv->previous);
    jw_str(&w, "attempt", iv->attempt);
    capture_put(&w, iv);
    if (iv->has_watermark)
        jw_i64(&w, "watermark", iv->watermark);
    else
        jw_null(&w, "watermark");
    destination_put(&w, &iv->destination);
    ledger_put(&w, iv->ledger, iv->n_ledger);
    jw_end_obj(&w);
    buf_addc(out, '\n');
}

int interval_write(const char *capture_dir, const struct interval *iv, struct arena *a, struct left *entry,
                   struct err *err)
{
    struct buf text = BUF_INIT, rel = BUF_INIT, path = BUF_INIT;
    char sha[SHA256_HEX + 1];
    interval_put(&text, iv);
    path_join(&path, capture_dir, evidence_path_interval(&rel, iv->operator_id, iv->subtask, iv->epoch));
    int rc = make_parent(path.p, err);
    if (rc == 0)
        rc = file_publish(path.p, text.p, text.len, err);
    if (rc == 0 && entry) {
        sha256_of(text.p, text.len, sha);
        *entry = (struct left){.operator_id = arena_strndup(a, iv->operator_id, strlen(iv->operator_id)),
                               .subtask = iv->subtask,
                               .kind = LEFT_INTERVAL,
                               .file = arena_strndup(a, rel.p, rel.len),
                               .bytes = text.len,
                               .sha256 = arena_strndup(a, sha, SHA256_HEX)};
    }
    buf_free(&text);
    buf_free(&rel);
    buf_free(&path);
    return rc;
}
