/* SPDX-License-Identifier: Apache-2.0 */
/* The columns line, read and written. */
#include "types/line.h"

int stream_columns(const struct stream_line *line, struct columns *out, struct err *err)
{
    struct arena arena = ARENA_INIT;
    const struct json *doc = stream_doc(line, &arena, err);
    struct json *list;
    int rc = doc ? 0 : -1;
    if (doc && !json_is(json_get(doc, "cells"), COLUMNS_CELLS)) {
        err_set(err, ERR_REFUSED, "columns of cells that are not " COLUMNS_CELLS);
        rc = stream_misfit(line, err);
    } else if (doc && (json_need(doc, "columns", JSON_ARRAY, &list, "columns", err) != 0 ||
                       columns_parse(list, false, out, err) != 0)) {
        rc = stream_misfit(line, err);
    }
    arena_free(&arena);
    return rc;
}

void stream_put_columns(struct stream_out *out, const struct columns *columns)
{
    struct buf *line = stream_build(out, LINE_COLUMNS);
    buf_adds(line, ",\"cells\":\"" COLUMNS_CELLS "\",\"columns\":");
    columns_write(columns, line);
    stream_put_built(out, LINE_COLUMNS);
}
