/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A case, written: the epoch's capture, the operator's description, the state
 * that it starts from and what says so are copied from the bundle, the golden
 * rows are those of the replay, and the case is run where it was written before
 * it has its name.
 */
#include "json/redact.h"
#include "pack/temp.h"
#include "replay/case_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct freezing {
    struct replay *p;
    const struct replay_epoch *e;
    const struct replayed *r;
    const struct freeze_request *f;
    struct pack_temp t;
    struct case_file c;
    struct bundle_manifest m;
};

/* ---- what is frozen ---- */

static int choose(struct replay *p, struct err *err)
{
    const struct bundle_manifest *m = &p->b->m;
    replay_restores(p);
    replay_select(p);
    if (p->n_epochs == 0)
        return err_fail(err, ERR_REFUSED,
                        BECAUSE(m->has_captures ? CODE_EPOCHS_NOT_COLLECTED : CODE_CAPTURES_NOT_COLLECTED),
                        "the bundle holds no epoch %" PRIu64 " of operator %s that is replayed", p->r->epoch, p->r->op);
    if (p->n_epochs > 1)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_USAGE, {"option", "--subtask"}),
                        "epoch %" PRIu64 " of operator %s was captured in %zu subtasks: name one with --subtask",
                        p->r->epoch, p->r->op, p->n_epochs);
    return 0;
}

/* A case is kept and shared as its repository is: what is taken for a credential goes into none. */
static int no_credential(const struct replay_epoch *e, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct buf redacted = BUF_INIT, is = BUF_INIT, was = BUF_INIT;
    const struct json *doc = json_parse_named(e->op->text, strlen(e->op->text), &a, e->op->path, err), *without;
    int rc = doc ? 0 : -1;
    if (doc) {
        redact_operators(&redacted, doc);
        without = json_parse_named(buf_str(&redacted), redacted.len, &a, e->op->path, err);
        json_canonical(&was, doc);
        if (without)
            json_canonical(&is, without);
        if (!without || !buf_is(&is, was.p, was.len))
            rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_OPERATOR_REDACTED, {"operator", e->operator_id}),
                          "'%s' holds what is taken for a credential", e->op->path);
    }
    buf_free(&redacted);
    buf_free(&is);
    buf_free(&was);
    arena_free(&a);
    return rc;
}

/* ---- files ---- */

/* A new file in the case, its directories made; -1 on error. */
static int new_file(const struct freezing *z, const char *path, struct err *err)
{
    struct buf dir = BUF_INIT;
    int rc = 0;
    for (const char *slash = strchr(path, '/'); slash && rc == 0; slash = strchr(slash + 1, '/')) {
        buf_reset(&dir);
        buf_add(&dir, path, (size_t)(slash - path));
        rc = mkdirat(z->t.fd, buf_str(&dir), 0777) != 0 && faccessat(z->t.fd, dir.p, X_OK, AT_SYMLINK_NOFOLLOW) != 0
                 ? -1
                 : 0;
    }
    buf_free(&dir);
    int fd = rc == 0 ? openat(z->t.fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        err_sys(err, "cannot create '%s' of the case", path);
    return fd;
}

static int closed(int fd, const char *path, int rc, struct err *err)
{
    if (close(fd) != 0 && rc == 0)
        rc = err_sys(err, "cannot write '%s' of the case", path);
    return rc;
}

static int put_text(const struct freezing *z, const char *path, struct buf *text, struct err *err)
{
    int fd = new_file(z, path, err);
    int rc = fd < 0 ? -1 : closed(fd, path, fd_write_all(fd, text->p, text->len, path, err), err);
    buf_free(text);
    return rc;
}

/* A file of the bundle, as the manifest lists it, into the case's bundle at the same path. */
static int take(struct freezing *z, const char *path, enum bundle_role role, struct err *err)
{
    const struct bundle_artifact *listed;
    struct case_content is;
    struct buf at = BUF_INIT;
    int from = bundle_open_file(z->p->b, path, &listed, err);
    int to = from < 0 ? -1 : new_file(z, path_join(&at, CASE_BUNDLE, path), err);
    int rc = to < 0 ? -1 : closed(to, path, case_copy(from, to, path, &is, err), err);
    if (rc == 0 && (is.bytes != listed->bytes || strcmp(is.sha256, listed->sha256) != 0))
        rc = err_fail(err, ERR_CHANGED, BECAUSE(CODE_ARTIFACT_CHANGED), "'%s' is not what the manifest lists", path);
    if (rc == 0) {
        z->m.artifacts[z->m.n_artifacts] = *listed;
        z->m.artifacts[z->m.n_artifacts++].role = role;
    }
    if (from >= 0)
        close(from);
    buf_free(&at);
    return rc;
}

/* Where the epoch does not start from the checkpoint before it: what says which one it starts from. */
static int take_start(struct freezing *z, struct err *err)
{
    const struct bundle_manifest *m = &z->p->b->m;
    struct arena *a = &z->p->a;
    struct restored r;
    const char *path;
    uint64_t id;
    if (z->r->begin.from == z->e->epoch - 1)
        return 0;
    if (bundle_restored(z->p->b, a, &r, &path, NULL) == 1 && r.next == z->e->epoch)
        return take(z, path, ROLE_RESTORED, err);
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const char *name = strrchr(m->artifacts[i].path, '/');
        if (m->artifacts[i].role == ROLE_RUN_START && name && evidence_name_id(name + 1, "start-", ".snap", &id) &&
            id == z->e->epoch)
            return take(z, m->artifacts[i].path, ROLE_RUN_START, err);
    }
    return err_set(err, ERR_TROUBLE, "nothing in the bundle says what epoch %" PRIu64 " starts from", z->e->epoch);
}

static int put_bundle(struct freezing *z, struct err *err)
{
    const struct replay_epoch *e = z->e;
    struct bundle_captured captured = {e->operator_id, e->subtask, e->epoch, e->path};
    const char *op = e->operator_id;
    struct arena *a = &z->p->a;
    struct buf text = BUF_INIT;
    struct bundle_manifest *m = &z->m;
    *m = z->p->b->m;
    m->artifacts = arena_zalloc(a, 8 * sizeof *m->artifacts);
    m->n_artifacts = m->n_absent = m->n_excluded = 0;
    if (take(z, e->path, ROLE_CAPTURE, err) != 0 || take(z, e->op->path, ROLE_OPERATOR, err) != 0 ||
        (z->r->begin.path && take(z, z->r->begin.path, ROLE_INTERVAL_STATE, err) != 0) ||
        (z->r->begin.keeps_state && take_start(z, err) != 0))
        return -1;
    m->collector_name = "epoch-freeze";
    m->collector_version = OWED_VERSION;
    m->job_manifest = m->delivery = NULL;
    m->has_job = m->has_traces = m->has_choice = false;
    m->has_state = z->r->begin.path != NULL;
    m->has_captures = m->has_epochs = m->named = true;
    m->rule = RULE_NONE;
    m->captured = &captured;
    m->n_captured = 1;
    m->operators = &op;
    m->n_operators = 1;
    m->first_epoch = m->last_epoch = e->epoch;
    bundle_manifest_sort(m);
    bundle_manifest_put(&text, m);
    sha256_of(text.p, text.len, z->c.manifest_sha256);
    return put_text(z, CASE_BUNDLE "/manifest.json", &text, err);
}

static int put_golden(struct freezing *z, struct err *err)
{
    int fd = new_file(z, CASE_GOLDEN, err);
    return fd < 0 ? -1 : closed(fd, CASE_GOLDEN, case_copy(z->r->out[0], fd, CASE_GOLDEN, &z->c.golden, err), err);
}

/* ---- what a person reads, and what runs it ---- */

static void put_test(struct buf *out, const struct case_file *c)
{
    buf_printf(out,
               "#!/usr/bin/env bats\n"
               "# SPDX-License-Identifier: Apache-2.0\n"
               "# Written by epoch-freeze(1): the case beside it, run.\n"
               "\n"
               "@test \"operator %s, subtask %" PRIu64 ", epoch %" PRIu64 ": the replay gives the golden rows\" {\n"
               "    PATH=${OWED_BIN:+$OWED_BIN:}$PATH\n"
               "    epoch-run \"$BATS_TEST_DIRNAME\"\n"
               "}\n",
               c->operator_id, c->subtask, c->epoch);
}

static void put_readme(struct buf *out, const struct freezing *z)
{
    const struct case_file *c = &z->c;
    buf_printf(out, "A regression case (owed-case(5)): epoch %" PRIu64 " of operator %s, a ", c->epoch, c->operator_id);
    msg_mask(out, z->e->op->spec.kind, strlen(z->e->op->spec.kind));
    buf_printf(out, ", subtask %" PRIu64 ", of job %s.\n", c->subtask, c->job);
    if (z->r->begin.path)
        buf_printf(out, "It starts from the operator's state at checkpoint %" PRIu64 ".\n", z->r->begin.from);
    else
        buf_adds(out, "It starts from no state.\n");
    buf_printf(out,
               "The replay gave %" PRIu64 " rows, which are the golden ones; whether the job handed on the same, "
               "epoch-replay(1) says of the bundle that this was frozen from.\n\n"
               "    epoch-run DIR    exits with 0 where this build gives them too, with 1 where it does not\n"
               "    bats DIR         the same, as a test\n\n"
               "It holds records of the job, and its state.\n",
               c->golden.lines);
}

static int put_all(struct freezing *z, struct err *err)
{
    struct buf text = BUF_INIT;
    if (put_bundle(z, err) != 0 || put_golden(z, err) != 0)
        return -1;
    case_put(&text, &z->c);
    if (put_text(z, CASE_JSON, &text, err) != 0)
        return -1;
    put_test(&text, &z->c);
    if (put_text(z, CASE_TEST, &text, err) != 0)
        return -1;
    put_readme(&text, z);
    return put_text(z, CASE_README, &text, err);
}

/* ---- the run ---- */

/* Evidence is not written into: a case that lies in its bundle would be a file that the manifest does not list. */
static int outside(const struct bundle *b, const char *out, struct err *err)
{
    struct buf parent = BUF_INIT;
    struct stat bundle, here, above;
    size_t n = strlen(out);
    while (n > 1 && out[n - 1] == '/')
        n--;
    while (n > 0 && out[n - 1] != '/')
        n--;
    buf_add(&parent, n > 0 ? out : ".", n > 0 ? n : 1);
    int rc = 0, fd = open(buf_str(&parent), O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool top = fd < 0 || fstat(b->fd, &bundle) != 0 || fstat(fd, &here) != 0; /* what is not there cannot be written */
    while (!top && rc == 0) {
        if (here.st_dev == bundle.st_dev && here.st_ino == bundle.st_ino)
            rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_USAGE, {"option", "--out"}),
                          "--out=%s lies in the bundle, which is evidence and is not written into", out);
        int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = up;
        top = fd < 0 || fstat(fd, &above) != 0 || (above.st_dev == here.st_dev && above.st_ino == here.st_ino);
        here = above;
    }
    if (fd >= 0)
        close(fd);
    buf_free(&parent);
    return rc;
}

/* A case that this build does not pass is never handed on. */
static int prove(const struct freezing *z, struct err *err)
{
    struct case_run run;
    int rc = case_run(z->t.path.p, z->p->r, &run, err);
    const struct replay_answer *bad = run.determinism.status != STATUS_PASSED ? &run.determinism : &run.golden;
    if (rc == 0 && bad->status != STATUS_PASSED)
        rc = err_fail(err, ERR_REFUSED, &bad->cause, "the case does not pass where it was written: %.*s",
                      (int)(bad->reason.len < 800 ? bad->reason.len : 800), bad->reason.p ? bad->reason.p : "");
    case_run_free(&run);
    return rc;
}

static int write_case(struct freezing *z, struct buf *note, struct err *err)
{
    static const char *const ours[] = {CASE_BUNDLE, CASE_GOLDEN, CASE_JSON, CASE_TEST, CASE_README, NULL};
    int rc = pack_temp_make(&z->t, z->f->out, ours, note, err);
    if (rc == 0)
        rc = put_all(z, err);
    if (rc == 0)
        rc = prove(z, err);
    if (rc == 0)
        rc = pack_temp_publish(&z->t, err);
    bool published = rc == 0;
    if (rc == 0)
        rc = dir_sync(z->t.parent.p, err);
    pack_temp_end(&z->t, published);
    return rc;
}

int case_freeze(const struct bundle *b, const struct freeze_request *f, const volatile int *stop, struct frozen *out,
                struct err *err)
{
    struct replay p = {.b = b, .r = &f->r, .stop = stop, .a = ARENA_INIT};
    struct replayed r = {.out = {-1, -1}};
    *out = (struct frozen){.note = BUF_INIT, .arena = ARENA_INIT};
    int rc = outside(b, f->out, err) == 0 ? choose(&p, err) : -1;
    if (rc == 0) {
        replay_drive(&p, p.epochs, &r);
        replay_answer_one(&p, &r.is, &out->arena, &out->determinism);
        if (r.is.is != REPLAY_PASSED)
            rc = err_fail(err, r.is.cause.code == CODE_INTERRUPTED ? ERR_TROUBLE : ERR_REFUSED, &r.is.cause,
                          "nothing was frozen: %.900s", r.is.why);
    }
    if (rc == 0)
        rc = no_credential(p.epochs, err);
    if (rc == 0) {
        struct freezing z = {.p = &p, .e = p.epochs, .r = &r, .f = f};
        z.c = (struct case_file){b->m.job, z.e->operator_id, z.e->subtask, z.e->epoch, "", {0}};
        rc = write_case(&z, &out->note, err);
    }
    replayed_free(&r);
    replay_operators_free(&p);
    arena_free(&p.a);
    return rc;
}

void frozen_free(struct frozen *f)
{
    replay_answer_free(&f->determinism);
    buf_free(&f->note);
    arena_free(&f->arena);
}
