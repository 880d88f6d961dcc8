/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a row's `again`, read and written. */
#include "stream/again.h"

#include "stream/names.h"

#include <inttypes.h>
#include <string.h>

/* Take a word off the front of p[0..*n): true where it stands there, whole. */
static bool take(const char **p, size_t *n, const char *word)
{
    size_t len = strlen(word);
    if (*n < len || memcmp(*p, word, len) != 0)
        return false;
    *p += len;
    *n -= len;
    return true;
}

/* The copies behind a word: one, or the number after a colon, which is then more than one. */
static bool take_copies(const char **p, size_t *n, uint32_t *out)
{
    uint64_t copies = 1;
    if (*n > 0 && **p == ':') {
        const char *end = memchr(*p, ',', *n);
        size_t digits = (end ? (size_t)(end - *p) : *n) - 1;
        if (!scan_u64(*p + 1, digits, &copies) || copies < 2 || copies > UINT32_MAX || (*p)[1] == '0')
            return false;
        *p += digits + 1;
        *n -= digits + 1;
    }
    *out = (uint32_t)copies;
    return true;
}

bool again_parse(const char *p, size_t n, struct again *out)
{
    static const char *const words[] = {AGAIN_RESENT, AGAIN_REPLAYED, AGAIN_KEPT};
    uint32_t copies[2] = {0};
    bool any = false;
    *out = (struct again){0};
    for (size_t i = 0; i < 3 && n > 0; i++) {
        const char *at = p;
        size_t left = n;
        if ((any && !take(&at, &left, ",")) || !take(&at, &left, words[i]))
            continue;
        if (i < 2 && !take_copies(&at, &left, &copies[i]))
            return false;
        out->kept = i == 2;
        any = true;
        p = at;
        n = left;
    }
    out->resent = copies[0];
    out->replayed = copies[1];
    return any && n == 0;
}

static void put_word(struct buf *out, const char *word, uint32_t copies)
{
    if (copies == 0)
        return;
    buf_printf(out, "%s%s", out->len ? "," : "", word);
    if (copies > 1)
        buf_printf(out, ":%" PRIu32, copies);
}

void again_put(struct buf *out, const struct again *a)
{
    put_word(out, AGAIN_RESENT, a->resent);
    put_word(out, AGAIN_REPLAYED, a->replayed);
    put_word(out, AGAIN_KEPT, a->kept);
}
