/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz the bundle's manifest: what is accepted is written and read back as the same document, and its checks do not
 * fail to end. */
#include "bundle/bundle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bundle b = {.fd = -1};
    struct bundle_manifest again;
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT, second = BUF_INIT;
    char *copy = arena_strndup(&b.arena, (const char *)data, size);
    if (bundle_manifest_parse(copy, size, &b.arena, &b.m, &err) != 0) {
        if (err.kind != ERR_REFUSED || err.text[0] == '\0')
            abort();
    } else {
        struct bundle_finding f;
        bundle_finding_init(&f);
        for (size_t i = 0; i < b.m.n_artifacts; i++)
            if (!path_is_plain(b.m.artifacts[i].path, strlen(b.m.artifacts[i].path)) ||
                bundle_find(&b.m, b.m.artifacts[i].path) != &b.m.artifacts[i])
                abort();
        bundle_check_manifest(&b, &f);
        bundle_check_completeness(&b, &f);
        bundle_finding_free(&f);
        bundle_manifest_put(&text, &b.m);
        if (bundle_manifest_parse(text.p, text.len, &b.arena, &again, &err) != 0)
            abort();
        bundle_manifest_put(&second, &again);
        if (!buf_is(&second, text.p, text.len))
            abort();
    }
    buf_free(&text);
    buf_free(&second);
    arena_free(&b.arena);
    return 0;
}
