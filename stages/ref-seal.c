/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref-seal: the events of an operator's own program as a reference artifact:
 * canonical cells by the scope's columns, an end line with both hashes, and
 * whether it is whole or why not. Events end here; all else passes.
 *
 * Exit: 0 a complete artifact, 3 an incomplete one (published all the same, and
 * never compared), 2 refused: no scope, another scope, usage; then none is written, but for a
 * line of the stream that is refused, which leaves an incomplete one.
 */
#include "json/redact.h"
#include "reference/last.h"
#include "reference/reference.h"
#include "scope/line.h"

#include <string.h>

#define MAX_SCOPE ((size_t)64 << 20)
#define MAX_CONFIG ((size_t)1 << 20)
#define BAD_LISTED 10 /* rows in error that the artifact's reasons name */

struct options {
    const char *name, *version, *config, *scope, *out;
    bool complete;
    uint64_t max_line, memory;
    const char *scratch;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("ref-seal --reference-name=NAME --out=FILE [options] <stream >stream\n"
                  "Seal the rows of a reference program into an artifact that is bound to its scope."),
        OPT_TEXT("reference-name", "NAME", &o->name, "the implementation's name"),
        OPT_TEXT("reference-version", "VERSION", &o->version, "its version"),
        OPT_TEXT("reference-config", "FILE", &o->config, "its configuration, a JSON object; recorded as it stands"),
        OPT_TEXT("scope", "FILE", &o->scope, "the scope document"),
        OPT_FLAG("complete", &o->complete,
                 "take the operator's word for what no account in the stream says is whole; recorded as that"),
        OPT_TEXT("out", "FILE", &o->out, "the artifact"),
        OPT_SIZE("key-memory", &o->memory, (uint64_t)1 << 20, (uint64_t)1 << 40,
                 "memory for keys, where the scope is of each key's last row (1G)"),
        STREAM_OPTION_SCRATCH(&o->scratch),
        MODE_OPTION,
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 complete, 2 refused, 3 incomplete (the artifact says why)"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc != 0)
        return rc;
    if (!o->name || !*o->name || !o->out)
        return err_set(err, ERR_REFUSED, "--reference-name and --out are needed");
    if (!utf8_valid(o->name, strlen(o->name)) || !utf8_valid(o->version, strlen(o->version)))
        return err_set(err, ERR_REFUSED, "--reference-name and --reference-version must be UTF-8");
    return file_apart(o->out, o->scope, err) != 0 ? -1 : file_apart(o->out, o->config, err);
}

struct seal {
    struct options o;
    struct stream_out out;
    struct arena keep, line;
    const struct json *document; /* the scope's, from the file or the stream */
    bool in_stream;              /* the stream's own scope line has passed */
    struct scope scope;
    const char *config; /* the configuration's text, or NULL */
    struct reference_cells cells;
    struct buf row;
    struct reference_last *last; /* where the scope is of each key's last row */
    struct reference_last_found found;
    struct reference_writer w;
    bool begun, refused; /* refused: nothing is written */
    bool told;           /* the first reason why it is incomplete is an earlier stage's, which has said it */
    struct reference_story story;
    uint64_t failed;              /* rows that could not be sealed */
    uint64_t deletions, unplaced; /* keys that were deleted; rows without a place */
    uint64_t unfit;               /* rows with a value that its column cannot hold */
};

/* ---- scope and configuration ---- */

static void take_scope(struct seal *s, const struct json *document, const struct scope *scope)
{
    s->scope = *scope;
    s->document = document;
    reference_cells_init(&s->cells, &s->scope);
}

static int read_scope(struct seal *s, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = file_read(s->o.scope, MAX_SCOPE, &text, err);
    if (rc == 0) {
        const char *copy = arena_strndup(&s->keep, text.p ? text.p : "", text.len);
        const struct json *doc = json_parse_named(copy, text.len, &s->keep, "scope", err);
        struct scope found;
        rc = doc && scope_parse_json(doc, &s->keep, &found, err) == 0 ? 0 : err_prefix(err, "'%s'", s->o.scope);
        if (rc == 0)
            take_scope(s, doc, &found);
        else
            err_cause(err, BECAUSE(CODE_INPUT_MALFORMED, {"file", s->o.scope}));
    }
    buf_free(&text);
    return rc;
}

/* The first member that is named as a secret is, at any depth, or NULL: the artifact is a file that is handed on. */
static const struct json *secret_in(const struct json *v)
{
    const struct json *found = NULL;
    bool named = v->type == JSON_OBJECT;
    for (const struct json *m = json_first(v); m && !found; m = json_next(v, m))
        found = named && redact_name(m->str, m->len) ? m : secret_in(named ? json_value(m) : m);
    return found;
}

/* No member's name and no text in it may be a credential's. */
static int no_secret(const struct seal *s, const struct json *doc, struct err *err)
{
    const struct json *secret = secret_in(doc);
    struct buf shown = BUF_INIT;
    if (secret) {
        msg_mask(&shown, secret->str, secret->len);
        err_set(err, ERR_REFUSED,
                "'%s': a member is named as a secret is ('%s'): leave it out, the artifact is handed on", s->o.config,
                buf_str(&shown));
    } else {
        redact_put(&shown, doc);
        if (strstr(buf_str(&shown), REDACTED))
            err_set(err, ERR_REFUSED, "'%s': a text in it holds a credential: leave it out, the artifact is handed on",
                    s->o.config);
    }
    buf_free(&shown);
    return err->kind == ERR_NONE ? 0 : -1;
}

static int read_config(struct seal *s, struct err *err)
{
    struct buf text = BUF_INIT;
    const struct json *doc = NULL;
    int rc = file_read(s->o.config, MAX_CONFIG, &text, err);
    if (rc == 0 && !(doc = json_parse_named(arena_strndup(&s->keep, text.p ? text.p : "", text.len), text.len, &s->keep,
                                            "configuration", err)))
        rc = err_prefix(err, "'%s'", s->o.config);
    buf_free(&text);
    if (rc != 0)
        return -1;
    if (doc->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "'%s': the configuration is not an object", s->o.config);
    if (no_secret(s, doc, err) != 0)
        return -1;
    s->config = json_raw_dup(&s->keep, doc);
    return 0;
}

/* ---- the stream ---- */

static int on_scope(struct seal *s, const struct stream_line *line, struct err *err)
{
    struct buf where = BUF_INIT;
    const struct json *document;
    s->refused = true; /* until this line has been found good */
    if (s->in_stream)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED), "stdin: line %" PRIu64 ": a second scope",
                        line->line_no);
    struct scope found;
    if (stream_scope(line, &s->keep, &document, &found, err) != 0)
        return err_prefix(err, "stdin");
    if (s->document)
        scope_free(&found);
    else
        take_scope(s, document, &found);
    s->in_stream = true;
    s->refused = scope_differs(s->document, document, &where);
    if (s->refused) {
        where.len -= strlen("there");
        err_set(err, ERR_REFUSED, "the stream is of another scope than '%s': %sin the stream", s->o.scope,
                buf_str(&where));
    }
    buf_free(&where);
    return s->refused ? -1 : 0;
}

static int begin(struct seal *s, struct err *err)
{
    const struct json_text scope = json_raw(s->document);
    const struct reference_head head = {scope.p, scope.n, s->o.name, s->o.version, s->config};
    if (reference_begin(&s->w, s->o.out, &head, err) != 0)
        return -1;
    s->begun = true;
    if (scope_final(&s->scope))
        s->last = reference_last_new(scope_final(&s->scope), &s->scope.columns, s->o.scratch, s->o.memory, err);
    return scope_final(&s->scope) && !s->last ? -1 : 0;
}

/* The place of an event, at NULL where it has none. -1 where at is no place. */
static int place_of(const struct json *event, struct stream_row *row)
{
    const struct json *v = json_get(event, "at");
    if (!v || v->type == JSON_NULL)
        return 0;
    if (v->type != JSON_STRING || v->len == 0 || v->escaped || !stream_place_ok(v->str, v->len))
        return -1;
    row->at = v->str;
    row->at_len = v->len;
    return 0;
}

static void row_failed(struct seal *s, const struct stream_line *line)
{
    if (++s->failed <= BAD_LISTED)
        reference_story_say(&s->story, BECAUSE(CODE_PROGRAM_ANSWER),
                            "the event on line %" PRIu64 ": its at is not topic/partition/offset", line->line_no);
}

/* A key that must be absent: one that was deleted, or that of a row whose record was aborted. */
static int seal_key(struct seal *s, const struct json *key, const struct json *values, const struct stream_row *place,
                    struct err *err)
{
    const char *at = place->at;
    struct stream_absent a = {.why = key ? ABSENT_DELETED : ABSENT_ABORTED, .at = at, .at_len = place->at_len};
    int unfit = reference_key_put(&s->cells, key ? key : values, key != NULL, &s->row, err);
    if (unfit < 0)
        return -1;
    a.key = s->row.p;
    a.key_len = s->row.len;
    s->deletions += key != NULL;
    if (key && unfit)
        reference_story_say(
            &s->story, BECAUSE(CODE_PROGRAM_ANSWER),
            "the key that was deleted at %.*s does not fit its columns: what it takes away is not known",
            at ? (int)place->at_len : 1, at ? at : "-");
    if (reference_put_absent(&s->w, &a, err) == 0)
        return 0;
    s->refused = true; /* what was written is not whole */
    return -1;
}

static int seal_row(struct seal *s, const struct json *values, struct stream_row *row, struct err *err)
{
    int unfit = reference_cells_put(&s->cells, values, &s->row, err);
    if (unfit < 0)
        return -1;
    s->unfit += unfit > 0;
    s->unplaced += !row->at;
    row->cells = s->row.p;
    row->cells_len = s->row.len;
    int rc = s->last ? reference_last_add(s->last, row, err) : reference_put(&s->w, row, err);
    if (rc == 0)
        return 0;
    s->refused = true;
    return -1;
}

static int on_event(struct seal *s, const struct stream_line *line, struct err *err)
{
    struct stream_row row = {.side = SIDE_REFERENCE};
    struct json_error e;
    if (!s->document) {
        s->refused = true;
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 ": an event before the scope (see --scope)", line->line_no);
    }
    if (!s->begun && begin(s, err) != 0) {
        s->refused = true;
        return -1;
    }
    arena_reset(&s->line);
    const struct json *event = json_parse(line->p, line->n, &s->line, &e), *values = json_get(event, "values"),
                      *key = json_get(event, "absent"), *aborted = json_get(event, "aborted");
    if (!event)
        return err_set(err, ERR_REFUSED, "stdin: line %" PRIu64 ": byte %zu: %s", line->line_no, e.offset + 1, e.why);
    if ((!values || values->type != JSON_OBJECT) == (!key || key->type != JSON_OBJECT))
        return err_set(err, ERR_REFUSED, "stdin: line %" PRIu64 ": an event without its values", line->line_no);
    if (place_of(event, &row) != 0) {
        row_failed(s, line);
        return 1;
    }
    if (row.at && ts_take(event, "ts", &row.ts, "event", err) != 0)
        return err_prefix(err, "stdin: line %" PRIu64, line->line_no);
    buf_reset(&s->row);
    bool must_lack = key || (aborted && aborted->type == JSON_TRUE);
    int rc = must_lack ? seal_key(s, key, values, &row, err) : seal_row(s, values, &row, err);
    return rc == 0 ? 1 : err_prefix(err, "stdin: line %" PRIu64, line->line_no);
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct seal *s = ctx;
    switch (line->type) {
    case LINE_EVENT: return on_event(s, line, err);
    case LINE_SCOPE: return on_scope(s, line, err);
    case LINE_ACCOUNT:
        s->told = s->story.n_reasons == 0 || s->told;
        if (reference_story_account(&s->story, line, err) == 0) {
            s->told = s->told && s->story.n_reasons > 0;
            return 0;
        }
        s->refused = true;
        return err_prefix(err, "stdin");
    default: return 0;
    }
}

/* ---- the end ---- */

static void put_account(struct seal *s, const struct reference_end *end)
{
    stream_put_account(&s->out, &(struct stream_account){.role = ACCOUNT_SEALER,
                                                         .complete = end->complete,
                                                         .reasons = {end->reasons, strlen(end->reasons)},
                                                         .rows = {true, s->w.rows},
                                                         .absent = {s->w.absent > 0, s->w.absent},
                                                         .unfit_rows = {true, s->unfit},
                                                         .nearest = {true, s->cells.nearest},
                                                         .failed_rows = {true, s->failed},
                                                         .superseded = {s->last != NULL, s->found.superseded},
                                                         .deleted_keys = {s->last != NULL, s->found.deleted},
                                                         .path = s->o.out,
                                                         .rows_sha256 = s->w.rows_sha256});
}

#define PASSED_SAID 10

/* The rules give what the table would fill itself, and nobody compares it. */
static void say_passed(const struct seal *s)
{
    const struct scope_declared *d = &s->scope.declared;
    size_t said = 0;
    for (size_t i = 0; i < d->n_left && said < PASSED_SAID; i++) {
        const uint64_t *n = map_find(&s->cells.passed, d->left[i].name, strlen(d->left[i].name));
        if (!n || *n == 0 || *d->left[i].kind == '\0')
            continue;
        msg_error("%" PRIu64 " rows give '%s', which the table fills itself (%s) and the scope leaves out: passed over "
                  "(scope-declare --filled compares it)",
                  *n, d->left[i].name, d->left[i].kind);
        said++;
    }
}

/* Why the input did not come whole, in the words of whoever stopped. */
static void say_unfinished(struct seal *s, const struct stream_in *in)
{
    if (in->stop_reason)
        reference_story_say(&s->story, &in->stop_cause, "the stream was stopped by %s", in->stop_reason);
    else
        reference_story_say(&s->story, s->out.stop_reason ? &s->out.stop_cause : BECAUSE(CODE_IO_FAILED),
                            "the stream did not come whole: %s",
                            s->out.stop_reason ? s->out.stop_reason : "standard output failed");
}

static int put_last(void *ctx, const struct stream_row *row, struct err *err)
{
    struct seal *s = ctx;
    return reference_put(&s->w, row, err);
}

static int put_deleted(void *ctx, const struct stream_row *row, struct err *err)
{
    struct seal *s = ctx;
    return reference_put_absent(
        &s->w, &(struct stream_absent){ABSENT_DELETED, row->cells, row->cells_len, row->at, row->at_len}, err);
}

/* Of every key its last row; what nothing orders keeps the artifact from being whole. */
static int seal_last(struct seal *s, struct err *err)
{
    if (!s->last)
        return 0;
    struct reference_last_found *f = &s->found;
    if (reference_last_rows(s->last, put_last, put_deleted, s, f, err) != 0)
        return -1;
    reference_story_last(&s->story, f);
    if (f->tied > 0)
        reference_story_say(&s->story, BECAUSE(CODE_KEYS_UNDETERMINED),
                            "%" PRIu64
                            " keys have several rows of which nothing says that one is the last, the first [%s]",
                            f->tied, f->tie);
    return 0;
}

static void finish(struct seal *s, const struct stream_in *in, bool whole)
{
    struct err err = ERR_INIT;
    struct reference_end end;
    if (!whole)
        say_unfinished(s, in);
    if (s->failed > BAD_LISTED)
        reference_story_say(&s->story, BECAUSE(CODE_PROGRAM_ANSWER), "%" PRIu64 " more rows that cannot be sealed",
                            (s->failed - BAD_LISTED));
    if ((!s->begun && begin(s, &err) != 0) || seal_last(s, &err) != 0) {
        stream_put_stop(&s->out, &err, CODE_USAGE);
        return;
    }
    if (s->deletions > 0 && s->unplaced > 0)
        reference_story_say(&s->story, BECAUSE(CODE_PROGRAM_ANSWER),
                            "%" PRIu64 " keys were deleted, and %" PRIu64
                            " rows have no at: which of them came before a deletion is not known",
                            s->deletions, s->unplaced);
    reference_story_judge(&s->story, &s->scope, &s->w, s->failed, s->o.complete);
    reference_story_end(&s->story, &end);
    end.nearest = s->cells.nearest;
    if (reference_finish(&s->w, &end, &err) != 0) {
        stream_put_stop(&s->out, &err, CODE_USAGE);
        return;
    }
    put_account(s, &end);
    say_passed(s);
    if (end.complete)
        return;
    stream_status(&s->out, OWED_TROUBLE);
    if (s->out.stopped || s->told)
        return;
    if (s->story.n_reasons > 1)
        msg_error("the reference is incomplete: %s (and %" PRIu64 " more reasons)", s->story.first,
                  s->story.n_reasons - 1);
    else
        msg_error("the reference is incomplete: %s", s->story.first);
}

static void run(struct seal *s)
{
    /* Events are read here in full; records end elsewhere or pass to whoever reads them. */
    struct stream_in in = {.data_unchecked = true, .prefetch = true};
    struct err err = ERR_INIT;
    bool whole = stream_filter(&in, &s->out, (size_t)s->o.max_line, on_line, s);
    if (s->document && !s->refused) {
        finish(s, &in, whole);
    } else if (!s->out.stopped) {
        err_set(&err, whole ? ERR_REFUSED : ERR_TROUBLE, "no scope line and no --scope: no artifact is written");
        stream_put_stop(&s->out, &err, CODE_SCOPE_LINE_MISSING);
    }
    stream_in_free(&in);
}

static void seal_free(struct seal *s)
{
    if (s->begun)
        reference_drop(&s->w);
    reference_last_free(s->last);
    reference_story_free(&s->story);
    reference_cells_free(&s->cells);
    scope_free(&s->scope);
    stream_out_free(&s->out);
    buf_free(&s->row);
    arena_free(&s->keep);
    arena_free(&s->line);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct seal s = {.o = {.version = "", .max_line = STREAM_MAX_LINE, .memory = (uint64_t)1 << 30}};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &s.o, &status, &err);
    if (rc > 0)
        return status;
    if (rc == 0 && s.o.scope)
        rc = read_scope(&s, &err);
    if (rc == 0 && s.o.config)
        rc = read_config(&s, &err);
    if (rc < 0) {
        status = stream_refuse(&err, s.o.max_line);
    } else {
        run(&s);
        status = stream_end(&s.out);
    }
    seal_free(&s);
    return status;
}
