/* SPDX-License-Identifier: Apache-2.0 */
/* Lines from a descriptor: blocks in, whole lines out, nothing lost at the end. */
#include "stream/prefetch.h"
#include "stream/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define READ_BLOCK ((size_t)64 << 10)

void line_in_init(struct line_in *in, int fd, const char *name, size_t max_line)
{
    *in = (struct line_in){.fd = fd, .name = name, .max_line = max_line, .own = BUF_INIT};
}

void line_in_prefetch(struct line_in *in)
{
    if (!in->prefetch)
        in->prefetch = prefetch_start(in->fd);
}

void line_in_free(struct line_in *in)
{
    prefetch_stop(in->prefetch);
    in->prefetch = NULL;
    buf_free(&in->own);
}

/* What was handed out is over: what is left of it moves to the front of the buffer, which grows for a long line only.
 */
static void keep_rest(struct line_in *in)
{
    size_t left = in->len - in->at;
    bool own = in->p == in->own.p; /* and then it moves with the buffer when that grows */
    if (own && left > 0)
        memmove(in->own.p, in->p + in->at, left);
    in->own.len = own ? left : 0;
    buf_reserve(&in->own, left - in->own.len + READ_BLOCK);
    if (!own && left > 0)
        memcpy(in->own.p, in->p + in->at, left);
    in->own.len = left;
    in->at = 0;
}

static void show(struct line_in *in)
{
    in->p = in->own.p;
    in->len = in->own.len;
}

/* Read one more block behind what is held. 1 read, 0 end, -1 error. */
static int fill(struct line_in *in, struct err *err)
{
    keep_rest(in);
    for (;;) {
        ssize_t r = read(in->fd, in->own.p + in->own.len, in->own.cap - in->own.len);
        if (r < 0 && errno == EINTR)
            continue;
        if (r > 0)
            in->own.len += (size_t)r;
        show(in);
        progress_file(in->fd);
        return r < 0 ? err_sys(err, "cannot read %s", in->name) : r > 0;
    }
}

/* The same from the thread that reads ahead: a line's beginning goes in front of the block that has its end. */
static int fill_prefetched(struct line_in *in, struct err *err)
{
    char *p;
    size_t n, left = in->len - in->at;
    int rc = prefetch_next(in->prefetch, &p, &n);
    if (rc <= 0)
        return rc < 0 ? err_sys(err, "cannot read %s", in->name) : 0;
    if (left <= PREFETCH_ROOM) {
        if (left > 0)
            memcpy(p - left, in->p + in->at, left);
        in->p = p - left;
        in->len = left + n;
        in->at = 0;
    } else {
        keep_rest(in);
        buf_add(&in->own, p, n);
        show(in);
    }
    prefetch_drop(in->prefetch);
    progress_file(in->fd);
    return 1;
}

static const char *newline(const struct line_in *in)
{
    size_t from = in->at + in->scanned;
    return in->len > from ? memchr(in->p + from, '\n', in->len - from) : NULL;
}

int line_in_next(struct line_in *in, const char **p, size_t *n, struct err *err)
{
    for (;;) {
        const char *nl = newline(in);
        size_t len = nl ? (size_t)(nl - (in->p + in->at)) : in->len - in->at;
        if (len > in->max_line)
            return err_fail(err, ERR_REFUSED, BECAUSE(CODE_BOUND_PASSED, {"option", "--max-line"}),
                            "%s: line %" PRIu64 " is longer than %zu bytes", in->name, in->line_no + 1, in->max_line);
        if (nl) {
            *p = in->p + in->at;
            *n = len;
            in->at += len + 1;
            in->scanned = 0;
            in->line_no++;
            return 1;
        }
        in->scanned = len;
        int rc = in->eof ? 0 : in->prefetch ? fill_prefetched(in, err) : fill(in, err);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            in->eof = true;
            if (in->len == in->at)
                return 0;
            return err_set(err, ERR_TROUBLE, "%s: cut in the middle of line %" PRIu64, in->name, in->line_no + 1);
        }
    }
}

bool line_in_ready(struct line_in *in)
{
    const char *nl = newline(in);
    /* What was looked at here is not looked at again. */
    in->scanned = nl ? (size_t)(nl - (in->p + in->at)) : in->len - in->at;
    return nl != NULL;
}
