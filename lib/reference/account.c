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
    free(s->stages);
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
    put_item(&s->verified, what, strlen(what));
}

/* ---- one account ---- */

static bool is_member(const struct json_member *m, const char *name)
{
    return m->name_len == strlen(name) && memcmp(m->name, name, m->name_len) == 0;
}

/* All that the account says beside its verdict. */
static void record_rest(struct reference_story *s, const struct json *doc, const char *stage)
{
    static const char *const taken[] = {"type", "stage", "complete", "code", "facts", "reasons", "verified"};
    bool any = false;
    if (s->recorded.len > 0)
        buf_addc(&s->recorded, ',');
    json_put_s(&s->recorded, stage);
    buf_adds(&s->recorded, ":{");
    for (size_t i = 0; i < doc->len; i++) {
        const struct json_member *m = &doc->u.members[i];
        bool skip = false;
        for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
            skip = skip || is_member(m, taken[k]);
        if (skip)
            continue;
        if (any)
            buf_addc(&s->recorded, ',');
        any = true;
        json_put_str(&s->recorded, m->name, m->name_len);
        buf_addc(&s->recorded, ':');
        buf_add(&s->recorded, m->value->raw, m->value->raw_len);
    }
    buf_addc(&s->recorded, '}');
}

/* Its texts, each with its stage before it. */
static int each_text(struct reference_story *s, const struct json *doc, const char *name, const char *stage,
                     const struct cause *cause, struct err *err)
{
    const struct json *list = json_get(doc, name);
    if (!list)
        return 0;
    if (list->type != JSON_ARRAY)
        return err_set(err, ERR_REFUSED, "account of %s.%s: not an array", stage, name);
    for (size_t i = 0; i < list->len; i++) {
        const struct json *v = list->u.items[i];
        struct buf text = BUF_INIT;
        if (v->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "account of %s.%s[%zu]: not a string", stage, name, i);
        buf_printf(&text, "%s: %.*s", stage, (int)v->len, v->str);
        if (strcmp(name, "reasons") == 0)
            reference_story_say(s, cause, "%s", buf_str(&text));
        else
            put_item(&s->verified, text.p, text.len);
        buf_free(&text);
    }
    return 0;
}

/* True where this stage gave an account before; noted else. */
static bool known_stage(struct reference_story *s, const char *stage)
{
    for (size_t i = 0; i < s->n_stages; i++)
        if (strcmp(s->stages[i], stage) == 0)
            return true;
    s->stages = xrealloc(s->stages, (s->n_stages + 1) * sizeof *s->stages);
    s->stages[s->n_stages++] = stage;
    return false;
}

int reference_story_account(struct reference_story *s, const char *p, size_t n, struct err *err)
{
    const char *stage;
    bool complete;
    const struct json *doc = json_parse_named(arena_strndup(&s->arena, p, n), n, &s->arena, "account", err);
    if (!doc || json_need_str(doc, "stage", &s->arena, &stage, "account", err) != 0 ||
        json_need_bool(doc, "complete", &complete, "account", err) != 0)
        return -1;
    if (strcmp(stage, "ref-seal") == 0)
        return err_set(err, ERR_REFUSED, "these rows were sealed before");
    if (known_stage(s, stage))
        return err_set(err, ERR_REFUSED, "a second account of %s", stage);
    uint64_t before = s->n_reasons;
    struct cause cause;
    if (cause_parse(doc, "account", &cause, err) != 0)
        return -1;
    if (cause.code == CODE_NONE)
        cause = *BECAUSE(CODE_REFERENCE_NOT_WHOLE);
    if (each_text(s, doc, "reasons", stage, &cause, err) != 0 || each_text(s, doc, "verified", stage, &cause, err) != 0)
        return -1;
    if (!complete && s->n_reasons == before)
        reference_story_say(s, &cause, "%s: incomplete, without a reason", stage);
    record_rest(s, doc, stage);
    if (strcmp(stage, "kafka-read") == 0)
        s->reader = doc;
    else if (strcmp(stage, "ref-run") == 0)
        s->program = doc;
    return 0;
}

/* ---- all of them ---- */

static bool number(const struct json *doc, const char *name, uint64_t *out)
{
    const struct json *v = json_get(doc, name);
    return v && json_u64(v, out);
}

/* The account's line of this range of the scope. */
static const struct json *range_of(const struct json *ranges, const char *topic, const struct scope_range *r)
{
    for (size_t i = 0; ranges && ranges->type == JSON_ARRAY && i < ranges->len; i++) {
        uint64_t partition;
        if (json_is(json_get(ranges->u.items[i], "topic"), topic) &&
            number(ranges->u.items[i], "partition", &partition) && partition == r->partition)
            return ranges->u.items[i];
    }
    return NULL;
}

/* That the reader read a range to its end. Where the scope has no first position, the reader's is the operator's word.
 */
static bool judge_range(struct reference_story *s, const char *topic, const struct scope_range *r)
{
    const struct json *range = range_of(json_get(s->reader, "ranges"), topic, r),
                      *complete = json_get(range, "complete");
    uint64_t from = 0, to = 0, position;
    if (!range) {
        if (r->has_from && r->from == r->to)
            return true;
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "kafka-read gives no account of %s/%ju", topic,
                            (uintmax_t)r->partition);
        return false;
    }
    if (!number(range, "from", &from) || !number(range, "to", &to) || to != (uint64_t)r->to ||
        (r->has_from && from != (uint64_t)r->from)) {
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                            "kafka-read read %ju to %ju of %s/%ju, which is not the scope's range", (uintmax_t)from,
                            (uintmax_t)to, topic, (uintmax_t)r->partition);
        return false;
    }
    bool short_of = json_get(range, "position") && (!number(range, "position", &position) || position != to);
    if (!complete || complete->type != JSON_TRUE || short_of) {
        if (s->n_reasons == 0)
            reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "kafka-read did not read %s/%ju to its end", topic,
                                (uintmax_t)r->partition);
        return false;
    }
    return true;
}

static bool is_other(const struct json *log, const char *name, const char *wanted)
{
    const struct json *v = json_get(log, name);
    return wanted && v && v->type == JSON_STRING && !json_is(v, wanted);
}

/* That the log was the scope's: an account of another time can have its very ranges. */
static bool judge_log(struct reference_story *s, const struct scope_source *source)
{
    const struct json *logs = json_get(s->reader, "logs");
    for (size_t i = 0; logs && logs->type == JSON_ARRAY && i < logs->len; i++) {
        const struct json *log = logs->u.items[i];
        if (!json_is(json_get(log, "topic"), source->topic) ||
            (!is_other(log, "cluster_id", source->cluster_id) && !is_other(log, "topic_id", source->topic_id)))
            continue;
        reference_story_say(s, BECAUSE(CODE_TOPIC_RECREATED), "kafka-read read another %s than the scope's, by its ids",
                            source->topic);
        return false;
    }
    return true;
}

static void judge_reader(struct reference_story *s, const struct scope *scope)
{
    bool all = true;
    const struct json *isolation = json_get(s->reader, "isolation");
    for (size_t i = 0; i < scope->n_sources; i++) {
        const char *wanted = scope->sources[i].isolation;
        if (isolation && isolation->type == JSON_STRING && !json_is(isolation, wanted)) {
            reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "kafka-read read %s under %.*s, the scope says %s",
                                scope->sources[i].topic, (int)isolation->len, isolation->str, wanted);
            all = false;
        }
        all = judge_log(s, &scope->sources[i]) && all;
        for (size_t k = 0; k < scope->sources[i].n_partitions; k++)
            all = judge_range(s, scope->sources[i].topic, &scope->sources[i].partitions[k]) && all;
    }
    if (all)
        check_done(s, "ref-seal: the ranges read are the scope's");
}

static void judge_counts(struct reference_story *s, uint64_t rows)
{
    uint64_t delivered, records, made;
    if (s->reader && s->program) {
        if (!number(s->reader, "delivered", &delivered) || !number(s->program, "records", &records) ||
            delivered != records)
            reference_story_say(
                s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                "the records that kafka-read delivered are not those that ref-run was given, by their counts");
        else
            check_done(s, "ref-seal: records delivered and records given to the program, by their counts");
    }
    if (s->program) {
        if (!number(s->program, "rows", &made) || made != rows)
            reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN), "%ju rows came, which is not what ref-run counts",
                                (uintmax_t)rows);
        else
            check_done(s, "ref-seal: rows of the program and rows sealed, by their counts");
    }
}

void reference_story_judge(struct reference_story *s, const struct scope *scope, uint64_t sealed, uint64_t failed,
                           bool word)
{
    if (s->reader)
        judge_reader(s, scope);
    else if (!word)
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                            "no account of kafka-read: nothing says that the source was read whole");
    if (!s->program && !word)
        reference_story_say(s, BECAUSE(CODE_REFERENCE_UNPROVEN),
                            "no account of ref-run: nothing says that every record went through the program");
    judge_counts(s, sealed + failed);
    if (word && (!s->reader || !s->program)) {
        if (s->recorded.len > 0)
            buf_addc(&s->recorded, ',');
        buf_printf(&s->recorded, "\"ref-seal\":{\"complete_by_the_operator\":true,\"instead_of\":[%s%s%s]}",
                   s->reader ? "" : "\"kafka-read\"", s->reader || s->program ? "" : ",",
                   s->program ? "" : "\"ref-run\"");
    }
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
        snprintf(more, sizeof more, "%ju more reasons", (uintmax_t)(s->n_reasons - REFERENCE_REASONS));
        put_item(&s->reasons, more, strlen(more));
    }
    end->complete = s->n_reasons == 0;
    end->cause = s->cause;
    end->reasons = bracketed(s, &s->reasons, "[]");
    end->verified = bracketed(s, &s->verified, "[]");
    end->recorded = bracketed(s, &s->recorded, "{}");
}
