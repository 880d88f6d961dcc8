/* SPDX-License-Identifier: Apache-2.0 */
/* Retention: which checkpoints keep their snapshots, and removing the others. Markers are never touched. */
#include "evidence/ids.h"
#include "evidence/marker.h"
#include "evidence/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many completed checkpoints from id on stand: those that a restore passes over do not. */
static uint64_t standing(const struct markers *m, const struct restored *r, uint64_t id)
{
    size_t n = m->n_completed - ids_below(m->completed, m->n_completed, id);
    if (!r || r->next <= r->checkpoint)
        return n;
    uint64_t from = id > r->checkpoint ? id : r->checkpoint + 1;
    size_t first = ids_below(m->completed, m->n_completed, from),
           next = ids_below(m->completed, m->n_completed, r->next);
    return n - (next > first ? next - first : 0);
}

bool evidence_keeps(const struct markers *m, uint64_t retain, uint64_t id)
{
    const struct restored *r = m->has_restored ? &m->restored : NULL;
    uint64_t newer = standing(m, r, id + 1), own = r ? standing(m, r, r->next) : 0, newest = 0;
    for (size_t i = m->n_completed; i > 0 && newest == 0; i--)
        newest = restored_passes_over(r, m->completed[i - 1]) ? 0 : m->completed[i - 1];
    /* What is not older than the newest completed one may be a checkpoint on its way. */
    if (id >= newest)
        return true;
    /* The restore point outlives its turn until the restored run could stand on its own. */
    if (r && id == r->checkpoint && own < retain)
        return true;
    return markers_have(m, MARKER_COMPLETED, id) && !restored_passes_over(r, id) && newer < retain;
}

static int retain_in(const char *dir, const struct markers *m, uint64_t retain, struct err *err)
{
    DIR *d = opendir(dir);
    if (!d)
        return errno == ENOENT ? 0 : err_sys(err, "cannot list '%s'", dir);
    struct dirent *e;
    int rc = 0;
    while (rc == 0 && (e = readdir(d))) {
        uint64_t id;
        if (!evidence_name_id(e->d_name, "checkpoint-", ".snap", &id) &&
            !evidence_name_id(e->d_name, "checkpoint-", ".snap.meta", &id))
            continue;
        if (!evidence_keeps(m, retain, id) && unlinkat(dirfd(d), e->d_name, 0) != 0 && errno != ENOENT)
            rc = err_sys(err, "cannot remove '%s/%s'", dir, e->d_name);
    }
    closedir(d);
    return rc;
}

int evidence_retain(const char *ckpt_dir, const char *job, uint64_t generation, uint64_t retain, struct err *err)
{
    int fd = open(ckpt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", ckpt_dir);
    struct arena arena = ARENA_INIT;
    struct markers m;
    int rc = markers_scan(fd, job, &arena, &m, err);
    close(fd);
    if (rc == 0) {
        struct buf root = BUF_INIT, sub = BUF_INIT;
        buf_printf(&root, "%s/_state/%s/v%" PRIu64, ckpt_dir, job, generation);
        DIR *d = opendir(buf_str(&root));
        if (!d && errno != ENOENT)
            rc = err_sys(err, "cannot list '%s'", root.p);
        struct dirent *e;
        while (d && rc == 0 && (e = readdir(d)))
            if (e->d_name[0] >= '0' && e->d_name[0] <= '9')
                rc = retain_in(path_join(&sub, root.p, e->d_name), &m, retain, err);
        if (d)
            closedir(d);
        buf_free(&root);
        buf_free(&sub);
    }
    arena_free(&arena);
    return rc;
}
