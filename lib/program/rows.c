/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program answered, whichever program ran it: its rows as events, what
 * became of each record, and the account of both.
 */
#include "program/program.h"
#include "stream/check.h"

#include <string.h>
#include <sys/wait.h>

int program_rows_unreadable(const char *value, void *ctx, struct err *err)
{
    struct program_rows_options *o = ctx;
    if (strcmp(value, ON_UNREADABLE_SKIP) != 0)
        return err_set(err, ERR_REFUSED, "--unreadable: only " ON_UNREADABLE_SKIP " can be said of them");
    o->skip = true;
    return 0;
}

void program_rows_init(struct program_rows *r, struct stream_out *out, struct program *program)
{
    r->out = out;
    r->program = program;
    r->answers = program_answers_new();
    r->aborted = program_answers_new();
}

void program_rows_free(struct program_rows *r)
{
    program_answers_free(r->answers);
    program_answers_free(r->aborted);
    arena_free(&r->arena);
}

int program_rows_record(struct program_rows *r, const struct program_record *record, struct err *err)
{
    if (program_answers_record(record->aborted ? r->aborted : r->answers, record, err) != 0)
        return -1;
    r->any_aborted |= record->aborted;
    return 0;
}

/* ---- what it writes ---- */

/* Text that can stand in a row's `at` as it is written. */
static bool is_place(const struct json *at)
{
    return at && at->type == JSON_STRING && at->len > 0 && !at->escaped;
}

/* What is known of the record that an answer names. */
struct named {
    bool aborted; /* its transaction was */
    struct stream_ts ts;
};

static int answer(struct program_rows *r, const struct json *at, enum program_answer what, const struct json *why,
                  struct named *of, struct err *err)
{
    const char *text = why ? why->str : NULL;
    size_t n = why ? why->len : 0;
    struct err other = ERR_INIT;
    if (at && !is_place(at))
        return err_set(err, ERR_REFUSED, "its at is no text, or needs an escape");
    of->aborted = at && r->any_aborted &&
                  program_answers_at(r->aborted, at->str, at->len, what, text, n, &of->ts, &other) == 0;
    if (of->aborted || (at && program_answers_at(r->answers, at->str, at->len, what, text, n, &of->ts, err) == 0))
        return 0;
    r->unplaced = true;
    /* What is said to be unreadable must not be lost. */
    if (!r->o.strict && what != PROGRAM_UNREADABLE)
        return 0;
    return at ? -1 : err_set(err, ERR_REFUSED, "no at, which --strict wants");
}

/* as: "values" of a row, or "absent" of a key. What a row would owe that was aborted must be absent. */
static void put_event(struct program_rows *r, const struct json *at, const char *as, const struct json *values,
                      const struct named *of)
{
    struct buf *line = stream_build(r->out, LINE_EVENT);
    if (at) {
        buf_adds(line, ",\"at\":");
        json_put_raw(line, at);
        ts_put(line, of->ts);
    }
    buf_printf(line, ",\"%s\":", as);
    json_put_raw(line, values);
    buf_adds(line, of->aborted ? RECORD_ABORTED : "");
    stream_put_built(r->out, LINE_EVENT);
    if (of->aborted || strcmp(as, "absent") == 0)
        r->absent++;
    else
        r->rows++;
}

/* {"at":…,"values":{…}} and {"values":{…}} are a row in its wrapping, {"at":…,"skip":true},
 * {"at":…,"unreadable":"…"} and {"at":…,"absent":{…}}, a key that must be absent, are none; any other object is a row's
 * values. */
int program_rows_value(void *ctx, const char *p, size_t n, struct err *err)
{
    struct program_rows *r = ctx;
    struct json_error e;
    arena_reset(&r->arena);
    const struct json *doc = json_parse(p, n, &r->arena, &e);
    if (!doc)
        return err_set(err, ERR_REFUSED, "byte %zu: %s", e.offset + 1, e.why);
    if (doc->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "not an object");
    struct named of = {.aborted = false};
    const struct json *at = json_get(doc, "at"), *values = json_get(doc, "values"), *skip = json_get(doc, "skip"),
                      *why = json_get(doc, "unreadable"), *absent = json_get(doc, "absent");
    if (at && skip && skip->type == JSON_TRUE && doc->len == 2) {
        int rc = answer(r, at, PROGRAM_SKIP, NULL, &of, err);
        r->skips += !of.aborted;
        return rc;
    }
    if (at && why && why->type == JSON_STRING && doc->len == 2)
        return answer(r, at, PROGRAM_UNREADABLE, why, &of, err);
    if (at && absent && absent->type == JSON_OBJECT && doc->len == 2) {
        if (answer(r, at, PROGRAM_SKIP, NULL, &of, err) != 0)
            return -1;
        if (!of.aborted) /* one that was aborted deletes nothing */
            put_event(r, at, "absent", absent, &of);
        return r->out->broken ? err_set(err, ERR_TROUBLE, "standard output failed") : 0;
    }
    if (!values || values->type != JSON_OBJECT || doc->len != (at ? 2u : 1u)) {
        at = NULL;
        values = doc;
    }
    if (answer(r, at, PROGRAM_ROW, NULL, &of, err) != 0)
        return -1;
    put_event(r, at, "values", values, &of);
    return r->out->broken ? err_set(err, ERR_TROUBLE, "standard output failed") : 0;
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
static void judge_unreadable(struct program_rows *r, const struct program_counts *n, const struct program_place *first)
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
            r->program,
            BECAUSE(CODE_RECORDS_UNREADABLE, {"at", first->at}, {"payload", first->bytes ? "payload_b64" : "payload"}),
            "%s", said);
    else if (program_whole(r->program))
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

static void put_account(struct program_rows *r, const struct program_counts *n, const struct buf *places)
{
    const struct program_counts gone = program_answers_count(r->aborted);
    static const char strict[] = "[\"" VERIFIED_EVERY_RECORD "\"]";
    const struct program *p = r->program;
    struct buf called = BUF_INIT, name = BUF_INIT, reason = BUF_INIT, reasons = BUF_INIT;
    buf_adds(&called, p->name);
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
                               .program = shown(&name, &called),
                               .payload = program_payload_words[r->payloads],
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
    stream_put_account(r->out, &a);
    buf_free(&called);
    buf_free(&name);
    buf_free(&reason);
    buf_free(&reasons);
}

/* What its answers come to, where it ended whole. */
void program_rows_conclude(struct program_rows *r)
{
    struct program *p = r->program;
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
