/* SPDX-License-Identifier: Apache-2.0 */
/* The scope line: a scope document, verbatim. */
#ifndef OWED_SCOPE_LINE_H
#define OWED_SCOPE_LINE_H

#include "scope/scope.h"
#include "stream/stream.h"

/* Parse a scope line and its document, which lives in arena as it stood (document: may be NULL); out is to be freed by
 * scope_free where this returns 0. ERR_REFUSED, with the line's number. */
int stream_scope(const struct stream_line *line, struct arena *arena, const struct json **document, struct scope *out,
                 struct err *err);
/* Write the document, which is one line of JSON. */
void stream_put_scope(struct stream_out *out, const char *document, size_t n);

#endif
