/* SPDX-License-Identifier: Apache-2.0 */
/* The stream reader on any bytes; a row that splits must split into parts of its own line. */
#include "stream/stream.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct err err = ERR_INIT;
    if (fd < 0)
        fd = scratch_open(NULL, &err);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    struct stream_in in;
    struct stream_line line;
    stream_in_init(&in, fd, "fuzz", 1 << 16);
    in.rows_unchecked = size & 1;
    while (stream_next(&in, &line, &err) > 0) {
        struct stream_row row;
        if (line.type == LINE_ROW && stream_row(&line, &row, &err) == 0)
            if (row.cells < line.p || row.cells + row.cells_len > line.p + line.n ||
                row.cells[row.cells_len - 1] != ']' || (row.ts.has && (!row.at || row.ts.ms > TS_MAX)))
                abort();
    }
    stream_in_free(&in);
    return 0;
}
