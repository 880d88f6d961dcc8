/* SPDX-License-Identifier: Apache-2.0 */
/* Append-only stores of bytes: in memory, or past it in an unlinked scratch file; and the numbers in them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "multiset/internal.h"

#define READ_BLOCK ((size_t)64 << 10)

void spool_init(struct spool *s)
{
    *s = (struct spool){.held = BUF_INIT, .fd = -1};
}

void spool_free(struct spool *s)
{
    buf_free(&s->held);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

int spool_flush(struct spool *s, struct err *err)
{
    if (s->fd < 0 || s->held.len == 0)
        return 0;
    if (fd_write_all(s->fd, s->held.p, s->held.len, "the scratch file", err) != 0)
        return -1;
    s->bytes += s->held.len;
    /* One long row must not stay in memory for every file. */
    if (s->held.cap > 4 * READ_BLOCK)
        buf_free(&s->held);
    buf_reset(&s->held);
    return 0;
}

int spool_to_disk(struct spool *s, const char *dir, struct err *err)
{
    s->fd = scratch_open(dir, err);
    if (s->fd < 0 || spool_flush(s, err) != 0)
        return -1;
    buf_free(&s->held);
    return 0;
}

void spool_read(struct spool_reader *r, struct spool *s)
{
    *r = (struct spool_reader){.from = s, .block = BUF_INIT};
}

void spool_reader_free(struct spool_reader *r)
{
    buf_free(&r->block);
}

static int fill(struct spool_reader *r, size_t n, struct err *err)
{
    size_t left = r->block.len - r->used;
    if (r->used)
        memmove(r->block.p, r->block.p + r->used, left);
    r->block.len = left;
    r->used = 0;
    while (r->block.len < n && r->at < r->from->bytes) {
        size_t want = n - r->block.len > READ_BLOCK ? n - r->block.len : READ_BLOCK;
        buf_reserve(&r->block, want);
        ssize_t got = pread(r->from->fd, r->block.p + r->block.len, want, (off_t)r->at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_sys(err, "cannot read the scratch file");
        if (got == 0)
            return err_set(err, ERR_TROUBLE, "cannot read the scratch file: it is shorter than what was written");
        r->block.len += (size_t)got;
        r->at += (uint64_t)got;
    }
    return 0;
}

int spool_peek(struct spool_reader *r, size_t n, const char **p, size_t *have, struct err *err)
{
    if (r->from->fd < 0) {
        *p = r->from->held.p + r->used;
        *have = r->from->held.len - r->used;
        return 0;
    }
    if (r->block.len - r->used < n && fill(r, n, err) != 0)
        return -1;
    *p = r->block.p + r->used;
    *have = r->block.len - r->used;
    return 0;
}

void varint_put(struct buf *b, uint64_t v)
{
    buf_reserve(b, 10);
    for (; v >= 0x80; v >>= 7)
        b->p[b->len++] = (char)(v | 0x80);
    b->p[b->len++] = (char)v;
}

size_t varint_get(const char *p, size_t n, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < n && i < 10; i++) {
        *v |= (uint64_t)((unsigned char)p[i] & 0x7f) << (7 * i);
        if (!((unsigned char)p[i] & 0x80))
            return i + 1;
    }
    return 0;
}
