/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader on any bytes: json_valid and json_parse agree to the byte and
 * the reason; the canonical form of what is accepted parses, and is its own
 * canonical form; every string in a tree is valid UTF-8, and every value knows its own text.
 */
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_values(const struct json *v)
{
    const struct json_text raw = json_raw(v);
    must(json_valid(raw.p, raw.n, NULL) && raw.p[0] > ' ' && raw.p[raw.n - 1] > ' ');
    if (v->type == JSON_STRING)
        must(utf8_valid(v->str, v->len));
    for (const struct json *m = json_first(v); m; m = json_next(v, m)) {
        check_values(m);
        if (v->type == JSON_OBJECT)
            check_values(json_value(m));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data;
    struct arena a = ARENA_INIT;
    struct json_error e = {0, ""}, f = {0, ""};
    bool valid = json_valid(p, size, &e);
    const struct json *v = json_parse(p, size, &a, &f);
    must(valid == (v != NULL));
    if (v) {
        check_values(v);
        struct buf once = BUF_INIT, twice = BUF_INIT;
        json_canonical(&once, v);
        must(json_valid(once.p, once.len, NULL));
        const struct json *again = json_parse(once.p, once.len, &a, &f);
        json_canonical(&twice, again);
        must(buf_is(&twice, once.p, once.len));
        buf_free(&once);
        buf_free(&twice);
    } else {
        must(e.offset == f.offset && e.offset <= size && strcmp(e.why, f.why) == 0);
    }
    arena_free(&a);
    return 0;
}
