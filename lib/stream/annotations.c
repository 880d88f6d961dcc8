/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of annotation lines, by the name of their type. */
#include "stream/annotations.h"

#include <stdlib.h>

uint64_t *annotations_count(struct stream_annotations **to, const char *name, size_t n)
{
    struct stream_annotations *o = *to ? *to : (*to = xcalloc(1, sizeof *o));
    const uint64_t *place = map_find(&o->places, name, n);
    if (place)
        return &o->at[*place].count;
    if (o->n == o->cap)
        o->at = xrealloc(o->at, (o->cap = o->cap ? 2 * o->cap : 16) * sizeof *o->at);
    o->at[o->n] = (struct annotation){xstrndup(name, n), n, 0};
    map_add(&o->places, o->at[o->n].name, n, o->n);
    return &o->at[o->n++].count;
}

void annotations_free(struct stream_annotations **to)
{
    struct stream_annotations *o = *to;
    if (!o)
        return;
    for (size_t i = 0; i < o->n; i++)
        free(o->at[i].name);
    free(o->at);
    map_free(&o->places);
    free(o);
    *to = NULL;
}
