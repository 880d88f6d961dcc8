/* SPDX-License-Identifier: Apache-2.0 */
/* What a case says of itself: it is read or refused with a reason, and what was read is written as it is read again. */
#include "replay/case_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_INIT;
    struct buf first = BUF_INIT, second = BUF_INIT;
    struct case_file c, again;
    struct err err = ERR_INIT;
    int rc = case_parse((const char *)data, size, &a, &c, &err);
    if ((rc != 0) != (err.kind == ERR_REFUSED))
        abort();
    if (rc == 0) {
        case_put(&first, &c);
        if (case_parse(first.p, first.len, &a, &again, &err) != 0)
            abort();
        case_put(&second, &again);
        if (!buf_is(&second, first.p, first.len))
            abort();
    }
    buf_free(&first);
    buf_free(&second);
    arena_free(&a);
    return 0;
}
