/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: what a table's deduplication window can remember, and what a resend
 * under its token can therefore have done. Every doubt counts against the window.
 */
#include "chwrite/chwrite.h"

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
