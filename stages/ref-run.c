/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref-run: an operator's own program over the records of a stream. Each record
 * goes to the program as one line of JSON, each object that it writes becomes
 * an event for ref-seal; everything else goes around it. The program runs
 * without a shell, in a process group of its own.
 *
 * Exit: 0 the program's rows are whole, 2 usage or a program that cannot be run,
 * 3 the rows are not whole (the account says why) or the stream is unfinished.
 */
#include "program/program.h"
#include "stream/check.h"
#include "stream/stream.h"

#include <string.h>
#include <sys/wait.h>

struct options {
    bool json, text, strict;
    uint64_t max_line;
    char **command;
};

static int take_json(const char *value, void *ctx, struct err *err)
{
    struct options *o = ctx;
    if (value && strcmp(value, "text") != 0)
        return err_set(err, ERR_REFUSED, "--json: neither alone nor --json=text");
    o->json = true;
    o->text = value != NULL;
    return 0;
}

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("ref-run [options] -- PROGRAM [ARGUMENT...] <stream >stream\n"
                  "Run a reference program of your own over the records of a stream; its rows become events."),
        OPT_COMMAND(&o->command),
        OPT_MAYBE("json", "text", take_json, o,
                  "give each record its payload parsed, as `value`;\n"
                  "=text: with every number as its text, what jq needs to keep digits"),
        OPT_FLAG("strict", &o->strict, "every record must be answered, by rows or a skip, with its `at`"),
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 whole, 2 refused, 3 the program's rows are not whole, or the stream is unfinished"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && (!o->command || !**o->command))
        return err_set(err, ERR_REFUSED, "no program: give it after --");
    return rc;
}

struct run {
    struct options o;
    struct stream_in in;
    struct stream_out out;
    struct program program;
    struct buf name; /* the program's, as it can be shown */
    struct arena arena;
    struct program_answers *answers;
    bool unplaced; /* a row, or a record, whose place is not known: which records have no row is not known either */
    uint64_t records, rows, skips, value_errors;
    struct buf first_value_error;
};

/* ---- what the program writes ---- */

/* Text that can stand in a row's `at` as it is written. */
static bool is_place(const struct json *at)
{
    return at && at->type == JSON_STRING && at->len > 0 && !at->escaped;
}

static int answer(struct run *r, const struct json *at, bool row, struct err *err)
{
    if (at && !is_place(at))
        return err_set(err, ERR_REFUSED, "its at is no text, or needs an escape");
    if (at && program_answers_at(r->answers, at->str, at->len, row, err) == 0)
        return 0;
    r->unplaced = true;
    if (!r->o.strict)
        return 0;
    return at ? -1 : err_set(err, ERR_REFUSED, "no at, which --strict wants");
}

static void put_event(struct run *r, const struct json *at, const struct json *values)
{
    struct buf *line = stream_build(&r->out, LINE_EVENT);
    if (at) {
        buf_adds(line, ",\"at\":");
        json_put_raw(line, at);
    }
    buf_adds(line, ",\"values\":");
    json_put_raw(line, values);
    stream_put_built(&r->out, LINE_EVENT);
    r->rows++;
}

/* {"at":…,"values":{…}} and {"values":{…}} are a row in its wrapping, {"at":…,"skip":true} is none; any other object is
 * a row's values. */
static int on_program_line(void *ctx, const char *p, size_t n, struct err *err)
{
    struct run *r = ctx;
    struct json_error e;
    arena_reset(&r->arena);
    const struct json *doc = json_parse(p, n, &r->arena, &e);
    if (!doc)
        return err_set(err, ERR_REFUSED, "byte %zu: %s", e.offset + 1, e.why);
    if (doc->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "not an object");
    const struct json *at = json_get(doc, "at"), *values = json_get(doc, "values"), *skip = json_get(doc, "skip");
    if (at && skip && skip->type == JSON_TRUE && doc->len == 2) {
        r->skips++;
        return answer(r, at, false, err);
    }
    if (!values || values->type != JSON_OBJECT || doc->len != (at ? 2u : 1u)) {
        at = NULL;
        values = doc;
    }
    if (answer(r, at, true, err) != 0)
        return -1;
    put_event(r, at, values);
    return r->out.broken ? err_set(err, ERR_TROUBLE, "standard output failed") : 0;
}

static void before_wait(void *ctx)
{
    struct run *r = ctx;
    stream_flush(&r->out);
}

/* ---- records ---- */

/* The place of a record whose line begins with it, as kafka-read writes it. */
static bool quick_place(const char *p, size_t n, const char **topic, size_t *topic_len, uint64_t *partition,
                        uint64_t *offset)
{
    static const char a[] = ",\"topic\":\"", b[] = "\",\"partition\":", c[] = ",\"offset\":";
    const char *end = p + n, *q, *digits;
    if (n < sizeof a || memcmp(p, a, sizeof a - 1) != 0)
        return false;
    *topic = p + sizeof a - 1;
    q = memchr(*topic, '"', (size_t)(end - *topic));
    if (!q || (size_t)(end - q) < sizeof b || memcmp(q, b, sizeof b - 1) != 0 ||
        memchr(*topic, '\\', (size_t)(q - *topic)))
        return false;
    *topic_len = (size_t)(q - *topic);
    digits = q + sizeof b - 1;
    q = memchr(digits, ',', (size_t)(end - digits));
    if (!q || !scan_u64(digits, (size_t)(q - digits), partition) || (size_t)(end - q) < sizeof c ||
        memcmp(q, c, sizeof c - 1) != 0)
        return false;
    digits = q + sizeof c - 1;
    q = memchr(digits, ',', (size_t)(end - digits));
    return q && scan_u64(digits, (size_t)(q - digits), offset);
}

/* The record, parsed where its payload is asked for or its place is not where it usually stands. */
static int read_record(struct run *r, const struct stream_line *line, const char *rest, size_t n,
                       const struct json **record, struct err *err)
{
    struct json_error e;
    const char *topic;
    size_t topic_len;
    uint64_t partition, offset;
    bool quick = !r->o.json && quick_place(rest, n, &topic, &topic_len, &partition, &offset);
    *record = NULL;
    if (!quick) {
        arena_reset(&r->arena);
        *record = json_parse(line->p, line->n, &r->arena, &e);
        const struct json *name = json_get(*record, "topic");
        if (!*record)
            return err_set(err, ERR_REFUSED, "stdin: line %" PRIu64 ": byte %zu: %s", line->line_no, e.offset + 1,
                           e.why);
        if (!name || name->type != JSON_STRING || json_need_u64(*record, "partition", &partition, "record", err) != 0 ||
            json_need_u64(*record, "offset", &offset, "record", err) != 0)
            return err_set(err, ERR_REFUSED,
                           "stdin: line %" PRIu64 ": a record without its topic, partition and offset", line->line_no);
        topic = name->str;
        topic_len = name->len;
    }
    if (program_answers_record(r->answers, topic, topic_len, partition, offset, err) == 0)
        return 0;
    return err_prefix(err, "stdin: line %" PRIu64, line->line_no);
}

static int put_value(struct run *r, const struct json *record, const struct stream_line *line, struct err *err)
{
    struct buf *queue = &r->program.queue;
    size_t from = queue->len;
    if (json_get(record, "value") || json_get(record, "value_error"))
        return err_set(err, ERR_REFUSED, "stdin: line %" PRIu64 ": a record with a value already", line->line_no);
    if (program_payload(record, r->o.text, queue) || r->value_errors++ > 0)
        return 0;
    const struct json *topic = json_get(record, "topic"), *partition = json_get(record, "partition"),
                      *offset = json_get(record, "offset");
    buf_printf(&r->first_value_error, "%.*s/%.*s/%.*s: ", (int)topic->len, topic->str, (int)partition->len,
               partition->str, (int)offset->len, offset->str);
    const char *why = queue->p + from + sizeof ",\"value_error\":\"" - 1;
    buf_add(&r->first_value_error, why, (size_t)(queue->p + queue->len - 1 - why));
    return 0;
}

/* The record without its type, and its payload parsed where that is asked for. */
static int queue_record(struct run *r, const struct stream_line *line, struct err *err)
{
    static const char head[] = "{\"type\":\"record\"";
    const struct json *record;
    const char *rest = line->p + sizeof head - 1;
    size_t n = line->n - (sizeof head - 1);
    if (n < 3 || rest[0] != ',' || rest[n - 1] != '}')
        return err_set(err, ERR_REFUSED,
                       "stdin: line %" PRIu64 ": a record without members, or with spaces between them", line->line_no);
    if (read_record(r, line, rest, n, &record, err) != 0)
        return -1;
    program_make_room(&r->program);
    buf_addc(&r->program.queue, '{');
    buf_add(&r->program.queue, rest + 1, n - 2);
    if (r->o.json && put_value(r, record, line, err) != 0)
        return -1;
    buf_adds(&r->program.queue, "}\n");
    return 0;
}

static int start(struct run *r, struct err *err)
{
    if (program_start(&r->program, r->o.command, err) == 0)
        return 0;
    err_cause(err, BECAUSE(CODE_PROGRAM_NOT_RUN, {"program", r->program.name}));
    program_not_whole(&r->program, &err->cause, "%s", err->text);
    stream_put_stop(&r->out, err, CODE_PROGRAM_NOT_RUN);
    return -1;
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct run *r = ctx;
    int rc = 0;
    if (!r->program.started && start(r, err) != 0)
        return 0;
    if (line->type == LINE_RECORD) {
        rc = 1;
        r->records++;
        if (!r->program.ended && queue_record(r, line, err) != 0)
            return -1;
        program_serve(&r->program, PROGRAM_ROOM);
    }
    /* Before the next read may wait, the program is served until there is something to read. */
    if (!line_in_ready(&r->in.lines))
        program_serve(&r->program, PROGRAM_INPUT);
    return rc;
}

/* ---- the whole ---- */

/* A text that need not be UTF-8, as one that is. */
static const char *shown(struct buf *plain, const struct buf *text)
{
    msg_mask(plain, text->p, text->len);
    return buf_str(plain);
}

static void put_account(struct run *r)
{
    static const char strict[] = "[\"" VERIFIED_EVERY_RECORD "\"]";
    const struct program *p = &r->program;
    struct buf name = BUF_INIT, reason = BUF_INIT, reasons = BUF_INIT, first = BUF_INIT;
    bool whole = program_whole(p), itself = p->started && p->of_itself;
    buf_addc(&reasons, '[');
    if (!whole)
        json_put_s(&reasons, shown(&reason, &p->reason));
    buf_addc(&reasons, ']');
    struct stream_account a = {.role = ACCOUNT_PROGRAM,
                               .complete = whole,
                               .cause = whole ? CAUSE_INIT : p->cause,
                               .reasons = {reasons.p, reasons.len},
                               .program = shown(&name, &r->name),
                               .records = {true, r->records},
                               .rows = {true, r->rows},
                               .skips = {true, r->skips},
                               .without_row.has = !r->unplaced && whole,
                               .json = !r->o.json  ? NULL
                                       : r->o.text ? "text"
                                                   : "numbers",
                               .value_errors = {r->o.json, r->value_errors},
                               .first_value_error = r->value_errors > 0 ? shown(&first, &r->first_value_error) : NULL,
                               .exit.has = itself && WIFEXITED(p->child.status),
                               .signal.has = itself && WIFSIGNALED(p->child.status)};
    if (a.without_row.has)
        a.without_row.n = program_answers_without_row(r->answers);
    a.exit.n = a.exit.has ? (uint64_t)WEXITSTATUS(p->child.status) : 0;
    a.signal.n = a.signal.has ? (uint64_t)WTERMSIG(p->child.status) : 0;
    if (r->o.strict && whole)
        a.verified = (struct account_text){strict, sizeof strict - 1};
    stream_put_account(&r->out, &a);
    buf_free(&name);
    buf_free(&reason);
    buf_free(&reasons);
    buf_free(&first);
}

static void finish(struct run *r, bool whole)
{
    struct program *p = &r->program;
    struct err err = ERR_INIT;
    struct buf place = BUF_INIT;
    if (whole && !p->started)
        whole = start(r, &err) == 0;
    if (whole) {
        p->fed = true;
        program_serve(p, PROGRAM_END);
    } else {
        program_not_whole(p, r->in.stop_reason ? &r->in.stop_cause : &r->out.stop_cause,
                          "the stream did not come whole");
    }
    program_end(p);
    uint64_t missing = r->o.strict ? program_answers_missing(r->answers, &place) : 0;
    if (missing > 0)
        program_not_whole(p, BECAUSE(CODE_PROGRAM_FAILED, {"program", p->name}), "%s did not answer %s%s", p->name,
                          buf_str(&place), missing > 1 ? ", nor other records" : "");
    put_account(r);
    buf_free(&place);
    /* A program that does not look for value_error takes such a record for one of nulls. */
    if (r->value_errors > 0 && whole)
        msg_error("%" PRIu64 " records went without a value, their payload being no JSON; the first is %s",
                  r->value_errors, buf_str(&r->first_value_error));
    if (program_whole(p))
        return;
    stream_status(&r->out, OWED_TROUBLE);
    if (whole && !r->out.broken)
        msg_error("%s", p->reason.p);
}

static void run_free(struct run *r)
{
    program_free(&r->program);
    buf_free(&r->name);
    buf_free(&r->first_value_error);
    program_answers_free(r->answers);
    arena_free(&r->arena);
    stream_in_free(&r->in);
    stream_out_free(&r->out);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct run r = {.o = {.max_line = STREAM_MAX_LINE}};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &r.o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return stream_refuse(&err, r.o.max_line);
    const char *slash = strrchr(r.o.command[0], '/');
    buf_adds(&r.name, slash ? slash + 1 : r.o.command[0]);
    r.program = (struct program){.name = buf_str(&r.name),
                                 .max_line = (size_t)r.o.max_line,
                                 .on_line = on_program_line,
                                 .before_wait = before_wait,
                                 .ctx = &r,
                                 .child = CHILD_INIT};
    r.answers = program_answers_new();
    r.in.data_unchecked = r.o.json; /* each is then read in full here */
    bool whole = stream_filter(&r.in, &r.out, (size_t)r.o.max_line, on_line, &r);
    finish(&r, whole);
    status = stream_end(&r.out);
    run_free(&r);
    return status;
}
