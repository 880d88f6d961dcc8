/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: what a table's deduplication window can remember, and what a resend
 * under its token can therefore have done. Every doubt counts against the window.
 */
#include <string.h>

#include "chwrite/chwrite.h"

bool chwrite_line_tested(const char *version)
{
    static const char *const lines[] = {"26.3", "26.5", "26.7", "26.8"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        size_t n = strlen(lines[i]);
        if (strncmp(version, lines[i], n) == 0 && (version[n] == '\0' || version[n] == '.'))
            return true;
    }
    return false;
}

bool chwrite_window_holds(const struct chwrite_window *w, uint64_t first_sent, uint64_t blocks)
{
    uint64_t each = w->entries_per_block, between = w->sent - first_sent;

    if (!w->tested || w->size == 0 || blocks == 0 || each == 0 || between < blocks)
        return false;
    /* The resend's own blocks, when they are dropped, push nothing out. */
    between -= blocks;
    if (between < blocks)
        between = blocks;
    return between <= w->size / each;
}
