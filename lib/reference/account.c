/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the rows of a stream are whole: what its stages' accounts say, and
 * whether they fit each other and the scope.
 */
#include "reference/reference.h"
#include "stream/check.h"

#include <stdlib.h>
#include <string.h>

void reference_story_free(struct reference_story *s)
{
    arena_free(&s->arena);
    buf_free(&s->reasons);
    buf_free(&s->verified);
    buf_free(&s->recorded);
    free(s->first);
}

static void put_item(struct buf *list, const char *p, size_t n)
{
    struct buf plain = BUF_INIT;
    if (list->len > 0)
        buf_addc(list, ',');
    if (utf8_valid(p, n))
        buf_add(&plain, p, n);
    else
        msg_mask(&plain, p, n);
    json_put_str(list, plain.len ? plain.p : "", plain.len);
    buf_free(&plain);
}

void reference_story_say(struct reference_story *s, const struct cause *cause, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    if (!s->first) {
        s->first = xstrndup(text.p ? text.p : "", text.len);
        s->cause = *cause;
    }
    if (s->n_reasons < REFERENCE_REASONS)
        put_item(&s->reasons, text.p ? text.p : "", text.len);
    s->n_reasons++;
    buf_free(&text);
}

static void check_done(struct reference_story *s, const char *what)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s: %s", msg_program(), what);
    put_item(&s->verified, text.p, text.len);
    buf_free(&text);
}

/* ---- one account ---- */

/* All that the account says beside its verdict. */
static void record_rest(struct reference_story *s, const struct stream_account *a)
{
    static const char *const taken[] = {"type", "role", "complete", "code", "facts", "reasons", "verified"};
    const struct json *doc = a->doc;
    bool any = false;
    if (s->recorded.len > 0)
        buf_addc(&s->recorded, ',');
    json_put_s(&s->recorded, account_role_name(a->role));
    buf_adds(&s->recorded, ":{");
    for (const struct json *m = json_first(doc); m; m = json_next(doc, m)) {
        bool skip = false;
        for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
            skip = skip || json_is(m, taken[k]);
        if (skip)
            continue;
        if (any)
            buf_addc(&s->recorded, ',');
        any = true;
        json_put_str(&s->recorded, m->str, m->len);
        buf_addc(&s->recorded, ':');
        json_put_raw(&s->recorded, json_value(m));
    }
    buf_addc(&s->recorded, '}');
}

/* Its texts, each with its stage before it. */
static void each_text(struct reference_story *s, const struct stream_account *a, const char *name,
                      const struct cause *cause)
{
    const struct json *list = json_get(a->doc, name);
    for (const struct json *v = json_first(list); v; v = json_next(list, v)) {
        struct buf text = BUF_INIT;
        buf_printf(&text, "%s: %.*s", a->stage, (int)v->len, v->str);
        if (strcmp(name, "reasons") == 0)
            reference_story_say(s, cause, "%s", buf_str(&text));
        else
            put_item(&s->verified, text.p, text.len);
        buf_free(&text);
    }
}

int reference_story_account(struct reference_story *s, const struct stream_line *line, struct err *err)
{
    struct stream_account a;
    if (stream_account(line, &s->arena, &a, err) != 0)
        return -1;
    if (a.role != ACCOUNT_READER && a.role != ACCOUNT_PROGRAM)
        err_set(err, ERR_REFUSED, "these rows were sealed before");
    else if (s->account[a.role].stage)
        err_set(err, ERR_REFUSED, "a second account of %s", a.stage);
    if (err->kind != ERR_NONE)
        return stream_misfit(line, err);
    uint64_t before = s->n_reasons;
    struct cause cause = a.cause;
    if (cause.code == CODE_NONE)
        cause = *BECAUSE(CODE_REFERENCE_NOT_WHOLE);
    each_text(s, &a, "reasons", &cause);
    each_text(s, &a, "verified", &cause);
    if (!a.complete && s->n_reasons == before)
        reference_story_say(s, &cause, "%s: incomplete, without a reason", a.stage);
    const char *lacks = a.complete ? account_lacks(&a) : NULL;
    if (lacks)
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "the account of %s has no %s", a.stage, lacks);
    record_rest(s, &a);
    s->account[a.role] = a;
    return 0;
}

/* ---- all of them ---- */

/* That the reader read a range to its end. Where the scope has no first position, the reader's is the operator's word.
 */
static bool judge_range(struct reference_story *s, const char *topic, const struct scope_range *r)
{
    const struct stream_account *reader = &s->account[ACCOUNT_READER];
    const struct account_range *range = account_range(reader, topic, r->partition);
    if (!range) {
        if (r->has_from && r->from == r->to)
            return true;
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "%s gives no account of %s/%" PRIu64, reader->stage,
                            topic, r->partition);
        return false;
    }
    if (!range->from.has || !range->to.has || range->to.n != (uint64_t)r->to ||
        (r->has_from && range->from.n != (uint64_t)r->from)) {
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                            "%s read %" PRIu64 " to %" PRIu64 " of %s/%" PRIu64 ", which is not the scope's range",
                            reader->stage, range->from.n, range->to.n, topic, r->partition);
        return false;
    }
    if (!range->complete || (range->position.has && range->position.n != range->to.n)) {
        if (reader->complete)
            reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "%s did not read %s/%" PRIu64 " to its end",
                                reader->stage, topic, r->partition);
        return false;
    }
    return true;
}

static bool is_other(const char *said, const char *wanted)
{
    return said && wanted && strcmp(said, wanted) != 0;
}

/* That the log was the scope's: an account of another time can have its very ranges. */
static bool judge_log(struct reference_story *s, const struct scope_source *source)
{
    const struct stream_account *reader = &s->account[ACCOUNT_READER];
    const struct account_log *log = account_log(reader, source->topic);
    if (!log || (!is_other(log->cluster_id, source->cluster_id) && !is_other(log->topic_id, source->topic_id)))
        return true;
    reference_story_say(s, BECAUSE(CODE_TOPIC_RECREATED), "%s read another %s than the scope's, by its ids",
                        reader->stage, source->topic);
    return false;
}

static void judge_reader(struct reference_story *s, const struct scope *scope)
{
    bool all = true;
    const struct stream_account *reader = &s->account[ACCOUNT_READER];
    for (size_t i = 0; i < scope->n_sources; i++) {
        const struct scope_source *source = &scope->sources[i];
        if (is_other(reader->isolation, source->isolation)) {
            reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "%s read %s under %s, the scope says %s",
                                reader->stage, source->topic, reader->isolation, source->isolation);
            all = false;
        }
        all = judge_log(s, source) && all;
        for (size_t k = 0; k < source->n_partitions; k++)
            all = judge_range(s, source->topic, &source->partitions[k]) && all;
    }
    if (all)
        check_done(s, VERIFIED_RANGES);
}

static void judge_counts(struct reference_story *s, uint64_t rows, uint64_t absent)
{
    const struct stream_account *reader = &s->account[ACCOUNT_READER], *program = &s->account[ACCOUNT_PROGRAM];
    const char *why;
    if (!program->stage)
        return;
    if (!account_adds_up(program, &why))
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "the counts of %s cannot be: %s", program->stage, why);
    if (program->complete && program->unreadable.n > 0 && !program->on_unreadable)
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                            "%s is complete, and counts %" PRIu64 " records that could not be read", program->stage,
                            program->unreadable.n);
    if (reader->stage) {
        if (!reader->delivered.has || !program->records.has || reader->delivered.n != program->records.n ||
            reader->aborted.n != program->aborted.n)
            reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                                "the records that %s delivered are not those that %s was given, by their counts",
                                reader->stage, program->stage);
        else
            check_done(s, VERIFIED_RECORDS);
    }
    if (program->absent.n != absent)
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                            "%" PRIu64 " keys that must be absent came, which is not what %s counts", absent,
                            program->stage);
    if (!program->rows.has || program->rows.n != rows)
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "%" PRIu64 " rows came, which is not what %s counts",
                            rows, program->stage);
    else
        check_done(s, VERIFIED_ROWS);
}

void reference_story_judge(struct reference_story *s, const struct scope *scope, const struct reference_writer *sealed,
                           uint64_t failed, bool word)
{
    bool reader = s->account[ACCOUNT_READER].stage, program = s->account[ACCOUNT_PROGRAM].stage;
    if (reader)
        judge_reader(s, scope);
    else if (!word)
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                            "no account of a reader: nothing says that the source was read whole");
    if (!program && !word)
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                            "no account of a program: nothing says that every record went through one");
    judge_counts(s, sealed->rows + s->superseded + failed, sealed->absent - s->deleted);
    s->word = word && (!reader || !program);
}

void reference_story_last(struct reference_story *s, const struct reference_last_found *found)
{
    s->superseded = found->superseded;
    s->deleted = found->deleted;
}

/* What the sealer itself keeps. */
static void record_sealer(struct reference_story *s)
{
    bool reader = s->account[ACCOUNT_READER].stage, program = s->account[ACCOUNT_PROGRAM].stage;
    if (!s->word && s->superseded == 0)
        return;
    buf_printf(&s->recorded, "%s\"%s\":{", s->recorded.len > 0 ? "," : "", account_role_name(ACCOUNT_SEALER));
    if (s->word)
        buf_printf(&s->recorded, "\"complete_by_the_operator\":true,\"instead_of\":[%s%s%s]%s",
                   reader ? "" : "\"reader\"", reader || program ? "" : ",", program ? "" : "\"program\"",
                   s->superseded > 0 ? "," : "");
    if (s->superseded > 0)
        buf_printf(&s->recorded, "\"superseded\":%" PRIu64 ",\"deleted_keys\":%" PRIu64, s->superseded, s->deleted);
    buf_addc(&s->recorded, '}');
}

static const char *bracketed(struct reference_story *s, const struct buf *items, const char *brackets)
{
    char *text = arena_alloc(&s->arena, items->len + 3);
    text[0] = brackets[0];
    if (items->len > 0)
        memcpy(text + 1, items->p, items->len);
    text[items->len + 1] = brackets[1];
    text[items->len + 2] = '\0';
    return text;
}

void reference_story_end(struct reference_story *s, struct reference_end *end)
{
    if (s->n_reasons > REFERENCE_REASONS) {
        char more[64];
        snprintf(more, sizeof more, "%" PRIu64 " more reasons", s->n_reasons - REFERENCE_REASONS);
        put_item(&s->reasons, more, strlen(more));
    }
    record_sealer(s);
    end->complete = s->n_reasons == 0;
    end->cause = s->cause;
    end->reasons = bracketed(s, &s->reasons, "[]");
    end->verified = bracketed(s, &s->verified, "[]");
    end->recorded = bracketed(s, &s->recorded, "{}");
}
