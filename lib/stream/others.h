/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of lines whose type this version does not know, by name. */
#ifndef OWED_STREAM_OTHERS_H
#define OWED_STREAM_OTHERS_H

#include "base/base.h"

struct stream_others {
    char *name;
    size_t len;
    uint64_t count;
    struct stream_others *next;
};

/* The count of name, made 0 where it is new. */
uint64_t *others_count(struct stream_others **head, const char *name, size_t n);
void others_free(struct stream_others **head);

#endif
