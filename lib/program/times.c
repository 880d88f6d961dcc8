/* SPDX-License-Identifier: Apache-2.0 */
/* Records' times: a block of them is its oldest, and of each the step from that in as many bytes as the longest takes.
 */
#include "program/times.h"

#include <stdlib.h>
#include <string.h>

struct times_block {
    uint64_t oldest, at; /* at: of its steps */
    unsigned char width; /* bytes of a step */
    bool gaps;           /* some have no time, which a step of 0 says; the others' are 1 more */
};

static bool full(uint64_t n)
{
    return (n & (n - 1)) == 0; /* the room is a power of two */
}

static unsigned char width_of(uint64_t step)
{
    unsigned char width = 0;
    for (; step > 0; step >>= 8)
        width++;
    return width;
}

static void close_block(struct times *t)
{
    struct stream_ts oldest = {.has = false}, newest = {.has = false};
    struct times_block b = {.at = t->steps.len};
    for (size_t i = 0; i < TIMES_BLOCK; i++) {
        ts_widen(&oldest, &newest, t->open[i]);
        b.gaps = b.gaps || !t->open[i].has;
    }
    b.oldest = oldest.ms;
    b.width = width_of(newest.ms - oldest.ms + (b.gaps && oldest.has));
    for (size_t i = 0; i < TIMES_BLOCK; i++) {
        uint64_t step = t->open[i].has ? t->open[i].ms - b.oldest + b.gaps : 0;
        for (unsigned k = 0; k < b.width; k++, step >>= 8)
            buf_addc(&t->steps, (char)(step & 0xff));
    }
    uint64_t number = t->n / TIMES_BLOCK - 1;
    if (full(number))
        t->blocks = xrealloc(t->blocks, (number == 0 ? 1 : 2 * number) * sizeof *t->blocks);
    t->blocks[number] = b;
}

void times_add(struct times *t, struct stream_ts ts)
{
    if (t->n == 0 && !ts.has) {
        t->before++;
        return;
    }
    if (!t->open)
        t->open = xcalloc(TIMES_BLOCK, sizeof *t->open);
    t->open[t->n++ % TIMES_BLOCK] = ts;
    if (t->n % TIMES_BLOCK == 0)
        close_block(t);
}

struct stream_ts times_get(const struct times *t, uint64_t index)
{
    if (index < t->before || index - t->before >= t->n)
        return (struct stream_ts){.has = false};
    index -= t->before;
    if (index / TIMES_BLOCK == t->n / TIMES_BLOCK)
        return t->open[index % TIMES_BLOCK];
    const struct times_block *b = &t->blocks[index / TIMES_BLOCK];
    const unsigned char *p = (const unsigned char *)t->steps.p + b->at + index % TIMES_BLOCK * b->width;
    uint64_t step = 0;
    for (unsigned k = b->width; k > 0; k--)
        step = step << 8 | p[k - 1];
    if (b->gaps && step == 0)
        return (struct stream_ts){.has = false};
    return (struct stream_ts){true, b->oldest + step - b->gaps};
}

void times_free(struct times *t)
{
    free(t->open);
    free(t->blocks);
    buf_free(&t->steps);
}
