/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.marker and checkpoint.restore_rule: the selected marker, and the rule over the bundle's own markers. */
#include "bundle/marker.h"
#include "evidence/changelog.h"
#include "json/redact.h"

#include <stdlib.h>
#include <string.h>

#define MARKER_MAX ((size_t)1 << 20)

int bundle_marker(const struct bundle *b, uint64_t checkpoint, struct arena *a, struct marker *out, const char **where,
                  struct err *err)
{
    struct buf rel = BUF_INIT, path = BUF_INIT, text = BUF_INIT;
    path_join(&path, "checkpoint", evidence_path_marker(&rel, b->m.job, MARKER_COMPLETED, checkpoint));
    *where = arena_strndup(a, path.p, path.len);
    int rc = bundle_read(b, *where, MARKER_MAX, &text, err);
    if (rc == 0)
        rc = marker_parse(text.p ? text.p : "", text.len, *where, a, out, err);
    buf_free(&rel);
    buf_free(&path);
    buf_free(&text);
    return rc;
}

/* The state root that a marker names, and where the bundle says that state lies. */
static void check_root(const struct bundle_manifest *m, const struct marker *marker, const char *where, struct arena *a,
                       struct bundle_faults *f)
{
    struct state_root root;
    struct err err = ERR_INIT;
    if (state_root_parse(marker->state_root, a, &root, where, &err) != 0) {
        bundle_fault_err(f, CODE_MARKER_MALFORMED, where, &err);
        return;
    }
    const char *named = root.kind == ROOT_OWN ? "its own" : marker->state_root;
    struct buf found = BUF_INIT;
    redact_text(&found, named, strlen(named));
    bool same = root.kind == ROOT_REMOTE  ? !m->state_root
                : root.kind == ROOT_LOCAL ? m->state_root != NULL
                                          : m->state_root && strcmp(m->state_root, "checkpoint/_state") == 0;
    if (!same)
        bundle_fault(f, BECAUSE(CODE_MARKER_OTHER), where, "the marker's state root is %.300s, the manifest's %s",
                     buf_str(&found), m->state_root ? m->state_root : "null");
    buf_free(&found);
}

void bundle_check_marker(const struct bundle *b, struct bundle_finding *f)
{
    const struct bundle_manifest *m = &b->m;
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct marker marker;
    const char *path;
    if (bundle_marker(b, m->checkpoint, &a, &marker, &path, &err) != 0) {
        bundle_fault_err(bundle_find(m, path) ? &f->failed : &f->unavailable,
                         bundle_find(m, path) ? CODE_MARKER_MALFORMED : CODE_MARKER_MISSING, path, &err);
    } else {
        if (strcmp(marker.job, m->job) != 0)
            bundle_fault(&f->failed, BECAUSE(CODE_MARKER_OTHER), path,
                         "the marker is of job '%s', the manifest of '%s'", marker.job, m->job);
        if (marker.checkpoint != m->checkpoint)
            bundle_fault(&f->failed, BECAUSE(CODE_MARKER_OTHER), path,
                         "the marker is of checkpoint %" PRIu64 ", the manifest of %" PRIu64, marker.checkpoint,
                         m->checkpoint);
        if (marker.generation != m->generation)
            bundle_fault(&f->failed, BECAUSE(CODE_MARKER_OTHER), path,
                         "the marker is of generation %" PRIu64 ", the manifest of %" PRIu64, marker.generation,
                         m->generation);
        if (marker.n_subtasks != m->n_subtasks ||
            (m->n_subtasks && memcmp(marker.subtasks, m->subtasks, m->n_subtasks * sizeof *m->subtasks) != 0))
            bundle_fault(&f->failed, BECAUSE(CODE_MARKER_OTHER), path,
                         "the marker's participants are not the manifest's");
        check_root(m, &marker, path, &a, &f->failed);
    }
    bundle_used(f, path);
    arena_free(&a);
}

/* ---- the restore rule ---- */

/* Markers are what lies at their names, whatever role the manifest gives them. */
void bundle_markers(const struct bundle_manifest *m, struct arena *a, struct markers *out)
{
    struct buf dir = BUF_INIT;
    buf_printf(&dir, "checkpoint/_jobs/%s/", m->job);
    buf_str(&dir);
    out->completed = arena_alloc(a, (m->n_artifacts + 1) * sizeof *out->completed);
    out->confirmed = arena_alloc(a, (m->n_artifacts + 1) * sizeof *out->confirmed);
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const char *path = m->artifacts[i].path;
        if (strncmp(path, dir.p, dir.len) != 0)
            continue;
        if (evidence_name_id(path + dir.len, "COMPLETED-", "", &out->completed[out->n_completed]))
            out->n_completed++;
        else if (evidence_name_id(path + dir.len, "CONFIRMED-", "", &out->confirmed[out->n_confirmed]))
            out->n_confirmed++;
    }
    markers_sort(out);
    buf_free(&dir);
}

int bundle_restored(const struct bundle *b, struct arena *a, struct restored *out, const char **where, struct err *err)
{
    struct buf rel = BUF_INIT, path = BUF_INIT, text = BUF_INIT;
    path_join(&path, "checkpoint", evidence_path_restored(&rel, b->m.job));
    *where = arena_strndup(a, path.p, path.len);
    int rc = 0;
    if (bundle_find(&b->m, *where))
        rc = bundle_read(b, *where, MARKER_MAX, &text, err) == 0 &&
                     restored_parse(text.p ? text.p : "", text.len, *where, a, out, err) == 0
                 ? 1
                 : -1;
    buf_free(&rel);
    buf_free(&path);
    buf_free(&text);
    return rc;
}

/* False where there is one that cannot be used. */
static bool read_restored(const struct bundle *b, struct arena *a, struct markers *out, struct bundle_finding *f)
{
    struct err err = ERR_INIT;
    const char *path;
    int rc = bundle_restored(b, a, &out->restored, &path, &err);
    if (rc == 1 && strcmp(out->restored.job, b->m.job) != 0)
        rc = err_set(&err, ERR_REFUSED, "'%s' is of job '%s'", path, out->restored.job);
    if (rc != 0)
        bundle_used(f, path);
    if (rc < 0)
        bundle_fault_err(&f->failed, CODE_MARKER_MALFORMED, path, &err);
    out->has_restored = rc == 1;
    return rc >= 0;
}

static void check_choice(const struct bundle_manifest *m, const struct markers *k, struct bundle_finding *f)
{
    uint64_t choice = 0;
    bool confirmed = m->rule == RULE_CONFIRMED, found = restore_point(k, confirmed, &choice);
    if (found != m->has_choice)
        bundle_fault(&f->failed, BECAUSE(CODE_RESTORE_RULE_DIFFERS), "manifest.json",
                     "the rule %s over the bundle's markers, the manifest records %s",
                     found ? "chooses a checkpoint" : "chooses none", m->has_choice ? "a choice" : "none");
    else if (found && choice != m->choice)
        bundle_fault(&f->failed, BECAUSE(CODE_RESTORE_RULE_DIFFERS), "manifest.json",
                     "the rule chooses %" PRIu64 " over the bundle's markers, the manifest records %" PRIu64, choice,
                     m->choice);
    if (confirmed)
        bundle_remark(&f->notes, "manifest.json",
                      "a takeover asks the sinks' systems about transactions in doubt and may move this "
                      "point; offline nothing says how far");
}

void bundle_check_restore_rule(const struct bundle *b, struct bundle_finding *f)
{
    struct arena a = ARENA_INIT;
    struct markers k = {0};
    bundle_used(f, "manifest.json");
    if (b->m.rule == RULE_NONE) {
        bundle_fault(&f->unavailable, BECAUSE(CODE_RESTORE_RULE_UNKNOWN), "manifest.json",
                     "the bundle does not say whether the job's sinks need commit confirmation");
    } else {
        bundle_markers(&b->m, &a, &k);
        if (read_restored(b, &a, &k, f))
            check_choice(&b->m, &k, f);
    }
    arena_free(&a);
}
