/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes in strings: checking one, and decoding a string whose escapes have
 * all been checked.
 */
#include "json/internal.h"

#include <string.h>

static int hex4(const char *p)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

size_t json_escape_at(const char *p, const char *end, unsigned *code, const char **why)
{
    static const char meaning[256] = {
        ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
    *why = "text ends inside a string";
    if (end - p < 2)
        return 0;
    if (p[1] != 'u') {
        *why = "unknown escape";
        *code = (unsigned char)meaning[(unsigned char)p[1]];
        return *code ? 2 : 0;
    }
    int high = end - p >= 6 ? hex4(p + 2) : -1;
    *why = "\\u without four hexadecimal digits";
    if (high < 0)
        return 0;
    *code = (unsigned)high;
    if (high < 0xd800 || high > 0xdfff)
        return 6;
    int low = high < 0xdc00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
    *why = "lone surrogate";
    if (low < 0xdc00 || low > 0xdfff)
        return 0;
    *code = 0x10000u + (((unsigned)high & 0x3ffu) << 10) + ((unsigned)low & 0x3ffu);
    return 12;
}

static size_t utf8_put(char *out, unsigned c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    static const unsigned lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[n] | c);
    return n;
}

size_t json_escape_decode(const char *p, size_t n, char *out)
{
    const char *end = p + n;
    size_t len = 0;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((slash ? slash : end) - p);
        memcpy(out + len, p, plain);
        len += plain;
        p += plain;
        if (p < end) {
            unsigned code = 0;
            const char *why;
            p += json_escape_at(p, end, &code, &why);
            len += utf8_put(out + len, code);
        }
    }
    return len;
}
