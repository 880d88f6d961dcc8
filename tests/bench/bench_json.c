/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader beside yajl on the same stream of rows, in memory, on one
 * core: json_valid and json_parse a line at a time, as stages use them, against
 * yajl's parser with its UTF-8 check on over the whole stream. Rounds take
 * turns and the best of each counts, so that both see the same machine.
 */
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yajl/yajl_parse.h>

enum { CHUNK = 1 << 16 };

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Rows as ch-read and scope-cut write them: integers, a decimal, a time, a word, now and then text that is not
 * ASCII, an escape, or null. */
static void add_row(struct buf *b, uint64_t offset)
{
    static const char *const words[] = {"paid", "open", "returned", "wartet auf Lieferung", "заказ", "say \\\"yes\\\"",
                                        "dépôt"};
    buf_printf(b,
               "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"%" PRIu64 "\",\"%" PRIu64 "\",\"17580%011" PRIu64
               "\",",
               (next_random() >> 30), (next_random() >> 44), (next_random() % 100000000000u));
    if (next_random() % 8 == 0)
        buf_adds(b, "null");
    else
        buf_printf(b, "\"%s\"", words[next_random() % 16 < 12 ? next_random() % 4 : 4 + next_random() % 3]);
    buf_printf(b, ",\"%016" PRIx64 "\"],\"at\":\"orders/%u/%" PRIu64 "\"}\n", next_random(),
               (unsigned)(next_random() % 2), offset);
}

static bool each_line(const struct buf *b, bool tree, struct arena *a)
{
    const char *p = b->p, *end = p + b->len;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)(nl - p);
        if (tree)
            arena_reset(a);
        if (tree ? !json_parse(p, n, a, NULL) : !json_valid(p, n, NULL))
            return false;
        p = nl + 1;
    }
    return true;
}

static int on_null(void *c)
{
    (void)c;
    return 1;
}
static int on_bool(void *c, int v)
{
    (void)c;
    (void)v;
    return 1;
}
static int on_text(void *c, const char *p, size_t n)
{
    (void)c;
    (void)p;
    (void)n;
    return 1;
}
static int on_bytes(void *c, const unsigned char *p, size_t n)
{
    (void)c;
    (void)p;
    (void)n;
    return 1;
}

/* Numbers come as text, so yajl converts none; containers are not called back for. */
static const yajl_callbacks callbacks = {on_null, on_bool,  NULL, NULL, on_text, on_bytes,
                                         NULL,    on_bytes, NULL, NULL, NULL};

static bool with_yajl(const struct buf *b)
{
    yajl_handle h = yajl_alloc(&callbacks, NULL, NULL);
    yajl_config(h, yajl_allow_multiple_values, 1);
    bool ok = true;
    for (size_t at = 0; ok && at < b->len; at += CHUNK) {
        size_t n = b->len - at < CHUNK ? b->len - at : CHUNK;
        ok = yajl_parse(h, (const unsigned char *)b->p + at, n) == yajl_status_ok;
    }
    ok = ok && yajl_complete_parse(h) == yajl_status_ok;
    yajl_free(h);
    return ok;
}

int main(int argc, char **argv)
{
    struct buf b = BUF_INIT;
    struct arena a = ARENA_INIT;
    size_t bytes = argc == 3 ? strtoul(argv[1], NULL, 10) << 20 : 0;
    unsigned long rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (bytes == 0 || rounds == 0) {
        fputs("usage: bench_json MEGABYTES ROUNDS\n", stderr);
        return 2;
    }
    buf_reserve(&b, bytes + 4096);
    for (uint64_t i = 0; b.len < bytes; i++)
        add_row(&b, i);
    double best[3] = {0, 0, 0};
    for (unsigned long round = 0; round < rounds; round++)
        for (int who = 0; who < 3; who++) {
            struct timespec t0, t1;
            clock_gettime(CLOCK_MONOTONIC, &t0);
            bool ok = who == 2 ? with_yajl(&b) : each_line(&b, who == 1, &a);
            clock_gettime(CLOCK_MONOTONIC, &t1);
            if (!ok) {
                fprintf(stderr, "bench_json: reader %d refused the stream\n", who);
                return 1;
            }
            double s = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
            double rate = (double)b.len / s / 1e6;
            best[who] = rate > best[who] ? rate : best[who];
        }
    printf("json: json_valid %.0f MB/s, json_parse %.0f MB/s, yajl %.0f MB/s; ratio %.2f (tree %.2f)\n", best[0],
           best[1], best[2], best[2] / best[0], best[2] / best[1]);
    arena_free(&a);
    buf_free(&b);
    return 0;
}
