/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a row: topic/partition/offset[#n], taken apart from its end. */
#include "stream/stream.h"

/* How many decimal digits p[n) ends in. */
static size_t digits_before(const char *p, size_t n)
{
    size_t k = 0;
    while (k < n && p[n - 1 - k] >= '0' && p[n - 1 - k] <= '9')
        k++;
    return k;
}

static bool topic_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

bool stream_place_split(const char *at, size_t n, struct stream_place *out)
{
    size_t end = n, k = digits_before(at, end);
    uint64_t number;
    out->n = 0;
    if (!scan_u64(at + end - k, k, &number) || k == end)
        return false;
    if (at[end - k - 1] == '#') {
        out->n = number;
        end -= k + 1;
        k = digits_before(at, end);
        if (number == 0 || !scan_u64(at + end - k, k, &number) || k == end)
            return false;
    }
    out->offset = number;
    if (number > INT64_MAX || at[end - k - 1] != '/')
        return false;
    out->name_len = end -= k + 1;
    k = digits_before(at, end);
    if (!scan_u64(at + end - k, k, &out->partition) || k == end || at[end - k - 1] != '/' || out->partition > INT32_MAX)
        return false;
    out->topic_len = end - k - 1;
    return out->topic_len > 0;
}

bool stream_place_named(const char *at, const struct stream_place *p)
{
    for (size_t i = 0; i < p->topic_len; i++)
        if (!topic_char(at[i]))
            return false;
    return p->topic_len <= 249;
}

bool stream_place_ok(const char *at, size_t n)
{
    struct stream_place place;
    return stream_place_split(at, n, &place) && stream_place_named(at, &place);
}
