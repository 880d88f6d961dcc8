/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz the reader of artifacts, whole and by its rows, and what ref-run makes of a payload. The first byte chooses: the
 * rest is a file as it stands, rows that are given a header before and an end line with their count and hashes after
 * them, or a payload. Rows that are accepted are, written anew, those that were hashed; a payload stays one line of
 * JSON.
 */
#include "program/program.h"
#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char header[] = "{\"format\":\"clink-reference-result\",\"version\":1,\"scope\":{\"a\":[1]},"
                             "\"implementation\":{\"name\":\"f\",\"version\":\"\",\"configuration\":null}}\n";
static const char columns_text[] =
    "[{\"name\":\"id\",\"type\":\"Int64\",\"key\":true},{\"name\":\"note\",\"type\":\"Nullable(String)\"},"
    "{\"name\":\"f\",\"type\":\"Float32\"},{\"name\":\"d\",\"type\":\"Decimal(9, 2)\"}]";

static void around(struct buf *file, const uint8_t *rows, size_t n)
{
    char sha[SHA256_HEX + 1];
    size_t count = 0, absent = 0;
    buf_adds(file, header);
    buf_add(file, rows, n);
    if (n > 0 && rows[n - 1] != '\n')
        buf_addc(file, '\n');
    for (size_t i = sizeof header - 1; i < file->len; i++)
        count += file->p[i] == '\n';
    for (const char *p = file->p + sizeof header - 2;
         (p = memmem(p, file->len - (size_t)(p - file->p), "\n{\"absent\":[", 13)); p++)
        absent++;
    size_t end = file->len;
    sha256_of(header, sizeof header - 1, sha);
    buf_printf(file, "{\"end\":true,\"rows\":%zu,\"absent\":%zu,\"header_sha256\":\"%s\",", count - absent, absent,
               sha);
    sha256_of(file->p + sizeof header - 1, end - (sizeof header - 1), sha);
    buf_printf(file, "\"rows_sha256\":\"%s\",\"complete\":true,\"reasons\":[]}\n", sha);
}

static int open_bytes(const struct buf *file)
{
    int fd = memfd_create("reference", MFD_CLOEXEC);
    if (fd < 0 || fd_write_all(fd, file->p, file->len, "memory", NULL) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    return fd;
}

/* Every row, as it is written, into rows. The result of the last read. */
static int read_all(struct reference *r, const struct columns *columns, struct buf *rows, struct err *err)
{
    const struct stream_row *row;
    int rc = reference_bind(r, r->scope, columns, NULL, err);
    if (rc != 0)
        abort(); /* a scope differs from itself */
    while ((rc = reference_next(r, &row, err)) > 0) {
        if (rc == 2) {
            buf_adds(rows, "{\"absent\":");
            buf_add(rows, r->key.key, r->key.key_len);
            absent_put(rows, &r->key);
            buf_adds(rows, "}\n");
            continue;
        }
        buf_adds(rows, "{\"cells\":");
        buf_add(rows, row->cells, row->cells_len);
        if (row->at) {
            buf_adds(rows, ",\"at\":\"");
            buf_add(rows, row->at, row->at_len);
            buf_addc(rows, '"');
        }
        buf_adds(rows, "}\n");
    }
    return rc;
}

static bool has_number(const struct json *v)
{
    bool found = v->type == JSON_NUMBER;
    for (const struct json *m = json_first(v); m && !found; m = json_next(v, m))
        found = has_number(v->type == JSON_ARRAY ? m : json_value(m));
    return found;
}

static void payload(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_INIT;
    struct buf line = BUF_INIT;
    if (!utf8_valid((const char *)data, size))
        return;
    buf_adds(&line, "{\"type\":\"record\",\"topic\":\"t\",\"partition\":0,\"offset\":1,\"payload\":");
    json_put_str(&line, (const char *)data, size);
    buf_addc(&line, '}');
    for (int how = PROGRAM_TEXT; how <= PROGRAM_RAW; how++) {
        struct buf out = BUF_INIT;
        struct program_record r;
        if (program_record(line.p, line.len, (enum program_payloads)how, &arena, &out, &r, NULL) != 0)
            abort();
        const struct json *doc = json_parse(out.p, out.len - 1, &arena, NULL), *value = json_get(doc, "value");
        bool ok = r.value != PROGRAM_NO_VALUE;
        /* one level deeper than the payload alone, which may be as deep as can be */
        bool deep = how != PROGRAM_RAW && ok && !doc;
        if (!deep &&
            (!doc || (ok && how != PROGRAM_RAW) != (value != NULL) || ok != (json_get(doc, "value_error") == NULL) ||
             memchr(out.p, '\n', out.len - 1) || (value && how == PROGRAM_TEXT && has_number(value))))
            abort();
        buf_free(&out);
    }
    buf_free(&line);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct columns columns = COLUMNS_INIT;
    struct buf file = BUF_INIT, rows = BUF_INIT;
    struct reference r;
    if (size == 0)
        return 0;
    if (columns_parse(json_parse(columns_text, sizeof columns_text - 1, &arena, NULL), false, &columns, &err) != 0)
        abort();
    if (data[0] == '2') {
        payload(data + 1, size - 1);
        columns_free(&columns);
        arena_free(&arena);
        return 0;
    }
    if (data[0] & 1)
        around(&file, data + 1, size - 1);
    else
        buf_add(&file, data + 1, size - 1);
    int rc = reference_open_fd(&r, open_bytes(&file), "fuzz", 1 << 20, &err);
    if (rc == 0)
        rc = read_all(&r, &columns, &rows, &err);
    if (rc != 0 && err.kind != ERR_REFUSED)
        abort();
    if (rc == 0) {
        char sha[SHA256_HEX + 1];
        sha256_of(rows.len ? rows.p : "", rows.len, sha);
        if (strcmp(sha, r.rows_sha256) != 0)
            abort(); /* a row was not what was hashed */
    }
    reference_close(&r);
    columns_free(&columns);
    buf_free(&file);
    buf_free(&rows);
    arena_free(&arena);
    return 0;
}
