/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.decode: every state in the bundle read by the code that a restart uses,
 * and held against the place it lies at: a snapshot of another subtask or
 * checkpoint under this one's name would restore and be wrong.
 */
#include "bundle/state.h"
#include "bundle/marker.h"
#include "evidence/snapshot.h"
#include "evidence/changelog.h"
#include "json/redact.h"

#include <stdlib.h>
#include <string.h>

/* State of a later version, or of a kind that this build has no operator for, is not damaged: this build cannot read
 * it. */
static bool is_foreign(const char *p, size_t n)
{
    struct arena a = ARENA_INIT;
    const struct json *doc = json_parse(p, n, &a, NULL);
    uint64_t version = 0;
    const char *kind = NULL;
    bool foreign = json_is(json_get(doc, "format"), "owed-state") && json_u64(json_get(doc, "version"), &version) &&
                   (version > 1 ||
                    (json_need_str(doc, "kind", &a, &kind, "", NULL) == 0 && !snapshot_kind_known(kind)));
    arena_free(&a);
    return foreign;
}

/* What one state came to so far: all that it is made of, a file that is named twice counted twice. */
struct spent {
    size_t bytes, values;
};

static int spend(struct spent *s, const struct buf *text, const char *path, struct err *err)
{
    s->bytes += text->len;
    s->values += bundle_values(text->p ? text->p : "", text->len);
    if (s->bytes <= BUNDLE_STATE_MAX && s->values <= BUNDLE_VALUES_MAX)
        return 0;
    return err_set(err, ERR_BOUND, "'%s', with what it names, is larger than the bound, %zu bytes and %d values", path,
                   BUNDLE_STATE_MAX, BUNDLE_VALUES_MAX);
}

/* side: the sidecar that vouches for the document; NULL for a backend that keeps none. */
static void read_document(const struct bundle *b, const char *path, const struct bundle_place *at,
                          const struct buf *text, const struct sidecar *side, struct bundle_finding *f)
{
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct snapshot s;
    const char *p = text->p ? text->p : "";
    char sha[SHA256_HEX + 1];
    if (spend(&(struct spent){0, 0}, text, path, &err) != 0)
        bundle_fault_err(&f->unsupported, CODE_STATE_UNREADABLE, path, &err);
    else if (snapshot_parse(p, text->len, path, &arena, &s, &err) != 0)
        bundle_fault_err(is_foreign(p, text->len) ? &f->unsupported : &f->failed,
                         is_foreign(p, text->len) ? CODE_STATE_UNREADABLE : CODE_STATE_MALFORMED, path, &err);
    else if (strcmp(s.job, b->m.job) != 0)
        bundle_fault(&f->failed, BECAUSE(CODE_STATE_OTHER), path, "'%s' is of job '%s'", path, s.job);
    else if (s.subtask != at->subtask)
        bundle_fault(&f->failed, BECAUSE(CODE_STATE_OTHER), path, "'%s' is the state of subtask %" PRIu64, path,
                     s.subtask);
    else if (s.is_start != at->is_start)
        bundle_fault(&f->failed, BECAUSE(CODE_STATE_OTHER), path, "'%s' is %sthe start of a run", path,
                     s.is_start ? "" : "not ");
    else if ((s.is_start ? s.first_epoch : s.checkpoint) != at->id)
        bundle_fault(&f->failed, BECAUSE(CODE_STATE_OTHER), path, "'%s' is of %s %" PRIu64, path,
                     s.is_start ? "epoch" : "checkpoint", (s.is_start ? s.first_epoch : s.checkpoint));
    else if (side && side->checkpoint != s.checkpoint)
        bundle_fault(&f->failed, BECAUSE(CODE_STATE_OTHER), path,
                     "'%s' is of checkpoint %" PRIu64 ", its sidecar of %" PRIu64, path, s.checkpoint,
                     side->checkpoint);
    else {
        sha256_of(p, text->len, sha);
        bundle_remark(&f->used, path, "%s (%s version 1, subtask %" PRIu64 " at %s%" PRIu64 ", fingerprint %.16s)",
                      path, s.kind, s.subtask, s.is_start ? "the start of epoch " : "checkpoint ", at->id, sha);
    }
    arena_free(&arena);
}

/* ---- snapshots as files ---- */

/* A restart reads no snapshot without its sidecar, and neither does this. */
static void decode_file(const struct bundle *b, const char *path, struct bundle_finding *f)
{
    struct buf text = BUF_INIT, meta = BUF_INIT;
    struct err err = ERR_INIT;
    struct sidecar side;
    struct bundle_place at;
    buf_printf(&meta, "%s.meta", path);
    buf_str(&meta);
    if (!bundle_place(&b->m, path, &at))
        bundle_fault(&f->failed, BECAUSE(CODE_STATE_OTHER), path, "'%s' does not lie where state does", path);
    else if (!bundle_find(&b->m, meta.p))
        bundle_fault(&f->unavailable, BECAUSE(CODE_STATE_NOT_COLLECTED), path,
                     "'%s' has no sidecar in the bundle, and a restart reads none without", path);
    else if (bundle_read(b, path, BUNDLE_STATE_MAX, &text, &err) != 0)
        bundle_fault_err(err.kind == ERR_BOUND ? &f->unsupported : &f->failed,
                         err.kind == ERR_BOUND ? CODE_STATE_UNREADABLE : CODE_STATE_MALFORMED, path, &err);
    else if (bundle_sidecar(b, meta.p, &side, &err) != 0 ||
             sidecar_verify(&side, text.p ? text.p : "", text.len, path, &err) != 0)
        bundle_fault_err(&f->failed, CODE_STATE_MALFORMED, path, &err);
    else
        read_document(b, path, &at, &text, &side, f);
    buf_free(&text);
    buf_free(&meta);
}

/* ---- changelogs over files ---- */

static int read_materializations(const struct bundle *b, const char *where, const struct changelog *c,
                                 const struct state_root *root, struct spent *so_far, struct buf *texts,
                                 struct err *err)
{
    struct buf path = BUF_INIT, shown = BUF_INIT;
    int rc = 0;
    for (size_t i = 0; i < c->n_handles && rc == 0; i++) {
        const char *location = c->handles[i].location, *rel = changelog_rel(location, root);
        if (rel) {
            rc = bundle_read(b, bundle_state_path(&path, &b->m, rel), BUNDLE_STATE_MAX, &texts[i], err);
            if (rc == 0)
                rc = spend(so_far, &texts[i], where, err);
        } else {
            redact_text(&shown, location, strlen(location));
            rc = err_set(err, ERR_MISSING, "materialization '%.300s' lies outside the state root", buf_str(&shown));
        }
    }
    buf_free(&path);
    buf_free(&shown);
    return rc;
}

/* The root that the checkpoint's own marker names; without that marker, the bundle's. */
static void root_of(const struct bundle *b, uint64_t checkpoint, struct arena *a, struct state_root *root)
{
    struct marker marker;
    const char *where;
    *root = (struct state_root){ROOT_OWN, NULL};
    if (bundle_marker(b, checkpoint, a, &marker, &where, NULL) == 0 &&
        state_root_parse(marker.state_root, a, root, where, NULL) != 0)
        *root = (struct state_root){ROOT_OWN, NULL};
}

static void decode_changelog(const struct bundle *b, const char *path, struct bundle_finding *f)
{
    struct buf text = BUF_INIT, state = BUF_INIT, *texts = NULL;
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct changelog c = {0};
    struct state_root root;
    struct bundle_place at;
    struct spent so_far = {0, 0};
    int rc = bundle_place(&b->m, path, &at) ? bundle_read(b, path, BUNDLE_STATE_MAX, &text, &err)
                                            : err_set(&err, ERR_REFUSED, "'%s' does not lie where state does", path);
    if (rc == 0)
        rc = spend(&so_far, &text, path, &err);
    if (rc == 0)
        rc = changelog_parse(text.p ? text.p : "", text.len, path, &a, &c, &err);
    if (rc == 0) {
        texts = xcalloc(c.n_handles + 1, sizeof *texts);
        root_of(b, at.id, &a, &root);
        rc = read_materializations(b, path, &c, &root, &so_far, texts, &err);
    }
    if (rc == 0)
        rc = changelog_replay(&c, texts, path, &state, &err);
    if (rc == 0)
        read_document(b, path, &at, &state, NULL, f);
    else
        bundle_fault(
            err.kind == ERR_MISSING ? &f->unavailable
            : err.kind == ERR_BOUND ? &f->unsupported
                                    : &f->failed,
            err.cause.code != CODE_NONE ? &err.cause
                                        : BECAUSE(err.kind == ERR_BOUND ? CODE_STATE_UNREADABLE : CODE_STATE_MALFORMED),
            path, "%s%s%s", err.kind == ERR_MISSING ? path : "", err.kind == ERR_MISSING ? ": " : "", err.text);
    for (size_t i = 0; texts && i < c.n_handles; i++)
        buf_free(&texts[i]);
    free(texts);
    buf_free(&text);
    buf_free(&state);
    arena_free(&a);
}

/* ---- RocksDB ---- */

/* The artifacts of one checkpoint directory stand together: i is the first, the return the one past the last. */
static size_t decode_rocksdb(const struct bundle *b, size_t i, const char *scratch, struct bundle_finding *f)
{
    const char *path = b->m.artifacts[i].path;
    struct bundle_place at;
    struct buf dir = BUF_INIT, state = BUF_INIT;
    struct err err = ERR_INIT;
    if (!bundle_place(&b->m, path, &at) || !at.dir_len) {
        bundle_fault(&f->failed, BECAUSE(CODE_STATE_OTHER), path, "'%s' does not lie where state does", path);
        return i + 1;
    }
    buf_add(&dir, path, at.dir_len);
    buf_str(&dir);
    size_t end = i;
    while (end < b->m.n_artifacts && strncmp(b->m.artifacts[end].path, dir.p, dir.len) == 0 &&
           b->m.artifacts[end].path[dir.len] == '/')
        end++;
    if (!bundle_has_rocksdb())
        bundle_fault(&f->unsupported, BECAUSE(CODE_STATE_UNREADABLE), dir.p,
                     "'%s' was written by RocksDB, and this build has none", dir.p);
    else if (bundle_rocksdb_read(b, dir.p, scratch, &state, &err) == 0)
        read_document(b, dir.p, &at, &state, NULL, f);
    else
        bundle_fault_err(err.kind == ERR_TROUBLE ? &f->unavailable
                         : err.kind == ERR_BOUND ? &f->unsupported
                                                 : &f->failed,
                         err.kind == ERR_TROUBLE ? CODE_STATE_UNREAD
                         : err.kind == ERR_BOUND ? CODE_STATE_UNREADABLE
                                                 : CODE_STATE_MALFORMED,
                         dir.p, &err);
    buf_free(&dir);
    buf_free(&state);
    return end;
}

/* The artifact after the state that artifact i is, or begins. */
static size_t decode(const struct bundle *b, size_t i, const char *scratch, struct bundle_finding *f)
{
    const struct bundle_artifact *a = &b->m.artifacts[i];
    if (a->role == ROLE_ROCKSDB)
        return decode_rocksdb(b, i, scratch, f);
    if (a->role == ROLE_CHANGELOG)
        decode_changelog(b, a->path, f);
    else
        decode_file(b, a->path, f);
    return i + 1;
}

void bundle_check_state(const struct bundle *b, const char *scratch, const volatile int *stop, struct bundle_finding *f)
{
    const struct bundle_manifest *m = &b->m;
    bool any = false;
    for (size_t i = 0; i < m->n_artifacts;) {
        bool is_state = bundle_role_is_state(m->artifacts[i].role);
        if (stop && *stop) {
            bundle_fault(&f->unavailable, BECAUSE(CODE_INTERRUPTED), "manifest.json",
                         "interrupted before every state was read");
            return;
        }
        /* What a run started with is no state of a checkpoint: alone it does not make one that was looked at. */
        any = any || is_state;
        i = is_state || m->artifacts[i].role == ROLE_RUN_START ? decode(b, i, scratch, f) : i + 1;
    }
    for (size_t i = 0; i < m->n_participants; i++)
        if (strcmp(m->participants[i].form, FORM_REMOTE) == 0)
            bundle_fault(&f->unavailable, BECAUSE(CODE_STATE_REMOTE), "manifest.json",
                         "subtask %" PRIu64 "'s state lies in an object store", m->participants[i].subtask);
    if (!any && f->unavailable.total == 0)
        bundle_fault(&f->unavailable, BECAUSE(CODE_STATE_NOT_COLLECTED), "manifest.json", "the bundle holds no state");
}
