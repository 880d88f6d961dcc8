/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a jq program: what is taken away from it, and how jq's messages
 * about it become ours.
 *
 * A function that reaches outside the record is defined again, in front of the
 * program, to call a function that does not exist. jq drops definitions that
 * nobody uses, so only a program that uses one fails to compile, and a field or
 * a text of the same name is untouched.
 */
#include "guard/guard.h"
#include "json/json.h"
#include "stream/codes.h"

#include <jq.h>
#include <stdlib.h>
#include <string.h>

#define OUTSIDE "outside__"

/* Name and, where there is one, the parameter list. */
static const char *const taken_away[][2] = {
    {"now", ""},
    {"localtime", ""},
    {"strflocaltime", "(f)"}, /* the clock and the zone */
    {"env", ""},              /* the environment */
    {"input", ""},
    {"inputs", ""},
    {"input_filename", ""},
    {"input_line_number", ""}, /* other records */
    {"debug", ""},
    {"debug", "(f)"},
    {"stderr", ""}, /* standard error */
    {"halt", ""},
    {"halt_error", ""},
    {"halt_error", "(f)"}, /* the process */
    {"get_search_list", ""},
    {"get_prog_origin", ""},
    {"get_jq_origin", ""},
    {"modulemeta", ""}, /* files */
};

/* These answer through whoever runs the program: jq's own lose digits, replace bytes or abort, and say nothing. `debug`
 * hands the question to its callback and `input` takes the answer from its own; both still mean jq's here. */
static const char answered[] =
    "def jq__tonumber: tonumber; "
    "def tonumber: if type == \"string\" then [\"tonumber\", .] | debug | input else jq__tonumber end; "
    "def fromjson: [\"fromjson\", .] | debug | input; "
    "def implode: [\"implode\", .] | debug | input; ";

/* jq takes an error whose message is null for no error at all, and goes on as if there were no output. */
static const char loud_error[] = "def jq__error: error; "
                                 "def error: if . == null then \"error(null)\" | jq__error else jq__error end; "
                                 "def error(f): f | error; ";

/* @base64d is format("base64d"). Only for programs that may mean it, since every interpolated string asks. */
static const char answered_format[] =
    "def jq__format(f): format(f); "
    "def format(f): f as $f | if $f == \"base64d\" then [\"base64d\", tostring] | debug | input else jq__format($f) end; ";

void program_wrap(struct buf *out, const char *p, size_t n, bool with_record)
{
    buf_adds(out, answered);
    buf_adds(out, loud_error);
    if (memmem(p, n, "format", 6) || memmem(p, n, "base64d", 7))
        buf_adds(out, answered_format);
    for (size_t i = 0; i < sizeof taken_away / sizeof taken_away[0]; i++)
        buf_printf(out, "def %s%s: " OUTSIDE "%s; ", taken_away[i][0], taken_away[i][1], taken_away[i][0]);
    buf_adds(out, "null as $ENV | ");
    if (with_record)
        buf_adds(out, ".[0] as $record | .[1] | ");
    buf_addc(out, '\n');
    buf_add(out, p, n);
}

/* ---- tokens ---- */

struct scan {
    const char *p, *end;
    size_t line;
    size_t strings;            /* interpolations that are open */
    size_t parens[JSON_DEPTH]; /* parentheses open in each */
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_name(struct scan *s)
{
    while (s->p < s->end && (is_letter(*s->p) || is_digit(*s->p)))
        s->p++;
}

static void skip_space(struct scan *s)
{
    while (s->p < s->end && strchr(" \t\r\n#", *s->p)) {
        if (*s->p == '#')
            while (s->p + 1 < s->end && s->p[1] != '\n')
                s->p++;
        s->line += *s->p == '\n';
        s->p++;
    }
}

/* The text of a string, up to its quote or to an interpolation. */
static void skip_text(struct scan *s)
{
    for (; s->p < s->end && *s->p != '"'; s->p++) {
        s->line += *s->p == '\n';
        if (*s->p != '\\' || s->p + 1 == s->end)
            continue;
        s->p++;
        if (*s->p == '(' && s->strings + 1 < JSON_DEPTH) {
            s->parens[++s->strings] = 0;
            s->p++;
            return;
        }
    }
    if (s->p < s->end)
        s->p++;
}

/* A number as jq's lexer takes one: digits, a dot, digits, an exponent. */
static int check_number(struct scan *s, struct err *err)
{
    const char *from = s->p;
    while (s->p < s->end && (is_digit(*s->p) || *s->p == '.'))
        s->p++;
    const char *e = s->p;
    if (e < s->end && (*e == 'e' || *e == 'E')) {
        e++;
        e += e < s->end && (*e == '+' || *e == '-');
        if (e < s->end && is_digit(*e))
            for (s->p = e; s->p < s->end && is_digit(*s->p);)
                s->p++;
    }
    double d;
    if (number_to_double(from, (size_t)(s->p - from), &d))
        return 0;
    return err_fail(
        err, ERR_REFUSED, BECAUSE(CODE_MAP_MALFORMED),
        "program, line %zu: the number %.*s does not fit a double; declare numbers: text and compare it as text",
        s->line, (int)(s->p - from < 60 ? s->p - from : 60), from);
}

static int check_variable(struct scan *s, struct err *err)
{
    s->p++;
    skip_space(s);
    const char *from = s->p;
    skip_name(s);
    if (s->p - from == 3 && memcmp(from, "ENV", 3) == 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_MAP_MALFORMED),
                        "program, line %zu: $ENV reaches outside the record and is not available", s->line);
    return 0;
}

static int check_token(struct scan *s, struct err *err)
{
    char c = *s->p;
    if (c == '$')
        return check_variable(s, err);
    if (is_digit(c) || (c == '.' && s->p + 1 < s->end && is_digit(s->p[1])))
        return check_number(s, err);
    if (is_letter(c)) {
        skip_name(s);
        return 0;
    }
    s->p++;
    if (c == '"') {
        skip_text(s);
    } else if (c == '(') {
        s->parens[s->strings]++;
    } else if (c == ')' && s->strings && s->parens[s->strings] == 0) {
        s->strings--;
        skip_text(s);
    } else if (c == ')' && s->parens[s->strings]) {
        s->parens[s->strings]--;
    }
    return 0;
}

int program_check(const char *p, size_t n, struct err *err)
{
    struct scan s = {.p = p, .end = p + n, .line = 1};
    if (memchr(p, '\0', n))
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_MAP_MALFORMED), "program: holds a NUL byte");
    if (!utf8_valid(p, n))
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_MAP_MALFORMED), "program: invalid UTF-8");
    for (skip_space(&s); s.p < s.end; skip_space(&s))
        if (check_token(&s, err) < 0)
            return -1;
    return 0;
}

bool program_compile(jq_state *jq, const char *text)
{
    const char *home = getenv("HOME");
    char *saved = home ? xstrdup(home) : NULL;
    setenv("HOME", "/dev/null", 1);
    bool ok = jq_compile(jq, text);
    if (saved)
        setenv("HOME", saved, 1);
    else
        unsetenv("HOME");
    free(saved);
    return ok;
}

int program_error(const char *message, struct err *err)
{
    static const char head[] = "jq: error: ", place[] = " at <top-level>, line ",
                      shell[] = " (Unix shell quoting issues?)";
    if (strncmp(message, head, sizeof head - 1) == 0)
        message += sizeof head - 1;
    const char *at = strstr(message, place);
    size_t n = at ? (size_t)(at - message) : strcspn(message, "\n");
    uint64_t line = 0;
    if (at) {
        const char *digits = at + sizeof place - 1;
        scan_u64(digits, strspn(digits, "0123456789"), &line);
    }
    if (strncmp(message, OUTSIDE, sizeof OUTSIDE - 1) == 0) {
        const char *name = message + sizeof OUTSIDE - 1;
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_MAP_MALFORMED),
                        "program: %.*s reaches outside the record and is not available", (int)strcspn(name, "/"), name);
    }
    const char *quoting = memmem(message, n, shell, sizeof shell - 1);
    if (quoting)
        n = (size_t)(quoting - message);
    /* the first line is ours */
    if (line > 1)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_MAP_MALFORMED), "program, line %" PRIu64 ": %.*s", line - 1,
                        (int)n, message);
    return err_fail(err, ERR_REFUSED, BECAUSE(CODE_MAP_MALFORMED), "program: %.*s", (int)n, message);
}
