/* SPDX-License-Identifier: Apache-2.0 */
/* The small parts that the readers and writers of evidence share. */
#include "evidence/fields.h"
#include "evidence/ids.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

void ids_add(struct ids *l, struct arena *a, uint64_t id)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 16;
        uint64_t *at = arena_alloc(a, cap * sizeof *at);
        if (l->n > 0)
            memcpy(at, l->at, l->n * sizeof *at);
        l->at = at;
        l->cap = cap;
    }
    l->at[l->n++] = id;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void ids_sort(struct ids *l)
{
    if (l->n == 0)
        return;
    qsort(l->at, l->n, sizeof *l->at, by_id);
    size_t kept = 1;
    for (size_t i = 1; i < l->n; i++)
        if (l->at[i] != l->at[kept - 1])
            l->at[kept++] = l->at[i];
    l->n = kept;
}

size_t ids_below(const uint64_t *at, size_t n, uint64_t id)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (at[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int fields_line(const char *p, size_t n, const char *where, size_t line, struct field *f, size_t n_f,
                       struct arena *a, struct err *err)
{
    const char *eq = memchr(p, '=', n);
    if (!eq || eq == p)
        return err_set(err, ERR_REFUSED, "%s: line %zu is no key=value", where, line);
    size_t key = (size_t)(eq - p);
    if (memchr(p, '\0', n) || !utf8_valid(p, n))
        return err_set(err, ERR_REFUSED, "%s: line %zu is not text", where, line);
    for (size_t i = 0; i < n_f; i++) {
        if (strlen(f[i].key) != key || memcmp(f[i].key, p, key) != 0)
            continue;
        if (f[i].value)
            return err_set(err, ERR_REFUSED, "%s: line %zu gives '%s' twice", where, line, f[i].key);
        f[i].value = arena_strndup(a, eq + 1, n - key - 1);
    }
    return 0;
}

int fields_read(const char *p, size_t n, const char *where, struct field *f, size_t n_f, struct arena *a,
                struct err *err)
{
    if (n == 0)
        return err_set(err, ERR_REFUSED, "%s is empty", where);
    size_t at = 0, line = 0;
    while (at < n) {
        const char *nl = memchr(p + at, '\n', n - at);
        if (!nl)
            return err_set(err, ERR_REFUSED, "%s: cut in the middle of line %zu", where, line + 1);
        size_t len = (size_t)(nl - p) - at;
        if (fields_line(p + at, len, where, ++line, f, n_f, a, err) != 0)
            return -1;
        at += len + 1;
    }
    return 0;
}

int field_u64(const struct field *f, uint64_t *out, const char *where, struct err *err)
{
    if (!f->value)
        return err_set(err, ERR_REFUSED, "%s: no '%s'", where, f->key);
    if (!scan_u64(f->value, strlen(f->value), out))
        return err_set(err, ERR_REFUSED, "%s: '%s' is no decimal id: '%s'", where, f->key, f->value);
    return 0;
}

int format_check(const struct json *doc, const char *format, const char *where, struct arena *a, struct err *err)
{
    const char *got;
    uint64_t version;
    if (doc->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s: not an object", where);
    if (json_need_str(doc, "format", a, &got, where, err) != 0 ||
        json_need_u64(doc, "version", &version, where, err) != 0)
        return -1;
    if (strcmp(got, format) != 0)
        return err_set(err, ERR_REFUSED, "%s: the format is '%.100s', not '%s'", where, got, format);
    if (version != 1)
        return err_set(err, ERR_REFUSED, "%s: version %" PRIu64 " of %s is not known here", where, version, format);
    return 0;
}

int make_parent(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return 0;
    char *dir = xstrndup(path, (size_t)(slash - path));
    int rc = dir_make(dir, err);
    free(dir);
    return rc;
}
