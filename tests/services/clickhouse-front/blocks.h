/* SPDX-License-Identifier: Apache-2.0 */
/* Each block that the engine streams is a whole document. Where that differs from a part of one long
 * document only by a repeated header, the header is dropped from all but the first. */
#ifndef CLICKHOUSE_FRONT_BLOCKS_H
#define CLICKHOUSE_FRONT_BLOCKS_H

#include <stddef.h>

enum blocks_header {
    BLOCKS_WHOLE,        /* cannot be joined: send one whole result */
    BLOCKS_BARE,         /* no header */
    BLOCKS_ONE_LINE,     /* names */
    BLOCKS_TWO_LINES,    /* names and types */
    BLOCKS_CSV_ONE_LINE, /* the same, where a name may hold a line end in quotes */
    BLOCKS_CSV_TWO_LINES,
    BLOCKS_BINARY_NAMES, /* RowBinaryWithNames */
    BLOCKS_BINARY_TYPES, /* RowBinaryWithNamesAndTypes */
};

/* The kind of header of a format, whatever its case. */
enum blocks_header blocks_header(const char *format);
/* How many bytes of a block are its header. */
size_t blocks_header_len(enum blocks_header kind, const char *data, size_t len);

#endif
