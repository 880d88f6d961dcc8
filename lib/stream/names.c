/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names, both ways. */
#include "stream/names.h"

#include <stdbool.h>
#include <string.h>

static bool same(const char *name, const char *p, size_t n)
{
    return strlen(name) == n && memcmp(name, p, n) == 0;
}

#define FIND(table, count, p, n) \
    do { \
        for (size_t i = 0; i < sizeof(table) / sizeof(table)[0]; i++) \
            if (same((table)[i], p, n)) \
                return i; \
        return count; \
    } while (0)

#define X(id, text) [LINE_##id] = text,
static const char *const lines[] = {LINE_TABLE(X)};
#undef X
#define X(id, text, means) [CHECK_##id] = text,
static const char *const checks[] = {CHECK_TABLE(X)};
#undef X
#define X(id, text, means) [CHECK_##id] = means,
static const char *const meanings[] = {CHECK_TABLE(X)};
#undef X
#define X(id, text) [STATUS_##id] = text,
static const char *const statuses[] = {STATUS_TABLE(X)};
#undef X
#define X(id, text) [KIND_##id] = text,
static const char *const kinds[] = {KIND_TABLE(X)};
#undef X

static size_t line_index(const char *p, size_t n)
{
    FIND(lines, LINE_UNKNOWN, p, n);
}

static size_t check_index(const char *p, size_t n)
{
    FIND(checks, CHECK_NAMES, p, n);
}

static size_t status_index(const char *p, size_t n)
{
    FIND(statuses, STATUS_TYPES, p, n);
}

static size_t kind_index(const char *p, size_t n)
{
    FIND(kinds, KIND_TYPES, p, n);
}

const char *line_type_name(enum line_type t)
{
    return t < LINE_UNKNOWN ? lines[t] : "unknown";
}

enum line_type line_type_of(const char *p, size_t n)
{
    return (enum line_type)line_index(p, n);
}

const char *check_name_text(enum check_name c)
{
    return checks[c];
}

const char *check_name_means(enum check_name c)
{
    return meanings[c];
}

enum check_name check_name_of(const char *p, size_t n)
{
    return (enum check_name)check_index(p, n);
}

const char *status_name(enum status s)
{
    return statuses[s];
}

enum status status_of(const char *p, size_t n)
{
    return (enum status)status_index(p, n);
}

const char *finding_kind_name(enum finding_kind k)
{
    return kinds[k];
}

enum finding_kind finding_kind_of(const char *p, size_t n)
{
    return (enum finding_kind)kind_index(p, n);
}
