/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of the profile `consistency`: the marker, the restore rule over
 * the bundle's own markers, the participants' checkpoints, and every snapshot
 * read by the code that a restart uses.
 */
#include "bundle/bundle.h"

#include <stdlib.h>
#include <string.h>

#define MARKER_MAX ((size_t)1 << 20)
#define STATE_MAX ((size_t)256 << 20)

void bundle_check_marker(const struct bundle *b, struct bundle_faults *f, struct buf *gap)
{
    const struct bundle_manifest *m = &b->m;
    struct buf rel = BUF_INIT, path = BUF_INIT, text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct marker marker;
    path_join(&path, "checkpoint", evidence_path_marker(&rel, m->job, MARKER_COMPLETED, m->checkpoint));
    if (!bundle_find(m, path.p)) {
        buf_printf(gap, "the marker '%s' is not in the bundle", path.p);
    } else if (bundle_read(b, path.p, MARKER_MAX, &text, &err) != 0 ||
               marker_parse(text.p ? text.p : "", text.len, path.p, &a, &marker, &err) != 0) {
        bundle_fault(f, path.p, "%s", err.text);
    } else {
        if (strcmp(marker.job, m->job) != 0)
            bundle_fault(f, path.p, "the marker is of job '%s', the manifest of '%s'", marker.job, m->job);
        if (marker.checkpoint != m->checkpoint)
            bundle_fault(f, path.p, "the marker is of checkpoint %ju, the manifest of %ju", (uintmax_t)marker.checkpoint,
                         (uintmax_t)m->checkpoint);
        if (marker.generation != m->generation)
            bundle_fault(f, path.p, "the marker is of generation %ju, the manifest of %ju", (uintmax_t)marker.generation,
                         (uintmax_t)m->generation);
        if (marker.n_subtasks != m->n_subtasks ||
            memcmp(marker.subtasks, m->subtasks, m->n_subtasks * sizeof *m->subtasks) != 0)
            bundle_fault(f, path.p, "the marker's participants are not the manifest's");
    }
    buf_free(&rel);
    buf_free(&path);
    buf_free(&text);
    arena_free(&a);
}

/* The ids of a role's markers that are listed. */
static size_t ids_of(const struct bundle_manifest *m, enum bundle_role role, const char *prefix, uint64_t *ids)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const char *name = strrchr(m->artifacts[i].path, '/');
        if (m->artifacts[i].role == role && name && evidence_name_id(name + 1, prefix, "", &ids[n]))
            n++;
    }
    return n;
}

void bundle_check_restore_rule(const struct bundle *b, struct bundle_faults *f, struct buf *gap)
{
    const struct bundle_manifest *m = &b->m;
    struct buf rel = BUF_INIT, path = BUF_INIT, text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct restored restored;
    if (m->rule == RULE_NONE) {
        buf_adds(gap, "the bundle does not say whether the job's sinks need commit confirmation");
        return;
    }
    path_join(&path, "checkpoint", evidence_path_restored(&rel, m->job));
    bool has = bundle_find(m, path.p) != NULL;
    if (has && (bundle_read(b, path.p, MARKER_MAX, &text, &err) != 0 ||
                restored_parse(text.p ? text.p : "", text.len, path.p, &a, &restored, &err) != 0)) {
        bundle_fault(f, path.p, "%s", err.text);
    } else {
        uint64_t *ids = xmalloc((m->n_artifacts + 1) * sizeof *ids), choice = 0;
        bool confirmed = m->rule == RULE_CONFIRMED;
        size_t n = ids_of(m, confirmed ? ROLE_CONFIRMED : ROLE_MARKER, confirmed ? "CONFIRMED-" : "COMPLETED-", ids);
        bool found = restore_choice(ids, n, has ? &restored : NULL, &choice);
        if (found != m->has_choice)
            bundle_fault(f, "manifest.json", "the rule %s over the bundle's markers, the manifest records %s",
                         found ? "chooses a checkpoint" : "chooses none", m->has_choice ? "a choice" : "none");
        else if (found && choice != m->choice)
            bundle_fault(f, "manifest.json", "the rule chooses %ju over the bundle's markers, the manifest records %ju",
                         (uintmax_t)choice, (uintmax_t)m->choice);
        free(ids);
    }
    buf_free(&rel);
    buf_free(&path);
    buf_free(&text);
    arena_free(&a);
}

/* Hold a snapshot against its sidecar; without state, the sidecar alone is read. */
static void check_participant(const struct bundle *b, uint64_t subtask, struct bundle_faults *f)
{
    const struct bundle_manifest *m = &b->m;
    struct buf rel = BUF_INIT, snap = BUF_INIT, meta = BUF_INIT, text = BUF_INIT, side_text = BUF_INIT;
    struct err err = ERR_INIT;
    struct sidecar side;
    path_join(&snap, "checkpoint", evidence_path_snapshot(&rel, m->job, m->generation, subtask, m->checkpoint));
    buf_printf(&meta, "%s.meta", snap.p);
    buf_str(&meta);
    if (bundle_read(b, meta.p, MARKER_MAX, &side_text, &err) != 0 ||
        sidecar_parse(side_text.p ? side_text.p : "", side_text.len, meta.p, &side, &err) != 0)
        bundle_fault(f, meta.p, "%s", err.text);
    else if (side.checkpoint != m->checkpoint)
        bundle_fault(f, meta.p, "the sidecar of subtask %ju is of checkpoint %ju", (uintmax_t)subtask, (uintmax_t)side.checkpoint);
    else if (m->has_state && (bundle_read(b, snap.p, STATE_MAX, &text, &err) != 0 ||
                              sidecar_verify(&side, text.p ? text.p : "", text.len, snap.p, &err) != 0))
        bundle_fault(f, snap.p, "%s", err.text);
    buf_free(&rel);
    buf_free(&snap);
    buf_free(&meta);
    buf_free(&text);
    buf_free(&side_text);
}

void bundle_check_participants(const struct bundle *b, struct bundle_faults *f, struct buf *gap)
{
    const struct bundle_manifest *m = &b->m;
    (void)gap;
    for (size_t i = 0; i < m->n_subtasks; i++)
        check_participant(b, m->subtasks[i], f);
}

static void decode(const struct bundle *b, const struct bundle_artifact *a, struct bundle_faults *f, struct bundle_faults *states)
{
    struct buf text = BUF_INIT;
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct snapshot s;
    if (bundle_read(b, a->path, STATE_MAX, &text, &err) != 0 ||
        snapshot_parse(text.p ? text.p : "", text.len, a->path, &arena, &s, &err) != 0)
        bundle_fault(f, a->path, "%s", err.text);
    else if (strcmp(s.job, b->m.job) != 0)
        bundle_fault(f, a->path, "'%s' is of job '%s'", a->path, s.job);
    else
        bundle_fault(states, a->path, "%s version 1, subtask %ju at %s%ju", s.kind, (uintmax_t)s.subtask,
                     s.is_start ? "the start of epoch " : "checkpoint ", (uintmax_t)(s.is_start ? s.first_epoch : s.checkpoint));
    buf_free(&text);
    arena_free(&arena);
}

void bundle_check_state(const struct bundle *b, struct bundle_faults *f, struct buf *gap, struct bundle_faults *states)
{
    const struct bundle_manifest *m = &b->m;
    size_t n = 0;
    for (size_t i = 0; i < m->n_artifacts; i++) {
        enum bundle_role r = m->artifacts[i].role;
        if (r != ROLE_SNAPSHOT && r != ROLE_INTERVAL_STATE && r != ROLE_RUN_START)
            continue;
        n++;
        decode(b, &m->artifacts[i], f, states);
    }
    if (n == 0)
        buf_adds(gap, "the bundle holds no state");
}
