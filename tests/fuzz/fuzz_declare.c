/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz a declared scope: lines of what was found and options of what was said. What is accepted is a document that is
 * read back. */
#include "scope/declare.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAMES 8

struct said {
    const char *keys[NAMES], *froms[NAMES], *excepted[NAMES], *filled[NAMES];
};

/* One line: a JSON object that was found, or an option by its first letter. */
static int take(struct declare *d, struct said *s, const char *text, size_t n, struct err *err)
{
    char *line = arena_strndup(d->arena, text, n), *value = line + (n > 0);
    if (n > 0 && *line == '{') {
        const struct json *v = json_parse(line, n, d->arena, NULL);
        if (!v)
            return -1;
        return json_get(v, "columns") ? declare_table(d, v, err) : declare_log(d, v, err);
    }
    if (n == 0 || !utf8_valid(line, strlen(line)) || *value == '\0')
        return 0;
    switch (*line) {
    case 'r': return declare_range(d, value, err);
    case 'c': return declare_column(d, value, err);
    case 'k':
        if (d->n_keys < NAMES)
            s->keys[d->n_keys++] = value;
        return 0;
    case 'f':
        if (d->n_froms < NAMES && strrchr(value, ':'))
            s->froms[d->n_froms++] = value;
        return 0;
    case 'o': return declare_offsets(d, false, value, strlen(value), err);
    case 'O': return declare_offsets(d, true, value, strlen(value), err);
    case 'e':
        if (d->n_excepted < NAMES)
            s->excepted[d->n_excepted++] = value;
        return 0;
    case 'i':
        if (d->n_filled < NAMES)
            s->filled[d->n_filled++] = value;
        return 0;
    case 't': d->topic = value; return 0;
    case 'd': d->database = d->table = value; return 0;
    case 'u': d->isolation = "read_uncommitted"; return 0;
    default: return 0;
    }
}

static void check(struct declare *d)
{
    struct scope s, again;
    struct buf note = BUF_INIT, text = BUF_INIT;
    struct err err = ERR_INIT;
    if (declare_scope(d, &s, &note, &err) == 0 && d->status != STATUS_PASSED) {
        if (d->reason.len == 0 || d->cause.code == CODE_NONE)
            abort();
    } else if (err.kind == ERR_NONE) {
        scope_put(&text, &s);
        if (scope_parse(text.p, text.len, d->arena, &again, &err) != 0 || strcmp(s.sha256, again.sha256) != 0 ||
            again.origin != SCOPE_DECLARED || !scope_fits(&s, &again.columns) ||
            !utf8_valid(note.p ? note.p : "", note.len))
            abort();
        scope_free(&again);
    } else if (err.kind != ERR_REFUSED) {
        abort();
    }
    scope_free(&s);
    buf_free(&note);
    buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct said said;
    struct declare d = {.arena = &arena,
                        .isolation = "read_committed",
                        .keys = said.keys,
                        .froms = said.froms,
                        .excepted = said.excepted,
                        .filled = said.filled};
    const char *p = (const char *)data, *end = p + size;
    int rc = 0;
    while (rc == 0 && p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((newline ? newline : end) - p);
        rc = take(&d, &said, p, n, &err);
        p += n + 1;
    }
    if (rc == 0)
        check(&d);
    declare_free(&d);
    declare_free(&d);
    arena_free(&arena);
    return 0;
}
