/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of lines whose type this version does not know, by name. */
#ifndef OWED_STREAM_ANNOTATIONS_H
#define OWED_STREAM_ANNOTATIONS_H

#include "base/base.h"

struct stream_annotations {
    char *name;
    size_t len;
    uint64_t count;
    struct stream_annotations *next;
};

/* The count of name, made 0 where it is new. */
uint64_t *annotations_count(struct stream_annotations **head, const char *name, size_t n);
void annotations_free(struct stream_annotations **head);

#endif
