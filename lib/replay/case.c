/* SPDX-License-Identifier: Apache-2.0 */
/* A case, run: nothing in it is believed that its own words do not vouch for, and its rows are held against the golden
 * ones row for row. */
#include "replay/case_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CASE_MAX ((size_t)64 << 10)
#define BLOCK ((size_t)128 << 10)
#define KEYED_MAX ((size_t)16 << 20) /* of a row, what its key is looked for in */

/* ---- its files ---- */

static int damaged(struct err *err)
{
    err->cause = *BECAUSE(CODE_CASE_DAMAGED);
    return -1;
}

/* A regular file of the case, no link followed. */
static int open_file(int dir, const char *name, struct err *err)
{
    struct stat st;
    int fd = open_beneath(dir, name, O_RDONLY | O_NONBLOCK, err);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    return err_set(err, ERR_REFUSED, "'%s' is no regular file", name);
}

/* The golden rows in a scratch file of ours, so that what is held against is what was hashed. */
static int open_golden(int dir, const struct case_file *c, const char *scratch, struct err *err)
{
    struct case_content is;
    struct stat st = {.st_size = 0};
    int from = open_file(dir, CASE_GOLDEN, err), to = -1, rc = -1;
    /* One of another size is not copied, however large it is. */
    if (from >= 0 && (fstat(from, &st) != 0 || (uint64_t)st.st_size != c->golden.bytes))
        err_set(err, ERR_CHANGED, "'%s' is not what %s says of it: %" PRIu64 " bytes, not %" PRIu64, CASE_GOLDEN,
                CASE_JSON, (uint64_t)st.st_size, c->golden.bytes);
    else if (from >= 0)
        to = scratch_open(scratch, err);
    if (to >= 0)
        rc = case_copy(from, to, CASE_GOLDEN, &is, err);
    if (from >= 0)
        close(from);
    if (rc == 0 &&
        (is.bytes != c->golden.bytes || is.lines != c->golden.lines || strcmp(is.sha256, c->golden.sha256) != 0)) {
        err_set(err, ERR_CHANGED, "'%s' is not what %s says of it: %" PRIu64 " rows, %" PRIu64 " bytes, SHA-256 %s",
                CASE_GOLDEN, CASE_JSON, is.lines, is.bytes, is.sha256);
        rc = -1;
    }
    if (rc == 0)
        return to;
    if (to >= 0)
        close(to);
    return damaged(err);
}

/* The bundle in it is the one that the case names, and each of its files is what its manifest says. */
static int hold_bundle(struct bundle *b, const struct case_file *c, struct err *err)
{
    struct bundle_verified v;
    struct buf text = BUF_INIT;
    if (strcmp(b->sha256, c->manifest_sha256) != 0)
        return err_set(err, ERR_CHANGED, "'%s/manifest.json' is not the one that %s names", CASE_BUNDLE, CASE_JSON);
    int rc = bundle_verify(b, true, &v, NULL, err);
    const struct bundle_faults *all[] = {&v.missing, &v.changed, &v.unlisted};
    for (size_t i = 0; rc == 0 && i < sizeof all / sizeof *all; i++) {
        if (all[i]->total == 0)
            continue;
        bundle_faults_text(all[i], &text);
        rc = err_set(err, ERR_CHANGED, "%s: %.800s", CASE_BUNDLE, buf_str(&text));
    }
    if (rc == 0 && strcmp(c->job, b->m.job) != 0)
        rc = err_set(err, ERR_CHANGED, "%s is of job '%.64s', and the bundle in it of '%.64s'", CASE_JSON, c->job,
                     b->m.job);
    bundle_verified_free(&v);
    buf_free(&text);
    return rc;
}

/* ---- the comparison ---- */

/* The key of the row that begins there, where the operator declares one; "" where there is none to show. */
static const char *key_at(struct replay *p, const struct replay_epoch *e, int fd, off_t at)
{
    const struct json *group = replay_group(e->op->parameters);
    struct arena a = ARENA_INIT;
    struct buf key = BUF_INIT, text = BUF_INIT;
    const char *shown = "", *end = NULL;
    char *block = xmalloc(BLOCK);
    ssize_t n;
    while (group && !end && text.len < KEYED_MAX && (n = pread(fd, block, BLOCK, at + (off_t)text.len)) > 0) {
        end = memchr(block, '\n', (size_t)n);
        buf_add(&text, block, end ? (size_t)(end - block) : (size_t)n);
    }
    if (end && replay_key(group, buf_str(&text), text.len, &a, &key) && key.len > 0) {
        buf_reset(&text);
        buf_printf(&text, ", of the key %s", replay_shown(p, key.p, key.len - 1));
        shown = arena_strndup(&p->a, text.p, text.len);
    }
    free(block);
    buf_free(&key);
    buf_free(&text);
    arena_free(&a);
    return shown;
}

static struct outcome against_golden(struct replay *p, const struct replay_epoch *e, const struct case_file *c,
                                     int golden, const struct replayed *r)
{
    struct outcome o = {.is = REPLAY_PASSED};
    struct parting at = {.line = 0};
    struct err err = ERR_INIT;
    int rc = output_differs(p, golden, r->out[0], &at, &err);
    if (rc < 0)
        outcome_err(p, &o, REPLAY_UNAVAILABLE, CODE_IO_FAILED, &err);
    else if (rc > 0)
        outcome_set(p, &o, REPLAY_FAILED, BECAUSE(CODE_GOLDEN_DIFFERS),
                    "row %" PRIu64 "%s: the case holds %s, and the replay gives %s; %" PRIu64
                    " rows are in the case, and %" PRIu64 " in the replay",
                    at.line, key_at(p, e, at.a ? golden : r->out[0], at.begins), at.a ? at.a : "no such row",
                    at.b ? at.b : "no such row", c->golden.lines, r->rows);
    return o;
}

/* ---- the run ---- */

static void replay_it(struct replay *p, const struct case_file *c, int golden, struct case_run *out)
{
    struct replayed r = {.out = {-1, -1}};
    struct outcome o = {.is = REPLAY_PASSED};
    replay_restores(p);
    replay_select(p);
    if (p->n_epochs == 1) {
        replay_drive(p, p->epochs, &r);
        o = r.is;
    } else {
        outcome_set(p, &o, REPLAY_UNAVAILABLE, BECAUSE(CODE_CASE_DAMAGED),
                    "the bundle in the case holds no epoch %" PRIu64 " of operator %s that can be replayed", c->epoch,
                    c->operator_id);
    }
    replay_answer_one(p, &o, &out->arena, &out->determinism);
    if (o.is == REPLAY_PASSED)
        o = against_golden(p, p->epochs, c, golden, &r);
    else if (o.is == REPLAY_FAILED && o.cause.code == CODE_REPLAY_DIFFERS)
        outcome_set(p, &o, REPLAY_UNAVAILABLE,
                    BECAUSE(CODE_CHECK_NOT_PASSED, {"check", check_name_text(CHECK_REPLAY_DETERMINISM)}), "%s", o.why);
    replay_answer_one(p, &o, &out->arena, &out->golden);
    replayed_free(&r);
}

/* What cannot be believed decides nothing. */
static void not_believed(struct replay *p, const struct err *err, struct case_run *out)
{
    struct outcome o;
    outcome_err(p, &o, REPLAY_UNAVAILABLE, CODE_CASE_DAMAGED, err);
    o.cause = *BECAUSE(CODE_CASE_DAMAGED);
    replay_answer_one(p, &o, &out->arena, &out->determinism);
    replay_answer_one(p, &o, &out->arena, &out->golden);
}

static int run_in(int dir, const char *path, const struct replay_request *r, struct case_run *out)
{
    struct replay_request one = *r;
    struct replay p = {.b = &out->b, .r = &one, .a = ARENA_INIT};
    struct buf text = BUF_INIT, at = BUF_INIT;
    struct case_file c;
    struct stat st;
    struct err err = ERR_INIT;
    int fd = open_file(dir, CASE_JSON, &err), golden = -1;
    int rc = fd < 0 ? -1 : file_read_fd(fd, CASE_JSON, CASE_MAX, &text, &err);
    if (rc == 0)
        rc = case_parse(text.p ? text.p : "", text.len, &p.a, &c, &err);
    if (rc == 0 && (fstatat(dir, CASE_BUNDLE, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode)))
        rc = err_set(&err, ERR_REFUSED, "'%s' of the case is no directory", CASE_BUNDLE);
    if (rc == 0)
        rc = bundle_open(&out->b, path_join(&at, path, CASE_BUNDLE), &err);
    if (rc == 0)
        rc = hold_bundle(&out->b, &c, &err);
    out->opened = rc == 0;
    if (rc == 0)
        rc = golden = open_golden(dir, &c, r->scratch, &err);
    if (golden >= 0) {
        one.op = c.operator_id;
        one.subtask = c.subtask;
        one.epoch = c.epoch;
        replay_it(&p, &c, golden, out);
        close(golden);
    } else {
        not_believed(&p, &err, out);
    }
    if (fd >= 0)
        close(fd);
    replay_operators_free(&p);
    arena_free(&p.a);
    buf_free(&text);
    buf_free(&at);
    return 0;
}

int case_run(const char *dir, const struct replay_request *r, struct case_run *out, struct err *err)
{
    struct stat st;
    *out = (struct case_run){.b = {.fd = -1}, .arena = ARENA_INIT};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? err_sys(err, "cannot open the case '%s'", dir) : 0;
    if (rc == 0 && fstatat(fd, CASE_JSON, &st, AT_SYMLINK_NOFOLLOW) != 0)
        rc = err_sys(err, "'%s' is no case: '%s'", dir, CASE_JSON);
    if (rc == 0)
        rc = run_in(fd, dir, r, out);
    else if (errno == ENOENT || errno == ENOTDIR)
        err_fail(err, ERR_REFUSED, BECAUSE(CODE_FILE_MISSING), "'%s' is no case: there is no '%s' in it", dir,
                 CASE_JSON);
    if (fd >= 0)
        close(fd);
    return rc;
}

void case_run_free(struct case_run *c)
{
    replay_answer_free(&c->determinism);
    replay_answer_free(&c->golden);
    bundle_close(&c->b);
    arena_free(&c->arena);
}
