/* SPDX-License-Identifier: Apache-2.0 */
/* A key that comes without its row. */
#include <stdlib.h>

#include "cells/cells.h"

bool cells_key_row(const struct columns *c, const char *key, size_t n, struct buf *row, const char **why)
{
    size_t keys = 0, len = 0;
    for (size_t i = 0; i < c->n; i++)
        keys += c->at[i].key;
    uint32_t *ends = xcalloc(keys + 1, sizeof *ends);
    *why = "not an array of the key's cells";
    bool ok = keys > 0 && cells_scan_row(key, n, keys, &len, ends, keys, why) && len == n;
    for (size_t i = 0, k = 0; ok && i < c->n; i++) {
        buf_addc(row, i ? ',' : '[');
        if (!c->at[i].key) {
            buf_adds(row, "null");
            continue;
        }
        uint32_t from = k ? ends[k - 1] + 1 : 1;
        buf_add(row, key + from, ends[k++] - from);
    }
    if (ok)
        buf_addc(row, ']');
    free(ends);
    return ok;
}
