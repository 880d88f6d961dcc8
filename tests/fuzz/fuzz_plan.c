/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sink reads of its destination: the table's identity, its columns, the settings that the server knows and
 * their values, each an answer of JSONEachRow with its length before it in two bytes; and the plan that is made of it.
 */
#include "chwrite/internal.h"

#include <stdlib.h>
#include <string.h>

#define MOST 40 /* rows of an answer */

static void insist(bool ok)
{
    if (!ok)
        abort();
}

struct input {
    const uint8_t *p;
    size_t n;
};

/* The next answer's rows, as many as they are; -1 where it has none such. */
static int next(struct input *in, uint64_t most, struct arena *a, struct rows *rows)
{
    struct question q = {.what = "it", .asked = {most, 1 << 20}};
    size_t n = in->n > 1 ? in->p[0] + 256U * in->p[1] : 0, skip = in->n > 1 ? 2 : in->n;
    uint64_t lines = 0;
    struct err err = ERR_INIT;
    in->p += skip;
    in->n -= skip;
    n = n < in->n ? n : in->n;
    const char *text = arena_strndup(a, (const char *)in->p, n);
    in->p += n;
    in->n -= n;
    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    insist(look_take_rows(&q, text, n, lines + 1, a, rows, &err) == -1);
    int rc = look_take_rows(&q, text, n, lines, a, rows, &err);
    insist(rc != 0 || (rows->n == lines && lines <= most));
    return rc;
}

static bool given(const char *kind, const char *name)
{
    return *kind == '\0' || (strcmp(kind, "DEFAULT") == 0 && strcmp(name, "d") == 0);
}

/* Every column that the server would not compute is in the plan, in the table's order, with its type and unit. */
static void check_plan(const struct look *l, const struct columns *cols)
{
    size_t k = 0;
    for (size_t i = 0; i < l->n_found; i++) {
        if (!given(l->found[i].kind, l->found[i].name))
            continue;
        insist(k < cols->n && strcmp(cols->at[k].name, l->found[i].name) == 0);
        insist(type_supported(&cols->at[k].type) && type_is_time(&cols->at[k].type) == (cols->at[k].from != FROM_NONE));
        k++;
    }
    insist(k == cols->n && k > 0);
}

static void plan(const struct look *l)
{
    static const struct chwrite_from from[] = {{"t", FROM_MS}};
    static const char *const with[] = {"d", NULL};
    for (size_t n = 0; n < 2; n++) {
        struct columns cols;
        struct blocks blocks = BLOCKS_INIT;
        const char *key = l->destination.partition_key ? l->destination.partition_key : "";
        struct err err = ERR_INIT;
        if (chwrite_plan(l->found, l->n_found, from, n, n ? with : NULL, &cols, &err) != 0) {
            insist(err.kind == ERR_REFUSED);
            continue;
        }
        if (n)
            check_plan(l, &cols);
        blocks_init(&blocks, key, &cols);
        insist(blocks.rule != BLOCKS_COLUMN || blocks.column < cols.n);
        blocks_free(&blocks);
        columns_free(&cols);
    }
}

static void settings(struct input *in, struct arena *a)
{
    struct http_setting s[] = {
        {"async_insert", "0"}, {"insert_deduplicate", "1"}, {"deduplicate_insert", "enable"}, {NULL, NULL}};
    struct rows rows;
    struct err err = ERR_INIT;
    size_t n = 3;
    if (next(in, MOST, a, &rows) != 0 || look_take_known(&rows, s, &n, 2, &err) != 0)
        return;
    insist(n >= 2 && n <= 3 && !s[n].name && strcmp(s[0].name, "async_insert") == 0);
    if (next(in, MOST, a, &rows) == 0 && look_take_effect(&rows, s, &err) == 0)
        insist(rows.n >= n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chwrite_options o = {.database = "d", .table = "t"};
    struct look l = {.arena = ARENA_INIT};
    struct input in = {data, size};
    struct rows rows;
    struct err err = ERR_INIT;
    if (next(&in, 1, &l.arena, &rows) == 0 && look_take_identity(&rows, &o, &l, &err) == 0) {
        insist(l.uptime_ms >= 0 && l.destination.server_uuid && l.destination.partition_key);
        const char *window = look_window(l.destination.engine_full, &l.arena);
        insist(!window || strspn(window, "0123456789") == strlen(window));
    }
    if (next(&in, MOST, &l.arena, &rows) == 0 && look_take_columns(&rows, &l, &err) == 0)
        plan(&l);
    settings(&in, &l.arena);
    look_free(&l);
    return 0;
}
