/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record's values to jq's and back: what is written of them parses, and is the same when it goes that way again;
 * where numbers are texts, every value goes.
 */
#include "json/json.h"
#include "ops/internal.h"

#include <stdlib.h>
#include <string.h>

static void insist(bool ok)
{
    if (!ok)
        abort();
}

/* False where the value does not go. */
static bool there_and_back(const struct json *v, enum ops_numbers numbers, struct buf *out)
{
    jv value;
    if (value_from_json(v, numbers, NULL, &value, NULL) != 0)
        return false;
    bool ok = value_put(out, value, JSON_DEPTH, NULL) == 0;
    jv_free(value);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_INIT;
    const struct json *v = json_parse((const char *)data, size, &a, NULL);
    for (int text = 0; v && text < 2; text++) {
        enum ops_numbers numbers = text ? OPS_TEXT : OPS_DOUBLE;
        struct buf once = BUF_INIT, twice = BUF_INIT;
        bool goes = there_and_back(v, numbers, &once);
        insist(goes || !text);
        const struct json *back = goes ? json_parse(once.p, once.len, &a, NULL) : NULL;
        insist(!goes || (back && there_and_back(back, numbers, &twice) && buf_is(&twice, once.p, once.len)));
        buf_free(&once);
        buf_free(&twice);
    }
    arena_free(&a);
    return 0;
}
