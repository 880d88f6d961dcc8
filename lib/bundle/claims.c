/* SPDX-License-Identifier: Apache-2.0 */
/* The checks that need the manifest alone: does it contradict itself, and does the list hold what it claims. */
#include "bundle/bundle.h"

#include <string.h>

static bool any_role(const struct bundle_manifest *m, enum bundle_role r)
{
    for (size_t i = 0; i < m->n_artifacts; i++)
        if (m->artifacts[i].role == r)
            return true;
    return false;
}

static bool any_state(const struct bundle_manifest *m)
{
    for (size_t i = 0; i < m->n_artifacts; i++)
        if (bundle_role_is_state(m->artifacts[i].role))
            return true;
    return false;
}

static void check_contains(const struct bundle_manifest *m, struct bundle_faults *f)
{
    const struct {
        bool said, found;
        const char *what;
    } c[] = {{m->has_job, m->job_manifest || any_role(m, ROLE_JOB_MANIFEST), "job"},
             {m->has_state, any_state(m), "state"},
             {m->has_captures, m->n_captured || any_role(m, ROLE_CAPTURE) || any_role(m, ROLE_INTERVAL), "captures"},
             {m->has_traces, any_role(m, ROLE_TRACE), "traces"}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (!c[i].said && c[i].found)
            bundle_fault(f, "manifest.json", "contains.%s is false and such artifacts are listed", c[i].what);
}

static void check_checkpoint(const struct bundle_manifest *m, struct bundle_faults *f)
{
    if (!m->named && (m->rule == RULE_NONE || !m->has_choice))
        bundle_fault(f, "manifest.json", "the checkpoint was not named and no restore rule chose it");
    if (!m->named && m->has_choice && m->choice != m->checkpoint)
        bundle_fault(f, "manifest.json", "the checkpoint is %ju and the restore rule chose %ju", (uintmax_t)m->checkpoint,
                     (uintmax_t)m->choice);
    if (m->has_choice && m->rule == RULE_NONE)
        bundle_fault(f, "manifest.json", "a restore choice without a rule");
    if (m->n_subtasks == 0)
        bundle_fault(f, "manifest.json", "the checkpoint has no participants");
    for (size_t i = 1; i < m->n_subtasks; i++)
        if (m->subtasks[i] <= m->subtasks[i - 1])
            bundle_fault(f, "manifest.json", "checkpoint.subtasks is not ascending");
    if (m->has_epochs && m->first_epoch > m->last_epoch)
        bundle_fault(f, "manifest.json", "selection.epochs runs backwards");
}

void bundle_check_manifest(const struct bundle *b, struct bundle_faults *f)
{
    const struct bundle_manifest *m = &b->m;
    uint64_t bytes = 0;
    check_checkpoint(m, f);
    check_contains(m, f);
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const struct bundle_artifact *a = &m->artifacts[i];
        if (!bundle_role_fits(a->role, a->path, m->job))
            bundle_fault(f, a->path, "'%s' cannot be a %s of job '%s'", a->path, bundle_role_name(a->role), m->job);
        bytes = bytes + a->bytes < bytes ? UINT64_MAX : bytes + a->bytes;
    }
    if (bytes > m->max_bytes)
        bundle_fault(f, "manifest.json", "%ju bytes are listed, past bounds.max_bytes %ju", (uintmax_t)bytes, (uintmax_t)m->max_bytes);
    if (m->n_artifacts > m->max_files)
        bundle_fault(f, "manifest.json", "%zu files are listed, past bounds.max_files %ju", m->n_artifacts, (uintmax_t)m->max_files);
    for (size_t i = 0; i < m->n_captured; i++) {
        const struct bundle_artifact *a = bundle_find(m, m->captured[i].path);
        if (a && a->role != ROLE_CAPTURE)
            bundle_fault(f, a->path, "captured '%s' is listed as %s", a->path, bundle_role_name(a->role));
        for (size_t j = i + 1; j < m->n_captured && m->n_captured < 2000; j++)
            if (strcmp(m->captured[i].path, m->captured[j].path) == 0)
                bundle_fault(f, m->captured[i].path, "captured '%s' stands twice", m->captured[i].path);
    }
}

static void need(const struct bundle_manifest *m, const char *path, const char *what, struct bundle_faults *f)
{
    if (!bundle_find(m, path))
        bundle_fault(f, path, "not listed: '%s', %s", path, what);
}

static bool is_file_form(const struct bundle_manifest *m, uint64_t subtask)
{
    for (size_t i = 0; i < m->n_participants; i++)
        if (m->participants[i].subtask == subtask)
            return strcmp(m->participants[i].form, "file") == 0;
    return true;
}

void bundle_check_completeness(const struct bundle *b, struct bundle_faults *f)
{
    const struct bundle_manifest *m = &b->m;
    struct buf rel = BUF_INIT, path = BUF_INIT;
    need(m, path_join(&path, "checkpoint", evidence_path_marker(&rel, m->job, MARKER_COMPLETED, m->checkpoint)),
         "the selected checkpoint's marker", f);
    for (size_t i = 0; i < m->n_subtasks; i++) {
        if (!is_file_form(m, m->subtasks[i]))
            continue;
        evidence_path_snapshot(&rel, m->job, m->generation, m->subtasks[i], m->checkpoint);
        path_join(&path, "checkpoint", rel.p);
        if (m->has_state)
            need(m, path.p, "a participant's snapshot", f);
        buf_adds(&path, ".meta");
        need(m, buf_str(&path), "a participant's sidecar", f);
    }
    if (m->has_job)
        need(m, "job/manifest.json", "which the manifest says it contains", f);
    for (size_t i = 0; i < m->n_captured; i++)
        need(m, m->captured[i].path, "a captured epoch", f);
    if (m->has_captures && m->n_captured == 0 && !any_role(m, ROLE_INTERVAL))
        bundle_fault(f, "manifest.json", "contains.captures is true and neither an epoch nor an interval's evidence is listed");
    if (m->has_traces && !any_role(m, ROLE_TRACE))
        bundle_fault(f, "manifest.json", "contains.traces is true and no trace is listed");
    buf_free(&rel);
    buf_free(&path);
}
