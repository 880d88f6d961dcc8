/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz the scope document. What is accepted has its own fingerprint when it is written again, and differs from itself
 * in nothing. */
#include "scope/scope.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct scope s;
    struct buf where = BUF_INIT, text = BUF_INIT;
    const char *copy = arena_strndup(&arena, (const char *)data, size);
    const struct json *doc = json_parse(copy, size, &arena, NULL);
    if (doc && doc->type == JSON_OBJECT) {
        char print[SHA256_HEX + 1];
        scope_fingerprint(doc, print);
        if (scope_differs(doc, doc, &where))
            abort();
    }
    if (scope_parse(copy, size, &arena, &s, &err) == 0) {
        char print[SHA256_HEX + 1];
        memcpy(print, s.sha256, sizeof print);
        scope_put(&text, &s);
        struct scope again;
        if (scope_parse(text.p, text.len, &arena, &again, &err) != 0)
            abort();
        scope_free(&again);
    } else if (err.kind != ERR_REFUSED) {
        abort();
    }
    scope_free(&s);
    buf_free(&where);
    buf_free(&text);
    arena_free(&arena);
    return 0;
}
