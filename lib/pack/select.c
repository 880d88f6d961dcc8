/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to copy, in the order of need: the markers and what the selected
 * checkpoint needs; then, where asked for, the recorder's files, the state
 * around them, and traces.
 */
#include "pack/internal.h"
#include "base/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A long-lived job leaves more epochs than anybody reads a list of. */
#define EXCLUDED_MAX 1000

void *pack_grow(struct arena *a, void *at, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return at;
    size_t more = *cap ? *cap * 2 : 64;
    void *grown = arena_alloc(a, more * size);
    if (n > 0)
        memcpy(grown, at, n * size);
    *cap = more;
    return grown;
}

const char *pack_kept(struct pack *p, const char *s)
{
    return arena_strndup(&p->a, s, strlen(s));
}

void pack_id(struct pack *p, struct pack_ids *ids, uint64_t id)
{
    ids->at = pack_grow(&p->a, ids->at, ids->n, &ids->cap, sizeof *ids->at);
    ids->at[ids->n++] = id;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void pack_ids_sort(struct pack_ids *ids)
{
    size_t kept = 0;
    if (ids->n > 1)
        qsort(ids->at, ids->n, sizeof *ids->at, by_id);
    for (size_t i = 0; i < ids->n; i++)
        if (kept == 0 || ids->at[i] != ids->at[kept - 1])
            ids->at[kept++] = ids->at[i];
    ids->n = kept;
}

bool pack_ids_have(const struct pack_ids *ids, uint64_t id)
{
    return ids->n > 0 && bsearch(&id, ids->at, ids->n, sizeof id, by_id);
}

void pack_absent(struct pack *p, const char *what, const char *why)
{
    p->m.absent = pack_grow(&p->a, p->m.absent, p->m.n_absent, &p->cap_absent, sizeof *p->m.absent);
    p->m.absent[p->m.n_absent++] = (struct bundle_note){pack_kept(p, what), pack_kept(p, why)};
}

static void note_excluded(struct pack *p, const char *path, const char *why)
{
    p->m.excluded = pack_grow(&p->a, p->m.excluded, p->m.n_excluded, &p->cap_excluded, sizeof *p->m.excluded);
    p->m.excluded[p->m.n_excluded++] = (struct bundle_note){pack_kept(p, path), pack_kept(p, why)};
}

void pack_excluded(struct pack *p, const char *path, enum pack_out kind, const char *why)
{
    if (p->m.n_excluded < EXCLUDED_MAX)
        note_excluded(p, path, why);
    else
        p->uncounted[kind]++;
}

void pack_excluded_rest(struct pack *p)
{
    static const char *const of[OUT_KINDS] = {"outside the operators or epochs", "past --max-files", "past --max-bytes",
                                              "past what a manifest may list"};
    char why[80];
    for (size_t i = 0; i < OUT_KINDS; i++) {
        if (p->uncounted[i] == 0)
            continue;
        snprintf(why, sizeof why, "%" PRIu64 " more files %s", p->uncounted[i], of[i]);
        note_excluded(p, "capture", why);
    }
}

struct pack_item *pack_add(struct pack *p, int root, const char *prefix, const char *rel, enum bundle_role role,
                           bool required)
{
    struct buf dest = BUF_INIT;
    path_join(&dest, prefix, rel);
    p->items = pack_grow(&p->a, p->items, p->n_items, &p->cap_items, sizeof *p->items);
    p->items[p->n_items] = (struct pack_item){
        .root = root, .rel = pack_kept(p, rel), .dest = pack_kept(p, dest.p), .role = role, .required = required};
    buf_free(&dest);
    return &p->items[p->n_items++];
}

const char *pack_state_rel(const struct pack *p, const char *rel)
{
    return p->state == p->ckpt ? rel : rel + strlen("_state/");
}

struct pack_item *pack_add_state(struct pack *p, const char *rel, enum bundle_role role, bool required)
{
    return pack_add(p, p->state, p->state_prefix, pack_state_rel(p, rel), role, required);
}

int pack_read(int root, const char *rel, size_t max, struct buf *out, struct err *err)
{
    int fd = open_beneath(root, rel, O_RDONLY | O_NONBLOCK, err);
    if (fd < 0)
        return -1;
    struct stat st;
    int rc = fstat(fd, &st) != 0 ? err_sys(err, "cannot look at '%s'", rel)
             : !S_ISREG(st.st_mode)
                 ? err_set(err, ERR_REFUSED, "'%s' is no regular file but a %s", rel, walk_kind(st.st_mode))
                 : file_read_fd(fd, rel, max, out, err);
    close(fd);
    return rc;
}

bool pack_met(struct pack *p, const char *option, const char *path, const char *name, mode_t mode, int trouble)
{
    if (p->failed.kind || pack_alive(p, &p->failed) != 0)
        return true;
    if (trouble == ENOENT) {
        if (name[0] != '.')
            err_fail(&p->failed, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED), "'%s' of %s vanished while it was listed",
                     path, option);
    } else if (trouble) {
        err_set(&p->failed, ERR_TROUBLE, "cannot list '%s' of %s: %s", path, option, walk_trouble(trouble));
        p->failed.sys = trouble;
    } else if (!S_ISDIR(mode) && !S_ISREG(mode)) {
        err_set(&p->failed, ERR_REFUSED, "'%s' of %s is no regular file but a %s", path, option, walk_kind(mode));
    }
    return p->failed.kind != ERR_NONE;
}

/* ---- the checkpoint ---- */

static void select_markers(struct pack *p)
{
    const struct markers *k = &p->markers;
    struct buf rel = BUF_INIT;
    for (size_t i = 0; i < k->n_completed; i++) {
        evidence_path_marker(&rel, p->r->job, MARKER_COMPLETED, k->completed[i]);
        struct pack_item *it = pack_add(p, p->ckpt, "checkpoint", rel.p, ROLE_MARKER, true);
        it->listed = true;
        it->sha256 = k->completed[i] == p->m.checkpoint ? p->marker_sha256 : NULL;
    }
    for (size_t i = 0; i < k->n_confirmed; i++) {
        evidence_path_marker(&rel, p->r->job, MARKER_CONFIRMED, k->confirmed[i]);
        pack_add(p, p->ckpt, "checkpoint", rel.p, ROLE_CONFIRMED, true)->listed = true;
    }
    if (k->has_restored)
        pack_add(p, p->ckpt, "checkpoint", evidence_path_restored(&rel, p->r->job), ROLE_RESTORED, true)->listed = true;
    buf_free(&rel);
}

static int select_participants(struct pack *p, struct err *err)
{
    p->m.participants = arena_zalloc(&p->a, (p->m.n_subtasks + 1) * sizeof *p->m.participants);
    for (size_t i = 0; i < p->m.n_subtasks; i++) {
        struct bundle_participant *one = &p->m.participants[p->m.n_participants++];
        one->subtask = p->m.subtasks[i];
        if (pack_participant(p, &p->marker, one->subtask, true, &one->form, err) != 0)
            return -1;
    }
    return 0;
}

int pack_select(struct pack *p, struct err *err)
{
    select_markers(p);
    if (!p->r->include_state)
        pack_absent(p, "state", "collected without --include-state");
    if (select_participants(p, err) != 0)
        return -1;
    if (!p->r->include_captures)
        pack_absent(p, "captures", "collected without --include-captures");
    else if (pack_captures(p, err) != 0)
        return -1;
    return p->trace < 0 ? 0 : pack_traces(p, err);
}
