/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz changelogs and state roots: what replays, over materializations of one fixed text, is one JSON document,
 * and replays to the same again; a handle never leads out of its root. */
#include "evidence/changelog.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool ok)
{
    if (!ok)
        abort();
}

/* Handles come to describe the text that is there, so that replay goes past them. */
static void replay(struct changelog *c)
{
    static const char mat[] = "{\"positions\":[],\"n\":9007199254740993,\"\\u0000\":{}}";
    char sha[SHA256_HEX + 1];
    struct buf *texts = xcalloc(c->n_handles + 1, sizeof *texts), out = BUF_INIT, again = BUF_INIT;
    struct err err = ERR_INIT;
    sha256_of(mat, sizeof mat - 1, sha);
    for (size_t i = 0; i < c->n_handles; i++) {
        buf_adds(&texts[i], mat);
        c->handles[i].bytes = sizeof mat - 1;
        c->handles[i].sha256 = sha;
    }
    if (changelog_replay(c, texts, "f", &out, &err) == 0) {
        insist(json_valid(out.p, out.len, NULL));
        insist(changelog_replay(c, texts, "f", &again, NULL) == 0 && buf_is(&again, out.p, out.len));
    } else {
        insist(err.kind == ERR_REFUSED);
    }
    for (size_t i = 0; i < c->n_handles; i++)
        buf_free(&texts[i]);
    free(texts);
    buf_free(&out);
    buf_free(&again);
}

static void handles(const struct changelog *c, const struct state_root *root)
{
    for (size_t i = 0; i < c->n_handles; i++) {
        const char *rel = changelog_rel(c->handles[i].location, root);
        insist(!rel || (path_is_plain(rel, strlen(rel)) && strstr(rel, "materializations/")));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_INIT;
    struct changelog c;
    struct state_root root = {ROOT_OWN, NULL};
    const char *text = arena_strndup(&arena, (const char *)data, size);
    state_root_parse(text, &arena, &root, "f", NULL);
    if (changelog_parse(text, size, "f", &arena, &c, NULL) == 0) {
        handles(&c, &root);
        handles(&c, &(struct state_root){ROOT_LOCAL, "/data"});
        replay(&c);
    }
    arena_free(&arena);
    return 0;
}
