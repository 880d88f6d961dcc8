/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled program, and one record through it. */
#include "guard/guard.h"
#include "rules/internal.h"
#include "stream/codes.h"

#include <jq.h>
#include <stdlib.h>
#include <string.h>

struct rules {
    jq_state *jq;
    jv asked; /* by the program's last `debug`, for its next `input` */
    struct err lost, refused;
    struct names names;
};

static void on_message(void *ctx, jv message)
{
    struct rules *r = ctx;
    message = jq_format_error(message);
    if (r->refused.kind == ERR_NONE && jv_get_kind(message) == JV_KIND_STRING)
        program_error(jv_string_value(message), &r->refused);
    jv_free(message);
}

static void on_question(void *ctx, jv question)
{
    struct rules *r = ctx;
    jv_free(r->asked);
    r->asked = question;
}

static jv on_answer(jq_state *jq, void *ctx)
{
    (void)jq;
    struct rules *r = ctx;
    jv question = r->asked;
    r->asked = jv_null();
    return rules_answer(question, &r->lost);
}

struct rules *rules_open(const char *program, size_t n, struct err *err)
{
    if (program_check(program, n, err) != 0)
        return NULL;
    struct rules *r = xcalloc(1, sizeof *r);
    r->asked = jv_null();
    r->jq = jq_init();
    if (!r->jq) {
        free(r);
        err_set(err, ERR_TROUBLE, "libjq does not start");
        return NULL;
    }
    jq_set_error_cb(r->jq, on_message, r);
    jq_set_debug_cb(r->jq, on_question, r);
    jq_set_input_cb(r->jq, on_answer, r);
    jq_set_attr(r->jq, jv_string("JQ_LIBRARY_PATH"), jv_array()); /* without it libjq aborts on an import */
    struct buf text = BUF_INIT;
    program_wrap(&text, program, n, false);
    bool ok = program_compile(r->jq, buf_str(&text));
    buf_free(&text);
    if (ok)
        return r;
    err_set(err, ERR_REFUSED, "%s", r->refused.kind != ERR_NONE ? r->refused.text : "program: jq refuses it");
    rules_close(r);
    return NULL;
}

void rules_close(struct rules *r)
{
    if (!r)
        return;
    jq_teardown(&r->jq);
    jv_free(r->asked);
    names_free(&r->names);
    free(r);
}

/* message is consumed. */
static int failed(jv message, struct err *err)
{
    jv said = jv_invalid_get_msg(message);
    jv text = jv_get_kind(said) == JV_KIND_STRING ? said : jv_dump_string(said, 0);
    size_t n = (size_t)jv_string_length_bytes(jv_copy(text));
    struct buf shown = BUF_INIT;
    msg_mask(&shown, jv_string_value(text), n < 400 ? n : 400);
    err_set(err, ERR_REFUSED, "%s", buf_str(&shown));
    buf_free(&shown);
    jv_free(text);
    return -1;
}

/* The record's own numbers are places and times, which doubles must hold; those of its value are texts. */
static int input_of(struct rules *r, const struct json *record, const struct json *value, const char *value_error,
                    jv *input, struct err *err)
{
    *input = jv_object();
    r->names.next = 0;
    for (const struct json *m = json_next(record, json_first(record)); m; m = json_next(record, m)) {
        jv name = names_get(&r->names, m->str, m->len), v;
        if (rules_value(json_value(m), NUMBERS_EXACT, &r->names, &v, err) != 0) {
            jv_free(name);
            jv_free(*input);
            return err_prefix(err, "%.*s", (int)(m->len < 60 ? m->len : 60), m->str);
        }
        *input = jv_object_set(*input, name, v);
    }
    jv v = value_error ? jv_string(value_error) : jv_null();
    if (value)
        rules_value(value, NUMBERS_TEXT, &r->names, &v, NULL); /* texts always fit */
    *input = jv_object_set(*input, jv_string(value_error ? "value_error" : "value"), v);
    return 0;
}

int rules_run(struct rules *r, const struct json *record, const struct json *value, const char *value_error,
              struct buf *out, struct err *err)
{
    jv input;
    if (input_of(r, record, value, value_error, &input, err) != 0)
        return -1;
    size_t begin = out->len;
    int rc = 0;
    r->lost.kind = ERR_NONE;
    jq_start(r->jq, input, 0);
    jv output = jq_next(r->jq);
    for (; rc == 0 && jv_is_valid(output); output = jq_next(r->jq)) {
        size_t had = out->len;
        rc = rules_put(out, output, JSON_DEPTH, err);
        jv_free(output);
        if (rc != 0) {
            out->len = had;
            output = jv_invalid();
            break;
        }
        buf_addc(out, '\n');
        if (out->len - begin > RULES_MAX_OUTPUT)
            rc = err_set(err, ERR_BOUND, "the program's output for one record is larger than %zu bytes",
                         RULES_MAX_OUTPUT);
    }
    if (rc == 0 && jv_invalid_has_msg(jv_copy(output)))
        rc = failed(output, err);
    else
        jv_free(output);
    if (r->lost.kind != ERR_NONE) {
        *err = r->lost;
        rc = -1;
    }
    return rc;
}
