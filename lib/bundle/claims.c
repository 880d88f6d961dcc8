/* SPDX-License-Identifier: Apache-2.0 */
/* The checks that need the manifest alone: does it contradict itself, and does the list hold what it claims. */
#include "bundle/bundle.h"
#include "bundle/paths.h"
#include "evidence/places.h"

#include <stdlib.h>
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

static int by_subtask(const void *a, const void *b)
{
    const struct bundle_participant *x = a, *y = b;
    return x->subtask < y->subtask ? -1 : x->subtask > y->subtask;
}

const char *bundle_form_of(const struct bundle_manifest *m, uint64_t subtask)
{
    struct bundle_participant key = {subtask, NULL}, *p = NULL;
    if (m->n_participants > 0)
        p = bsearch(&key, m->participants, m->n_participants, sizeof key, by_subtask);
    return p ? p->form : FORM_FILE;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Subtasks that are not ascending are a fault of their own. */
static bool is_participant(const struct bundle_manifest *m, uint64_t subtask)
{
    return m->n_subtasks > 0 && bsearch(&subtask, m->subtasks, m->n_subtasks, sizeof subtask, by_id);
}

/* ---- bundle.manifest ---- */

static void check_contains(const struct bundle_manifest *m, struct bundle_faults *f)
{
    const struct {
        bool said, found;
        const char *what;
    } c[] = {{m->has_job, any_role(m, ROLE_JOB_MANIFEST), "job"},
             {m->has_state, any_state(m), "state"},
             {m->has_captures, m->n_captured || any_role(m, ROLE_CAPTURE) || any_role(m, ROLE_INTERVAL), "captures"},
             {m->has_traces, any_role(m, ROLE_TRACE), "traces"}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (!c[i].said && c[i].found)
            bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                         "contains.%s is false and such artifacts are listed", c[i].what);
    if (m->has_job != (m->job_manifest != NULL))
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "contains.job is %s and job.manifest is %s", m->has_job ? "true" : "false",
                     m->job_manifest ? "given" : "null");
}

static void check_checkpoint(const struct bundle_manifest *m, struct bundle_faults *f)
{
    if (!m->named && (m->rule == RULE_NONE || !m->has_choice))
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "the checkpoint was not named and no restore rule chose it");
    if (!m->named && m->has_choice && m->choice != m->checkpoint)
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "the checkpoint is %" PRIu64 " and the restore rule chose %" PRIu64, m->checkpoint, m->choice);
    if (m->has_choice && m->rule == RULE_NONE)
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json", "a restore choice without a rule");
    if (m->n_subtasks == 0)
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json", "the checkpoint has no participants");
    for (size_t i = 1; i < m->n_subtasks; i++)
        if (m->subtasks[i] <= m->subtasks[i - 1])
            bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                         "checkpoint.subtasks is not ascending");
    if (m->has_epochs && m->first_epoch > m->last_epoch)
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json", "selection.epochs runs backwards");
}

/* Every participant's form once, and nobody else's: the checks behind look for its state by it. */
static void check_forms(const struct bundle_manifest *m, struct bundle_faults *f)
{
    const struct bundle_participant *p = m->participants;
    bool same = m->n_participants == m->n_subtasks;
    for (size_t i = 0; i < m->n_participants; i++) {
        same = same && p[i].subtask == m->subtasks[i];
        if ((strcmp(p[i].form, FORM_REMOTE) == 0) != !m->state_root)
            bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                         "subtask %" PRIu64 "'s state is %s and checkpoint.state_root is %s", p[i].subtask, p[i].form,
                         m->state_root ? m->state_root : "null");
    }
    if (!same)
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "selection.participant_state does not name each of checkpoint.subtasks once and nobody else");
}

static void check_artifact(const struct bundle_manifest *m, const struct bundle_artifact *a, struct bundle_faults *f)
{
    struct bundle_place at;
    if (!bundle_role_fits(a->role, a->path, m->job)) {
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), a->path, "'%s' cannot be a %s of job '%s'", a->path,
                     bundle_role_name(a->role), m->job);
        return;
    }
    if (!bundle_place(m, a->path, &at)) {
        if (bundle_role_is_state(a->role) || a->role == ROLE_SIDECAR || a->role == ROLE_RUN_START)
            bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), a->path,
                         "'%s' does not lie under checkpoint.state_root", a->path);
        return;
    }
    if (a->role != ROLE_SNAPSHOT)
        return;
    if (at.generation != m->generation || at.id != m->checkpoint || !is_participant(m, at.subtask))
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), a->path,
                     "'%s' is listed as the state of checkpoint %" PRIu64 ", generation %" PRIu64, a->path,
                     m->checkpoint, m->generation);
    else if (strcmp(bundle_form_of(m, at.subtask), FORM_FILE) != 0)
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), a->path,
                     "'%s' is listed, and subtask %" PRIu64 "'s state is said to be %s", a->path, at.subtask,
                     bundle_form_of(m, at.subtask));
}

static int by_captured(const void *a, const void *b)
{
    return strcmp((*(const struct bundle_captured *const *)a)->path, (*(const struct bundle_captured *const *)b)->path);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool selects(const struct bundle_manifest *m, const struct bundle_captured *c)
{
    bool operator_selected = m->n_operators == 0 ||
                             bsearch(&c->operator_id, m->operators, m->n_operators, sizeof *m->operators, by_text);
    return operator_selected && (!m->has_epochs || (c->epoch >= m->first_epoch && c->epoch <= m->last_epoch));
}

static void check_captured(const struct bundle_manifest *m, struct bundle_faults *f)
{
    const struct bundle_captured **c = xmalloc((m->n_captured + 1) * sizeof *c);
    size_t listed = 0, captures = 0;
    for (size_t i = 0; i < m->n_captured; i++) {
        c[i] = &m->captured[i];
        const struct bundle_artifact *a = bundle_find(m, c[i]->path);
        if (a && a->role != ROLE_CAPTURE)
            bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), a->path, "captured '%s' is listed as %s", a->path,
                         bundle_role_name(a->role));
        if (!selects(m, c[i]))
            bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), c[i]->path, "captured '%s' is outside the selection",
                         c[i]->path);
    }
    qsort(c, m->n_captured, sizeof *c, by_captured);
    for (size_t i = 0; i < m->n_captured; i++) {
        if (i > 0 && strcmp(c[i - 1]->path, c[i]->path) == 0)
            bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), c[i]->path, "captured '%s' stands twice", c[i]->path);
        else if (bundle_find(m, c[i]->path))
            listed++;
    }
    for (size_t i = 0; i < m->n_artifacts; i++)
        captures += m->artifacts[i].role == ROLE_CAPTURE;
    if (captures > listed)
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "%zu captures are listed that are no captured epoch", captures - listed);
    free(c);
}

static void check_left_out(const struct bundle_manifest *m, struct bundle_faults *f)
{
    for (size_t i = 0; i < m->n_excluded; i++)
        if (bundle_find(m, m->excluded[i].what))
            bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), m->excluded[i].what,
                         "'%s' is listed, and excluded by the selection", m->excluded[i].what);
    for (size_t i = 0; i < m->n_absent; i++)
        if (bundle_find(m, m->absent[i].what))
            bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), m->absent[i].what,
                         "'%s' is listed, and recorded as absent", m->absent[i].what);
}

void bundle_check_manifest(const struct bundle *b, struct bundle_finding *finding)
{
    const struct bundle_manifest *m = &b->m;
    struct bundle_faults *f = &finding->failed;
    uint64_t bytes = 0;
    bundle_used(finding, "manifest.json");
    check_checkpoint(m, f);
    check_forms(m, f);
    check_contains(m, f);
    for (size_t i = 0; i < m->n_artifacts; i++) {
        check_artifact(m, &m->artifacts[i], f);
        bytes = bytes + m->artifacts[i].bytes < bytes ? UINT64_MAX : bytes + m->artifacts[i].bytes;
    }
    if (bytes > m->max_bytes)
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "%" PRIu64 " bytes are listed, past bounds.max_bytes %" PRIu64, bytes, m->max_bytes);
    if (m->n_artifacts > m->max_files)
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "%zu files are listed, past bounds.max_files %" PRIu64, m->n_artifacts, m->max_files);
    check_captured(m, f);
    check_left_out(m, f);
}

/* ---- bundle.completeness ---- */

static void need(const struct bundle_manifest *m, const char *path, const char *what, struct bundle_faults *f)
{
    if (!bundle_find(m, path))
        bundle_fault(f, BECAUSE(CODE_ARTIFACT_NOT_LISTED), path, "not listed: '%s', %s", path, what);
}

static void need_participant(const struct bundle_manifest *m, uint64_t subtask, struct bundle_faults *f)
{
    struct buf rel = BUF_INIT, path = BUF_INIT;
    const char *form = bundle_form_of(m, subtask);
    if (strcmp(form, FORM_FILE) == 0) {
        bundle_state_path(&path, m, evidence_path_snapshot(&rel, m->job, m->generation, subtask, m->checkpoint));
        if (m->has_state)
            need(m, path.p, "a participant's snapshot", f);
        buf_adds(&path, ".meta");
        need(m, buf_str(&path), "a participant's sidecar", f);
    } else if (m->has_state && strcmp(form, FORM_CHANGELOG) == 0) {
        need(m,
             bundle_state_path(&path, m, evidence_path_changelog(&rel, m->job, m->generation, subtask, m->checkpoint)),
             "a participant's changelog", f);
    } else if (m->has_state && strcmp(form, FORM_ROCKSDB) == 0) {
        bundle_state_path(&path, m, evidence_path_rocksdb(&rel, m->job, m->generation, subtask, m->checkpoint));
        buf_adds(&path, "/CURRENT");
        need(m, buf_str(&path), "of a participant's RocksDB checkpoint", f);
    }
    buf_free(&rel);
    buf_free(&path);
}

void bundle_check_completeness(const struct bundle *b, struct bundle_finding *finding)
{
    const struct bundle_manifest *m = &b->m;
    struct bundle_faults *f = &finding->failed;
    struct buf rel = BUF_INIT, path = BUF_INIT;
    bundle_used(finding, "manifest.json");
    need(m, path_join(&path, "checkpoint", evidence_path_marker(&rel, m->job, MARKER_COMPLETED, m->checkpoint)),
         "the selected checkpoint's marker", f);
    for (size_t i = 0; i < m->n_subtasks; i++)
        need_participant(m, m->subtasks[i], f);
    if (m->has_job)
        need(m, "job/manifest.json", "which the manifest says it contains", f);
    for (size_t i = 0; i < m->n_captured; i++)
        need(m, m->captured[i].path, "a captured epoch", f);
    if (m->has_state && !any_state(m))
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "contains.state is true and no state is listed");
    if (m->has_captures && m->n_captured == 0 && !any_role(m, ROLE_INTERVAL))
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "contains.captures is true and neither an epoch nor an interval's evidence is listed");
    if (m->has_traces && !any_role(m, ROLE_TRACE))
        bundle_fault(f, BECAUSE(CODE_MANIFEST_CONTRADICTS), "manifest.json",
                     "contains.traces is true and no trace is listed");
    for (size_t i = 0; i < m->n_absent; i++)
        bundle_remark(&finding->notes, "manifest.json", "recorded as absent: %s (%s)", m->absent[i].what,
                      m->absent[i].why);
    buf_free(&rel);
    buf_free(&path);
}
