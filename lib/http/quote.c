/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and texts as ClickHouse's parser reads them. Everything that could end
 * the quoted part, or that a front might take for a line's end, is escaped.
 */
#include "http/http.h"

static void quote(struct buf *b, char mark, const char *p, size_t n)
{
    bool raw = utf8_valid(p, n);
    buf_addc(b, mark);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c == (unsigned char)mark || c == '\\') {
            buf_addc(b, '\\');
            buf_addc(b, (char)c);
        } else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !raw)) {
            buf_printf(b, "\\x%02X", c);
        } else {
            buf_addc(b, (char)c);
        }
    }
    buf_addc(b, mark);
}

void http_quote_ident(struct buf *b, const char *p, size_t n)
{
    quote(b, '`', p, n);
}

void http_quote_string(struct buf *b, const char *p, size_t n)
{
    quote(b, '\'', p, n);
}
