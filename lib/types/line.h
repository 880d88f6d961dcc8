/* SPDX-License-Identifier: Apache-2.0 */
/* The columns line: what the cells of every row are. */
#ifndef OWED_TYPES_LINE_H
#define OWED_TYPES_LINE_H

#include "stream/stream.h"
#include "types/types.h"

/* Parse a columns line; out is to be freed by columns_free where this returns 0. ERR_REFUSED, with the line's number,
 * for cells of another version than its columns' too. */
int stream_columns(const struct stream_line *line, struct columns *out, struct err *err);
void stream_put_columns(struct stream_out *out, const struct columns *columns);

#endif
