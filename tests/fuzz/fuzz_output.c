/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator's program writes, cut into values: in pieces of any size the same as at once, whatever the bytes
 * are, and an object or a list that is JSON is found whole. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The end of the value at p as it comes in pieces of so many bytes. */
static size_t in_pieces(const char *p, size_t n, size_t piece)
{
    struct program_scan s = {0};
    for (size_t had = 0; had < n;) {
        had = n - had < piece ? n : had + piece;
        size_t end = program_scan_value(&s, p, had);
        if (end > had || s.at > had)
            abort();
        if (end > 0)
            return end;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return -1;
    size_t piece = 1 + data[0] % 16, n = size - 1;
    const char *p = (const char *)data + 1;
    bool opens = *p == '{' || *p == '[';
    size_t length = n;
    while (length > 0 && is_space(p[length - 1]))
        length--;
    if (opens && json_valid(p, length, NULL) && in_pieces(p, n, n) != length)
        abort();
    while (n > 0) {
        if (is_space(*p)) {
            p++;
            n--;
            continue;
        }
        size_t end = in_pieces(p, n, n);
        if (in_pieces(p, n, piece) != end)
            abort();
        if (end == 0)
            break;
        p += end;
        n -= end;
    }
    return 0;
}
