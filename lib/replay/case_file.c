/* SPDX-License-Identifier: Apache-2.0 */
/* What a case says of itself, written and read; and a file's bytes with what there is to say of them. */
#include "replay/case_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t)128 << 10)

void case_put(struct buf *out, const struct case_file *c)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    jw_str(&w, "format", CASE_FORMAT);
    jw_u64(&w, "version", 1);
    jw_str(&w, "job", c->job);
    jw_str(&w, "operator", c->operator_id);
    jw_u64(&w, "subtask", c->subtask);
    jw_u64(&w, "epoch", c->epoch);
    jw_str(&w, "manifest_sha256", c->manifest_sha256);
    jw_obj(&w, "golden");
    jw_u64(&w, "rows", c->golden.lines);
    jw_u64(&w, "bytes", c->golden.bytes);
    jw_str(&w, "sha256", c->golden.sha256);
    jw_end_obj(&w);
    jw_end_obj(&w);
    buf_addc(out, '\n');
}

static int need_sha(const struct json *obj, const char *name, struct arena *a, char out[SHA256_HEX + 1],
                    const char *where, struct err *err)
{
    const char *text;
    if (json_need_str(obj, name, a, &text, where, err) != 0)
        return -1;
    if (!sha256_is_hex(text, strlen(text)))
        return err_set(err, ERR_REFUSED, "%s.%s: not 64 lower-case hex digits", where, name);
    memcpy(out, text, SHA256_HEX + 1);
    return 0;
}

int case_parse(const char *p, size_t n, struct arena *a, struct case_file *out, struct err *err)
{
    static const char *const known[] = {"format", "version",         "job",    "operator", "subtask",
                                        "epoch",  "manifest_sha256", "golden", NULL};
    static const char *const of_golden[] = {"rows", "bytes", "sha256", NULL};
    static const char golden_at[] = CASE_JSON ".golden";
    const struct json *doc = json_parse_named(p, n, a, CASE_JSON, err);
    struct json *golden;
    const char *format = NULL;
    uint64_t version = 0;
    *out = (struct case_file){.job = NULL};
    if (!doc || json_need_str(doc, "format", a, &format, CASE_JSON, err) != 0 ||
        json_need_u64(doc, "version", &version, CASE_JSON, err) != 0)
        return -1;
    if (strcmp(format, CASE_FORMAT) != 0 || version != 1)
        return err_set(err, ERR_REFUSED, "%s: '%.100s', version %" PRIu64 ", is not known here, only '%s', 1",
                       CASE_JSON, format, version, CASE_FORMAT);
    if (json_only(doc, known, CASE_JSON, err) != 0 || json_need_str(doc, "job", a, &out->job, CASE_JSON, err) != 0 ||
        json_need_str(doc, "operator", a, &out->operator_id, CASE_JSON, err) != 0 ||
        json_need_u64(doc, "subtask", &out->subtask, CASE_JSON, err) != 0 ||
        json_need_u64(doc, "epoch", &out->epoch, CASE_JSON, err) != 0 ||
        need_sha(doc, "manifest_sha256", a, out->manifest_sha256, CASE_JSON, err) != 0 ||
        json_need(doc, "golden", JSON_OBJECT, &golden, CASE_JSON, err) != 0 ||
        json_only(golden, of_golden, golden_at, err) != 0 ||
        json_need_u64(golden, "rows", &out->golden.lines, golden_at, err) != 0 ||
        json_need_u64(golden, "bytes", &out->golden.bytes, golden_at, err) != 0 ||
        need_sha(golden, "sha256", a, out->golden.sha256, golden_at, err) != 0)
        return -1;
    return 0;
}

int case_copy(int from, int to, const char *name, struct case_content *out, struct err *err)
{
    char *block = xmalloc(BLOCK), sha[SHA256_HEX + 1];
    struct sha256 h;
    off_t at = 0;
    ssize_t n = 0;
    int rc = 0;
    sha256_init(&h);
    *out = (struct case_content){.bytes = 0};
    while (rc == 0 && ((n = pread(from, block, BLOCK, at)) > 0 || (n < 0 && errno == EINTR))) {
        if (n < 0)
            continue;
        at += n;
        sha256_add(&h, block, (size_t)n);
        for (const char *p = block; (p = memchr(p, '\n', (size_t)(block + n - p))); p++)
            out->lines++;
        rc = fd_write_all(to, block, (size_t)n, name, err);
    }
    if (n < 0)
        rc = err_sys(err, "cannot read '%s'", name);
    out->bytes = (uint64_t)at;
    sha256_hex(&h, sha);
    memcpy(out->sha256, sha, sizeof sha);
    free(block);
    return rc;
}
