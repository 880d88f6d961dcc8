/* SPDX-License-Identifier: Apache-2.0 */
/* Writing an artifact: hashed as it is written, published whole. */
#include "reference/reference.h"
#include "stream/check.h"

#include <string.h>

static int put_line(struct reference_writer *w, struct err *err)
{
    buf_addc(&w->line, '\n');
    return file_add(&w->file, w->line.p, w->line.len, err);
}

static void put_text(struct json_w *j, const char *name, const char *p, size_t n)
{
    struct buf one = BUF_INIT;
    json_put_line(&one, p, n);
    jw_raw(j, name, one.p, one.len);
    buf_free(&one);
}

int reference_begin(struct reference_writer *w, const char *path, const struct reference_head *h, struct err *err)
{
    struct json_w j;
    *w = (struct reference_writer){.line = BUF_INIT};
    if (file_begin(&w->file, path, err) != 0)
        return -1;
    sha256_init(&w->hash);
    jw_init(&j, &w->line);
    jw_obj(&j, NULL);
    jw_str(&j, "format", REFERENCE_FORMAT);
    jw_u64(&j, "version", REFERENCE_VERSION);
    put_text(&j, "scope", h->scope, h->scope_len);
    jw_obj(&j, "implementation");
    jw_str(&j, "name", h->name);
    jw_str(&j, "version", h->version);
    if (h->configuration)
        put_text(&j, "configuration", h->configuration, strlen(h->configuration));
    else
        jw_null(&j, "configuration");
    jw_end_obj(&j);
    jw_end_obj(&j);
    if (put_line(w, err) != 0) {
        reference_drop(w);
        return -1;
    }
    sha256_of(w->line.p, w->line.len, w->header_sha256);
    return 0;
}

int reference_put(struct reference_writer *w, const struct stream_row *row, struct err *err)
{
    buf_reset(&w->line);
    buf_adds(&w->line, "{\"cells\":");
    buf_add(&w->line, row->cells, row->cells_len);
    stream_row_place(&w->line, row);
    buf_addc(&w->line, '}');
    if (put_line(w, err) != 0)
        return -1;
    sha256_add(&w->hash, w->line.p, w->line.len);
    w->rows++;
    return 0;
}

int reference_put_absent(struct reference_writer *w, const struct stream_absent *a, struct err *err)
{
    buf_reset(&w->line);
    buf_adds(&w->line, "{\"absent\":");
    buf_add(&w->line, a->key, a->key_len);
    absent_put(&w->line, a);
    buf_addc(&w->line, '}');
    if (put_line(w, err) != 0)
        return -1;
    sha256_add(&w->hash, w->line.p, w->line.len);
    w->absent++;
    return 0;
}

int reference_finish(struct reference_writer *w, const struct reference_end *e, struct err *err)
{
    struct json_w j;
    sha256_hex(&w->hash, w->rows_sha256);
    buf_reset(&w->line);
    jw_init(&j, &w->line);
    jw_obj(&j, NULL);
    jw_bool(&j, "end", true);
    jw_u64(&j, "rows", w->rows);
    if (w->absent)
        jw_u64(&j, "absent", w->absent);
    if (e->nearest)
        jw_u64(&j, "nearest", e->nearest);
    jw_str(&j, "header_sha256", w->header_sha256);
    jw_str(&j, "rows_sha256", w->rows_sha256);
    jw_bool(&j, "complete", e->complete);
    cause_put(&w->line, &e->cause);
    put_text(&j, "reasons", e->reasons, strlen(e->reasons));
    put_text(&j, "verified", e->verified, strlen(e->verified));
    put_text(&j, "recorded", e->recorded, strlen(e->recorded));
    jw_end_obj(&j);
    int rc = put_line(w, err);
    if (rc == 0)
        rc = file_commit(&w->file, err);
    reference_drop(w);
    return rc;
}

void reference_drop(struct reference_writer *w)
{
    char unused[SHA256_HEX + 1];
    if (w->hash.ctx)
        sha256_hex(&w->hash, unused);
    file_drop(&w->file);
    buf_free(&w->line);
}
