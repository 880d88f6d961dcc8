/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers beside the doubles of libjq 1.6, which says nothing when one does not fit. */
#include "guard/guard.h"
#include "json/json.h"

#include <jv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TWO_TO_53 9007199254740992.0

enum {
    SAFE_DIGITS = 15,  /* DBL_DIG */
    EXACT_POWERS = 22, /* 10^22 is the last power of ten that is a double */
    MOST_PLACES = 8    /* tried before libjq is asked */
};

static const double powers[EXACT_POWERS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Plain decimals of at most 15 digits: every one is some double's shortest text, and one division gives it. */
static bool small_decimal(const char *p, size_t n, double *out)
{
    const char *end = p + n;
    bool minus = *p == '-', dot = false;
    uint64_t digits = 0;
    int count = 0, fraction = 0;
    for (p += minus; p < end; p++) {
        if (*p == '.') {
            dot = true;
            continue;
        }
        if (*p < '0' || *p > '9')
            return false;
        digits = digits * 10 + (uint64_t)(*p - '0');
        count += digits > 0;
        fraction += dot;
        if (count > SAFE_DIGITS || fraction > EXACT_POWERS)
            return false;
    }
    double d = (double)digits / powers[fraction];
    *out = minus ? -d : d;
    return true;
}

bool number_to_double(const char *p, size_t n, double *out)
{
    if (small_decimal(p, n, out))
        return true;
    char *copy = xstrndup(p, n);
    double d = strtod(copy, NULL);
    free(copy);
    struct buf shortest = BUF_INIT;
    number_put(&shortest, d);
    bool same = isfinite(d) && json_number_same(p, n, shortest.p, shortest.len);
    buf_free(&shortest);
    *out = d;
    return same;
}

/* The same rule the other way: a quotient of at most 15 digits over a power of ten that gives d is its shortest text.
 */
static bool put_small_decimal(struct buf *out, double d)
{
    double size = fabs(d);
    for (int k = 1; k <= MOST_PLACES; k++) {
        double scaled = nearbyint(size * powers[k]);
        if (scaled >= 1e15)
            return false;
        if (scaled / powers[k] != size)
            continue;
        uint64_t digits = (uint64_t)scaled, unit = (uint64_t)powers[k], fraction = digits % unit;
        char text[MOST_PLACES];
        for (int i = k; i-- > 0; fraction /= 10)
            text[i] = (char)('0' + fraction % 10);
        if (d < 0)
            buf_addc(out, '-');
        buf_addu64(out, digits / unit);
        buf_addc(out, '.');
        buf_add(out, text, (size_t)k);
        return true;
    }
    return false;
}

void number_put(struct buf *out, double d)
{
    if (d == 0 && signbit(d)) {
        buf_adds(out, "-0");
    } else if (fabs(d) <= TWO_TO_53 && d == trunc(d)) {
        buf_addi64(out, (int64_t)d);
    } else if (isfinite(d) && !put_small_decimal(out, d)) {
        jv text = jv_dump_string(jv_number(d), 0);
        buf_adds(out, jv_string_value(text));
        jv_free(text);
    } else if (!isfinite(d)) {
        buf_adds(out, isnan(d) ? "nan" : d > 0 ? "inf" : "-inf");
    }
}
