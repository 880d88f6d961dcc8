/* SPDX-License-Identifier: Apache-2.0 */
/* The job's manifest and the checkpoint: chosen by the rule a restart uses, or named. */
#include "pack/internal.h"
#include "evidence/manifest.h"
#include "json/redact.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOB_MANIFEST_MAX ((size_t)16 << 20)
#define MARKER_MAX ((size_t)1 << 20)

/* The manifest goes into the bundle with its credentials taken out, so it is made here and not copied. */
static int job_manifest(struct pack *p, struct job_manifest *job, bool *has, struct err *err)
{
    static const char what[] = "job/manifest.json";
    struct buf text = BUF_INIT, name = BUF_INIT;
    struct err why = ERR_INIT;
    *has = false;
    if (!p->r->ha_dir) {
        pack_absent(p, what, "no --ha-dir was given");
        return 0;
    }
    int dir = open(p->r->ha_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_sys(err, "cannot open --ha-dir '%s'", p->r->ha_dir);
    buf_printf(&name, "job-%s.json", p->r->job);
    int rc = pack_read(dir, buf_str(&name), JOB_MANIFEST_MAX, &text, &why);
    close(dir);
    if (rc != 0 && why.kind == ERR_MISSING) {
        pack_absent(p, what, "the job has no manifest in --ha-dir: it has ended, or never ran there");
        rc = 0;
    } else if (rc != 0) {
        *err = why;
    } else {
        const char *own = arena_strndup(&p->a, text.p ? text.p : "", text.len);
        rc = job_manifest_parse(own, text.len, name.p, &p->a, job, err);
        if (rc == 0 && strcmp(job->job, p->r->job) != 0)
            rc = err_set(err, ERR_REFUSED, "%s is of job '%s', not '%s'", name.p, job->job, p->r->job);
        *has = rc == 0;
    }
    if (*has) {
        redact_operators(&p->job_text, job->document);
        buf_addc(&p->job_text, '\n');
    }
    buf_free(&text);
    buf_free(&name);
    return rc;
}

static int rule_of(struct pack *p, const struct job_manifest *job, bool has_job, struct err *err)
{
    int given = p->r->commit_confirmation,
        recorded = has_job && job->has_confirmation ? job->requires_commit_confirmation : -1;
    if (given >= 0 && recorded >= 0 && given != recorded)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_USAGE, {"option", "--commit-confirmation"}),
                        "--commit-confirmation=%s, and the job's manifest says %s", given ? "yes" : "no",
                        recorded ? "yes" : "no");
    int confirm = recorded >= 0 ? recorded : given;
    p->m.rule = confirm < 0 ? RULE_NONE : confirm ? RULE_CONFIRMED : RULE_COMPLETED;
    if (p->m.rule == RULE_NONE && !p->r->named)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_RESTORE_RULE_UNKNOWN),
                        "nothing says by which rule job '%s' restores: give --ha-dir while the job runs, "
                        "--commit-confirmation=yes|no, or --checkpoint",
                        p->r->job);
    return 0;
}

static int choose(struct pack *p, struct err *err)
{
    const struct markers *k = &p->markers;
    bool confirmed = p->m.rule == RULE_CONFIRMED;
    if (p->m.rule != RULE_NONE)
        p->m.has_choice = restore_point(k, confirmed, &p->m.choice);
    p->m.named = p->r->named;
    if (!p->r->named && !p->m.has_choice)
        return err_fail(err, ERR_MISSING, BECAUSE(CODE_CHECKPOINT_NOT_COMPLETED),
                        "job '%s' has no %s checkpoint to restore from", p->r->job,
                        confirmed ? "confirmed" : "completed");
    p->m.checkpoint = p->r->named ? p->r->checkpoint : p->m.choice;
    if (!markers_have(k, MARKER_COMPLETED, p->m.checkpoint))
        return err_fail(err, ERR_MISSING, BECAUSE(CODE_CHECKPOINT_NOT_COMPLETED),
                        "checkpoint %" PRIu64 " of job '%s' has no completion marker", p->m.checkpoint, p->r->job);
    return 0;
}

/* True where the named root is the checkpoint directory's own, by whatever path. */
static bool is_own_root(const struct pack *p, const char *path)
{
    struct stat own, named;
    return fstatat(p->ckpt, "_state", &own, AT_SYMLINK_NOFOLLOW) == 0 && stat(path, &named) == 0 &&
           own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

/* Where state is read, and where it goes: the checkpoint directory's own lies in the bundle as it does there, another
 * root of this machine is mirrored, and of one in a store there is nothing. */
static int open_state_root(struct pack *p, const char *rel, struct err *err)
{
    if (state_root_parse(p->marker.state_root, &p->a, &p->root, rel, err) != 0)
        return -1;
    if (p->root.kind == ROOT_REMOTE)
        return 0;
    if (p->root.kind == ROOT_OWN || is_own_root(p, p->root.path)) {
        p->state = p->ckpt;
        p->state_prefix = "checkpoint";
        p->m.state_root = "checkpoint/_state";
        return 0;
    }
    p->state = open(p->root.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->state < 0)
        return err_sys(err, "cannot open the state root '%.300s' that %s names", p->root.path, rel);
    struct buf mirror = BUF_INIT;
    buf_printf(&mirror, "checkpoint/_external/%s", p->r->job);
    p->m.state_root = p->state_prefix = pack_kept(p, buf_str(&mirror));
    buf_free(&mirror);
    return 0;
}

static int chosen_marker(struct pack *p, struct err *err)
{
    struct buf rel = BUF_INIT, text = BUF_INIT;
    evidence_path_marker(&rel, p->r->job, MARKER_COMPLETED, p->m.checkpoint);
    int rc = pack_read(p->ckpt, rel.p, MARKER_MAX, &text, err);
    if (rc == 0)
        rc = marker_parse(text.p ? text.p : "", text.len, rel.p, &p->a, &p->marker, err);
    if (rc == 0 && (strcmp(p->marker.job, p->r->job) != 0 || p->marker.checkpoint != p->m.checkpoint))
        rc = err_set(err, ERR_REFUSED, "%s is the marker of checkpoint %" PRIu64 " of job '%s'", rel.p,
                     p->marker.checkpoint, p->marker.job);
    if (rc == 0)
        rc = open_state_root(p, rel.p, err);
    char sha[SHA256_HEX + 1];
    sha256_of(text.p ? text.p : "", text.len, sha);
    p->marker_sha256 = pack_kept(p, sha);
    p->m.generation = p->marker.generation;
    p->m.subtasks = p->marker.subtasks;
    p->m.n_subtasks = p->marker.n_subtasks;
    buf_free(&rel);
    buf_free(&text);
    return rc;
}

int pack_choose(struct pack *p, struct err *err)
{
    struct job_manifest job = {0};
    bool has_job;
    if (markers_scan(p->ckpt, p->r->job, &p->a, &p->markers, err) != 0 || job_manifest(p, &job, &has_job, err) != 0 ||
        rule_of(p, &job, has_job, err) != 0 || choose(p, err) != 0 || chosen_marker(p, err) != 0)
        return -1;
    p->m.job = p->r->job;
    if (has_job) {
        p->m.has_job = true;
        p->m.job_manifest = "job/manifest.json";
        struct buf delivery = BUF_INIT;
        if (job.delivery) {
            redact_put(&delivery, job.delivery);
            p->m.delivery = arena_strndup(&p->a, delivery.p, delivery.len);
        }
        buf_free(&delivery);
    }
    return 0;
}
