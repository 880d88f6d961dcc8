/* SPDX-License-Identifier: Apache-2.0 */
/* State roots: which texts name a directory of this machine, and what lies below one. */
#include "evidence/changelog.h"
#include "json/redact.h"

#include <string.h>

static const char *const local_schemes[] = {"file://", "rocksdb://", "changelog+file://", "changelog+rocksdb://"};

/* The path behind a scheme of this machine, or NULL. A host but localhost is another machine's. */
static const char *local_path(const char *text)
{
    if (text[0] == '/')
        return text;
    for (size_t i = 0; i < sizeof local_schemes / sizeof *local_schemes; i++) {
        size_t n = strlen(local_schemes[i]);
        if (strncmp(text, local_schemes[i], n) != 0)
            continue;
        const char *path = text + n;
        if (strncmp(path, "localhost/", 10) == 0)
            path += 9;
        return path[0] == '/' ? path : NULL;
    }
    return NULL;
}

int state_root_parse(const char *text, struct arena *a, struct state_root *out, const char *where, struct err *err)
{
    *out = (struct state_root){ROOT_OWN, NULL};
    if (!text)
        return 0;
    const char *path = local_path(text);
    if (!path && strstr(text, "://")) {
        out->kind = ROOT_REMOTE;
        return 0;
    }
    size_t n = path ? strlen(path) : 0;
    if (n > 1 && path[n - 1] == '/')
        n--;
    if (!path || !path_is_plain(path + 1, n - 1)) {
        struct buf shown = BUF_INIT;
        redact_text(&shown, text, strlen(text));
        err_set(err, ERR_REFUSED,
                "%s: the state root '%.300s' is no plain absolute path, bare or behind file://, rocksdb:// or "
                "changelog+file://, and no address of a store",
                where, buf_str(&shown));
        buf_free(&shown);
        return -1;
    }
    out->kind = ROOT_LOCAL;
    out->path = arena_strndup(a, path, n);
    return 0;
}

/* A text as a place below the root, or NULL; decided by the two texts alone, so that a collector and a reader of what
 * it collected come to the same. */
static const char *below(const char *location, const struct state_root *root)
{
    if (location[0] != '/' && !strstr(location, "://"))
        return location;
    const char *path = local_path(location);
    size_t n = root->kind == ROOT_LOCAL ? strlen(root->path) : 0;
    return path && n > 0 && strncmp(path, root->path, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

const char *changelog_rel(const char *location, const struct state_root *root)
{
    static const char dir[] = "materializations";
    const char *rel = below(location, root);
    if (!rel || !path_is_plain(rel, strlen(rel)))
        return NULL;
    const char *slash = strrchr(rel, '/');
    size_t n = sizeof dir - 1;
    if (!slash || (size_t)(slash - rel) < n || strncmp(slash - n, dir, n) != 0 ||
        (slash - n != rel && slash[-(long)n - 1] != '/'))
        return NULL;
    return rel;
}
