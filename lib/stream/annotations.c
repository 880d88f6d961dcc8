/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of annotation lines, by the name of their type. */
#include "stream/annotations.h"

#include <stdlib.h>
#include <string.h>

uint64_t *annotations_count(struct stream_annotations **head, const char *name, size_t n)
{
    for (struct stream_annotations *o = *head; o; o = o->next)
        if (o->len == n && memcmp(o->name, name, n) == 0)
            return &o->count;
    struct stream_annotations *o = xcalloc(1, sizeof *o);
    o->name = xstrndup(name, n);
    o->len = n;
    o->next = *head;
    *head = o;
    return &o->count;
}

void annotations_free(struct stream_annotations **head)
{
    while (*head) {
        struct stream_annotations *next = (*head)->next;
        free((*head)->name);
        free(*head);
        *head = next;
    }
}
