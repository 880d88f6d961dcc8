/* SPDX-License-Identifier: Apache-2.0 */
/* Lines from a descriptor: blocks in, whole lines out, nothing lost at the end. */
#include "stream/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define READ_BLOCK ((size_t)64 << 10)

void line_in_init(struct line_in *in, int fd, const char *name, size_t max_line)
{
    *in = (struct line_in){.fd = fd, .name = name, .max_line = max_line, .block = BUF_INIT};
}

void line_in_free(struct line_in *in)
{
    buf_free(&in->block);
}

/* Read one more block behind what is held. 1 read, 0 end, -1 error. */
static int fill(struct line_in *in, struct err *err)
{
    /* What was handed out is over: move the rest to the front before the buffer grows. */
    if (in->at > 0) {
        memmove(in->block.p, in->block.p + in->at, in->block.len - in->at);
        in->block.len -= in->at;
        in->at = 0;
    }
    buf_reserve(&in->block, READ_BLOCK);
    for (;;) {
        ssize_t r = read(in->fd, in->block.p + in->block.len, in->block.cap - in->block.len);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return err_sys(err, "cannot read %s", in->name);
        in->block.len += (size_t)r;
        return r > 0;
    }
}

static const char *newline(const struct line_in *in)
{
    size_t from = in->at + in->scanned;
    return in->block.len > from ? memchr(in->block.p + from, '\n', in->block.len - from) : NULL;
}

int line_in_next(struct line_in *in, const char **p, size_t *n, struct err *err)
{
    for (;;) {
        const char *nl = newline(in);
        size_t len = nl ? (size_t)(nl - (in->block.p + in->at)) : in->block.len - in->at;
        if (len > in->max_line)
            return err_set(err, ERR_REFUSED, "%s: line %" PRIu64 " is longer than %zu bytes", in->name, in->line_no + 1, in->max_line);
        if (nl) {
            *p = in->block.p + in->at;
            *n = len;
            in->at += len + 1;
            in->scanned = 0;
            in->line_no++;
            return 1;
        }
        in->scanned = len;
        int rc = in->eof ? 0 : fill(in, err);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            in->eof = true;
            if (in->block.len == in->at)
                return 0;
            return err_set(err, ERR_TROUBLE, "%s: cut in the middle of line %" PRIu64, in->name, in->line_no + 1);
        }
    }
}

bool line_in_ready(struct line_in *in)
{
    const char *nl = newline(in);
    /* What was looked at here is not looked at again. */
    in->scanned = nl ? (size_t)(nl - (in->block.p + in->at)) : in->block.len - in->at;
    return nl != NULL;
}
