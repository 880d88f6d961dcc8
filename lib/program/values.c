/* SPDX-License-Identifier: Apache-2.0 */
/* Where a value ends in what a program writes. Only brackets and strings are told apart; whoever takes the value reads
 * it in full. */
#include "program/program.h"
#include "base/bytes.h"

#include <string.h>

/* Behind these a value may begin; behind anything else one that begins is not of the value before it. */
static bool may_follow(char before)
{
    return before == '{' || before == '[' || before == ',' || before == ':';
}

/* The rest of a string: past its closing quote, or n. A line's end in it is none of any string. */
static size_t pass_string(struct program_scan *s, const char *p, size_t i, size_t n)
{
    while (i < n) {
        i = (size_t)(bytes_plain(p + i, p + n) - p);
        if (i == n || p[i] == '\n')
            return i;
        if (p[i] == '\\') {
            if (i + 1 == n)
                return i; /* with what it escapes, once that has come */
            i += 2;
            continue;
        }
        if (p[i++] == '"') {
            s->in_string = false;
            s->before = '"';
            return i;
        }
    }
    return i;
}

size_t program_scan_value(struct program_scan *s, const char *p, size_t n)
{
    size_t i = s->at;
    while (i < n) {
        char c = p[i];
        if (s->in_string && c != '\n') {
            size_t to = pass_string(s, p, i, n);
            if (to == i)
                break; /* an escape whose character has not come */
            i = to;
            continue;
        }
        if (c == '\n' && (s->depth == 0 || s->in_string))
            return i; /* no value of its own, or one that is broken */
        bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
        if (s->depth > 0 && (opens || c == '"') && !may_follow(s->before))
            return i;
        if (closes && s->depth == 1)
            return i + 1;
        /* A line that begins no object and no list is taken as it is. */
        s->in_string = c == '"' && s->depth > 0;
        s->depth += (opens && (s->depth > 0 || i == 0)) - (closes && s->depth > 0 ? 1u : 0u);
        s->lines += c == '\n';
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
            s->before = c;
        i++;
    }
    s->at = i;
    return 0;
}
