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
    unsigned payloads; /* enum program_payloads */
    bool skip, strict; /* skip: records that cannot be read owe nothing */
    uint64_t max_line;
    char **command;
};

static int take_unreadable(const char *value, void *ctx, struct err *err)
{
    struct options *o = ctx;
    if (strcmp(value, ON_UNREADABLE_SKIP) != 0)
        return err_set(err, ERR_REFUSED, "--unreadable: only " ON_UNREADABLE_SKIP " can be said of them");
    o->skip = true;
    return 0;
}

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("ref-run [options] -- PROGRAM [ARGUMENT...] <stream >stream\n"
                  "Run a reference program of your own over the records of a stream; its rows become events."),
        OPT_COMMAND(&o->command),
        OPT_WORD("payload", PROGRAM_PAYLOAD_WORDS, &o->payloads,
                 "give each record its payload parsed from JSON, as `value`: with every number\n"
                 "as its text (text), which jq needs to keep digits, or as it stands (json);\n"
                 "raw, base64: leave reading it to the program, as text or as `payload_b64` of its bytes"),
        OPT_TAKE("unreadable", ON_UNREADABLE_SKIP, take_unreadable, o,
                 "records that cannot be read owe nothing: an assumption, which the report leads with"),
        OPT_FLAG("strict", &o->strict,
                 "every record that can be read must be answered, by rows or a skip, with its `at`"),
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
    struct program_answers *answers, *aborted; /* of the records, and of those whose transaction was aborted */
    bool any_aborted;
    bool unplaced; /* a row, or a record, whose place is not known: which records have no row is not known either */
    uint64_t records, rows, skips, absent;
};

/* ---- what the program writes ---- */

/* Text that can stand in a row's `at` as it is written. */
static bool is_place(const struct json *at)
{
    return at && at->type == JSON_STRING && at->len > 0 && !at->escaped;
}

/* aborted: set where the record's transaction was. */
static int answer(struct run *r, const struct json *at, enum program_answer what, const struct json *why, bool *aborted,
                  struct err *err)
{
    const char *text = why ? why->str : NULL;
    size_t n = why ? why->len : 0;
    struct err other = ERR_INIT;
    if (at && !is_place(at))
        return err_set(err, ERR_REFUSED, "its at is no text, or needs an escape");
    *aborted = at && r->any_aborted && program_answers_at(r->aborted, at->str, at->len, what, text, n, &other) == 0;
    if (*aborted || (at && program_answers_at(r->answers, at->str, at->len, what, text, n, err) == 0))
        return 0;
    r->unplaced = true;
    /* What is said to be unreadable must not be lost. */
    if (!r->o.strict && what != PROGRAM_UNREADABLE)
        return 0;
    return at ? -1 : err_set(err, ERR_REFUSED, "no at, which --strict wants");
}

/* as: "values" of a row, or "absent" of a key. What a row would owe that was aborted must be absent. */
static void put_event(struct run *r, const struct json *at, const char *as, const struct json *values, bool aborted)
{
    struct buf *line = stream_build(&r->out, LINE_EVENT);
    if (at) {
        buf_adds(line, ",\"at\":");
        json_put_raw(line, at);
    }
    buf_printf(line, ",\"%s\":", as);
    json_put_raw(line, values);
    buf_adds(line, aborted ? RECORD_ABORTED : "");
    stream_put_built(&r->out, LINE_EVENT);
    if (aborted || strcmp(as, "absent") == 0)
        r->absent++;
    else
        r->rows++;
}

/* {"at":…,"values":{…}} and {"values":{…}} are a row in its wrapping, {"at":…,"skip":true},
 * {"at":…,"unreadable":"…"} and {"at":…,"absent":{…}}, a key that must be absent, are none; any other object is a row's
 * values. */
static int on_program_value(void *ctx, const char *p, size_t n, struct err *err)
{
    struct run *r = ctx;
    struct json_error e;
    arena_reset(&r->arena);
    const struct json *doc = json_parse(p, n, &r->arena, &e);
    if (!doc)
        return err_set(err, ERR_REFUSED, "byte %zu: %s", e.offset + 1, e.why);
    if (doc->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "not an object");
    bool aborted = false;
    const struct json *at = json_get(doc, "at"), *values = json_get(doc, "values"), *skip = json_get(doc, "skip"),
                      *why = json_get(doc, "unreadable"), *absent = json_get(doc, "absent");
    if (at && skip && skip->type == JSON_TRUE && doc->len == 2) {
        int rc = answer(r, at, PROGRAM_SKIP, NULL, &aborted, err);
        r->skips += !aborted;
        return rc;
    }
    if (at && why && why->type == JSON_STRING && doc->len == 2)
        return answer(r, at, PROGRAM_UNREADABLE, why, &aborted, err);
    if (at && absent && absent->type == JSON_OBJECT && doc->len == 2) {
        if (answer(r, at, PROGRAM_SKIP, NULL, &aborted, err) != 0)
            return -1;
        if (!aborted) /* one that was aborted deletes nothing */
            put_event(r, at, "absent", absent, false);
        return r->out.broken ? err_set(err, ERR_TROUBLE, "standard output failed") : 0;
    }
    if (!values || values->type != JSON_OBJECT || doc->len != (at ? 2u : 1u)) {
        at = NULL;
        values = doc;
    }
    if (answer(r, at, PROGRAM_ROW, NULL, &aborted, err) != 0)
        return -1;
    put_event(r, at, "values", values, aborted);
    return r->out.broken ? err_set(err, ERR_TROUBLE, "standard output failed") : 0;
}

static void before_wait(void *ctx)
{
    struct run *r = ctx;
    stream_flush(&r->out);
}

/* ---- records ---- */

static int queue_record(struct run *r, const struct stream_line *line, struct err *err)
{
    struct program_record record;
    program_make_room(&r->program);
    if (program_record(line->p, line->n, (enum program_payloads)r->o.payloads, &r->arena, &r->program.queue, &record,
                       err) == 0 &&
        program_answers_record(record.aborted ? r->aborted : r->answers, &record, err) == 0) {
        r->any_aborted |= record.aborted;
        return 0;
    }
    return err_prefix(err, "stdin: line %" PRIu64, line->line_no);
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

#define PLACES 10 /* of records that cannot be read, that the account names */

/* "t/0/1: why", or "t/0/1 is not UTF-8" of a reason about the payload itself. */
static void put_place(struct buf *out, const struct program_place *p, const char *comma)
{
    static const char subject[] = "the payload ";
    bool about = strncmp(p->why, subject, sizeof subject - 1) == 0;
    buf_printf(out, "%s%s%s", p->at, about ? comma : ": ", about ? p->why + sizeof subject - 2 : p->why);
}

/* Records that nobody could read may owe rows. */
static void judge_unreadable(struct run *r, const struct program_counts *n, const struct program_place *first)
{
    struct buf what = BUF_INIT, plain = BUF_INIT;
    if (n->unreadable == 0)
        return;
    if (n->no_value_is_json)
        buf_printf(&what, "none of %" PRIu64 " payloads is JSON (the first, ", n->unreadable);
    else
        buf_printf(&what, "%" PRIu64 " of %" PRIu64 " records could not be read, the first ", n->unreadable,
                   n->records);
    put_place(&what, first, n->no_value_is_json ? "," : "");
    if (n->no_value_is_json)
        buf_printf(&what, ")%s%s", *first->framing ? ": " : "", first->framing);
    const char *said = shown(&plain, &what);
    if (!r->o.skip)
        program_not_whole(
            &r->program,
            BECAUSE(CODE_RECORDS_UNREADABLE, {"at", first->at}, {"payload", first->bytes ? "payload_b64" : "payload"}),
            "%s", said);
    else if (program_whole(&r->program))
        msg_error("%s: taken to owe nothing, as --unreadable=" ON_UNREADABLE_SKIP " says", said);
    buf_free(&what);
    buf_free(&plain);
}

/* The first places as an array of texts. */
static void put_places(const struct program_place *places, size_t n, struct buf *out)
{
    struct buf one = BUF_INIT, plain = BUF_INIT;
    buf_addc(out, '[');
    for (size_t i = 0; i < n; i++) {
        buf_reset(&one);
        buf_reset(&plain);
        put_place(&one, &places[i], "");
        buf_adds(out, i ? "," : "");
        json_put_s(out, shown(&plain, &one));
    }
    buf_addc(out, ']');
    buf_free(&one);
    buf_free(&plain);
}

static void put_account(struct run *r, const struct program_counts *n, const struct buf *places)
{
    const struct program_counts gone = program_answers_count(r->aborted);
    static const char strict[] = "[\"" VERIFIED_EVERY_RECORD "\"]";
    const struct program *p = &r->program;
    struct buf name = BUF_INIT, reason = BUF_INIT, reasons = BUF_INIT;
    bool whole = program_whole(p), itself = p->started && p->of_itself,
         answered = whole || p->cause.code == CODE_RECORDS_UNREADABLE;
    buf_addc(&reasons, '[');
    if (!whole)
        json_put_s(&reasons, shown(&reason, &p->reason));
    buf_addc(&reasons, ']');
    struct stream_account a = {.role = ACCOUNT_PROGRAM,
                               .complete = whole,
                               .cause = whole ? CAUSE_INIT : p->cause,
                               .reasons = {reasons.p, reasons.len},
                               .program = shown(&name, &r->name),
                               .payload = program_payload_words[r->o.payloads],
                               .records = {true, r->records - gone.records},
                               .aborted = {r->any_aborted, gone.records},
                               .aborted_unreadable = {gone.unreadable > 0, gone.unreadable},
                               .rows = {true, r->rows},
                               .absent = {r->absent > 0, r->absent},
                               .skips = {true, r->skips},
                               .without_row = {!r->unplaced && answered, n->without_row},
                               .readable = {answered, n->readable},
                               .null_values = {answered, n->nulls},
                               .unreadable = {answered, n->unreadable},
                               .on_unreadable = r->o.skip ? ON_UNREADABLE_SKIP : NULL,
                               .exit.has = itself && WIFEXITED(p->child.status),
                               .signal.has = itself && WIFSIGNALED(p->child.status)};
    a.exit.n = a.exit.has ? (uint64_t)WEXITSTATUS(p->child.status) : 0;
    a.signal.n = a.signal.has ? (uint64_t)WTERMSIG(p->child.status) : 0;
    if (r->o.strict && answered)
        a.verified = (struct account_text){strict, sizeof strict - 1};
    if (answered && n->unreadable > 0)
        a.unreadable_records = (struct account_text){places->p, places->len};
    stream_put_account(&r->out, &a);
    buf_free(&name);
    buf_free(&reason);
    buf_free(&reasons);
}

/* What its answers come to, where it ended whole. */
static void conclude(struct run *r)
{
    struct program *p = &r->program;
    struct program_place first[PLACES];
    struct program_counts n = program_answers_count(r->answers);
    struct buf missing = BUF_INIT, places = BUF_INIT;
    uint64_t lacking = r->o.strict ? program_answers_missing(r->answers, &missing) : 0;
    if (r->o.strict && lacking == 0)
        lacking = program_answers_missing(r->aborted, &missing);
    if (lacking > 0)
        program_not_whole(p, BECAUSE(CODE_PROGRAM_FAILED, {"program", p->name}), "%s did not answer %s%s", p->name,
                          buf_str(&missing), lacking > 1 ? ", nor other records" : "");
    if (r->unplaced && r->any_aborted)
        program_not_whole(p, BECAUSE(CODE_PROGRAM_ANSWER),
                          "%s gave answers without at, and records were aborted: which are of those is not known",
                          p->name);
    put_places(first, program_answers_unreadable(r->answers, first, PLACES), &places);
    judge_unreadable(r, &n, first);
    put_account(r, &n, &places);
    buf_free(&missing);
    buf_free(&places);
}

static void finish(struct run *r, bool whole)
{
    struct program *p = &r->program;
    struct err err = ERR_INIT;
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
    conclude(r);
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
    program_answers_free(r->answers);
    program_answers_free(r->aborted);
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
                                 .on_value = on_program_value,
                                 .before_wait = before_wait,
                                 .ctx = &r,
                                 .child = CHILD_INIT};
    r.answers = program_answers_new();
    r.aborted = program_answers_new();
    r.in.data_unchecked = r.o.payloads != PROGRAM_RAW; /* each is then read in full here */
    bool whole = stream_filter(&r.in, &r.out, (size_t)r.o.max_line, on_line, &r);
    finish(&r, whole);
    status = stream_end(&r.out);
    run_free(&r);
    return status;
}
