/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes into the reference's rules and what they answer. The first byte says which: a payload to libjq and back, an
 * answer to what a program asks of us, a record through programs, or a program's text as it is looked at before jq sees
 * it.
 */
#include "guard/guard.h"
#include "rules/internal.h"

#include <stdlib.h>
#include <string.h>

static struct arena arena;

static void insist(bool ok)
{
    if (!ok)
        abort();
}

/* libjq holds its stack by the stack's end alone, which the search for leaks does not see. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:jv_mem_realloc\n";
}

/* ---- values ---- */

/* False where the value does not go. */
static bool there_and_back(const struct json *v, enum numbers numbers, struct buf *out)
{
    struct names names = {.n = 0};
    jv value;
    if (rules_value(v, numbers, &names, &value, NULL) != 0) {
        names_free(&names);
        return false;
    }
    bool ok = rules_put(out, value, JSON_DEPTH, NULL) == 0;
    jv_free(value);
    names_free(&names);
    return ok;
}

/* Where numbers are texts every value goes; what comes back goes that way again as it is. */
static void value(const char *p, size_t n)
{
    const struct json *v = json_parse(p, n, &arena, NULL);
    for (int text = 0; v && text < 2; text++) {
        enum numbers numbers = text ? NUMBERS_TEXT : NUMBERS_EXACT;
        struct buf once = BUF_INIT, twice = BUF_INIT;
        bool goes = there_and_back(v, numbers, &once);
        insist(goes || !text);
        const struct json *back = goes ? json_parse(once.p, once.len, &arena, NULL) : NULL;
        insist(!goes || (back && there_and_back(back, numbers, &twice) && buf_is(&twice, once.p, once.len)));
        buf_free(&once);
        buf_free(&twice);
    }
}

/* ---- answers ---- */

static jv asked(const char *name, jv value)
{
    return jv_array_append(jv_array_append(jv_array(), jv_string(name)), value);
}

/* An answer, or a word of what is wrong. */
static void answer(const char *name, jv of)
{
    struct err lost = ERR_INIT;
    struct buf out = BUF_INIT;
    jv got = rules_answer(asked(name, of), &lost);
    insist(lost.kind == ERR_NONE || !jv_is_valid(got));
    insist(jv_is_valid(got) || jv_invalid_has_msg(jv_copy(got)));
    if (jv_is_valid(got) && rules_put(&out, got, JSON_DEPTH, NULL) == 0)
        insist(json_valid(out.p, out.len, NULL));
    jv_free(got);
    buf_free(&out);
}

static void answers(const char *p, size_t n)
{
    static const char *const names[] = {"tonumber", "fromjson", "implode", "base64d"};
    const struct json *v = json_parse(p, n, &arena, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        jv of;
        struct names seen = {.n = 0};
        answer(names[i], jv_string_sized(p, (int)n));
        if (v && rules_value(v, NUMBERS_EXACT, &seen, &of, NULL) == 0)
            answer(names[i], of);
        names_free(&seen);
    }
}

/* ---- records ---- */

static const char *const programs[] = {
    "{at: \"\\(.topic)/\\(.partition)/\\(.offset)\", values: (.value // .value_error)}",
    ".value | .., (strings | tonumber?, fromjson?, @base64d?, explode), (arrays | implode?)",
    ".value | if type == \"object\" then to_entries[] else error end",
};

/* Each line that a program answers is JSON, whether it ended in an error or not. */
static void check_lines(const struct buf *out)
{
    for (size_t at = 0, n; at < out->len; at += n + 1) {
        const char *nl = memchr(out->p + at, '\n', out->len - at);
        insist(nl);
        n = (size_t)(nl - out->p) - at;
        insist(json_valid(out->p + at, n, NULL));
    }
}

static void record(const char *p, size_t n)
{
    static struct rules *rules[sizeof programs / sizeof *programs];
    static const char text[] = "{\"type\":\"record\",\"topic\":\"t\",\"partition\":0,\"offset\":7,\"key\":null}";
    const struct json *of = json_parse(text, sizeof text - 1, &arena, NULL), *v = json_parse(p, n, &arena, NULL);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        if (!rules[i])
            rules[i] = rules_open(programs[i], strlen(programs[i]), &err);
        insist(rules[i] != NULL);
        int rc = rules_run(rules[i], of, v, v ? NULL : "not JSON", &out, &err);
        insist((rc == 0) == (err.kind == ERR_NONE) && utf8_valid(err.text, strlen(err.text)));
        check_lines(&out);
        buf_free(&out);
    }
}

/* ---- a program's text ---- */

static void program(const char *p, size_t n)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    if (program_check(p, n, &err) == 0) {
        program_wrap(&text, p, n, n % 2);
        insist(text.len > n && memcmp(text.p + text.len - n - 1, "\n", 1) == 0);
    } else {
        insist(err.kind == ERR_REFUSED && err.text[0] != '\0');
    }
    err = (struct err)ERR_INIT;
    insist(program_error(arena_strndup(&arena, p, n), &err) == -1 && err.kind == ERR_REFUSED);
    buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const all[])(const char *, size_t) = {value, answers, record, program};
    if (size == 0)
        return -1;
    arena = (struct arena)ARENA_INIT;
    all[data[0] % (sizeof all / sizeof *all)](arena_strndup(&arena, (const char *)data + 1, size - 1), size - 1);
    arena_free(&arena);
    return 0;
}
