/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rows of a batch come from, as the token has it. */
#include <stdlib.h>
#include <string.h>

#include "evidence/range.h"

static struct stretch *more(struct range *r, const char *place, size_t n)
{
    struct stretch *t;

    if (r->n == r->cap) {
        r->at = xrealloc(r->at, (r->cap + 1) * sizeof *r->at);
        r->at[r->cap++] = (struct stretch){BUF_INIT, BUF_INIT, BUF_INIT};
    }
    t = &r->at[r->n++];
    buf_reset(&t->place);
    buf_reset(&t->first);
    buf_add(&t->place, place, n);
    buf_adds(&t->first, place + n);
    return t;
}

void range_add(struct range *r, const char *at)
{
    const char *slash = strrchr(at, '/');
    size_t n = !slash ? strlen(at) : (size_t)(slash - at);
    struct stretch *t = NULL;

    for (size_t i = 0; i < r->n && !t; i++)
        t = buf_is(&r->at[i].place, at, n) ? &r->at[i] : NULL;
    if (!t)
        t = more(r, at, n);
    buf_reset(&t->last);
    buf_adds(&t->last, at + n);
}

void range_put(const struct range *r, struct buf *out)
{
    for (size_t i = 0; i < r->n; i++) {
        struct stretch *t = &r->at[i];
        buf_printf(out, "%s%s", i == 0 ? "" : " ", buf_str(&t->place));
        buf_printf(out, "%s..%s", buf_str(&t->first), buf_str(&t->last));
    }
}

void range_reset(struct range *r)
{
    r->n = 0;
}

void range_free(struct range *r)
{
    for (size_t i = 0; i < r->cap; i++) {
        buf_free(&r->at[i].place);
        buf_free(&r->at[i].first);
        buf_free(&r->at[i].last);
    }
    free(r->at);
}
