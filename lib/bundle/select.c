/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to copy: the markers and what the selected checkpoint needs; then, where
 * asked for, the recorder's files of the wanted epochs and the state at both
 * ends of each.
 */
#include "bundle/pack.h"
#include "bundle/walk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INTERVAL_MAX ((size_t)64 << 20)
#define MARKER_MAX ((size_t)1 << 20)
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

static const char *kept(struct pack *p, const char *s)
{
    return arena_strndup(&p->a, s, strlen(s));
}

void pack_absent(struct pack *p, const char *what, const char *why)
{
    for (size_t i = 0; i < p->m.n_absent; i++)
        if (strcmp(p->m.absent[i].what, what) == 0)
            return;
    p->m.absent = pack_grow(&p->a, p->m.absent, p->m.n_absent, &p->cap_absent, sizeof *p->m.absent);
    p->m.absent[p->m.n_absent++] = (struct bundle_note){kept(p, what), kept(p, why)};
}

void pack_excluded(struct pack *p, const char *path, const char *why)
{
    p->m.excluded = pack_grow(&p->a, p->m.excluded, p->m.n_excluded, &p->cap_excluded, sizeof *p->m.excluded);
    p->m.excluded[p->m.n_excluded++] = (struct bundle_note){kept(p, path), kept(p, why)};
}

void pack_add(struct pack *p, int root, const char *prefix, const char *rel, enum bundle_role role, bool required)
{
    struct buf dest = BUF_INIT;
    path_join(&dest, prefix, rel);
    p->items = pack_grow(&p->a, p->items, p->n_items, &p->cap_items, sizeof *p->items);
    p->items[p->n_items++] = (struct pack_item){.root = root, .rel = kept(p, rel), .dest = kept(p, dest.p), .role = role,
                                                .required = required};
    buf_free(&dest);
}

/* ---- the checkpoint ---- */

static void select_checkpoint(struct pack *p)
{
    const struct markers *k = &p->markers;
    struct buf rel = BUF_INIT;
    for (size_t i = 0; i < k->n_completed; i++)
        pack_add(p, p->ckpt, "checkpoint", evidence_path_marker(&rel, p->r->job, MARKER_COMPLETED, k->completed[i]), ROLE_MARKER, true);
    for (size_t i = 0; i < k->n_confirmed; i++)
        pack_add(p, p->ckpt, "checkpoint", evidence_path_marker(&rel, p->r->job, MARKER_CONFIRMED, k->confirmed[i]), ROLE_CONFIRMED, true);
    if (k->has_restored)
        pack_add(p, p->ckpt, "checkpoint", evidence_path_restored(&rel, p->r->job), ROLE_RESTORED, true);
    p->m.participants = arena_zalloc(&p->a, (p->m.n_subtasks + 1) * sizeof *p->m.participants);
    for (size_t i = 0; i < p->m.n_subtasks; i++) {
        evidence_path_snapshot(&rel, p->r->job, p->m.generation, p->m.subtasks[i], p->m.checkpoint);
        if (p->r->include_state)
            pack_add(p, p->ckpt, "checkpoint", rel.p, ROLE_SNAPSHOT, true);
        buf_adds(&rel, ".meta");
        pack_add(p, p->ckpt, "checkpoint", buf_str(&rel), ROLE_SIDECAR, true);
        p->m.participants[p->m.n_participants++] = (struct bundle_participant){p->m.subtasks[i], "file"};
    }
    buf_free(&rel);
}

/* ---- the recorder's files ---- */

static bool number(const char **s, const char *prefix, uint64_t *out)
{
    size_t n = strlen(prefix);
    if (strncmp(*s, prefix, n) != 0)
        return false;
    size_t len = strcspn(*s + n, "/");
    if (!scan_u64(*s + n, len, out))
        return false;
    *s += n + len + ((*s)[n + len] == '/');
    return true;
}

/* "op-3/subtask-0/epoch-12.cap" and its kin; false for anything else. */
static bool recognise(struct pack *p, const char *path, struct pack_found *f)
{
    uint64_t op;
    const char *rest = path;
    *f = (struct pack_found){.rel = kept(p, path)};
    if (!number(&rest, "op-", &op) || !number(&rest, "subtask-", &f->subtask))
        return false;
    struct buf id = BUF_INIT;
    buf_addu64(&id, op);
    f->operator_id = kept(p, buf_str(&id));
    buf_free(&id);
    if (evidence_name_id(rest, "epoch-", ".cap", &f->epoch))
        f->role = ROLE_CAPTURE;
    else if (evidence_name_id(rest, "epoch-", ".sink.json", &f->epoch))
        f->role = ROLE_INTERVAL;
    else if (strcmp(rest, "op.json") == 0)
        f->role = ROLE_OPERATOR;
    else
        return false;
    return true;
}

static void on_capture(void *ctx, const char *path, const char *name, mode_t mode, const char *trouble)
{
    struct pack *p = ctx;
    struct pack_found f;
    (void)name;
    if (p->failed.kind)
        return;
    if (trouble)
        err_set(&p->failed, ERR_TROUBLE, "cannot list '%s' of --capture-dir: %s", path, trouble);
    else if (S_ISLNK(mode))
        err_set(&p->failed, ERR_REFUSED, "'%s' of --capture-dir is a symbolic link", path);
    if (p->failed.kind || S_ISDIR(mode) || !recognise(p, path, &f))
        return;
    if (!S_ISREG(mode)) {
        err_set(&p->failed, ERR_REFUSED, "'%s' of --capture-dir is no regular file but a %s", path, walk_kind(mode));
        return;
    }
    p->found = pack_grow(&p->a, p->found, p->n_found, &p->cap_found, sizeof *p->found);
    p->found[p->n_found++] = f;
}

static void want_epoch(struct pack *p, uint64_t epoch)
{
    for (size_t i = 0; i < p->n_epochs; i++)
        if (p->epochs[i] == epoch)
            return;
    p->epochs = pack_grow(&p->a, p->epochs, p->n_epochs, &p->cap_epochs, sizeof *p->epochs);
    p->epochs[p->n_epochs++] = epoch;
}

static bool wants_epoch(const struct pack *p, uint64_t epoch)
{
    if (p->r->has_epochs)
        return epoch >= p->r->first_epoch && epoch <= p->r->last_epoch;
    for (size_t i = 0; i < p->n_epochs; i++)
        if (p->epochs[i] == epoch)
            return true;
    return false;
}

/* The barrier before an interval, from its evidence; false where that is not there or cannot be read. */
static bool previous_of(struct pack *p, const struct pack_found *sink, uint64_t epoch, uint64_t *previous)
{
    struct buf rel = BUF_INIT, text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct interval iv;
    evidence_path_interval(&rel, sink->operator_id, sink->subtask, epoch);
    int fd = open_beneath(p->capture, rel.p, O_RDONLY | O_NONBLOCK, NULL);
    bool ok = fd >= 0 && file_read_fd(fd, rel.p, INTERVAL_MAX, &text, NULL) == 0 &&
              interval_parse(text.p ? text.p : "", text.len, rel.p, &a, &iv, NULL) == 0;
    if (fd >= 0)
        close(fd);
    *previous = ok ? iv.previous : 0;
    buf_free(&rel);
    buf_free(&text);
    arena_free(&a);
    return ok;
}

/* The default window: the selected checkpoint's epoch and the next, a run restored from it, and back over every interval
 * that the checkpoint completed. */
static void window(struct pack *p)
{
    uint64_t at = p->m.checkpoint;
    want_epoch(p, at);
    want_epoch(p, at + 1);
    if (p->markers.has_restored && p->markers.restored.checkpoint == at)
        want_epoch(p, p->markers.restored.next);
    for (size_t i = 0; i < p->n_found; i++) {
        const struct pack_found *f = &p->found[i];
        uint64_t previous;
        if (f->role != ROLE_INTERVAL || f->epoch != at)
            continue;
        for (uint64_t e = at; previous_of(p, f, e, &previous) && previous != 0 && !markers_have(&p->markers, MARKER_COMPLETED, previous);
             e = previous)
            want_epoch(p, previous);
    }
}

static bool wants_operator(const struct pack *p, const char *id)
{
    for (size_t i = 0; i < p->r->n_operators; i++)
        if (strcmp(p->r->operators[i], id) == 0)
            return true;
    return p->r->n_operators == 0;
}

static void exclude(struct pack *p, const struct pack_found *f, const char *why, uint64_t *left_out)
{
    if (p->m.n_excluded >= EXCLUDED_MAX) {
        (*left_out)++;
        return;
    }
    struct buf path = BUF_INIT;
    pack_excluded(p, path_join(&path, "capture", f->rel), why);
    buf_free(&path);
}

static void add_found(struct pack *p, enum bundle_role role)
{
    for (size_t i = 0; i < p->n_found; i++) {
        const struct pack_found *f = &p->found[i];
        if (f->role != role || !f->wanted)
            continue;
        pack_add(p, p->capture, "capture", f->rel, role, false);
        if (role == ROLE_CAPTURE)
            p->items[p->n_items - 1].captured = (struct bundle_captured){f->operator_id, f->subtask, f->epoch, NULL};
    }
}

/* ---- state at both ends ---- */

static void add_once(struct pack *p, const char *rel, enum bundle_role role)
{
    for (size_t i = 0; i < p->n_items; i++)
        if (p->items[i].root == p->ckpt && strcmp(p->items[i].rel, rel) == 0)
            return;
    pack_add(p, p->ckpt, "checkpoint", rel, role, false);
}

static void bounding(struct pack *p, uint64_t epoch)
{
    const struct markers *k = &p->markers;
    uint64_t below = 0, above = 0;
    for (size_t i = 0; i < k->n_completed; i++) {
        if (k->completed[i] < epoch)
            below = k->completed[i];
        else if (above == 0)
            above = k->completed[i];
    }
    uint64_t ids[] = {below, above, k->has_restored && epoch >= k->restored.next ? k->restored.checkpoint : 0};
    struct buf rel = BUF_INIT, text = BUF_INIT;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct marker m;
        if (ids[i] == 0 || !markers_have(k, MARKER_COMPLETED, ids[i]))
            continue;
        buf_reset(&text);
        evidence_path_marker(&rel, p->r->job, MARKER_COMPLETED, ids[i]);
        int fd = open_beneath(p->ckpt, rel.p, O_RDONLY | O_NONBLOCK, NULL);
        bool ok = fd >= 0 && file_read_fd(fd, rel.p, MARKER_MAX, &text, NULL) == 0 &&
                  marker_parse(text.p ? text.p : "", text.len, rel.p, &p->a, &m, NULL) == 0;
        if (fd >= 0)
            close(fd);
        for (size_t s = 0; ok && s < m.n_subtasks; s++) {
            evidence_path_snapshot(&rel, p->r->job, m.generation, m.subtasks[s], ids[i]);
            add_once(p, rel.p, ROLE_INTERVAL_STATE);
            buf_adds(&rel, ".meta");
            add_once(p, buf_str(&rel), ROLE_SIDECAR);
        }
    }
    buf_free(&rel);
    buf_free(&text);
}

static void on_state(void *ctx, const char *path, const char *name, mode_t mode, const char *trouble)
{
    struct pack *p = ctx;
    uint64_t epoch;
    if (p->failed.kind)
        return;
    if (trouble)
        err_set(&p->failed, ERR_TROUBLE, "cannot list '%s' of --checkpoint-dir: %s", path, trouble);
    else if (S_ISLNK(mode))
        err_set(&p->failed, ERR_REFUSED, "'%s' of --checkpoint-dir is a symbolic link", path);
    else if (S_ISREG(mode) && evidence_name_id(name, "start-", ".snap", &epoch) && wants_epoch(p, epoch))
        pack_add(p, p->ckpt, "checkpoint", path, ROLE_RUN_START, false);
    else if (S_ISREG(mode) && evidence_name_id(name, "start-", ".snap.meta", &epoch) && wants_epoch(p, epoch))
        pack_add(p, p->ckpt, "checkpoint", path, ROLE_SIDECAR, false);
}

static int select_state(struct pack *p, struct err *err)
{
    struct buf dir = BUF_INIT;
    buf_printf(&dir, "_state/%s/v%ju", p->r->job, (uintmax_t)p->m.generation);
    walk(p->ckpt, buf_str(&dir), on_state, p);
    buf_free(&dir);
    if (p->failed.kind) {
        *err = p->failed;
        return -1;
    }
    uint64_t last = 0;
    for (size_t i = 0; i < p->n_found; i++) {
        const struct pack_found *f = &p->found[i];
        if (!f->wanted || f->role == ROLE_OPERATOR || f->epoch == last)
            continue;
        last = f->epoch;
        bounding(p, f->epoch);
    }
    return 0;
}

static int select_captures(struct pack *p, struct err *err)
{
    walk(p->capture, "", on_capture, p);
    if (p->failed.kind) {
        *err = p->failed;
        return -1;
    }
    if (!p->r->has_epochs)
        window(p);
    uint64_t left_out = 0;
    for (size_t i = 0; i < p->n_found; i++) {
        struct pack_found *f = &p->found[i];
        f->wanted = wants_operator(p, f->operator_id) && (f->role == ROLE_OPERATOR || wants_epoch(p, f->epoch));
        if (!f->wanted)
            exclude(p, f, wants_operator(p, f->operator_id) ? "outside the epochs" : "outside the operators", &left_out);
    }
    if (left_out > 0) {
        char why[80];
        snprintf(why, sizeof why, "%ju more files outside the operators or epochs", (uintmax_t)left_out);
        pack_excluded(p, "capture", why);
    }
    add_found(p, ROLE_OPERATOR);
    add_found(p, ROLE_INTERVAL);
    if (p->r->include_state && select_state(p, err) != 0)
        return -1;
    add_found(p, ROLE_CAPTURE);
    return 0;
}

static void on_trace(void *ctx, const char *path, const char *name, mode_t mode, const char *trouble)
{
    struct pack *p = ctx;
    size_t n = strlen(name);
    if (p->failed.kind)
        return;
    if (trouble)
        err_set(&p->failed, ERR_TROUBLE, "cannot list '%s' of --trace-dir: %s", path, trouble);
    else if (S_ISLNK(mode))
        err_set(&p->failed, ERR_REFUSED, "'%s' of --trace-dir is a symbolic link", path);
    else if (S_ISREG(mode) && strcmp(path, name) == 0 && n > 7 && strcmp(name + n - 7, ".ndjson") == 0)
        pack_add(p, p->trace, "traces", path, ROLE_TRACE, false);
}

int pack_select(struct pack *p, struct err *err)
{
    select_checkpoint(p);
    if (!p->r->include_state)
        pack_absent(p, "state", "collected without --include-state");
    if (!p->r->include_captures)
        pack_absent(p, "captures", "collected without --include-captures");
    else if (select_captures(p, err) != 0)
        return -1;
    if (p->trace < 0)
        return 0;
    walk(p->trace, "", on_trace, p);
    if (p->failed.kind) {
        *err = p->failed;
        return -1;
    }
    return 0;
}
