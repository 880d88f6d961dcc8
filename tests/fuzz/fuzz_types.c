/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz the parser of type names: what it accepts keeps its meaning when its
 * name, or its plain spelling, is read again.
 */
#include <stdlib.h>
#include <string.h>

#include "types/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What stands inside a type is read alike wherever its name stands. */
static void same_tree(const struct type *a, const struct type *b)
{
    /* Where types stand too deep they have no cells, and have them alone. */
    if (!type_supported(a) && type_supported(b)) {
        return;
    }
    if (a->kind != b->kind || a->n_of != b->n_of || a->n_words != b->n_words || strcmp(a->name, b->name) != 0) {
        abort();
    }
    for (size_t i = 0; i < a->n_of; i++) {
        struct type alone;
        same_tree(&a->of[i], &b->of[i]);
        if (type_parse(a->of[i].name, strlen(a->of[i].name), &alone, NULL) != 0) {
            abort();
        }
        same_tree(&a->of[i], &alone);
        type_free(&alone);
    }
}

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
    if (type_supported(&t) && (!type_same(&t, &again) || !type_equal(&t, &plain) ||
                               again.low_cardinality != t.low_cardinality || (type_is_key(&t) && t.nullable))) {
        abort();
    }
    same_tree(&t, &again);
    type_free(&t);
    type_free(&again);
    type_free(&plain);
    buf_free(&b);
    return 0;
}
