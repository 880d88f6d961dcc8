/* SPDX-License-Identifier: Apache-2.0 */
/* Strict numbers from options and files, base64, UTF-8, and secrets. */
#include "base/base.h"
#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool scan_u64(const char *p, size_t n, uint64_t *out)
{
    if (n == 0 || n > 20 || (n > 1 && p[0] == '0'))
        return false;
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        uint64_t d = (uint64_t)(p[i] - '0');
        if (v > (UINT64_MAX - d) / 10)
            return false;
        v = v * 10 + d;
    }
    *out = v;
    return true;
}

bool scan_i64(const char *p, size_t n, int64_t *out)
{
    bool minus = n > 0 && p[0] == '-';
    uint64_t v;
    if (!scan_u64(p + minus, n - minus, &v) || (minus && v == 0))
        return false;
    if (v > (uint64_t)INT64_MAX + minus)
        return false;
    *out = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out, const char *what, struct err *err)
{
    uint64_t v;
    if (!scan_u64(s, strlen(s), &v) || v < min || v > max)
        return err_set(err, ERR_REFUSED, "%s: '%s' is not a whole number from %" PRIu64 " to %" PRIu64, what, s, min,
                       max);
    *out = v;
    return 0;
}

int parse_i64(const char *s, int64_t min, int64_t max, int64_t *out, const char *what, struct err *err)
{
    int64_t v;
    if (!scan_i64(s, strlen(s), &v) || v < min || v > max)
        return err_set(err, ERR_REFUSED, "%s: '%s' is not a whole number from %" PRId64 " to %" PRId64, what, s, min,
                       max);
    *out = v;
    return 0;
}

int parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out, const char *what, struct err *err)
{
    size_t n = strlen(s);
    unsigned shift = 0;
    if (n && strchr("KMG", s[n - 1]))
        shift = s[n - 1] == 'K' ? 10 : s[n - 1] == 'M' ? 20 : 30;
    uint64_t v;
    if (!scan_u64(s, n - (shift != 0), &v) || v > (UINT64_MAX >> shift) || (v << shift) < min || (v << shift) > max)
        return err_set(err, ERR_REFUSED, "%s: '%s' is not a size from %" PRIu64 " to %" PRIu64 " (suffixes K, M, G)",
                       what, s, min, max);
    *out = v << shift;
    return 0;
}

static const char b64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buf *out, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    buf_reserve(out, (n + 2) / 3 * 4);
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16;
        if (i + 1 < n)
            v |= (uint32_t)p[i + 1] << 8;
        if (i + 2 < n)
            v |= p[i + 2];
        char *q = out->p + out->len;
        q[0] = b64_digits[v >> 18];
        q[1] = b64_digits[v >> 12 & 63];
        q[2] = i + 1 < n ? b64_digits[v >> 6 & 63] : '=';
        q[3] = i + 2 < n ? b64_digits[v & 63] : '=';
        out->len += 4;
    }
}

static int b64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_decode(struct buf *out, const char *p, size_t n)
{
    size_t start = out->len;
    if (n % 4)
        return false;
    buf_reserve(out, n / 4 * 3);
    for (size_t i = 0; i < n; i += 4) {
        size_t pad = 0;
        if (i + 4 == n)
            pad = p[n - 1] != '=' ? 0 : p[n - 2] != '=' ? 1 : 2;
        uint32_t v = 0;
        for (size_t k = 0; k < 4; k++) {
            int d = k >= 4 - pad ? 0 : b64_value(p[i + k]);
            if (d < 0) {
                out->len = start;
                return false;
            }
            v = v << 6 | (uint32_t)d;
        }
        uint32_t spare = pad == 1 ? v & 0xff : pad == 2 ? v & 0xffff : 0;
        if (spare) {
            out->len = start;
            return false;
        }
        const char three[3] = {(char)(v >> 16), (char)(v >> 8), (char)v};
        buf_add(out, three, 3 - pad);
    }
    return true;
}

bool utf8_valid(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t i = 0;
    while (i < n) {
        uint64_t word;
        if (n - i >= 8) {
            memcpy(&word, p + i, 8);
            if ((word & 0x8080808080808080ULL) == 0) {
                i += 8;
                continue;
            }
        }
        if (p[i] < 0x80) {
            i++;
            continue;
        }
        size_t len = bytes_utf8(text + i, text + n);
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}
