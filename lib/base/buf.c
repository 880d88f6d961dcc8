/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: allocation that does not fail quietly, growable buffers, arenas. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void out_of_memory(void)
{
    static const char text[] = ": out of memory\n";
    const char *prog = msg_program();
    if (write(2, prog, strlen(prog)) < 0 || write(2, text, sizeof text - 1) < 0)
        _exit(OWED_TROUBLE);
    _exit(OWED_TROUBLE);
}

void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        out_of_memory();
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        out_of_memory();
    return p;
}

void *xrealloc(void *old, size_t n)
{
    void *p = realloc(old, n ? n : 1);
    if (!p)
        out_of_memory();
    return p;
}

char *xstrndup(const char *s, size_t n)
{
    char *p = xmalloc(n + 1);
    if (n)
        memcpy(p, s, n);
    p[n] = '\0';
    return p;
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

void buf_reserve(struct buf *b, size_t more)
{
    if (b->cap - b->len >= more)
        return;
    if (more > SIZE_MAX / 2 - b->len)
        out_of_memory();
    size_t cap = b->cap ? b->cap : 64;
    while (cap - b->len < more)
        cap *= 2;
    b->p = xrealloc(b->p, cap);
    b->cap = cap;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    if (n == 0)
        return;
    buf_reserve(b, n);
    memcpy(b->p + b->len, p, n);
    b->len += n;
}

void buf_adds(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
    buf_reserve(b, 1);
    b->p[b->len++] = c;
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n > 0) {
        buf_reserve(b, (size_t)n + 1);
        vsnprintf(b->p + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_addu64(struct buf *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    buf_add(b, digits + at, sizeof digits - at);
}

void buf_addi64(struct buf *b, int64_t v)
{
    if (v < 0)
        buf_addc(b, '-');
    buf_addu64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

const char *buf_str(struct buf *b)
{
    buf_reserve(b, 1);
    b->p[b->len] = '\0';
    return b->p;
}

void buf_reset(struct buf *b)
{
    b->len = 0;
}

void buf_free(struct buf *b)
{
    free(b->p);
    *b = (struct buf)BUF_INIT;
}

bool buf_is(const struct buf *b, const char *p, size_t n)
{
    return b->len == n && (n == 0 || memcmp(b->p, p, n) == 0);
}

#define ARENA_BLOCK ((size_t)64 << 10)

struct arena_block {
    struct arena_block *next;
    size_t cap, used;
    _Alignas(max_align_t) unsigned char data[];
};

static struct arena_block *arena_block_new(size_t n)
{
    size_t cap = n > ARENA_BLOCK ? n : ARENA_BLOCK;
    struct arena_block *blk = xmalloc(sizeof *blk + cap);
    blk->next = NULL;
    blk->cap = cap;
    blk->used = 0;
    return blk;
}

void *arena_alloc(struct arena *a, size_t n)
{
    size_t align = _Alignof(max_align_t);
    if (n > SIZE_MAX / 2)
        out_of_memory();
    n = (n + align - 1) & ~(align - 1);
    struct arena_block *blk = a->current;
    while (blk && blk->cap - blk->used < n) {
        blk = blk->next;
        if (blk)
            blk->used = 0;
    }
    if (!blk) {
        blk = arena_block_new(n);
        struct arena_block **end = a->current ? &a->current->next : &a->first;
        while (*end)
            end = &(*end)->next;
        *end = blk;
    }
    a->current = blk;
    void *p = blk->data + blk->used;
    blk->used += n;
    return p;
}

/* The block whose one allocation p is, or NULL. */
static struct arena_block **block_of(struct arena *a, const void *p, size_t n)
{
    struct arena_block **link = &a->first;
    while (*link && ((const void *)(*link)->data != p || (*link)->used != n))
        link = &(*link)->next;
    return *link ? link : NULL;
}

void *arena_resize(struct arena *a, void *p, size_t had, size_t n)
{
    size_t align = _Alignof(max_align_t);
    size_t old = (had + align - 1) & ~(align - 1), now = (n + align - 1) & ~(align - 1);
    struct arena_block *blk = a->current, **alone;
    if (now <= old && !(p && blk->data + blk->used == (unsigned char *)p + old))
        return p;
    if (p && blk->data + blk->used == (unsigned char *)p + old && blk->cap - blk->used + old >= now) {
        blk->used = blk->used - old + now;
        return p;
    }
    if (p && (alone = block_of(a, p, old)) != NULL) {
        bool current = *alone == a->current;
        *alone = xrealloc(*alone, sizeof **alone + now);
        (*alone)->cap = (*alone)->used = now;
        a->current = current ? *alone : a->current;
        return (*alone)->data;
    }
    void *more = arena_alloc(a, n);
    if (had)
        memcpy(more, p, had);
    return more;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    void *p = arena_alloc(a, n);
    memset(p, 0, n);
    return p;
}

char *arena_strndup(struct arena *a, const char *p, size_t n)
{
    char *s = arena_alloc(a, n + 1);
    if (n)
        memcpy(s, p, n);
    s[n] = '\0';
    return s;
}

void arena_reset(struct arena *a)
{
    a->current = a->first;
    if (a->first)
        a->first->used = 0;
}

void arena_free(struct arena *a)
{
    struct arena_block *blk = a->first;
    while (blk) {
        struct arena_block *next = blk->next;
        free(blk);
        blk = next;
    }
    *a = (struct arena)ARENA_INIT;
}
