/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State around the collected intervals: the checkpoints that bound each, the
 * restore point of the run, what a run started with, and the snapshot that an
 * epoch after a checkpoint without a marker starts from.
 */
#include "pack/internal.h"
#include "base/walk.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKER_MAX ((size_t)1 << 20)

/* The completed checkpoints next below and next at or above the epoch, and the restore point of a run that it is of. */
static void bound(struct pack *p, uint64_t epoch)
{
    const struct markers *k = &p->markers;
    size_t low = 0, high = k->n_completed;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (k->completed[mid] < epoch)
            low = mid + 1;
        else
            high = mid;
    }
    if (low > 0)
        pack_id(p, &p->ends, k->completed[low - 1]);
    if (low < k->n_completed)
        pack_id(p, &p->ends, k->completed[low]);
    if (k->has_restored && epoch >= k->restored.next && markers_have(k, MARKER_COMPLETED, k->restored.checkpoint))
        pack_id(p, &p->ends, k->restored.checkpoint);
}

static bool same_root(struct pack *p, const struct marker *m, const char *rel)
{
    struct state_root root;
    const char *own = p->marker.state_root, *its = m->state_root;
    if ((!own && !its) || (own && its && strcmp(own, its) == 0))
        return true;
    return p->root.kind == ROOT_LOCAL && state_root_parse(its, &p->a, &root, rel, NULL) == 0 &&
           root.kind == ROOT_LOCAL && strcmp(root.path, p->root.path) == 0;
}

/* A marker that cannot be read leaves its state out; the file itself is collected, and what reads it says what is
 * wrong. */
static int take_end(struct pack *p, uint64_t id, struct err *err)
{
    struct buf rel = BUF_INIT, text = BUF_INIT, what = BUF_INIT;
    struct err why = ERR_INIT;
    struct marker m = {0};
    evidence_path_marker(&rel, p->r->job, MARKER_COMPLETED, id);
    int rc = pack_read(p->ckpt, rel.p, MARKER_MAX, &text, &why);
    if (rc == 0)
        rc = marker_parse(text.p ? text.p : "", text.len, rel.p, &p->a, &m, &why);
    if (rc == 0 && (strcmp(m.job, p->r->job) != 0 || m.checkpoint != id))
        rc = err_set(&why, ERR_REFUSED, "%s is the marker of checkpoint %" PRIu64 " of job '%s'", rel.p, m.checkpoint,
                     m.job);
    if (rc == 0 && !same_root(p, &m, rel.p))
        rc = err_set(&why, ERR_REFUSED, "its marker names another state root than that of checkpoint %" PRIu64,
                     p->m.checkpoint);
    if (rc != 0) {
        buf_printf(&what, "state of checkpoint %" PRIu64, id);
        pack_absent(p, buf_str(&what), why.text);
        rc = 0;
    } else {
        for (size_t i = 0; rc == 0 && i < m.n_subtasks; i++)
            rc = pack_participant(p, &m, m.subtasks[i], false, NULL, err);
    }
    buf_free(&rel);
    buf_free(&text);
    buf_free(&what);
    return rc;
}

/* ---- what lies beside: starts of runs, and snapshots whose checkpoint never completed ---- */

struct beside {
    struct pack *p;
    struct buf dir; /* "_state/<job>/v<generation>" */
};

static void on_state(void *ctx, const char *path, const char *name, mode_t mode, int trouble)
{
    struct beside *b = ctx;
    struct pack *p = b->p;
    struct buf rel = BUF_INIT;
    uint64_t id;
    path_join(&rel, b->dir.p, path);
    if (pack_met(p, "the state root", pack_state_rel(p, rel.p), name, mode, trouble) || !S_ISREG(mode))
        goto done;
    bool start = evidence_name_id(name, "start-", ".snap", &id),
         start_side = evidence_name_id(name, "start-", ".snap.meta", &id);
    if ((start || start_side) && pack_wants_epoch(p, id))
        pack_add_state(p, rel.p, start ? ROLE_RUN_START : ROLE_SIDECAR, false)->listed = true;
    bool snap = evidence_name_id(name, "checkpoint-", ".snap", &id),
         side = evidence_name_id(name, "checkpoint-", ".snap.meta", &id);
    if ((snap || side) && id < UINT64_MAX && pack_ids_have(&p->starts, id + 1) &&
        !markers_have(&p->markers, MARKER_COMPLETED, id))
        pack_add_state(p, rel.p, snap ? ROLE_INTERVAL_STATE : ROLE_SIDECAR, false);
done:
    buf_free(&rel);
}

static int take_beside(struct pack *p, struct err *err)
{
    struct beside b = {p, BUF_INIT};
    struct err why = ERR_INIT;
    buf_printf(&b.dir, "_state/%s/v%" PRIu64, p->r->job, p->m.generation);
    int fd = open_beneath(p->state, pack_state_rel(p, buf_str(&b.dir)), O_RDONLY | O_DIRECTORY, &why), rc = 0;
    if (fd >= 0) {
        walk(fd, "", on_state, &b);
        close(fd);
        why = p->failed;
    }
    if (why.kind && why.kind != ERR_MISSING) {
        *err = why;
        rc = -1;
    }
    buf_free(&b.dir);
    return rc;
}

int pack_ends(struct pack *p, struct err *err)
{
    for (size_t i = 0; i < p->starts.n; i++)
        bound(p, p->starts.at[i]);
    pack_ids_sort(&p->ends);
    for (size_t i = 0; i < p->ends.n; i++)
        if (p->ends.at[i] != p->m.checkpoint && take_end(p, p->ends.at[i], err) != 0)
            return -1;
    return p->state < 0 ? 0 : take_beside(p, err);
}
