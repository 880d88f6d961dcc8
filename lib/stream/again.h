/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a captured row says of how often it may have been written (STREAM.md, "Comparing"): the member `again` of its
 * line. Words, comma separated, in this order: `resent`, `replayed`, each perhaps with `:N`, further copies where more
 * than one can have been made; `kept`.
 */
#ifndef OWED_STREAM_AGAIN_H
#define OWED_STREAM_AGAIN_H

#include "base/base.h"

struct again {
    uint32_t resent;   /* further copies that the attempts of its INSERT can have made */
    uint32_t replayed; /* those that the runs which a restore discarded can have written */
    bool kept;         /* its INSERT was sent again under a token that may have outlived its rows: it may be missing */
};

/* False for what is no such text. */
bool again_parse(const char *p, size_t n, struct again *out);
/* Append it; nothing where it says nothing. */
void again_put(struct buf *out, const struct again *a);

#endif
