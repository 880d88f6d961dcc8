/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of annotation lines, by the name of their type. */
#include "stream/others.h"

#include <stdlib.h>
#include <string.h>

uint64_t *others_count(struct stream_others **head, const char *name, size_t n)
{
    for (struct stream_others *o = *head; o; o = o->next)
        if (o->len == n && memcmp(o->name, name, n) == 0)
            return &o->count;
    struct stream_others *o = xcalloc(1, sizeof *o);
    o->name = xstrndup(name, n);
    o->len = n;
    o->next = *head;
    *head = o;
    return &o->count;
}

void others_free(struct stream_others **head)
{
    while (*head) {
        struct stream_others *next = (*head)->next;
        free((*head)->name);
        free(*head);
        *head = next;
    }
}
