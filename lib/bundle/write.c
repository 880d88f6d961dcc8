/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest, written: one compact document, artifacts by path. */
#include "bundle/bundle.h"

#include <string.h>

static void checkpoint_put(struct json_w *w, const struct bundle_manifest *m)
{
    static const char *const rules[] = {NULL, "completed", "confirmed"};
    jw_obj(w, "checkpoint");
    jw_u64(w, "id", m->checkpoint);
    jw_str(w, "rule", rules[m->rule]);
    if (m->has_choice)
        jw_u64(w, "rule_choice", m->choice);
    else
        jw_null(w, "rule_choice");
    jw_bool(w, "named", m->named);
    jw_u64(w, "generation", m->generation);
    jw_arr(w, "subtasks");
    for (size_t i = 0; i < m->n_subtasks; i++)
        jw_u64(w, NULL, m->subtasks[i]);
    jw_end_arr(w);
    jw_str(w, "state_root", m->state_root);
    jw_end_obj(w);
}

static void artifacts_put(struct json_w *w, const struct bundle_manifest *m)
{
    jw_arr(w, "captured");
    for (size_t i = 0; i < m->n_captured; i++) {
        jw_obj(w, NULL);
        jw_str(w, "operator", m->captured[i].operator_id);
        jw_u64(w, "subtask", m->captured[i].subtask);
        jw_u64(w, "epoch", m->captured[i].epoch);
        jw_str(w, "path", m->captured[i].path);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_arr(w, "artifacts");
    for (size_t i = 0; i < m->n_artifacts; i++) {
        jw_obj(w, NULL);
        jw_str(w, "path", m->artifacts[i].path);
        jw_str(w, "role", bundle_role_name(m->artifacts[i].role));
        jw_u64(w, "bytes", m->artifacts[i].bytes);
        jw_str(w, "sha256", m->artifacts[i].sha256);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void notes_put(struct json_w *w, const char *name, const char *what, const struct bundle_note *at, size_t n)
{
    jw_arr(w, name);
    for (size_t i = 0; i < n; i++) {
        jw_obj(w, NULL);
        jw_str(w, what, at[i].what);
        jw_str(w, "why", at[i].why);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void selection_put(struct json_w *w, const struct bundle_manifest *m)
{
    jw_obj(w, "selection");
    jw_arr(w, "operators");
    for (size_t i = 0; i < m->n_operators; i++)
        jw_str(w, NULL, m->operators[i]);
    jw_end_arr(w);
    if (m->has_epochs) {
        jw_arr(w, "epochs");
        jw_u64(w, NULL, m->first_epoch);
        jw_u64(w, NULL, m->last_epoch);
        jw_end_arr(w);
    } else {
        jw_null(w, "epochs");
    }
    jw_arr(w, "participant_state");
    for (size_t i = 0; i < m->n_participants; i++) {
        jw_obj(w, NULL);
        jw_u64(w, "subtask", m->participants[i].subtask);
        jw_str(w, "form", m->participants[i].form);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    notes_put(w, "excluded", "path", m->excluded, m->n_excluded);
    jw_end_obj(w);
}

void bundle_manifest_put(struct buf *out, const struct bundle_manifest *m)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    jw_str(&w, "format", BUNDLE_FORMAT);
    jw_u64(&w, "version", 1);
    jw_obj(&w, "collector");
    jw_str(&w, "name", m->collector_name);
    jw_str(&w, "version", m->collector_version);
    jw_end_obj(&w);
    jw_obj(&w, "job");
    jw_str(&w, "id", m->job);
    jw_str(&w, "manifest", m->job_manifest);
    jw_end_obj(&w);
    checkpoint_put(&w, m);
    if (m->delivery)
        jw_raw(&w, "delivery", m->delivery, strlen(m->delivery));
    else
        jw_null(&w, "delivery");
    jw_obj(&w, "contains");
    jw_bool(&w, "job", m->has_job);
    jw_bool(&w, "state", m->has_state);
    jw_bool(&w, "captures", m->has_captures);
    jw_bool(&w, "traces", m->has_traces);
    jw_end_obj(&w);
    jw_obj(&w, "bounds");
    jw_u64(&w, "max_bytes", m->max_bytes);
    jw_u64(&w, "max_files", m->max_files);
    jw_u64(&w, "timeout_s", m->timeout_s);
    jw_end_obj(&w);
    artifacts_put(&w, m);
    notes_put(&w, "absent", "what", m->absent, m->n_absent);
    selection_put(&w, m);
    jw_end_obj(&w);
    buf_addc(out, '\n');
}
