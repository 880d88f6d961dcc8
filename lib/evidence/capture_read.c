/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures, read back. What the header says is held against what the file
 * holds, so that one that was cut short is never taken for a whole one.
 */
#include "evidence/capture.h"
#include "json/json.h"
#include "stream/stream.h"
#include "evidence/fields.h"

#include <stdlib.h>
#include <string.h>

static void hash_line(struct capture_reader *r, const char *p, size_t n)
{
    sha256_add(&r->sha, p, n);
    sha256_add(&r->sha, "\n", 1);
    r->bytes += n + 1;
}

static int header_parse(struct capture_reader *r, const char *p, size_t n, struct err *err)
{
    struct capture_header *h = &r->h;
    if (n != CAPTURE_HEADER - 1)
        return err_set(err, ERR_REFUSED, "%s: the first line is no capture header of %d bytes", r->name,
                       CAPTURE_HEADER);
    struct json *doc = json_parse_named(arena_strndup(&r->arena, p, n), n, &r->arena, r->name, err);
    if (!doc || format_check(doc, "owed-capture", r->name, &r->arena, err) != 0)
        return -1;
    if (json_need_str(doc, "job", &r->arena, &h->job, r->name, err) != 0 ||
        json_need_str(doc, "operator", &r->arena, &h->operator_id, r->name, err) != 0 ||
        json_need_u64(doc, "subtask", &h->subtask, r->name, err) != 0 ||
        json_need_u64(doc, "epoch", &h->epoch, r->name, err) != 0 ||
        json_need_str(doc, "attempt", &r->arena, &h->attempt, r->name, err) != 0 ||
        json_need_u64(doc, "seen", &h->seen, r->name, err) != 0 ||
        json_need_u64(doc, "stored", &h->stored, r->name, err) != 0 ||
        json_need_u64(doc, "control", &h->control, r->name, err) != 0 ||
        json_need_bool(doc, "truncated", &h->truncated, r->name, err) != 0)
        return -1;
    if (h->stored > h->seen)
        return err_set(err, ERR_REFUSED, "%s: the header counts %" PRIu64 " stored of %" PRIu64 " seen", r->name,
                       h->stored, h->seen);
    if (h->stored < h->seen && !h->truncated)
        return err_set(err, ERR_REFUSED,
                       "%s: the header counts %" PRIu64 " stored of %" PRIu64 " seen and does not say truncated",
                       r->name, h->stored, h->seen);
    return 0;
}

int capture_read_open(struct capture_reader *r, int fd, const char *name, struct err *err)
{
    *r = (struct capture_reader){.name = xstrdup(name)};
    line_in_init(&r->lines, fd, r->name, STREAM_MAX_LINE);
    sha256_init(&r->sha);
    r->hashing = true;
    const char *p;
    size_t n;
    int got = line_in_next(&r->lines, &p, &n, err);
    if (got == 0)
        err_set(err, ERR_REFUSED, "%s is empty", r->name);
    if (got <= 0)
        return -1;
    hash_line(r, p, n);
    return header_parse(r, p, n, err);
}

static bool starts(const char *p, size_t n, const char *with)
{
    size_t len = strlen(with);
    return n > len && memcmp(p, with, len) == 0;
}

static int at_end(const struct capture_reader *r, struct err *err)
{
    if (r->data != r->h.stored)
        return err_set(err, ERR_REFUSED, "%s %s: it holds %" PRIu64 " records, its header counts %" PRIu64, r->name,
                       r->data < r->h.stored ? "was cut short" : "holds too much", r->data, r->h.stored);
    if (r->control != r->h.control)
        return err_set(err, ERR_REFUSED, "%s %s: it holds %" PRIu64 " control lines, its header counts %" PRIu64,
                       r->name, r->control < r->h.control ? "was cut short" : "holds too much", r->control,
                       r->h.control);
    return 0;
}

int capture_read_next(struct capture_reader *r, const char **p, size_t *n, bool *is_data, struct err *err)
{
    int got = line_in_next(&r->lines, p, n, err);
    if (got == 0)
        return at_end(r, err);
    if (got < 0)
        return -1;
    hash_line(r, *p, *n);
    *is_data = starts(*p, *n, "{\"type\":\"event\",") || starts(*p, *n, "{\"type\":\"record\",");
    if (*is_data)
        r->data++;
    else if (starts(*p, *n, "{\"type\":\"watermark\","))
        r->control++;
    else
        return err_set(err, ERR_REFUSED, "%s: line %" PRIu64 " is no event, record or watermark", r->name,
                       r->lines.line_no);
    return 1;
}

void capture_read_digest(struct capture_reader *r, uint64_t *bytes, char sha256[SHA256_HEX + 1])
{
    *bytes = r->bytes;
    sha256_hex(&r->sha, sha256);
    r->hashing = false;
}

void capture_read_close(struct capture_reader *r)
{
    char unused[SHA256_HEX + 1];
    if (r->hashing)
        sha256_hex(&r->sha, unused);
    line_in_free(&r->lines);
    arena_free(&r->arena);
    free(r->name);
}
