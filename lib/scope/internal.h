/* SPDX-License-Identifier: Apache-2.0 */
/* Inside scope only: an origin's part of the document, read and written. */
#ifndef OWED_SCOPE_INTERNAL_H
#define OWED_SCOPE_INTERNAL_H

#include "scope/scope.h"

struct scope_part {
    const char *name;         /* the origin, and the member that holds the part */
    const char *const *known; /* the part's members, NULL last */
    /* Every member; the common ones are read afterwards. ERR_REFUSED with the place. */
    int (*parse)(const struct json *part, struct arena *a, struct scope *s, struct err *err);
    /* What an origin asks of the common members, all of which are read. */
    int (*check)(const struct scope *s, struct err *err);
    void (*put)(struct json_w *w, const struct scope *s);
};

extern const struct scope_part scope_bundle_part, scope_declared_part;
extern const struct scope_part *const scope_parts[SCOPE_ORIGINS]; /* of each origin */

/* A text or null, which must stand there: NULL says that it is not known. */
int scope_id_parse(const struct json *obj, const char *name, struct arena *a, const char **out, const char *place,
                   struct err *err);

#endif
