/* SPDX-License-Identifier: Apache-2.0 */
/* The account line, read and written. */
#include "stream/account.h"

#include "stream/check.h"
#include "stream/stream.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define X(id, text) [ACCOUNT_##id] = text,
static const char *const roles[] = {ACCOUNT_TABLE(X)};
#undef X

const char *account_role_name(enum account_role r)
{
    return roles[r];
}

static int by_place(const void *a, const void *b)
{
    const struct account_range *x = *(const struct account_range *const *)a,
                               *y = *(const struct account_range *const *)b;
    int topics = strcmp(x->topic, y->topic);
    if (topics != 0)
        return topics;
    return x->partition.n < y->partition.n ? -1 : x->partition.n > y->partition.n;
}

static int by_topic(const void *a, const void *b)
{
    return strcmp((*(const struct account_log *const *)a)->topic, (*(const struct account_log *const *)b)->topic);
}

const struct account_range *account_range(const struct stream_account *a, const char *topic, uint64_t partition)
{
    const struct account_range wanted = {.topic = topic, .partition = {true, partition}}, *key = &wanted;
    const struct account_range **found = a->by_place
                                             ? bsearch(&key, a->by_place, a->n_ranges, sizeof *a->by_place, by_place)
                                             : NULL;
    return found ? *found : NULL;
}

const struct account_log *account_log(const struct stream_account *a, const char *topic)
{
    const struct account_log wanted = {.topic = topic}, *key = &wanted;
    const struct account_log **found = a->by_topic
                                           ? bsearch(&key, a->by_topic, a->n_logs, sizeof *a->by_topic, by_topic)
                                           : NULL;
    return found ? *found : NULL;
}

/* ---- members, each once for its reader and its writer, in the order in which they are written ---- */

enum kind { NUMBER, STRING, TEXTS, OBJECT, LOGS, RANGES };

/* Left out where it is not known, or null; or there in every account that is whole. */
enum presence { PERHAPS, OR_NULL, ALWAYS };

struct member {
    const char *name;
    size_t at;      /* in its struct */
    enum kind kind; /* a NUMBER is struct account_number, TEXTS and OBJECT struct account_text */
    unsigned roles; /* of a line that has it */
    enum presence there;
};

#define IN(role) (1u << ACCOUNT_##role)
#define ALL (IN(READER) | IN(PROGRAM) | IN(SEALER) | IN(BINDER))
#define OF(member, kind, roles, there) \
    { \
#member, offsetof(struct stream_account, member), kind, roles, there \
    }

static const struct member members[] = {
    OF(reasons, TEXTS, ALL, PERHAPS),
    OF(client, STRING, IN(READER), OR_NULL),
    OF(isolation, STRING, IN(READER), OR_NULL),
    OF(logs, LOGS, IN(READER), ALWAYS),
    OF(ranges, RANGES, IN(READER), ALWAYS),
    OF(delivered, NUMBER, IN(READER), ALWAYS),
    OF(aborted, NUMBER, IN(READER) | IN(PROGRAM), PERHAPS),
    OF(program, STRING, IN(PROGRAM), OR_NULL),
    OF(payload, STRING, IN(PROGRAM), PERHAPS),
    OF(records, NUMBER, IN(PROGRAM), ALWAYS),
    OF(implementation, OBJECT, IN(BINDER), PERHAPS),
    OF(rows, NUMBER, IN(PROGRAM) | IN(SEALER) | IN(BINDER), ALWAYS),
    OF(absent, NUMBER, IN(PROGRAM) | IN(SEALER) | IN(BINDER), PERHAPS),
    OF(skips, NUMBER, IN(PROGRAM), ALWAYS),
    OF(without_row, NUMBER, IN(PROGRAM), OR_NULL),
    OF(aborted_unreadable, NUMBER, IN(PROGRAM), PERHAPS),
    OF(readable, NUMBER, IN(PROGRAM), ALWAYS),
    OF(null_values, NUMBER, IN(PROGRAM), ALWAYS),
    OF(unreadable, NUMBER, IN(PROGRAM), ALWAYS),
    OF(on_unreadable, STRING, IN(PROGRAM), PERHAPS),
    OF(unreadable_records, TEXTS, IN(PROGRAM), PERHAPS),
    OF(exit, NUMBER, IN(PROGRAM), OR_NULL),
    OF(signal, NUMBER, IN(PROGRAM), PERHAPS),
    OF(unfit_rows, NUMBER, IN(SEALER), ALWAYS),
    OF(nearest, NUMBER, IN(SEALER), ALWAYS),
    OF(failed_rows, NUMBER, IN(SEALER), ALWAYS),
    OF(superseded, NUMBER, IN(SEALER), PERHAPS),
    OF(deleted_keys, NUMBER, IN(SEALER), PERHAPS),
    OF(path, STRING, IN(SEALER), PERHAPS),
    OF(header_sha256, STRING, IN(BINDER), ALWAYS),
    OF(rows_sha256, STRING, IN(SEALER) | IN(BINDER), ALWAYS),
    OF(verified_here, TEXTS, IN(BINDER), PERHAPS),
    OF(verified_by_writer, TEXTS, IN(BINDER), PERHAPS),
    OF(excluded, NUMBER, IN(BINDER), PERHAPS),
    OF(verified, TEXTS, ALL, PERHAPS),
    OF(recorded, OBJECT, IN(READER) | IN(BINDER), PERHAPS),
    {.name = NULL},
};

#undef OF
#define OF(member, kind, there) \
    { \
#member, offsetof(struct account_range, member), kind, ALL, there \
    }

static const struct member range_members[] = {
    OF(topic, STRING, ALWAYS),     OF(partition, NUMBER, ALWAYS),         OF(from, NUMBER, ALWAYS),
    OF(to, NUMBER, ALWAYS),        OF(position, NUMBER, ALWAYS),          OF(offsets, NUMBER, ALWAYS),
    OF(delivered, NUMBER, ALWAYS), OF(null_values, NUMBER, ALWAYS),       OF(not_delivered, NUMBER, ALWAYS),
    OF(aborted, NUMBER, PERHAPS),  OF(marker_or_absent, NUMBER, PERHAPS), {.name = NULL},
};

/* ---- what cannot be ---- */

static bool more(struct account_number a, struct account_number b)
{
    return a.has && b.has && a.n > b.n;
}

static bool is_sum(struct account_number whole, struct account_number a, struct account_number b)
{
    uint64_t n;
    return !whole.has || !a.has || !b.has || (!__builtin_add_overflow(a.n, b.n, &n) && n == whole.n);
}

/* The offsets from `from` to `to`, however far they were read: each was delivered or not. */
static const char *range_cannot(const struct account_range *r)
{
    if (more(r->from, r->to) || more(r->from, r->position) || more(r->position, r->to))
        return "its positions run backwards";
    if (!is_sum(r->position, r->from, r->offsets))
        return "its offsets are not those from its first to its position";
    if (!is_sum(r->offsets, r->delivered, r->not_delivered))
        return "its offsets are not those delivered and those not delivered";
    if (!is_sum(r->not_delivered, r->aborted, r->marker_or_absent))
        return "its offsets not delivered are not those aborted and the others";
    if (more(r->null_values, r->delivered) || more(r->delivered, r->offsets) || more(r->not_delivered, r->offsets))
        return "a part of its offsets is more than all of them";
    if (r->has_complete && r->complete && more(r->to, r->position))
        return "it is complete, and was not read to its end";
    return NULL;
}

static int cannot(const struct stream_account *a, const char *where, struct err *err)
{
    struct account_number sum = {a->n_ranges > 0, 0}, aborted = sum;
    for (size_t i = 0; i < a->n_ranges; i++) {
        const struct account_range *r = &a->ranges[i];
        const char *why = range_cannot(r);
        if (why)
            return err_set(err, ERR_REFUSED, "%s.ranges[%zu]: %s", where, i, why);
        aborted.has = aborted.has && r->aborted.has && !__builtin_add_overflow(aborted.n, r->aborted.n, &aborted.n);
        sum.has = sum.has && r->delivered.has && !__builtin_add_overflow(sum.n, r->delivered.n, &sum.n);
    }
    if (a->delivered.has && sum.has && a->delivered.n != sum.n)
        return err_set(err, ERR_REFUSED, "%s.delivered: not what its ranges deliver", where);
    if (a->role == ACCOUNT_READER && a->complete && a->aborted.has && aborted.has && a->aborted.n != aborted.n)
        return err_set(err, ERR_REFUSED, "%s.aborted: not the aborted records of its ranges", where);
    if (more(a->without_row, a->records))
        return err_set(err, ERR_REFUSED, "%s.records: fewer than those of one kind", where);
    return 0;
}

/* ---- reading ---- */

/* An object, or an array of texts, as it stands. */
static int text_parse(struct json *v, const struct member *m, struct account_text *out, const char *where,
                      struct err *err)
{
    if (v->type != (m->kind == TEXTS ? JSON_ARRAY : JSON_OBJECT))
        return err_set(err, ERR_REFUSED, "%s.%s: not an %s", where, m->name, m->kind == TEXTS ? "array" : "object");
    const struct json *item = json_first(v);
    for (size_t i = 0; m->kind == TEXTS && i < v->len; i++, item = json_next(v, item))
        if (item->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "%s.%s[%zu]: not a string", where, m->name, i);
    const struct json_text raw = json_raw(v);
    *out = (struct account_text){raw.p, raw.n};
    return 0;
}

static int members_parse(const struct json *doc, const struct member *m, unsigned role, void *out, struct arena *arena,
                         const char *where, struct err *err)
{
    for (; m->name; m++) {
        struct json *v = json_get(doc, m->name);
        char *to = (char *)out + m->at;
        int rc = 0;
        if (!v || v->type == JSON_NULL || !(m->roles & 1u << role))
            continue;
        if (m->kind == NUMBER) {
            struct account_number *number = (struct account_number *)(void *)to;
            number->has = true;
            rc = json_need_u64(doc, m->name, &number->n, where, err);
        } else if (m->kind == STRING) {
            rc = json_need_str(doc, m->name, arena, (const char **)(void *)to, where, err);
        } else if (m->kind == TEXTS || m->kind == OBJECT) {
            rc = text_parse(v, m, (struct account_text *)(void *)to, where, err);
        }
        if (rc != 0)
            return -1;
    }
    return 0;
}

static int range_parse(const struct json *v, const char *where, struct arena *a, struct account_range *r,
                       struct err *err)
{
    r->reason = "";
    r->has_complete = json_get(v, "complete") != NULL;
    if (members_parse(v, range_members, ACCOUNT_READER, r, a, where, err) != 0)
        return -1;
    if (!r->topic || !r->partition.has)
        return err_set(err, ERR_REFUSED, "%s: without its topic and partition", where);
    if (json_opt_bool(v, "complete", &r->complete, where, err) != 0)
        return -1;
    return json_opt_str(v, "reason", a, &r->reason, where, err);
}

static int list_parse(const struct json *doc, const char *name, struct json **out, size_t *n, const char *where,
                      struct err *err)
{
    const struct json *v = json_get(doc, name);
    if (v && v->type != JSON_NULL && json_need(doc, name, JSON_ARRAY, out, where, err) != 0)
        return -1;
    *n = *out ? (*out)->len : 0;
    return 0;
}

/* What is looked up by its place must stand once: of two, nobody would look at the second. */
static int stand_once(struct stream_account *a, struct arena *arena, const char *where, struct err *err)
{
    const struct account_range **r = arena_alloc(arena, (a->n_ranges + 1) * sizeof *r);
    const struct account_log **l = arena_alloc(arena, (a->n_logs + 1) * sizeof *l);
    for (size_t i = 0; i < a->n_ranges; i++)
        r[i] = &a->ranges[i];
    for (size_t i = 0; i < a->n_logs; i++)
        l[i] = &a->logs[i];
    qsort(r, a->n_ranges, sizeof *r, by_place);
    qsort(l, a->n_logs, sizeof *l, by_topic);
    a->by_place = r;
    a->by_topic = l;
    for (size_t i = 1; i < a->n_ranges; i++)
        if (by_place(&r[i - 1], &r[i]) == 0)
            return err_set(err, ERR_REFUSED, "%s.ranges: two of %s/%" PRIu64, where, r[i]->topic, r[i]->partition.n);
    for (size_t i = 1; i < a->n_logs; i++)
        if (by_topic(&l[i - 1], &l[i]) == 0)
            return err_set(err, ERR_REFUSED, "%s.logs: two of %s", where, l[i]->topic);
    return 0;
}

static int ranges_parse(const struct json *doc, const char *where, struct arena *arena, struct stream_account *a,
                        struct err *err)
{
    struct json *ranges = NULL, *logs = NULL;
    char at[80];
    if (list_parse(doc, "ranges", &ranges, &a->n_ranges, where, err) != 0 ||
        list_parse(doc, "logs", &logs, &a->n_logs, where, err) != 0)
        return -1;
    struct account_range *r = arena_zalloc(arena, (a->n_ranges + 1) * sizeof *r);
    struct account_log *l = arena_zalloc(arena, (a->n_logs + 1) * sizeof *l);
    a->ranges = r;
    a->logs = l;
    const struct json *v = json_first(ranges);
    for (size_t i = 0; i < a->n_ranges; i++, v = json_next(ranges, v)) {
        snprintf(at, sizeof at, "%.40s.ranges[%zu]", where, i);
        if (range_parse(v, at, arena, &r[i], err) != 0)
            return -1;
    }
    v = json_first(logs);
    for (size_t i = 0; i < a->n_logs; i++, v = json_next(logs, v)) {
        snprintf(at, sizeof at, "%.40s.logs[%zu]", where, i);
        if (json_need_str(v, "topic", arena, &l[i].topic, at, err) != 0 ||
            json_opt_str(v, "cluster_id", arena, &l[i].cluster_id, at, err) != 0 ||
            json_opt_str(v, "topic_id", arena, &l[i].topic_id, at, err) != 0)
            return -1;
    }
    return stand_once(a, arena, where, err);
}

int account_kept(const struct json *doc, enum account_role role, struct arena *arena, const char *where,
                 struct stream_account *out, struct err *err)
{
    *out = (struct stream_account){.role = role, .doc = doc};
    int rc = json_opt_str(doc, "stage", arena, &out->stage, where, err);
    if (rc == 0)
        rc = members_parse(doc, members, role, out, arena, where, err);
    if (rc == 0 && role == ACCOUNT_SEALER)
        rc = json_opt_bool(doc, "complete_by_the_operator", &out->word, where, err);
    if (rc == 0 && role == ACCOUNT_READER)
        rc = ranges_parse(doc, where, arena, out, err);
    if (rc == 0)
        rc = cannot(out, where, err);
    if (rc != 0) /* nothing half read is looked at */
        *out = (struct stream_account){.role = role, .doc = doc};
    return rc;
}

int account_recorded(const struct json *recorded, struct arena *arena, const char *where, struct stream_account *said,
                     struct stream_account kept[ACCOUNT_ROLES], struct err *err)
{
    if (account_kept(recorded, ACCOUNT_READER, arena, where, said, err) != 0)
        return -1;
    for (size_t i = 0; i < ACCOUNT_ROLES; i++) {
        const struct json *doc = json_get(recorded, roles[i]);
        char place[64];
        /* A program's name may stand bare under the same word. */
        if (doc && doc->type != JSON_OBJECT && i != ACCOUNT_PROGRAM)
            return err_set(err, ERR_REFUSED, "%s.%s: not an object", where, roles[i]);
        bool nested = doc && doc->type == JSON_OBJECT;
        snprintf(place, sizeof place, "%s%s%s", where, nested ? "." : "", nested ? roles[i] : "");
        if (!nested)
            doc = i == ACCOUNT_READER ? recorded : NULL;
        if (account_kept(doc, (enum account_role)i, arena, place, &kept[i], err) != 0)
            return -1;
    }
    return 0;
}

int stream_account(const struct stream_line *line, struct arena *arena, struct stream_account *out, struct err *err)
{
    static const char at[] = "account";
    const struct json *doc = stream_doc(line, arena, err), *said = json_get(doc, "role");
    struct json *stage;
    size_t role = 0;
    if (!doc)
        return -1;
    while (role < ACCOUNT_ROLES && !json_is(said, roles[role]))
        role++;
    if (role == ACCOUNT_ROLES)
        err_set(err, ERR_REFUSED, "account.role: none of reader, program, sealer and binder");
    if (role == ACCOUNT_ROLES || json_need(doc, "stage", JSON_STRING, &stage, at, err) != 0 ||
        account_kept(doc, (enum account_role)role, arena, at, out, err) != 0 ||
        json_need_bool(doc, "complete", &out->complete, at, err) != 0 || cause_parse(doc, at, &out->cause, err) != 0)
        return stream_misfit(line, err);
    out->line_no = line->line_no;
    return 0;
}

/* ---- counts ---- */

static const char *lacks(const struct json *doc, const struct member *m, unsigned role)
{
    for (; m->name; m++) {
        const struct json *v = json_get(doc, m->name);
        if (m->there == ALWAYS && m->roles & 1u << role && (!v || v->type == JSON_NULL))
            return m->name;
    }
    return NULL;
}

const char *account_lacks(const struct stream_account *a)
{
    const struct json *ranges = json_get(a->doc, "ranges");
    if (!json_get(a->doc, "stage"))
        return NULL;
    const char *name = lacks(a->doc, members, a->role);
    for (const struct json *r = a->role == ACCOUNT_READER ? json_first(ranges) : NULL; r && !name;
         r = json_next(ranges, r))
        name = lacks(r, range_members, a->role);
    return name;
}

static size_t places(const struct stream_account *a)
{
    const struct json *list = json_get(a->doc, "unreadable_records");
    return list && list->type == JSON_ARRAY ? list->len : 0;
}

bool account_all_answered(const struct stream_account *a)
{
    uint64_t most;
    return !a->without_row.has || !a->skips.has || __builtin_add_overflow(a->skips.n, a->unreadable.n, &most) ||
           __builtin_add_overflow(most, a->absent.n, &most) || a->without_row.n <= most;
}

static bool says_it_checked(const struct stream_account *a, const char *word)
{
    return a->verified.p && memmem(a->verified.p, a->verified.n, word, strlen(word));
}

bool account_adds_up(const struct stream_account *a, const char **why)
{
    uint64_t records = a->records.n, sum;
    bool all = a->readable.has && a->null_values.has && a->unreadable.has;
    *why = "records is not the sum of readable, null_values and unreadable";
    if (all && (!a->records.has || __builtin_add_overflow(a->readable.n, a->null_values.n, &sum) ||
                __builtin_add_overflow(sum, a->unreadable.n, &sum) || sum != records))
        return false;
    *why = "unreadable records are counted, and without those that could be read";
    if (a->unreadable.n > 0 && !all)
        return false;
    *why = "fewer rows than records that have one";
    if (a->without_row.has && a->rows.has && a->rows.n < records - a->without_row.n)
        return false;
    *why = "rows, and every record is without one";
    if (a->without_row.has && a->rows.n > 0 && a->without_row.n == records)
        return false;
    *why = "every record was answered, and some are neither skipped nor have a row or a key that must be absent";
    if (says_it_checked(a, VERIFIED_EVERY_RECORD) && !account_all_answered(a))
        return false;
    *why = "on_unreadable is not " ON_UNREADABLE_SKIP;
    if (a->on_unreadable && strcmp(a->on_unreadable, ON_UNREADABLE_SKIP) != 0)
        return false;
    *why = "unreadable_records names others than unreadable counts";
    return places(a) <= a->unreadable.n && (a->unreadable.n == 0 || !a->unreadable_records.p || places(a) > 0);
}

/* ---- writing ---- */

static void members_put(struct json_w *w, const struct member *m, unsigned role, const void *from);

static void lists_put(struct json_w *w, const struct member *m, const struct stream_account *a)
{
    jw_arr(w, m->name);
    for (size_t i = 0; m->kind == LOGS && i < a->n_logs; i++) {
        jw_obj(w, NULL);
        jw_str(w, "topic", a->logs[i].topic);
        jw_str(w, "cluster_id", a->logs[i].cluster_id);
        jw_str(w, "topic_id", a->logs[i].topic_id);
        jw_end_obj(w);
    }
    for (size_t i = 0; m->kind == RANGES && i < a->n_ranges; i++) {
        jw_obj(w, NULL);
        members_put(w, range_members, ACCOUNT_READER, &a->ranges[i]);
        jw_bool(w, "complete", a->ranges[i].complete);
        jw_str(w, "reason", a->ranges[i].reason);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void members_put(struct json_w *w, const struct member *m, unsigned role, const void *from)
{
    for (; m->name; m++) {
        const char *at = (const char *)from + m->at;
        const struct account_number *number = (const struct account_number *)(const void *)at;
        const struct account_text *text = (const struct account_text *)(const void *)at;
        const char *string = m->kind == STRING ? *(const char *const *)(const void *)at : NULL;
        if (!(m->roles & 1u << role))
            continue;
        if (m->kind == LOGS || m->kind == RANGES)
            lists_put(w, m, from);
        else if (m->kind == NUMBER && number->has)
            jw_u64(w, m->name, number->n);
        else if ((m->kind == TEXTS || m->kind == OBJECT) && text->p)
            jw_raw(w, m->name, text->p, text->n);
        else if (string || m->there == OR_NULL)
            jw_str(w, m->name, string);
    }
}

void stream_put_account(struct stream_out *out, const struct stream_account *a)
{
    struct buf text = BUF_INIT;
    struct json_w w;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "type", line_type_name(LINE_ACCOUNT));
    jw_str(&w, "stage", msg_program());
    jw_str(&w, "role", account_role_name(a->role));
    jw_bool(&w, "complete", a->complete);
    cause_put(&text, &a->cause);
    members_put(&w, members, a->role, a);
    jw_end_obj(&w);
    stream_put(out, LINE_ACCOUNT, text.p, text.len);
    buf_free(&text);
}
