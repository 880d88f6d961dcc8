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
        if (strncmp(version, lines[i], n) == 0 && (version[n] == '\0' || version[n] == '.')) {
            return true;
        }
    }
    return false;
}

enum resend chwrite_resend(const struct chwrite_window *w, uint64_t first_sent, uint64_t blocks, bool same_server)
{
    uint64_t each = w->entries_per_block, between = w->sent - first_sent;

    if (!w->tested || !same_server || w->size == 0 || blocks == 0 || each == 0 || between < blocks) {
        return RESEND_MAY_DUPLICATE;
    }
    /* The resend's own blocks, when they are dropped, push nothing out. */
    between -= blocks;
    if (between < blocks) {
        between = blocks;
    }
    return between <= w->size / each ? RESEND_DEDUPLICATED : RESEND_MAY_DUPLICATE;
}

void chwrite_token(const char *job, const char *operator_id, uint64_t subtask, const char *attempt, uint64_t sequence,
                   const struct chwrite_batch *b, struct buf *out)
{
    char content[SHA256_HEX + 1], all[SHA256_HEX + 1];
    struct buf text = BUF_INIT;

    sha256_of(b->body->p, b->body->len, content);
    /* Lines, since none of the parts but the range can hold a line break, and the range stands last. */
    buf_printf(&text, "%s\n%s\n%llu\n%s\n%llu\n%llu\n%llu\n%llu\n%s\n%s", job, operator_id, (unsigned long long)subtask,
               attempt, (unsigned long long)b->after, (unsigned long long)sequence, (unsigned long long)b->first,
               (unsigned long long)b->rows, content, b->range);
    sha256_of(text.p, text.len, all);
    buf_reset(out);
    buf_printf(out, "owed-%s-%llu-%llu-%llu-%.40s", job, (unsigned long long)subtask, (unsigned long long)b->after,
               (unsigned long long)sequence, all);
    buf_free(&text);
}
