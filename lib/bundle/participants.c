/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.participants: everybody that the marker names has its checkpoint in the bundle, as its backend wrote it.
 */
#include "bundle/marker.h"
#include "bundle/paths.h"
#include "stream/names.h"
#include "bundle/state.h"

#include <string.h>

int bundle_sidecar(const struct bundle *b, const char *meta, struct sidecar *out, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = bundle_read(b, meta, BUNDLE_SIDECAR_MAX, &text, err);
    if (rc == 0)
        rc = sidecar_parse(text.p ? text.p : "", text.len, meta, out, err);
    buf_free(&text);
    return rc;
}

/* With state the snapshot is held against its sidecar; without, the sidecar alone is read. */
static void check_file(const struct bundle *b, const char *snap, uint64_t subtask, struct bundle_finding *f)
{
    struct buf meta = BUF_INIT, text = BUF_INIT;
    struct err err = ERR_INIT;
    struct sidecar side;
    buf_printf(&meta, "%s.meta", snap);
    bundle_used(f, buf_str(&meta));
    if (bundle_sidecar(b, meta.p, &side, &err) != 0)
        bundle_fault_err(&f->failed, CODE_STATE_MALFORMED, meta.p, &err);
    else if (side.checkpoint != b->m.checkpoint)
        bundle_fault(&f->failed, BECAUSE(CODE_STATE_OTHER), meta.p,
                     "the sidecar of subtask %" PRIu64 " is of checkpoint %" PRIu64, subtask, side.checkpoint);
    else if (!b->m.has_state)
        bundle_remark(&f->notes, meta.p, "subtask %" PRIu64 " by its sidecar alone: the bundle holds no snapshots",
                      subtask);
    else if (bundle_read(b, snap, BUNDLE_STATE_MAX, &text, &err) != 0)
        bundle_fault_err(err.kind == ERR_BOUND ? &f->unsupported : &f->failed,
                         err.kind == ERR_BOUND ? CODE_STATE_UNREADABLE : CODE_STATE_MALFORMED, snap, &err);
    else if (sidecar_verify(&side, text.p ? text.p : "", text.len, snap, &err) != 0)
        bundle_fault_err(&f->failed, CODE_STATE_MALFORMED, snap, &err);
    else
        bundle_used(f, snap);
    buf_free(&meta);
    buf_free(&text);
}

/* A backend that keeps no sidecar: its checkpoint must be there, and state.decode reads it. */
static void check_listed(const struct bundle *b, const char *path, const char *form, uint64_t subtask,
                         struct bundle_finding *f)
{
    if (bundle_find(&b->m, path))
        bundle_used(f, path);
    else if (b->m.has_state)
        bundle_fault(&f->failed, BECAUSE(CODE_PARTICIPANT_MISSING), path,
                     "subtask %" PRIu64 " has no %s checkpoint in the bundle: '%s' is not listed", subtask, form, path);
    else
        bundle_fault(&f->unavailable, BECAUSE(CODE_STATE_NOT_COLLECTED), path,
                     "subtask %" PRIu64
                     "'s checkpoint was written by %s, which keeps no sidecar, and the bundle holds no state",
                     subtask, form);
}

static void check_participant(const struct bundle *b, uint64_t generation, uint64_t subtask, struct bundle_finding *f)
{
    const struct bundle_manifest *m = &b->m;
    const char *form = bundle_form_of(m, subtask);
    struct buf rel = BUF_INIT, path = BUF_INIT;
    if (strcmp(form, FORM_CHANGELOG) == 0) {
        bundle_state_path(&path, m, evidence_path_changelog(&rel, m->job, generation, subtask, m->checkpoint));
        check_listed(b, path.p, form, subtask, f);
    } else if (strcmp(form, FORM_ROCKSDB) == 0) {
        bundle_state_path(&path, m, evidence_path_rocksdb(&rel, m->job, generation, subtask, m->checkpoint));
        buf_adds(&path, "/CURRENT");
        check_listed(b, buf_str(&path), form, subtask, f);
    } else if (strcmp(form, FORM_REMOTE) == 0) {
        bundle_fault(&f->unavailable, BECAUSE(CODE_STATE_REMOTE), "manifest.json",
                     "subtask %" PRIu64 "'s checkpoint lies in an object store and is not in the bundle", subtask);
    } else {
        bundle_state_path(&path, m, evidence_path_snapshot(&rel, m->job, generation, subtask, m->checkpoint));
        check_file(b, path.p, subtask, f);
    }
    buf_free(&rel);
    buf_free(&path);
}

void bundle_check_participants(const struct bundle *b, struct bundle_finding *f)
{
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct marker marker;
    const char *where;
    if (bundle_marker(b, b->m.checkpoint, &a, &marker, &where, &err) != 0)
        bundle_fault(&f->unavailable,
                     BECAUSE(CODE_CHECK_NOT_PASSED, {"check", check_name_text(CHECK_CHECKPOINT_MARKER)}), where,
                     "no marker says who took part: %s", err.text);
    else
        for (size_t i = 0; i < marker.n_subtasks; i++)
            check_participant(b, marker.generation, marker.subtasks[i], f);
    bundle_used(f, where);
    arena_free(&a);
}
