/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of cells share: a repeatable random number, a column of a given
 * type, and tables of owed values. Included once, after cmocka.h.
 */
#include <string.h>

#include "cells/cells.h"

static uint64_t seed = 0x9e3779b97f4a7c15u;

static inline uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static inline struct column column(const char *type, const char *from)
{
    struct column c = {.name = NULL};
    struct err err = ERR_INIT;

    if (type_parse(type, strlen(type), &c.type, &err) != 0) {
        fail_msg("%s", err.text);
    }
    if (from != NULL && *from != '\0') {
        assert_int_equal(type_from_parse(from, &c.from, &err), 0);
    }
    return c;
}

/* The cell of a value given as JSON text. */
static inline enum cells_result owed(const char *type, const char *from, const char *text, struct buf *out,
                                     const char **why)
{
    struct column c = column(type, from);
    struct arena a = ARENA_INIT;
    struct json *v = json_parse(text, strlen(text), &a, NULL);
    enum cells_result r;

    if (v == NULL) {
        fail_msg("%s is no JSON", text);
    }
    buf_reset(out);
    *why = NULL;
    r = cells_owed(&c, v, out, why);
    arena_free(&a);
    type_free(&c.type);
    if ((r <= CELL_NEAREST) != (*why == NULL)) {
        fail_msg("%s %s: result %d and reason %s", type, text, (int)r, *why);
    }
    return r;
}

struct owed_case {
    const char *type, *from, *json, *cell;
    enum cells_result result;
};

static inline void check_owed(const struct owed_case *cases, size_t n)
{
    struct buf out = BUF_INIT;
    const char *why;

    for (size_t i = 0; i < n; i++) {
        const struct owed_case *c = &cases[i];
        enum cells_result r = owed(c->type, c->from, c->json, &out, &why);
        struct column col = column(c->type, c->from);
        if (strcmp(buf_str(&out), c->cell) != 0 || r != c->result) {
            fail_msg("%s %s %s: %s (%d), not %s (%d)", c->type, c->from, c->json, buf_str(&out), (int)r, c->cell,
                     (int)c->result);
        }
        if (!cells_is_canonical(&col.type, out.p, out.len, r > CELL_NEAREST, &why)) {
            fail_msg("%s %s: %s is not canonical: %s", c->type, c->json, out.p, why);
        }
        assert_int_equal(cells_is_unfit(out.p, out.len), r > CELL_NEAREST);
        type_free(&col.type);
    }
    buf_free(&out);
}
#define CHECK_OWED(cases) check_owed(cases, sizeof(cases) / sizeof(cases)[0])
