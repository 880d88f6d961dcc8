/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder's files: which lie on disk, and which of them are wanted. */
#include "pack/internal.h"
#include "base/walk.h"
#include "evidence/interval.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INTERVAL_MAX ((size_t)64 << 20)
/* Barriers past the checkpoint that the default window reaches: two quiet ones show that nothing followed. */
#define BARRIERS_AFTER 2

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
    *f = (struct pack_found){0};
    if (!number(&rest, "op-", &op) || !number(&rest, "subtask-", &f->subtask))
        return false;
    if (evidence_name_id(rest, "epoch-", ".cap", &f->epoch))
        f->role = ROLE_CAPTURE;
    else if (evidence_name_id(rest, "epoch-", ".sink.json", &f->epoch))
        f->role = ROLE_INTERVAL;
    else if (strcmp(rest, "op.json") == 0)
        f->role = ROLE_OPERATOR;
    else
        return false;
    f->rel = pack_kept(p, path);
    f->operator_id = arena_strndup(&p->a, path + 3, strcspn(path + 3, "/"));
    return true;
}

static void on_capture(void *ctx, const char *path, const char *name, mode_t mode, int trouble)
{
    struct pack *p = ctx;
    struct pack_found f;
    if (pack_met(p, "--capture-dir", path, name, mode, trouble) || !S_ISREG(mode) || !recognise(p, path, &f))
        return;
    p->found = pack_grow(&p->a, p->found, p->n_found, &p->cap_found, sizeof *p->found);
    p->found[p->n_found++] = f;
}

/* ---- the epochs ---- */

bool pack_wants_epoch(const struct pack *p, uint64_t epoch)
{
    if (p->r->has_epochs)
        return epoch >= p->r->first_epoch && epoch <= p->r->last_epoch;
    return pack_ids_have(&p->epochs, epoch);
}

/* The barrier before an interval, from its evidence; false where that is not there or cannot be read. */
static bool previous_of(struct pack *p, const struct pack_found *sink, uint64_t epoch, uint64_t *previous)
{
    struct buf rel = BUF_INIT, text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct interval iv;
    evidence_path_interval(&rel, sink->operator_id, sink->subtask, epoch);
    bool ok = pack_read(p->capture, rel.p, INTERVAL_MAX, &text, NULL) == 0 &&
              interval_parse(text.p ? text.p : "", text.len, rel.p, &a, &iv, NULL) == 0;
    /* An interval that names itself or a later one as its previous would never come to an end. */
    ok = ok && iv.previous < epoch;
    *previous = ok ? iv.previous : 0;
    buf_free(&rel);
    buf_free(&text);
    arena_free(&a);
    return ok;
}

/* The first barriers from `from` on that a sink left evidence of. */
static void want_after(struct pack *p, uint64_t from)
{
    struct pack_ids later = {NULL, 0, 0};
    for (size_t i = 0; i < p->n_found; i++)
        if (p->found[i].role == ROLE_INTERVAL && p->found[i].epoch >= from)
            pack_id(p, &later, p->found[i].epoch);
    pack_ids_sort(&later);
    for (size_t i = 0; i < later.n && i < BARRIERS_AFTER; i++)
        pack_id(p, &p->epochs, later.at[i]);
}

/* The default window: the selected checkpoint's epoch, the next and the barriers after it, those of a run restored from
 * it, and back over every interval that the checkpoint completed. */
static void window(struct pack *p)
{
    uint64_t at = p->m.checkpoint;
    pack_id(p, &p->epochs, at);
    pack_id(p, &p->epochs, at + 1);
    want_after(p, at + 1);
    if (p->markers.has_restored && p->markers.restored.checkpoint == at) {
        pack_id(p, &p->epochs, p->markers.restored.next);
        want_after(p, p->markers.restored.next);
    }
    for (size_t i = 0; i < p->n_found; i++) {
        const struct pack_found *f = &p->found[i];
        uint64_t previous;
        if (f->role != ROLE_INTERVAL || f->epoch != at)
            continue;
        for (uint64_t e = at;
             previous_of(p, f, e, &previous) && previous != 0 && !markers_have(&p->markers, MARKER_COMPLETED, previous);
             e = previous)
            pack_id(p, &p->epochs, previous);
    }
    pack_ids_sort(&p->epochs);
}

/* ---- what is wanted ---- */

static bool wants_operator(const struct pack *p, const char *id)
{
    for (size_t i = 0; i < p->r->n_operators; i++)
        if (strcmp(p->r->operators[i], id) == 0)
            return true;
    return p->r->n_operators == 0;
}

static void choose_found(struct pack *p)
{
    struct buf path = BUF_INIT;
    for (size_t i = 0; i < p->n_found; i++) {
        struct pack_found *f = &p->found[i];
        bool operator= wants_operator(p, f->operator_id);
        f->wanted = operator&&(f->role == ROLE_OPERATOR || pack_wants_epoch(p, f->epoch));
        if (!f->wanted)
            pack_excluded(p, path_join(&path, "capture", f->rel),
                          OUT_SELECTION, operator? "outside the epochs" : "outside the operators");
        else if (f->role != ROLE_OPERATOR)
            pack_id(p, &p->starts, f->epoch);
    }
    pack_ids_sort(&p->starts);
    buf_free(&path);
}

static void add_found(struct pack *p, enum bundle_role role)
{
    for (size_t i = 0; i < p->n_found; i++) {
        const struct pack_found *f = &p->found[i];
        if (f->role != role || !f->wanted)
            continue;
        struct pack_item *it = pack_add(p, p->capture, "capture", f->rel, role, false);
        it->listed = true;
        if (role == ROLE_CAPTURE)
            it->captured = (struct bundle_captured){f->operator_id, f->subtask, f->epoch, NULL};
    }
}

int pack_captures(struct pack *p, struct err *err)
{
    walk(p->capture, "", on_capture, p);
    if (p->failed.kind) {
        *err = p->failed;
        return -1;
    }
    if (!p->r->has_epochs)
        window(p);
    choose_found(p);
    add_found(p, ROLE_OPERATOR);
    add_found(p, ROLE_INTERVAL);
    if (p->r->include_state && pack_ends(p, err) != 0)
        return -1;
    add_found(p, ROLE_CAPTURE);
    if (p->starts.n == 0)
        pack_absent(p, "captures", "no epoch of the selection lies in --capture-dir");
    return 0;
}
