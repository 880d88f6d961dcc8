/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: the state of a job's window: what it has counted and summed for
 * each key of the windows that are open. One reader for a restart, for a replay
 * and for whoever checks the snapshot.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_WINDOW_STATE_H
#define OWED_EVIDENCE_WINDOW_STATE_H

#include "base/base.h"
#include "json/json.h"

/* Exact: a count, or a sum in units of its scale. */
typedef __int128 int128;

struct window_value {
    bool null; /* a sum of no value */
    int128 v;
};

/* One key's rows in one window. */
struct window_open {
    int64_t start, end; /* [start, end), held within int64 */
    const char *key;    /* as window_key_put spells it, with its brackets */
    size_t key_len;
};

struct window_state {
    const char *parameters; /* of its operator, as it ran: JSON text of an object */
    size_t parameters_len;
    bool has_watermark;
    int64_t watermark;
    uint64_t late;            /* rows that came after their window had closed */
    struct window_open *open; /* ascending by start, then by the key's bytes; each once */
    size_t n_open;
    size_t n_values;             /* of each */
    struct window_value *values; /* those of open[i] begin at i * n_values */
};

/* Refuses a state that no window has: keys out of order or misspelled, a window that the watermark has passed by the
 * parameters' lateness, values that are no whole numbers, another number of them than the parameters have. */
int window_state_parse(const struct json *doc, const char *where, struct arena *a, struct window_state *out,
                       struct err *err);
void window_state_put(struct buf *out, const struct window_state *s);

/* Append one value of a key in the one spelling that each has. False for what a key cannot hold: a list, an object, a
 * number with a fraction or past 2^53. */
bool window_key_put(struct buf *out, const struct json *v);

/* The window of time t: floor division, so that times before 1970 fall where they belong; held within int64. */
void window_of(int64_t t, int64_t size, int64_t *start, int64_t *end);
/* When a window that ends there closes: the watermark that reaches this closes it. */
int64_t window_closes(int64_t end, int64_t lateness);
/* Windows and keys in their order. */
int window_compare(const struct window_open *a, const struct window_open *b);

bool int128_read(const char *p, size_t n, int128 *out); /* a decimal as int128_put writes it, and nothing else */
void int128_put(struct buf *out, int128 v);

#endif
