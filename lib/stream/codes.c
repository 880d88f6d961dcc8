/* SPDX-License-Identifier: Apache-2.0 */
/* The table of codes, both ways, and the next action of one with its facts. */
#include "stream/codes.h"

#include <errno.h>
#include <string.h>

struct entry {
    const char *word, *means, *usually, *next;
};

#define X(id, word, means, usually, next) [CODE_##id] = {word, means, usually, next},
static const struct entry entries[CODES] = {[CODE_NONE] = {"", "", "", ""}, CODE_TABLE(X)};
#undef X

const char *code_word(enum code c)
{
    return entries[c].word;
}

enum code code_of(const char *p, size_t n)
{
    for (size_t i = 0; i < CODES; i++)
        if (strlen(entries[i].word) == n && memcmp(entries[i].word, p, n) == 0)
            return (enum code)i;
    return CODES;
}

const char *code_means(enum code c)
{
    return entries[c].means;
}

const char *code_usually(enum code c)
{
    return entries[c].usually;
}

bool code_follows(enum code c)
{
    return c == CODE_CHECK_NOT_PASSED || c == CODE_SIDE_NOT_WHOLE || c == CODE_RUN_STOPPED;
}

void code_next(const struct cause *cause, struct buf *out)
{
    const char *p = entries[cause->code].next;
    for (size_t n; *p; p += n) {
        n = strcspn(p, "{");
        buf_add(out, p, n);
        p += n;
        n = 0;
        if (!*p)
            break;
        size_t name_len = strcspn(p + 1, "|"), words = name_len + 2, words_len = strcspn(p + words, "}");
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)name_len, p + 1);
        const char *value = cause_fact(cause, name);
        if (value)
            msg_mask(out, value, strlen(value));
        else
            buf_add(out, p + words, words_len);
        n = words + words_len + 1;
    }
}

static enum code of_errno(int sys)
{
    switch (sys) {
    case ENOENT: return CODE_FILE_MISSING;
    case EEXIST: return CODE_FILE_EXISTS;
    case EACCES:
    case EPERM:
    case EROFS: return CODE_NOT_PERMITTED;
    case ENOSPC:
    case EDQUOT: return CODE_SPACE_FULL;
    default: return CODE_IO_FAILED;
    }
}

struct cause code_of_err(const struct err *err, enum code refused)
{
    struct cause c = err->cause;
    if (c.code != CODE_NONE)
        return c;
    if (err->sys != 0 && err->sys != ELOOP) /* a link where none may be is the input's fault */
        c.code = of_errno(err->sys);
    else if (err->kind == ERR_CHANGED)
        c.code = CODE_FILE_CHANGED;
    else if (err->kind == ERR_MISSING)
        c.code = CODE_FILE_MISSING;
    else if (err->kind == ERR_BOUND)
        c.code = CODE_BOUND_PASSED;
    else if (err->kind == ERR_TIMEOUT)
        c.code = CODE_TIME_PASSED;
    else
        c.code = refused;
    return c;
}
