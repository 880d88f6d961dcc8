/* SPDX-License-Identifier: Apache-2.0 */
/* The sink's inside: what table.c reads of the destination and insert.c uses. Not for other modules. */
#ifndef OWED_CHWRITE_SINK_H
#define OWED_CHWRITE_SINK_H

#include "chwrite/blocks.h"
#include "chwrite/chwrite.h"

#define SINK_SETTINGS 16
#define SINK_BACKOFF_FIRST_MS 50
#define SINK_BACKOFF_MOST_MS 5000

/* One look at the destination. Strings live in the arena. */
struct look {
    struct arena arena;
    struct destination destination;
    struct chwrite_found *found;
    size_t n_found;
    uint64_t window;            /* of this table, or the server's default */
    uint64_t entries_per_block; /* 0: not known */
    const char *hashing;        /* the server's name for how it keeps blocks in mind, "" where it has none */
    uint64_t block_number;      /* greatest of the table's parts so far */
    bool has_block_number;
};

/* Where a batch's rows come from: a stretch of offsets for each topic's partition, in the order of appearance. */
struct range {
    struct stretch {
        struct buf place, first, last;
    } * at;
    size_t n, cap; /* those past n are kept for reuse */
};
void range_add(struct range *r, const char *at);
void range_put(struct range *r, struct buf *out); /* "orders/0/4711../4720 orders/2/7../9" */
void range_reset(struct range *r);
void range_free(struct range *r);

struct chwrite {
    struct chwrite_options o;
    struct http *http;
    struct look look; /* the last one */
    struct columns columns;
    struct chwrite_window window;
    uint64_t mark; /* block_number as of the last look that a barrier or the open made */
    bool has_mark;
    struct blocks blocks;
    struct range range;
    struct buf body, statement, scratch;
    size_t header; /* bytes of body before the first row */
    size_t *ends;
    uint64_t rows, sequence;
    char max_rows[24], token[256];
    struct http_setting settings[SINK_SETTINGS];
    size_t n_settings;
};

/* As chwrite_look, without forgetting how much was written since the barrier. */
int sink_look(struct chwrite *w, struct err *err);
/* Read the table's identity, form and columns. ERR_REFUSED where trying again would not help. */
int look_read(struct http *http, const struct chwrite_options *o, struct look *out, struct err *err);
void look_free(struct look *l);
/* NULL where b is the same server and table as a, else what is another. */
const char *look_differs(const struct look *a, const struct look *b);
/* Prove on this connection that the settings (ending in a NULL name) take effect whatever the profile says, and keep
 * only those that the server knows; the first `needed` it must know. ERR_REFUSED naming the setting that does not. */
int look_settings(struct http *http, struct http_setting *settings, size_t *n, size_t needed, struct err *err);

#endif
