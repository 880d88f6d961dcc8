/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz the parser of type names: what it accepts keeps its meaning when its
 * name, or its plain spelling, is read again.
 */
#include <stdlib.h>
#include <string.h>

#include "types/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct type t, again, plain;
    struct err err = ERR_INIT;
    struct buf b = BUF_INIT;

    if (type_parse((const char *)data, size, &t, &err) != 0) {
        if (err.kind != ERR_REFUSED || err.text[0] == '\0') {
            abort();
        }
        return 0;
    }
    if (!utf8_valid(t.name, strlen(t.name)) || type_parse(t.name, strlen(t.name), &again, &err) != 0 ||
        again.kind != t.kind) {
        abort();
    }
    type_spell(&t, &b);
    if (type_parse(b.p, b.len, &plain, &err) != 0) {
        abort();
    }
    if (type_supported(&t) &&
        (!type_equal(&t, &again) || !type_equal(&t, &plain) || again.low_cardinality != t.low_cardinality ||
         strcmp(again.zone, t.zone) != 0 || (type_is_key(&t) && t.nullable))) {
        abort();
    }
    buf_free(&b);
    return 0;
}
