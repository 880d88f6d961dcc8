/* SPDX-License-Identifier: Apache-2.0 */
/* A file of a time zone: what is taken for one tells an offset within bounds of any instant, and of a local time an
 * instant that has it. */
#include "cells/zone.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t times[] = {INT64_MIN / 2, -62135596800, -1,           0,
                                    951782399,     951782400,    1774749600,   1792893600,
                                    4107542400,    253402300799, INT64_MAX / 2};
    struct zone *z = zone_parse(data, size);
    for (size_t i = 0; z && i < sizeof times / sizeof *times; i++) {
        int64_t utc, offset = zone_offset(z, times[i]);
        if (offset < -93600 || offset > 93600)
            abort();
        enum zone_local found = zone_instant(z, times[i], &utc);
        if (found == ZONE_ONCE && utc + zone_offset(z, utc) != times[i])
            abort();
        if (zone_instant(z, times[i] + offset, &utc) == ZONE_NEVER)
            abort();
    }
    zone_free(z);
    return 0;
}
