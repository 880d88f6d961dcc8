/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of the formats that can be joined from blocks. */
#include "blocks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum blocks_header blocks_header(const char *format)
{
    static const struct {
        const char *name;
        enum blocks_header kind;
    } table[] = {
        {"Native", BLOCKS_BARE},
        {"RowBinary", BLOCKS_BARE},
        {"RowBinaryWithNames", BLOCKS_BINARY_NAMES},
        {"RowBinaryWithNamesAndTypes", BLOCKS_BINARY_TYPES},
        {"TabSeparated", BLOCKS_BARE},
        {"TSV", BLOCKS_BARE},
        {"TabSeparatedRaw", BLOCKS_BARE},
        {"TSVRaw", BLOCKS_BARE},
        {"TabSeparatedWithNames", BLOCKS_ONE_LINE},
        {"TSVWithNames", BLOCKS_ONE_LINE},
        {"TabSeparatedWithNamesAndTypes", BLOCKS_TWO_LINES},
        {"TSVWithNamesAndTypes", BLOCKS_TWO_LINES},
        {"TSKV", BLOCKS_BARE},
        {"CSV", BLOCKS_BARE},
        {"CSVWithNames", BLOCKS_CSV_ONE_LINE},
        {"CSVWithNamesAndTypes", BLOCKS_CSV_TWO_LINES},
        {"JSONEachRow", BLOCKS_BARE},
        {"JSONLines", BLOCKS_BARE},
        {"NDJSON", BLOCKS_BARE},
        {"JSONStringsEachRow", BLOCKS_BARE},
        {"JSONCompactEachRow", BLOCKS_BARE},
        {"JSONCompactEachRowWithNames", BLOCKS_ONE_LINE},
        {"JSONCompactEachRowWithNamesAndTypes", BLOCKS_TWO_LINES},
        {"JSONCompactStringsEachRow", BLOCKS_BARE},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcasecmp(format, table[i].name) == 0)
            return table[i].kind;
    return BLOCKS_WHOLE;
}

static size_t lines_len(const char *data, size_t len, unsigned lines, bool quotes)
{
    bool quoted = false;
    size_t i = 0;

    while (i < len && lines > 0) {
        if (quotes && data[i] == '"')
            quoted = !quoted;
        else if (data[i] == '\n' && !quoted)
            lines--;
        i++;
    }
    return i;
}

static uint64_t varint(const unsigned char *d, size_t len, size_t *pos)
{
    uint64_t value = 0;

    for (unsigned shift = 0; *pos < len && shift < 63; shift += 7) {
        unsigned char byte = d[(*pos)++];

        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            break;
    }
    return value;
}

static size_t binary_len(const char *data, size_t len, unsigned texts_a_column)
{
    const unsigned char *d = (const unsigned char *)data;
    size_t pos = 0;
    uint64_t texts = varint(d, len, &pos) * texts_a_column;

    for (; texts > 0 && pos < len; texts--) {
        uint64_t n = varint(d, len, &pos);

        pos = n < len - pos ? pos + (size_t)n : len;
    }
    return pos;
}

size_t blocks_header_len(enum blocks_header kind, const char *data, size_t len)
{
    switch (kind) {
    case BLOCKS_ONE_LINE: return lines_len(data, len, 1, false);
    case BLOCKS_TWO_LINES: return lines_len(data, len, 2, false);
    case BLOCKS_CSV_ONE_LINE: return lines_len(data, len, 1, true);
    case BLOCKS_CSV_TWO_LINES: return lines_len(data, len, 2, true);
    case BLOCKS_BINARY_NAMES: return binary_len(data, len, 1);
    case BLOCKS_BINARY_TYPES: return binary_len(data, len, 2);
    case BLOCKS_WHOLE:
    case BLOCKS_BARE: break;
    }
    return 0;
}
