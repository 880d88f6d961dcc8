/* SPDX-License-Identifier: Apache-2.0 */
/* Where two files of lines part. */
#include "replay/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t)64 << 10)
#define SHOWN 240 /* bytes of a line that a reason shows */

struct half {
    int fd;
    char *p;
    size_t n;
};

static int fill(struct half *s, off_t at, struct err *err)
{
    s->n = 0;
    while (s->n < BLOCK) {
        ssize_t got = pread(s->fd, s->p + s->n, BLOCK - s->n, at + (off_t)s->n);
        if (got < 0)
            return err_sys(err, "cannot read the scratch file");
        if (got == 0)
            return 0;
        s->n += (size_t)got;
    }
    return 0;
}

const char *replay_shown(struct replay *p, const char *text, size_t n)
{
    struct buf shown = BUF_INIT;
    msg_mask(&shown, text, n < SHOWN ? n : SHOWN);
    if (n > SHOWN)
        buf_adds(&shown, "...");
    const char *kept = arena_strndup(&p->a, shown.p ? shown.p : "", shown.len);
    buf_free(&shown);
    return kept;
}

/* The line that begins at `from`; NULL where the file ends there. */
static const char *line_at(struct replay *p, int fd, off_t from)
{
    char text[SHOWN + 1];
    ssize_t got = pread(fd, text, sizeof text, from);
    if (got <= 0)
        return NULL;
    const char *end = memchr(text, '\n', (size_t)got);
    return replay_shown(p, text, end ? (size_t)(end - text) : (size_t)got);
}

int output_differs(struct replay *p, int a, int b, struct parting *where, struct err *err)
{
    struct half x = {a, xmalloc(BLOCK), 0}, y = {b, xmalloc(BLOCK), 0};
    off_t at = 0, line_begins = 0;
    int rc;
    uint64_t line = 1;
    bool same = true;
    do {
        rc = fill(&x, at, err) != 0 || fill(&y, at, err) != 0 ? -1 : 0;
        size_t n = x.n < y.n ? x.n : y.n, i = 0;
        while (rc == 0 && i < n && x.p[i] == y.p[i])
            if (x.p[i++] == '\n') {
                line++;
                line_begins = at + (off_t)i;
            }
        same = rc == 0 && i == n && x.n == y.n;
        at += (off_t)n;
    } while (rc == 0 && same && x.n == BLOCK);
    free(x.p);
    free(y.p);
    if (rc != 0 || same)
        return rc;
    *where = (struct parting){line, line_begins, line_at(p, a, line_begins), line_at(p, b, line_begins)};
    return 1;
}
