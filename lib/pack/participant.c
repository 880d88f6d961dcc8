/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant's checkpoint, as its backend wrote it: a snapshot with its
 * sidecar, a changelog with the files that its handles name, or a directory of
 * RocksDB's. Which it is, is what lies on disk.
 */
#include "pack/internal.h"
#include "base/walk.h"
#include "json/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHANGELOG_MAX ((size_t)256 << 20)

enum { HAS_SNAPSHOT = 1, HAS_SIDECAR = 2, HAS_CHANGELOG = 4, HAS_ROCKSDB = 8 };

struct place {
    struct buf snapshot, sidecar, changelog, rocksdb; /* "_state/…" */
};

static void place_init(struct place *at, const struct marker *m, uint64_t subtask)
{
    *at = (struct place){BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT};
    evidence_path_snapshot(&at->snapshot, m->job, m->generation, subtask, m->checkpoint);
    buf_printf(&at->sidecar, "%s.meta", at->snapshot.p);
    buf_str(&at->sidecar);
    evidence_path_changelog(&at->changelog, m->job, m->generation, subtask, m->checkpoint);
    evidence_path_rocksdb(&at->rocksdb, m->job, m->generation, subtask, m->checkpoint);
}

static void place_free(struct place *at)
{
    buf_free(&at->snapshot);
    buf_free(&at->sidecar);
    buf_free(&at->changelog);
    buf_free(&at->rocksdb);
}

/* 1 there, 0 not, -1 refused: a link, or a directory where a file belongs or the other way round. */
static int lies_there(struct pack *p, const char *rel, bool directory, struct err *err)
{
    struct err why = ERR_INIT;
    struct stat st;
    int fd = open_beneath(p->state, pack_state_rel(p, rel), O_PATH | O_NOFOLLOW, &why);
    if (fd < 0 && why.kind == ERR_MISSING)
        return 0;
    if (fd < 0) {
        *err = why;
        return -1;
    }
    int rc = fstat(fd, &st);
    close(fd);
    if (rc != 0)
        return err_sys(err, "cannot look at '%s'", rel);
    if (directory ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode))
        return 1;
    return err_set(err, ERR_REFUSED, "'%s' is no %s but a %s", rel, directory ? "directory" : "regular file",
                   walk_kind(st.st_mode));
}

static int look(struct pack *p, const struct place *at, int *has, struct err *err)
{
    const struct {
        const struct buf *path;
        int bit;
    } each[] = {{&at->snapshot, HAS_SNAPSHOT},
                {&at->sidecar, HAS_SIDECAR},
                {&at->changelog, HAS_CHANGELOG},
                {&at->rocksdb, HAS_ROCKSDB}};
    *has = 0;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        int there = lies_there(p, each[i].path->p, each[i].bit == HAS_ROCKSDB, err);
        if (there < 0)
            return -1;
        *has |= there ? each[i].bit : 0;
    }
    return 0;
}

static void absent_state(struct pack *p, const char *rel, const char *why)
{
    struct buf path = BUF_INIT;
    pack_absent(p, path_join(&path, p->state_prefix, pack_state_rel(p, rel)), why);
    buf_free(&path);
}

static const char gone[] = "not on disk: retention removed it, or it was never written";

static void take_file(struct pack *p, const struct place *at, bool selected, int has)
{
    enum bundle_role role = selected ? ROLE_SNAPSHOT : ROLE_INTERVAL_STATE;
    if (p->r->include_state && (selected || (has & HAS_SNAPSHOT)))
        pack_add_state(p, at->snapshot.p, role, selected)->listed = selected && (has & HAS_SNAPSHOT);
    else if (p->r->include_state)
        absent_state(p, at->snapshot.p, gone);
    if (selected || (has & HAS_SIDECAR))
        pack_add_state(p, at->sidecar.p, ROLE_SIDECAR, selected)->listed = selected && (has & HAS_SIDECAR);
    else
        absent_state(p, at->sidecar.p, gone);
}

/* ---- a changelog over files ---- */

static void absent_handle(struct pack *p, const struct place *at, const char *location, const char *why)
{
    struct buf what = BUF_INIT, shown = BUF_INIT;
    redact_text(&shown, location, strlen(location));
    buf_printf(&what, "materialization %s of %s/%s", buf_str(&shown), p->state_prefix,
               pack_state_rel(p, at->changelog.p));
    pack_absent(p, buf_str(&what), why);
    buf_free(&what);
    buf_free(&shown);
}

/* A handle names a file below the state root, which the bundle needs too; a file elsewhere no reader would find. */
static int take_handle(struct pack *p, const struct place *at, const char *location, bool selected, struct err *err)
{
    const char *below = changelog_rel(location, &p->root);
    if (!below) {
        absent_handle(p, at, location, "it lies outside of the state root, or in no materializations directory");
        return 0;
    }
    struct buf rel = BUF_INIT;
    buf_printf(&rel, "_state/%s", below);
    int there = lies_there(p, buf_str(&rel), false, err), rc = there < 0 ? -1 : 0;
    if (there == 0 && selected)
        rc = err_fail(err, ERR_MISSING, BECAUSE(CODE_PARTICIPANT_MISSING),
                      "materialization '%s', which '%s' names, is not on disk", below, at->changelog.p);
    else if (there == 0)
        absent_handle(p, at, location, gone);
    else if (there > 0 && !map_find(&p->materializations, rel.p, rel.len)) {
        map_add(&p->materializations, pack_kept(p, rel.p), rel.len, 0);
        pack_add_state(p, rel.p, ROLE_MATERIALIZATION, selected)->listed = true;
    }
    buf_free(&rel);
    return rc;
}

static int take_changelog(struct pack *p, const struct place *at, bool selected, struct err *err)
{
    struct buf text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct err why = ERR_INIT;
    struct changelog c;
    char sha[SHA256_HEX + 1];
    int rc = pack_read(p->state, pack_state_rel(p, at->changelog.p), CHANGELOG_MAX, &text, err);
    if (rc == 0) {
        struct pack_item *it = pack_add_state(p, at->changelog.p, ROLE_CHANGELOG, selected);
        sha256_of(text.p ? text.p : "", text.len, sha);
        it->sha256 = pack_kept(p, sha);
        it->listed = true;
    }
    /* A damaged one is evidence all the same; what reads the bundle says what is wrong with it. */
    if (rc == 0 && changelog_parse(text.p ? text.p : "", text.len, at->changelog.p, &a, &c, &why) != 0)
        absent_handle(p, at, "files", why.text);
    else
        for (size_t i = 0; rc == 0 && i < c.n_handles; i++)
            rc = take_handle(p, at, c.handles[i].location, selected, err);
    arena_free(&a);
    buf_free(&text);
    return rc;
}

/* ---- a RocksDB checkpoint ---- */

struct rocksdb {
    struct pack *p;
    const char *dir;
    bool required, has_current;
};

static void on_rocksdb(void *ctx, const char *path, const char *name, mode_t mode, int trouble)
{
    struct rocksdb *db = ctx;
    struct buf rel = BUF_INIT;
    path_join(&rel, db->dir, path);
    if (!pack_met(db->p, "the state root", rel.p, name, mode, trouble) && S_ISREG(mode)) {
        pack_add_state(db->p, rel.p, ROLE_ROCKSDB, db->required)->listed = true;
        db->has_current |= strcmp(path, "CURRENT") == 0;
    }
    buf_free(&rel);
}

static int take_rocksdb(struct pack *p, const struct place *at, bool selected, struct err *err)
{
    struct rocksdb db = {p, at->rocksdb.p, selected, false};
    int fd = open_beneath(p->state, pack_state_rel(p, at->rocksdb.p), O_RDONLY | O_DIRECTORY, err);
    if (fd < 0)
        return -1;
    walk(fd, "", on_rocksdb, &db);
    close(fd);
    if (p->failed.kind) {
        *err = p->failed;
        return -1;
    }
    if (db.has_current)
        return 0;
    if (selected)
        return err_fail(err, ERR_MISSING, BECAUSE(CODE_PARTICIPANT_MISSING),
                        "'%s' holds no CURRENT: it is no RocksDB checkpoint, or half of one", at->rocksdb.p);
    absent_state(p, at->rocksdb.p, "it holds no CURRENT");
    return 0;
}

/* ---- which ---- */

static int take(struct pack *p, const struct place *at, bool selected, int has, const char **form, struct err *err)
{
    bool file = has & (HAS_SNAPSHOT | HAS_SIDECAR), log = has & HAS_CHANGELOG, rocks = has & HAS_ROCKSDB;
    if (file + log + rocks > 1)
        return err_set(err, ERR_REFUSED,
                       "'%s' is one of two checkpoints of the same number there: which one counts cannot be told",
                       log ? at->changelog.p : at->rocksdb.p);
    *form = log ? FORM_CHANGELOG : rocks ? FORM_ROCKSDB : FORM_FILE;
    if (!has && selected)
        return err_fail(err, ERR_MISSING, BECAUSE(CODE_PARTICIPANT_MISSING),
                        "'%s' is not in '%s', and neither a changelog nor a RocksDB checkpoint is in its stead",
                        pack_state_rel(p, p->r->include_state ? at->snapshot.p : at->sidecar.p),
                        p->state == p->ckpt ? p->r->checkpoint_dir : p->root.path);
    if (!log && !rocks) {
        take_file(p, at, selected, has);
        return 0;
    }
    if (!p->r->include_state)
        return 0;
    return log ? take_changelog(p, at, selected, err) : take_rocksdb(p, at, selected, err);
}

int pack_participant(struct pack *p, const struct marker *m, uint64_t subtask, bool selected, const char **form,
                     struct err *err)
{
    const char *unused;
    int has, rc;
    if (p->root.kind == ROOT_REMOTE) {
        char what[100];
        snprintf(what, sizeof what, "state of subtask %" PRIu64 " at checkpoint %" PRIu64, subtask, m->checkpoint);
        pack_absent(p, what, "the marker's state root is in an object store or a remote tier");
        *(form ? form : &unused) = FORM_REMOTE;
        return 0;
    }
    struct place at;
    place_init(&at, m, subtask);
    rc = look(p, &at, &has, err);
    if (rc == 0)
        rc = take(p, &at, selected, has, form ? form : &unused, err);
    place_free(&at);
    return rc;
}
