/* SPDX-License-Identifier: Apache-2.0 */
/* Does a name repeat another of its object? For the thousands of members of a few objects; read.c compares few itself.
 */
#include "json/json.h"
#include "base/hash.h"
#include "json/internal.h"

#include <stdlib.h>
#include <string.h>

static bool same_name(const struct json *a, const struct json *b)
{
    return a->len == b->len && memcmp(a->str, b->str, a->len) == 0;
}

const struct json *json_names_first_repeat(const struct json *first, size_t n, enum names_layout layout)
{
    size_t size = 64;
    while (size < 2 * n)
        size *= 2;
    uint32_t *table = xcalloc(size, sizeof *table); /* 0, or one past a name's place from first */
    const struct json *at = first, *twice = NULL;
    for (size_t i = 0; i < n && !twice; i++) {
        size_t h = (size_t)hash_bytes(at->str, at->len) & (size - 1);
        while (table[h] && !same_name(first + table[h] - 1, at))
            h = (h + 1) & (size - 1);
        if (table[h])
            twice = at;
        table[h] = (uint32_t)(at - first) + 1;
        at += layout == NAMES_ALONE ? 1 : 1 + json_span(at + 1);
    }
    free(table);
    return twice;
}
