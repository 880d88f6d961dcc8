/* SPDX-License-Identifier: Apache-2.0 */
/* What a window holds: its panes, the keys in each and their values; written as the operator's state, and taken back.
 */
#include "ops/window.h"

#include "stream/codes.h"

#include <stdlib.h>
#include <string.h>

void pane_free(struct pane *p)
{
    for (size_t i = 0; i < p->n; i++)
        free((char *)(uintptr_t)p->keys[i].key);
    map_free(&p->by_key);
    free(p->keys);
    free(p->values);
    free(p);
}

/* ---- panes and keys ---- */

/* Most rows are of the newest. */
struct pane *pane_at(struct window *w, int64_t start, int64_t end)
{
    size_t low = 0, high = w->n_panes;
    while (low < high) {
        size_t middle = high - 1 - (high - 1 - low) / 2;
        if (w->panes[middle]->start < start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < w->n_panes && w->panes[low]->start == start)
        return w->panes[low];
    if (w->n_panes == w->cap_panes) {
        w->cap_panes = w->cap_panes ? 2 * w->cap_panes : 16;
        w->panes = xrealloc(w->panes, w->cap_panes * sizeof(*w->panes));
    }
    memmove(w->panes + low + 1, w->panes + low, (w->n_panes - low) * sizeof(*w->panes));
    w->n_panes++;
    w->panes[low] = xcalloc(1, sizeof(**w->panes));
    w->panes[low]->start = start;
    w->panes[low]->end = end;
    return w->panes[low];
}

struct window_value *pane_values(const struct window *w, struct pane *p, const char *key, size_t n)
{
    const uint64_t *known = map_find(&p->by_key, key, n);
    if (known)
        return &p->values[*known * w->n_aggregates];
    if (p->n == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 8;
        p->keys = xrealloc(p->keys, p->cap * sizeof *p->keys);
        p->values = xrealloc(p->values, p->cap * w->n_aggregates * sizeof *p->values);
    }
    struct window_value *values = &p->values[p->n * w->n_aggregates];
    p->keys[p->n] = (struct window_open){p->start, p->end, xstrndup(key, n), n};
    for (size_t i = 0; i < w->n_aggregates; i++)
        values[i] = (struct window_value){.null = w->aggregates[i].function == SUM};
    map_add(&p->by_key, p->keys[p->n].key, n, p->n);
    p->n++;
    return values;
}

static int by_key(const void *a, const void *b)
{
    return window_compare(a, b);
}

/* The pane's keys in their order; the numbers by which their values are found stay in by_key. */
struct window_open *pane_sorted(const struct pane *p)
{
    struct window_open *keys = xcalloc(p->n, sizeof *keys);
    memcpy(keys, p->keys, p->n * sizeof *keys);
    qsort(keys, p->n, sizeof *keys, by_key);
    return keys;
}

const struct window_value *pane_values_of(const struct window *w, const struct pane *p, const struct window_open *key)
{
    return &p->values[*map_find(&p->by_key, key->key, key->key_len) * w->n_aggregates];
}

/* ---- as the operator's state ---- */

int window_snapshot(const struct op *op, struct buf *out, struct err *err)
{
    (void)err;
    const struct window *w = (const struct window *)op;
    struct arena a = ARENA_INIT;
    size_t n = 0;
    struct window_state s = {.parameters = w->parameters.p,
                             .parameters_len = w->parameters.len,
                             .has_watermark = w->has_watermark,
                             .watermark = w->watermark,
                             .late = w->late,
                             .n_values = w->n_aggregates};
    for (size_t i = 0; i < w->n_panes; i++)
        n += w->panes[i]->n;
    s.open = arena_alloc(&a, (n + 1) * sizeof *s.open);
    s.values = arena_alloc(&a, (n + 1) * s.n_values * sizeof *s.values);
    for (size_t i = 0; i < w->n_panes; i++) {
        struct window_open *keys = pane_sorted(w->panes[i]);
        for (size_t k = 0; k < w->panes[i]->n; k++) {
            s.open[s.n_open] = keys[k];
            memcpy(&s.values[s.n_open++ * s.n_values], pane_values_of(w, w->panes[i], &keys[k]),
                   s.n_values * sizeof *s.values);
        }
        free(keys);
    }
    window_state_put(out, &s);
    arena_free(&a);
    return 0;
}

static int take_state(struct window *w, const char *p, size_t n, struct arena *a, struct err *err)
{
    struct window_state s;
    const struct json *doc = json_parse_named(p, n, a, "state", err);
    if (!doc || window_state_parse(doc, "state", a, &s, err) != 0)
        return err_cause(err, BECAUSE(CODE_STATE_MALFORMED));
    if (!buf_is(&w->parameters, s.parameters, s.parameters_len))
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_STATE_OTHER), "it is of a window with other parameters: %.*s",
                        (int)(s.parameters_len < 300 ? s.parameters_len : 300), s.parameters);
    w->has_watermark = s.has_watermark;
    w->watermark = s.watermark;
    w->late = s.late;
    for (size_t i = 0; i < s.n_open; i++)
        memcpy(pane_values(w, pane_at(w, s.open[i].start, s.open[i].end), s.open[i].key, s.open[i].key_len),
               &s.values[i * s.n_values], s.n_values * sizeof *s.values);
    return 0;
}

int window_restore(struct op *op, const char *p, size_t n, struct err *err)
{
    struct arena a = ARENA_INIT;
    int rc = take_state((struct window *)op, p, n, &a, err);
    arena_free(&a);
    return rc;
}
