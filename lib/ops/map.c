/* SPDX-License-Identifier: Apache-2.0 */
/* The map operator: a record line or an event line in, event lines out, a compiled jq program between. */
#include "ops/internal.h"
#include "stream/stream.h"

#include <inttypes.h>
#include <jq.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct map {
    struct op op;
    jq_state *jq;
    enum ops_numbers numbers;
    bool with_record; /* the program may use $record */
    jv asked;         /* by the program's last `debug`, for its next `input` */
    struct err lost;
    struct err compile;
    struct arena arena;
    struct buf ts, events; /* events: one a line */
    char base[OP_AT_MAX];  /* the record that the rows are of; "" for a window's row, which is of no one record */
    uint64_t rows;         /* of it so far */
};

/* ---- compiling ---- */

static void on_message(void *ctx, jv message)
{
    struct map *m = ctx;
    message = jq_format_error(message);
    if (m->compile.kind == ERR_NONE && jv_get_kind(message) == JV_KIND_STRING)
        program_error(jv_string_value(message), &m->compile);
    jv_free(message);
}

static void on_question(void *ctx, jv question)
{
    struct map *m = ctx;
    jv_free(m->asked);
    m->asked = question;
}

static jv on_answer(jq_state *jq, void *ctx)
{
    (void)jq;
    struct map *m = ctx;
    jv question = m->asked;
    m->asked = jv_null();
    return program_answer(question, m->numbers, &m->lost);
}

static struct map *map_of(struct op *op)
{
    return (struct map *)op; /* op is its first member */
}

static void map_close(struct op *op)
{
    struct map *m = map_of(op);
    jq_teardown(&m->jq);
    jv_free(m->asked);
    arena_free(&m->arena);
    buf_free(&m->ts);
    buf_free(&m->events);
    free(m);
}

static int compile(struct map *m, const char *program, size_t n, struct err *err)
{
    struct buf text = BUF_INIT;
    program_wrap(&text, program, n, m->with_record);
    bool ok = program_compile(m->jq, buf_str(&text));
    buf_free(&text);
    return ok ? 0
              : err_fail(err, ERR_REFUSED, BECAUSE(CODE_MAP_MALFORMED), "%s",
                         m->compile.kind ? m->compile.text : "program: jq refuses it");
}

static int read_parameters(const struct json *parameters, const struct json **program, enum ops_numbers *numbers,
                           struct err *err)
{
    static const char *const known[] = {"program", "numbers", NULL};
    struct json *text;
    const struct json *said = json_get(parameters, "numbers");
    if (json_only(parameters, known, "map", err) != 0 ||
        json_need(parameters, "program", JSON_STRING, &text, "map", err) != 0)
        return -1;
    if (said && !json_is(said, "double") && !json_is(said, "text"))
        return err_set(err, ERR_REFUSED, "map.numbers: neither double nor text");
    *program = text;
    *numbers = said && json_is(said, "text") ? OPS_TEXT : OPS_DOUBLE;
    return 0;
}

/* libjq would abort, as it does on values that its checks forget. */
static void no_memory(void *unused)
{
    (void)unused;
    out_of_memory();
}

static int map_open(struct op **out, const struct json *parameters, struct err *err)
{
    const struct json *program = NULL;
    enum ops_numbers numbers = OPS_DOUBLE;
    if (read_parameters(parameters, &program, &numbers, err) != 0 || program_check(program->str, program->len, err) < 0)
        return -1;
    struct map *m = xcalloc(1, sizeof *m);
    m->numbers = numbers;
    m->with_record = memmem(program->str, program->len, "record", 6) != NULL;
    m->asked = jv_null();
    m->jq = jq_init();
    if (!m->jq) {
        free(m);
        return err_set(err, ERR_TROUBLE, "libjq does not start");
    }
    jq_set_nomem_handler(m->jq, no_memory, NULL);
    jq_set_error_cb(m->jq, on_message, m);
    jq_set_debug_cb(m->jq, on_question, m);
    jq_set_input_cb(m->jq, on_answer, m);
    /* without it, libjq aborts on an import */
    jq_set_attr(m->jq, jv_string("JQ_LIBRARY_PATH"), jv_array());
    if (compile(m, program->str, program->len, err) != 0) {
        map_close(&m->op);
        return -1;
    }
    *out = &m->op;
    return 0;
}

/* ---- one line ---- */

static const char *const line_names[] = {[false] = "record", [true] = "event"};

static int record_place(struct map *m, const struct json *line, struct err *err)
{
    struct json *topic;
    uint64_t partition, offset;
    if (json_need(line, "topic", JSON_STRING, &topic, "record", err) < 0 ||
        json_need_u64(line, "partition", &partition, "record", err) < 0 ||
        json_need_u64(line, "offset", &offset, "record", err) < 0)
        return -1;
    if (topic->len == 0 || topic->len > 249 || memchr(topic->str, '\0', topic->len))
        return err_set(err, ERR_REFUSED, "record.topic: not a topic's name");
    snprintf(m->op.at, sizeof m->op.at, "%.*s/%" PRIu64 "/%" PRIu64, (int)topic->len, topic->str, partition, offset);
    if (!stream_place_ok(m->op.at, strlen(m->op.at)))
        return err_set(err, ERR_REFUSED, "record: its topic, partition and offset are no place in a log");
    memcpy(m->base, m->op.at, sizeof m->base);
    m->rows = 0;
    return 0;
}

/* The rows of one record come one after the other, and are numbered through whatever events they came as. */
static int event_place(struct map *m, const struct json *line, struct err *err)
{
    const struct json *at = json_get(line, "at");
    m->op.at[0] = '\0';
    if (at &&
        (at->type != JSON_STRING || at->escaped || at->len >= sizeof m->op.at || !stream_place_ok(at->str, at->len)))
        return err_set(err, ERR_REFUSED, "event.at: no place in a log");
    size_t n = at ? at->len : 0, base = n;
    memcpy(m->op.at, at ? at->str : "", n);
    m->op.at[n] = '\0';
    const char *number = memchr(m->op.at, '#', n);
    if (number)
        base = (size_t)(number - m->op.at);
    if (base != strlen(m->base) || memcmp(m->base, m->op.at, base) != 0)
        m->rows = 0;
    memcpy(m->base, m->op.at, base);
    m->base[base] = '\0';
    return 0;
}

/* The event's time: of an event its own; of a record its own where the source declares one, else Kafka's. */
static int line_time(struct map *m, const struct json *line, bool event, struct err *err)
{
    const char *name = !event && json_get(line, "event_time") ? "event_time" : "ts";
    const struct json *ts = json_get(line, name);
    int64_t ms;
    buf_reset(&m->ts);
    if (!ts || ts->type == JSON_NULL)
        buf_adds(&m->ts, "null");
    else if (json_i64(ts, &ms))
        json_put_i64(&m->ts, ms);
    else
        return err_set(err, ERR_REFUSED, "%s.%s: not a whole number of milliseconds", line_names[event], name);
    return 0;
}

/* The payload as a tree; *payload stays NULL for a null value. */
static int record_payload(struct map *m, const struct json *line, const struct json **payload, struct err *err)
{
    const struct json *text = json_get(line, "payload");
    if (!text && json_get(line, "payload_b64"))
        return err_set(err, ERR_REFUSED, "payload: not UTF-8, so not JSON");
    if (!text || (text->type != JSON_STRING && text->type != JSON_NULL))
        return err_set(err, ERR_REFUSED, "record.payload: %s", text ? "not a string" : "missing");
    if (text->type == JSON_STRING) {
        *payload = json_parse_named(text->str, text->len, &m->arena, "payload", err);
        return *payload ? 0 : -1;
    }
    return 0;
}

/* What the program sees: a record's payload or an event's values, and as $record the line's other members. */
static int program_input(struct map *m, const struct json *line, bool event, const struct json *payload, jv *out,
                         struct err *err)
{
    const char *const without[] = {"type", event ? "values" : "payload", NULL};
    jv record, value = jv_null();
    if (payload && value_from_json(payload, m->numbers, NULL, &value, err) < 0)
        return err_prefix(err, event ? "values" : "payload");
    if (m->with_record) {
        if (value_from_json(line, m->numbers, without, &record, err) < 0) {
            jv_free(value);
            return err_prefix(err, "%s", line_names[event]);
        }
        value = JV_ARRAY(record, value);
    }
    *out = value;
    return 0;
}

/* The place of the record's next row. */
static void put_place(struct map *m, struct buf *b)
{
    if (m->base[0] == '\0')
        return;
    buf_adds(b, ",\"at\":");
    json_put_s(b, m->base);
    if (m->rows > 0) {
        b->len--;
        buf_printf(b, "#%" PRIu64 "\"", m->rows);
    }
    m->rows++;
}

/* One output of the program, the nth of its line, counted from 0. */
static int add_event(struct map *m, jv output, size_t nth, struct err *err)
{
    static const char *const kinds[] = {
        [JV_KIND_NULL] = "null",       [JV_KIND_FALSE] = "false",     [JV_KIND_TRUE] = "true",
        [JV_KIND_NUMBER] = "a number", [JV_KIND_STRING] = "a string", [JV_KIND_ARRAY] = "an array"};
    struct buf *b = &m->events;
    jv_kind kind = jv_get_kind(output);
    if (kind != JV_KIND_OBJECT)
        return err_set(err, ERR_REFUSED, "the program gave %s; each output must be an object of values by column name",
                       kinds[kind]);
    if (nth)
        buf_addc(b, '\n');
    buf_adds(b, "{\"type\":\"event\"");
    put_place(m, b);
    buf_adds(b, ",\"ts\":");
    buf_add(b, m->ts.p, m->ts.len);
    buf_adds(b, ",\"values\":");
    if (value_put(b, output, JSON_DEPTH - 1, err) < 0)
        return -1;
    buf_addc(b, '}');
    if (b->len > OPS_MAX_OUTPUT)
        return err_set(err, ERR_BOUND, "the program gave more than %zu bytes for one record", OPS_MAX_OUTPUT);
    return 0;
}

/* The message of a jq error, consumed. It may quote the record, so it is masked and cut. */
static int program_failed(jv end, struct err *err)
{
    jv message = jv_invalid_get_msg(end);
    jv text = jv_get_kind(message) == JV_KIND_STRING ? message : jv_dump_string(message, 0);
    struct buf shown = BUF_INIT;
    size_t n = (size_t)jv_string_length_bytes(jv_copy(text));
    msg_mask(&shown, jv_string_value(text), n < 400 ? n : 400);
    err_set(err, ERR_REFUSED, "the program failed: %s", buf_str(&shown));
    buf_free(&shown);
    jv_free(text);
    return -1;
}

/* Run the program, consuming input; the record's events are in m->events. */
static int run(struct map *m, jv input, struct err *err)
{
    int rc = 0;
    m->lost.kind = ERR_NONE;
    jq_start(m->jq, input, 0);
    jv output = jq_next(m->jq);
    for (size_t nth = 0; rc == 0 && jv_is_valid(output); nth++) {
        rc = add_event(m, output, nth, err);
        jv_free(output);
        output = rc == 0 ? jq_next(m->jq) : jv_invalid();
    }
    if (rc == 0 && jv_invalid_has_msg(jv_copy(output)))
        rc = program_failed(output, err);
    else
        jv_free(output);
    if (m->lost.kind != ERR_NONE) {
        *err = m->lost;
        rc = -1;
    }
    return rc;
}

/* An event's values. */
static int event_values(const struct json *line, const struct json **values, struct err *err)
{
    struct json *v;
    if (json_need(line, "values", JSON_OBJECT, &v, "event", err) < 0)
        return -1;
    *values = v;
    return 0;
}

static int map_parts(struct map *m, const struct json *line, bool event, struct err *err)
{
    const struct json *payload = NULL;
    jv input;
    if (line_time(m, line, event, err) < 0 ||
        (event ? event_values(line, &payload, err) : record_payload(m, line, &payload, err)) < 0 ||
        program_input(m, line, event, payload, &input, err) < 0)
        return -1;
    return run(m, input, err);
}

static int map_line(struct map *m, const struct json *line, bool event, struct err *err)
{
    if (map_parts(m, line, event, err) == 0)
        return 0;
    const char *at = m->op.at[0] ? m->op.at : "a window's row";
    err_cause(err, BECAUSE(CODE_RECORD_NOT_MAPPED, {"at", at}));
    return err_prefix(err, "%s", at);
}

static void hand_on(const struct map *m, const struct op_output *out)
{
    for (size_t at = 0; at < m->events.len;) {
        const char *p = m->events.p + at, *nl = memchr(p, '\n', m->events.len - at);
        size_t len = nl ? (size_t)(nl - p) : m->events.len - at;
        out->event(out->ctx, p, len);
        at += len + 1;
    }
}

static int take(struct map *m, const char *line, size_t n, bool event, const struct op_output *out, struct err *err)
{
    const char *what = line_names[event];
    arena_reset(&m->arena);
    buf_reset(&m->events);
    if (n > INT_MAX / 2) /* libjq counts bytes in an int */
        return err_set(err, ERR_BOUND, "%s: %zu bytes are more than libjq takes", what, n);
    const struct json *v = json_parse_named(line, n, &m->arena, what, err);
    if (!v || (event ? event_place(m, v, err) : record_place(m, v, err)) < 0 || map_line(m, v, event, err) < 0)
        return -1;
    hand_on(m, out);
    return 0;
}

static int map_record(struct op *op, const char *line, size_t n, const struct op_output *out, struct err *err)
{
    return take(map_of(op), line, n, false, out, err);
}

static int map_event(struct op *op, const char *line, size_t n, const struct op_output *out, struct err *err)
{
    return take(map_of(op), line, n, true, out, err);
}

const struct op_kind op_map = {
    .name = "map", .open = map_open, .close = map_close, .record = map_record, .event = map_event};
