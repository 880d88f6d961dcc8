/* SPDX-License-Identifier: Apache-2.0 */
/* The columns line, read and written. */
#include "types/line.h"

/* The version is known, and that of the columns. */
static int check_cells(const struct json *cells, const struct columns *columns, struct err *err)
{
    if (!json_is(cells, CELLS_V1) && !json_is(cells, CELLS_V2))
        return err_set(err, ERR_REFUSED, "columns of cells that are neither %s nor %s", CELLS_V1, CELLS_V2);
    if (!json_is(cells, columns_cells(columns)))
        return err_set(err, ERR_REFUSED, "columns of types whose cells are %s", columns_cells(columns));
    return 0;
}

int stream_columns(const struct stream_line *line, struct columns *out, struct err *err)
{
    struct arena arena = ARENA_INIT;
    const struct json *doc = stream_doc(line, &arena, err);
    struct json *list;
    int rc = doc ? 0 : -1;
    if (doc && (json_need(doc, "columns", JSON_ARRAY, &list, "columns", err) != 0 ||
                columns_parse(list, false, out, err) != 0)) {
        rc = stream_misfit(line, err);
    } else if (doc && check_cells(json_get(doc, "cells"), out, err) != 0) {
        columns_free(out);
        rc = stream_misfit(line, err);
    }
    arena_free(&arena);
    return rc;
}

void stream_put_columns(struct stream_out *out, const struct columns *columns)
{
    struct buf *line = stream_build(out, LINE_COLUMNS);
    buf_printf(line, ",\"cells\":\"%s\",\"columns\":", columns_cells(columns));
    columns_write(columns, line);
    stream_put_built(out, LINE_COLUMNS);
}
