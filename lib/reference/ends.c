/* SPDX-License-Identifier: Apache-2.0 */
/* The header and the end line of an artifact: every member's type, and none that is not known. */
#include "reference/internal.h"
#include "stream/account.h"
#include "stream/check.h"

#include <string.h>

/* The line, kept, as an object. */
static struct json *parse(struct reference *r, const char *p, size_t n, const char *where, struct err *err)
{
    struct json *doc = json_parse_named(arena_strndup(&r->arena, p, n), n, &r->arena, where, err);
    if (doc && doc->type != JSON_OBJECT) {
        err_set(err, ERR_REFUSED, "%s: not an object", where);
        return NULL;
    }
    return doc;
}

static int implementation_parse(struct reference *r, const struct json *doc, struct err *err)
{
    static const char at[] = "header.implementation";
    static const char *const known[] = {"name", "version", "configuration", NULL};
    const char *name, *version;
    if (json_need(doc, "implementation", JSON_OBJECT, &r->implementation, "header", err) != 0 ||
        json_only(r->implementation, known, at, err) != 0 ||
        json_need_str(r->implementation, "name", &r->arena, &name, at, err) != 0 ||
        json_need_str(r->implementation, "version", &r->arena, &version, at, err) != 0)
        return -1;
    const struct json *configuration = json_get(r->implementation, "configuration");
    if (configuration && configuration->type != JSON_NULL && configuration->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s.configuration: neither an object nor null", at);
    return 0;
}

int reference_head_parse(struct reference *r, const char *p, size_t n, struct err *err)
{
    static const char *const known[] = {"format", "version", "scope", "implementation", NULL};
    const struct json *doc = parse(r, p, n, "header", err);
    const char *format;
    uint64_t version;
    if (!doc || json_need_str(doc, "format", &r->arena, &format, "header", err) != 0)
        return -1;
    if (strcmp(format, REFERENCE_FORMAT) != 0)
        return err_set(err, ERR_REFUSED, "header.format: '%.100s' is not '%s'", format, REFERENCE_FORMAT);
    if (json_need_u64(doc, "version", &version, "header", err) != 0)
        return -1;
    if (version != REFERENCE_VERSION)
        return err_set(err, ERR_REFUSED, "header.version: %" PRIu64 " is not known here, only %d", version,
                       REFERENCE_VERSION);
    if (json_only(doc, known, "header", err) != 0 ||
        json_need(doc, "scope", JSON_OBJECT, &r->scope, "header", err) != 0)
        return -1;
    return implementation_parse(r, doc, err);
}

/* An array of strings; optional where it may be left out. */
static int texts_parse(const struct json *doc, const char *name, bool optional, struct json **out, struct err *err)
{
    if (optional && !json_get(doc, name))
        return 0;
    if (json_need(doc, name, JSON_ARRAY, out, "end line", err) != 0)
        return -1;
    const struct json *item = json_first((*out));
    for (size_t i = 0; i < (*out)->len; i++, item = json_next((*out), item))
        if (item->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "end line.%s[%zu]: not a string", name, i);
    return 0;
}

static int hash_parse(struct reference *r, const struct json *doc, const char *name, const char **out, struct err *err)
{
    if (json_need_str(doc, name, &r->arena, out, "end line", err) != 0)
        return -1;
    return sha256_is_hex(*out, strlen(*out))
               ? 0
               : err_set(err, ERR_REFUSED, "end line.%s: not 64 lower-case hex digits", name);
}

/* What it keeps of the accounts must add up, and be of its own rows and its own end. */
static int counts_fit(const struct reference *r, const struct stream_account *kept, struct err *err)
{
    const struct stream_account *reader = &kept[ACCOUNT_READER], *program = &kept[ACCOUNT_PROGRAM];
    bool all = r->complete || r->unreadable;
    const char *why;
    for (size_t i = ACCOUNT_READER; r->complete && i <= ACCOUNT_PROGRAM; i++)
        if (kept[i].stage && (why = account_lacks(&kept[i])) != NULL)
            return err_set(err, ERR_REFUSED, "end line.recorded.%s: complete, and without %s",
                           account_role_name((enum account_role)i), why);
    if (!account_adds_up(program, &why))
        return err_set(err, ERR_REFUSED, "end line.recorded.program: %s", why);
    why = NULL;
    uint64_t rows, absent;
    if (__builtin_add_overflow(r->rows, kept[ACCOUNT_SEALER].superseded.n, &rows) ||
        (all && program->rows.has && program->rows.n != rows))
        why = "the program's rows are not those of the end line";
    else if (__builtin_add_overflow(program->absent.n, kept[ACCOUNT_SEALER].deleted_keys.n, &absent) ||
             (all && program->rows.has && absent != r->absent))
        why = "the program's keys that must be absent are not those of the end line";
    else if (all && program->records.has && reader->delivered.has && program->records.n != reader->delivered.n)
        why = "the program's records are not those that the reader delivered";
    else if (all && program->records.has && reader->delivered.has && program->aborted.n != reader->aborted.n)
        why = "the program's aborted records are not those that the reader brought";
    else if (r->complete && program->unreadable.n > 0 && !program->on_unreadable)
        why = "complete, and the program counts unreadable records, which nobody said owe nothing";
    else if (r->unreadable && program->unreadable.has && program->unreadable.n == 0)
        why = "not complete for records-unreadable, and the program counts none";
    return why ? err_set(err, ERR_REFUSED, "end line.recorded: %s", why) : 0;
}

int reference_end_parse(struct reference *r, const char *p, size_t n, struct err *err)
{
    static const char at[] = "end line";
    static const char *const known[] = {"end",         "rows",     "absent", "nearest", "header_sha256",
                                        "rows_sha256", "complete", "code",   "facts",   "reasons",
                                        "verified",    "recorded", NULL};
    const struct json *doc = parse(r, p, n, "last line", err);
    if (!doc)
        return -1;
    const struct json *end = json_get(doc, "end");
    if (!end || end->type != JSON_TRUE)
        return err_set(err, ERR_REFUSED, "no end line: its writer did not finish it");
    if (json_only(doc, known, at, err) != 0 || json_need_u64(doc, "rows", &r->rows, at, err) != 0 ||
        json_opt_u64(doc, "absent", &r->absent, at, err) != 0 ||
        json_opt_u64(doc, "nearest", &r->nearest, at, err) != 0 ||
        hash_parse(r, doc, "header_sha256", &r->header_sha256, err) != 0 ||
        hash_parse(r, doc, "rows_sha256", &r->rows_sha256, err) != 0 ||
        json_need_bool(doc, "complete", &r->complete, at, err) != 0 || cause_parse(doc, at, &r->cause, err) != 0 ||
        texts_parse(doc, "reasons", false, &r->reasons, err) != 0 ||
        texts_parse(doc, "verified", true, &r->verified, err) != 0)
        return -1;
    if (json_get(doc, "recorded") && json_need(doc, "recorded", JSON_OBJECT, &r->recorded, at, err) != 0)
        return -1;
    /* verdict reads it as what it claims to be. */
    struct stream_account said, kept[ACCOUNT_ROLES];
    if (account_recorded(r->recorded, &r->arena, "end line.recorded", &said, kept, err) != 0)
        return -1;
    if (r->complete && r->reasons->len > 0)
        return err_set(err, ERR_REFUSED, "%s: complete, and reasons why it is not", at);
    if (r->complete && r->cause.code != CODE_NONE)
        return err_set(err, ERR_REFUSED, "%s: complete, and a code why it is not", at);
    if (!r->complete && r->reasons->len == 0)
        return err_set(err, ERR_REFUSED, "%s: not complete, and no reason", at);
    r->unreadable = !r->complete && r->cause.code == CODE_RECORDS_UNREADABLE && r->reasons->len == 1;
    return counts_fit(r, kept, err);
}
