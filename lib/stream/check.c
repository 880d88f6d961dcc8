/* SPDX-License-Identifier: Apache-2.0 */
/* The check line, read and written; code and facts, as check and stop carry them. */
#include "stream/check.h"

#include "stream/stream.h"

#include <inttypes.h>
#include <string.h>

/* ---- code and facts ---- */

static int facts_parse(const struct json *facts, const char *place, struct cause *out, struct err *err)
{
    if (!facts)
        return 0;
    if (facts->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s.facts: not an object", place);
    for (const struct json *m = json_first(facts); m; m = json_next(facts, m)) {
        const struct json *text = json_value(m);
        char name[32];
        if (text->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "%s.facts: not an object of texts", place);
        if (m->len >= sizeof name || memchr(m->str, 0, m->len) || memchr(text->str, 0, text->len))
            continue; /* no next action asks for it */
        snprintf(name, sizeof name, "%.*s", (int)m->len, m->str);
        struct buf value = BUF_INIT;
        buf_add(&value, text->str, text->len);
        cause_add(out, name, buf_str(&value));
        buf_free(&value);
    }
    return 0;
}

int cause_parse(const struct json *doc, const char *place, struct cause *out, struct err *err)
{
    const struct json *code = json_get(doc, "code");
    enum code c = CODE_NONE;
    *out = CAUSE_INIT;
    if (code && (code->type != JSON_STRING || (c = code_of(code->str, code->len)) == CODES || c == CODE_NONE))
        return err_set(err, ERR_REFUSED, "%s.code: not known here", place);
    out->code = c;
    return facts_parse(json_get(doc, "facts"), place, out, err);
}

void cause_put(struct buf *line, const struct cause *cause)
{
    const char *name = NULL, *value;
    if (!cause || cause->code == CODE_NONE)
        return;
    buf_printf(line, ",\"code\":\"%s\"", code_word(cause->code));
    for (bool first = true; (name = cause_next(cause, name, &value)) != NULL; first = false) {
        buf_adds(line, first ? ",\"facts\":{" : ",");
        json_put_s(line, name);
        buf_addc(line, ':');
        stream_put_text(line, value);
    }
    buf_adds(line, cause->len ? "}" : "");
}

/* ---- counts ---- */

/* What a check that passed can have counted none of. */
static const struct {
    enum check_name check;
    const char *count;
} faults[] = {
    {CHECK_BUNDLE_ARTIFACTS, "missing"}, {CHECK_BUNDLE_ARTIFACTS, "changed"}, {CHECK_BUNDLE_ARTIFACTS, "unlisted"}};

/* A replay passed where all that was selected did, and something was. */
static int epochs_hold(const struct json *counts, const struct check_line *c, struct err *err)
{
    uint64_t selected = 0, passed = 0;
    if (c->status != STATUS_PASSED || c->name < CHECK_REPLAY_DETERMINISM || c->name > CHECK_REPLAY_GOLDEN_OUTPUT)
        return 0;
    if (!json_u64(json_get(counts, "selected"), &selected) || !json_u64(json_get(counts, "passed"), &passed) ||
        selected == 0 || passed != selected)
        return err_set(err, ERR_REFUSED,
                       "a replay that passed, and its counts do not show that every selected epoch did");
    return 0;
}

static int counts_parse(const struct json *counts, const struct check_line *c, struct err *err)
{
    uint64_t n;
    if (counts && counts->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "check.counts: not an object");
    for (const struct json *m = json_first(counts); m; m = json_next(counts, m))
        if (!json_u64(json_value(m), &n))
            return err_set(err, ERR_REFUSED, "check.counts: not an object of whole numbers");
    for (size_t i = 0; c->status == STATUS_PASSED && i < sizeof faults / sizeof *faults; i++) {
        const struct json *v = faults[i].check == c->name ? json_get(counts, faults[i].count) : NULL;
        if (v && json_u64(v, &n) && n > 0)
            return err_set(err, ERR_REFUSED, "a check that passed, with %" PRIu64 " %s", n, faults[i].count);
    }
    return epochs_hold(counts, c, err);
}

/* ---- the line ---- */

int check_line_parse(const struct json *doc, struct arena *arena, struct check_line *out, struct err *err)
{
    static const char *const members[] = {"type",  "stage",  "name",     "status", "code",
                                          "facts", "reason", "evidence", "counts", NULL};
    struct json *name, *status;
    *out = (struct check_line){.cause = CAUSE_INIT, .counts = json_get(doc, "counts")};
    if (json_only(doc, members, "check", err) != 0 || json_need(doc, "name", JSON_STRING, &name, "check", err) != 0 ||
        json_need(doc, "status", JSON_STRING, &status, "check", err) != 0)
        return -1;
    out->name = check_name_of(name->str, name->len);
    out->status = status_of(status->str, status->len);
    if (out->name == CHECK_NAMES)
        return err_set(err, ERR_REFUSED, "a check whose name is not known here");
    if (out->status == STATUS_TYPES)
        return err_set(err, ERR_REFUSED, "a check whose status is not known here");
    if (json_need_str(doc, "stage", arena, &out->stage, "check", err) != 0 ||
        json_need_str(doc, "reason", arena, &out->reason, "check", err) != 0 ||
        cause_parse(doc, "check", &out->cause, err) != 0 || counts_parse(out->counts, out, err) != 0)
        return -1;
    if ((out->cause.code == CODE_NONE) != (out->status == STATUS_PASSED))
        return err_set(err, ERR_REFUSED, "a check that %s",
                       out->cause.code ? "passed, with a code" : "did not pass, without a code");
    return 0;
}

int stream_check(const struct stream_line *line, struct arena *arena, struct check_line *out, struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err);
    if (!doc)
        return -1;
    return check_line_parse(doc, arena, out, err) == 0 ? 0 : stream_misfit(line, err);
}

void stream_put_check(struct stream_out *out, enum check_name name, enum status status, const struct cause *cause,
                      const char *reason, const char *const *evidence, const char *counts)
{
    static const int exits[] = {[STATUS_PASSED] = OWED_OK,
                                [STATUS_UNSUPPORTED] = OWED_TROUBLE,
                                [STATUS_UNAVAILABLE] = OWED_TROUBLE,
                                [STATUS_FAILED] = OWED_FAILED};
    struct buf *b = stream_build(out, LINE_CHECK);
    buf_adds(b, ",\"stage\":");
    json_put_s(b, msg_program());
    buf_printf(b, ",\"name\":\"%s\",\"status\":\"%s\"", check_name_text(name), status_name(status));
    if (status != STATUS_PASSED)
        cause_put(b, cause);
    buf_adds(b, ",\"reason\":");
    stream_put_text(b, reason ? reason : "");
    buf_adds(b, ",\"evidence\":[");
    for (size_t i = 0; evidence && evidence[i]; i++) {
        if (i)
            buf_addc(b, ',');
        stream_put_text(b, evidence[i]);
    }
    buf_addc(b, ']');
    if (counts) {
        buf_adds(b, ",\"counts\":");
        buf_adds(b, counts);
    }
    stream_put_built(out, LINE_CHECK);
    out->checks[status]++;
    stream_status(out, exits[status]);
}
