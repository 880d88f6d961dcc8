/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of lines whose type this version does not know, by name. */
#ifndef OWED_STREAM_ANNOTATIONS_H
#define OWED_STREAM_ANNOTATIONS_H

#include "base/hash.h"

struct annotation {
    char *name;
    size_t len;
    uint64_t count;
};
struct stream_annotations {
    struct annotation *at; /* as they came */
    size_t n, cap;
    struct map places;
};

/* The count of name, made 0 where it is new; *to is made where it is NULL. */
uint64_t *annotations_count(struct stream_annotations **to, const char *name, size_t n);
void annotations_free(struct stream_annotations **to);

#endif
