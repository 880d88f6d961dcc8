/* SPDX-License-Identifier: Apache-2.0 */
/* A cause: its code, and its facts packed into one room, so that it is copied as a value and never freed. */
#include "base/base.h"

#include <inttypes.h>
#include <string.h>

const char *fact_number(char room[24], uint64_t n)
{
    snprintf(room, 24, "%" PRIu64, n);
    return room;
}

void cause_add(struct cause *c, const char *name, const char *value)
{
    size_t n = strlen(name) + 1, v = strlen(value) + 1;
    if (cause_fact(c, name) || n + v > sizeof c->text - c->len)
        return;
    memcpy(c->text + c->len, name, n);
    memcpy(c->text + c->len + n, value, v);
    c->len += (unsigned)(n + v);
}

const struct cause *cause_of(struct cause *room, unsigned code, const struct fact *facts)
{
    room->code = code;
    for (size_t i = 0; i < CAUSE_FACTS && facts[i].name; i++)
        if (facts[i].value)
            cause_add(room, facts[i].name, facts[i].value);
    return room;
}

const char *cause_next(const struct cause *c, const char *at, const char **value)
{
    if (at) {
        at += strlen(at) + 1; /* its value */
        at += strlen(at) + 1;
    } else {
        at = c->text;
    }
    if (at == c->text + c->len)
        return NULL;
    *value = at + strlen(at) + 1;
    return at;
}

const char *cause_fact(const struct cause *c, const char *name)
{
    const char *value;
    for (const char *at = NULL; (at = cause_next(c, at, &value)) != NULL;)
        if (strcmp(at, name) == 0)
            return value;
    return NULL;
}
