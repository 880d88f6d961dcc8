/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers and RESTORED. A completion marker is what a restore chooses by, so
 * every field that a restore uses must be there and whole.
 */
#include "evidence/marker.h"
#include "evidence/places.h"
#include "evidence/fields.h"
#include "evidence/ids.h"

#include <string.h>

static int field_job(const struct field *f, const char **out, const char *where, struct err *err)
{
    if (!f->value)
        return err_set(err, ERR_REFUSED, "%s: no 'job'", where);
    if (!evidence_job_ok(f->value))
        return err_set(err, ERR_REFUSED, "%s: '%s' is no job id", where, f->value);
    *out = f->value;
    return 0;
}

static int subtasks_parse(const char *s, const char *where, struct arena *a, struct marker *out, struct err *err)
{
    struct ids l = {NULL, 0, 0};
    for (const char *p = s;;) {
        size_t n = strcspn(p, ",");
        uint64_t id;
        if (!scan_u64(p, n, &id))
            return err_set(err, ERR_REFUSED, "%s: 'subtasks' is no list of decimal indices: '%s'", where, s);
        ids_add(&l, a, id);
        if (p[n] == '\0')
            break;
        p += n + 1;
    }
    size_t given = l.n;
    ids_sort(&l);
    if (l.n != given)
        return err_set(err, ERR_REFUSED, "%s: 'subtasks' names one twice: '%s'", where, s);
    out->subtasks = l.at;
    out->n_subtasks = l.n;
    return 0;
}

int marker_parse(const char *p, size_t n, const char *where, struct arena *a, struct marker *out, struct err *err)
{
    struct field f[] = {
        {"job", NULL}, {"checkpoint", NULL}, {"generation", NULL}, {"subtasks", NULL}, {"state_root", NULL}};
    *out = (struct marker){0};
    if (fields_read(p, n, where, f, sizeof f / sizeof *f, a, err) != 0 ||
        field_job(&f[0], &out->job, where, err) != 0 || field_u64(&f[1], &out->checkpoint, where, err) != 0 ||
        field_u64(&f[2], &out->generation, where, err) != 0)
        return -1;
    if (!f[3].value)
        return err_set(err, ERR_REFUSED, "%s: no 'subtasks'", where);
    out->state_root = f[4].value;
    return subtasks_parse(f[3].value, where, a, out, err);
}

int restored_parse(const char *p, size_t n, const char *where, struct arena *a, struct restored *out, struct err *err)
{
    struct field f[] = {{"job", NULL}, {"checkpoint", NULL}, {"next", NULL}};
    *out = (struct restored){0};
    if (fields_read(p, n, where, f, sizeof f / sizeof *f, a, err) != 0 ||
        field_job(&f[0], &out->job, where, err) != 0 || field_u64(&f[1], &out->checkpoint, where, err) != 0 ||
        field_u64(&f[2], &out->next, where, err) != 0)
        return -1;
    if (out->next <= out->checkpoint)
        return err_set(err, ERR_REFUSED, "%s: 'next' %s is not past 'checkpoint' %s", where, f[2].value, f[1].value);
    return 0;
}

static int marker_publish(const char *ckpt_dir, const char *job, const char *rel, const struct buf *text, bool fresh,
                          struct err *err)
{
    struct buf path = BUF_INIT, jobs = BUF_INIT;
    int rc = dir_make(path_join(&path, ckpt_dir, evidence_path_jobs(&jobs, job)), err);
    if (rc == 0) {
        path_join(&path, ckpt_dir, rel);
        rc = fresh ? file_publish_new(path.p, text->p, text->len, err) : file_publish(path.p, text->p, text->len, err);
    }
    buf_free(&path);
    buf_free(&jobs);
    return rc;
}

int marker_write(const char *ckpt_dir, enum marker_kind k, const struct marker *m, struct err *err)
{
    struct buf text = BUF_INIT, rel = BUF_INIT;
    buf_printf(&text, "job=%s\ncheckpoint=", m->job);
    buf_addu64(&text, m->checkpoint);
    buf_adds(&text, "\ngeneration=");
    buf_addu64(&text, m->generation);
    buf_adds(&text, "\nsubtasks=");
    for (size_t i = 0; i < m->n_subtasks; i++) {
        if (i > 0)
            buf_addc(&text, ',');
        buf_addu64(&text, m->subtasks[i]);
    }
    buf_addc(&text, '\n');
    if (m->state_root)
        buf_printf(&text, "state_root=%s\n", m->state_root);
    evidence_path_marker(&rel, m->job, k, m->checkpoint);
    int rc = marker_publish(ckpt_dir, m->job, rel.p, &text, true, err);
    buf_free(&text);
    buf_free(&rel);
    return rc;
}

int restored_write(const char *ckpt_dir, const struct restored *r, struct err *err)
{
    struct buf text = BUF_INIT, rel = BUF_INIT;
    buf_printf(&text, "job=%s\ncheckpoint=", r->job);
    buf_addu64(&text, r->checkpoint);
    buf_adds(&text, "\nnext=");
    buf_addu64(&text, r->next);
    buf_addc(&text, '\n');
    evidence_path_restored(&rel, r->job);
    int rc = marker_publish(ckpt_dir, r->job, rel.p, &text, false, err);
    buf_free(&text);
    buf_free(&rel);
    return rc;
}
