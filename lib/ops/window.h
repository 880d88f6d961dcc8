/* SPDX-License-Identifier: Apache-2.0 */
/* The window operator, private: its parameters (window_parameters.c), the panes that it holds, which are its state
 * (window_panes.c), and what window.c does with them. */
#ifndef OWED_OPS_WINDOW_H
#define OWED_OPS_WINDOW_H

#include "base/hash.h"
#include "evidence/window_state.h"
#include "ops/internal.h"

#define WINDOW_START "window_start"
#define WINDOW_END "window_end"

enum function { COUNT, SUM };

struct aggregate {
    enum function function;
    const char *column; /* NULL: count the rows */
    const char *as;
    uint64_t scale;
};

/* One window's keys. */
struct pane {
    int64_t start, end;
    struct map by_key; /* the number of a key in keys */
    struct window_open *keys;
    struct window_value *values; /* n_aggregates to a key */
    size_t n, cap;
};

struct window {
    struct op op;
    struct arena a;        /* of the parameters */
    struct buf parameters; /* as they run, every default said */
    int64_t size, lateness;
    const char **groups;
    size_t n_groups;
    struct aggregate *aggregates;
    size_t n_aggregates;
    struct pane **panes; /* by start */
    size_t n_panes, cap_panes;
    bool has_watermark;
    int64_t watermark;
    uint64_t late;
    struct arena line;
    struct buf key, out;
    struct window_value *addends;
};

/* Read the parameters of a window that was just made; and write them as they run, every default said. */
int window_parameters(struct window *w, const struct json *parameters, struct err *err);
void window_parameters_put(struct window *w);

/* The pane of a start, made where there is none. */
struct pane *pane_at(struct window *w, int64_t start, int64_t end);
void pane_free(struct pane *p);
/* A key's values in a pane, new ones being zero or nothing. */
struct window_value *pane_values(const struct window *w, struct pane *p, const char *key, size_t n);
/* The pane's keys in their order, to be freed; and the values of one of them. */
struct window_open *pane_sorted(const struct pane *p);
const struct window_value *pane_values_of(const struct window *w, const struct pane *p, const struct window_open *key);

int window_snapshot(const struct op *op, struct buf *out, struct err *err);
int window_restore(struct op *op, const char *p, size_t n, struct err *err);

#endif
