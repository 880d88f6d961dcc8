/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a stream: header, lines, end, each held against the contract. */
#include "stream/annotations.h"
#include "stream/check.h"
#include "stream/stop.h"
#include "stream/stream.h"

#include <inttypes.h>
#include <string.h>

static const char prefix[] = "{\"type\":\"";

void stream_in_init(struct stream_in *in, int fd, const char *name, size_t max_line)
{
    memset(in, 0, sizeof *in);
    line_in_init(&in->lines, fd, name, max_line);
}

void stream_in_free(struct stream_in *in)
{
    line_in_free(&in->lines);
    annotations_free(&in->annotations);
    arena_free(&in->arena);
}

static int refuse_as(const struct stream_in *in, enum code code, const char *why, struct err *err)
{
    return err_fail(err, ERR_REFUSED, BECAUSE(code, {"line", FACT_NUMBER(in->lines.line_no)}),
                    "%s: line %" PRIu64 ": %s", in->lines.name, in->lines.line_no, why);
}

static int refuse(const struct stream_in *in, const char *why, struct err *err)
{
    return refuse_as(in, CODE_LINE_MALFORMED, why, err);
}

static int foreign(const struct stream_in *in, const char *why, struct err *err)
{
    return refuse_as(in, CODE_STREAM_FOREIGN, why, err);
}

static int unfinished(const struct stream_in *in, const char *why, struct err *err)
{
    return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_STREAM_UNFINISHED), "%s: unfinished stream: %s", in->lines.name,
                    why);
}

/* Where the line is not strict JSON, say at which byte. */
static int check_json(const struct stream_in *in, const char *p, size_t n, struct err *err)
{
    struct json_error e;
    if (json_valid(p, n, &e))
        return 0;
    return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_MALFORMED, {"line", FACT_NUMBER(in->lines.line_no)}),
                    "%s: line %" PRIu64 ": byte %zu: %s", in->lines.name, in->lines.line_no, e.offset + 1, e.why);
}

/* The type of a line, which must stand first. */
static int line_type(const struct stream_in *in, struct stream_line *line, struct err *err)
{
    size_t skip = sizeof prefix - 1;
    if (line->n <= skip || memcmp(line->p, prefix, skip) != 0)
        return refuse(in, "a line must be an object whose first member is \"type\"", err);
    line->type_name = line->p + skip;
    /* Most lines are rows. */
    if (line->n > skip + 4 && memcmp(line->type_name, "row\"", 4) == 0) {
        line->type_len = 3;
        line->type = LINE_ROW;
        return 0;
    }
    const char *quote = memchr(line->type_name, '"', line->n - skip);
    if (!quote)
        return refuse(in, "the line's type does not end", err);
    line->type_len = (size_t)(quote - line->type_name);
    if (line->type_len == 0 || line->type_len > 64 || memchr(line->type_name, '\\', line->type_len))
        return refuse(in, "the line's type is no plain name", err);
    line->type = line_type_of(line->type_name, line->type_len);
    return 0;
}

static int read_header(struct stream_in *in, const struct stream_line *line, struct err *err)
{
    if (line->type != LINE_STREAM)
        return foreign(in, "not an owed-stream: the first line must be its header", err);
    if (check_json(in, line->p, line->n, err) != 0)
        return -1;
    /* The line's bytes are gone with the next read, and the stages are needed until this program's own header. */
    const char *copy = arena_strndup(&in->arena, line->p, line->n);
    struct json_error e;
    struct json *doc = json_parse(copy, line->n, &in->arena, &e);
    if (!doc)
        return refuse(in, e.why, err);
    if (!json_is(json_get(doc, "format"), STREAM_FORMAT))
        return foreign(in, "the header names another format than owed-stream", err);
    uint64_t version;
    if (json_need_u64(doc, "version", &version, "header", err) != 0)
        return -1;
    if (version != STREAM_VERSION)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_STREAM_FOREIGN),
                        "%s: owed-stream version %" PRIu64 " is not known here (this is version %d)", in->lines.name,
                        version, STREAM_VERSION);
    if (json_need(doc, "stages", JSON_ARRAY, &in->stages, "header", err) != 0)
        return -1;
    in->shard = json_get(doc, "shard");
    in->counts[LINE_STREAM] = 1;
    return 0;
}

/* A line cut in two, where the system is not at fault, is of a stream that did not end. */
static int next_line(struct stream_in *in, const char **p, size_t *n, struct err *err)
{
    int rc = line_in_next(&in->lines, p, n, err);
    if (rc < 0 && err && err->sys == 0)
        err_cause(err, BECAUSE(CODE_STREAM_UNFINISHED));
    return rc;
}

int stream_open(struct stream_in *in, struct err *err)
{
    if (in->stages)
        return 0;
    struct stream_line line = {0};
    if (in->prefetch)
        line_in_prefetch(&in->lines);
    int rc = next_line(in, &line.p, &line.n, err);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return unfinished(in, "empty input", err);
    line.line_no = in->lines.line_no;
    if (line_type(in, &line, err) != 0)
        return foreign(in, "not an owed-stream: the first line must be its header", err);
    return read_header(in, &line, err);
}

/* The counts of `end` must be those of the lines that came, both ways. */
static int check_end(struct stream_in *in, const struct stream_line *line, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct json_error e;
    struct json *doc = json_parse(line->p, line->n, &arena, &e), *lines = NULL;
    int rc = doc ? json_need(doc, "lines", JSON_OBJECT, &lines, "end", err) : refuse(in, e.why, err);
    uint64_t named = 0, total = 0;
    for (const struct json *m = json_first(lines); rc == 0 && m; m = json_next(lines, m)) {
        enum line_type t = line_type_of(m->str, m->len);
        uint64_t came = t == LINE_UNKNOWN ? *annotations_count(&in->annotations, m->str, m->len) : in->counts[t], said;
        if (!json_u64(json_value(m), &said))
            rc = refuse(in, "end: a count is no whole number", err);
        else if (said != came)
            rc = err_fail(err, ERR_TROUBLE, BECAUSE(CODE_STREAM_UNFINISHED),
                          "%s: unfinished stream: end counts %" PRIu64 " lines of type %.*s, %" PRIu64 " came",
                          in->lines.name, said, (int)m->len, m->str, came);
        named += came;
    }
    for (size_t t = 0; t < LINE_TYPES; t++)
        total += in->counts[t];
    if (rc == 0 && named != total)
        rc = unfinished(in, "end leaves out lines that came", err);
    arena_free(&arena);
    return rc;
}

/* What is wrong with a line's members, with its place. */
static int misfit(const struct stream_in *in, struct err *err)
{
    err_cause(err, BECAUSE(CODE_LINE_MALFORMED, {"line", FACT_NUMBER(in->lines.line_no)}));
    return err_prefix(err, "%s: line %" PRIu64, in->lines.name, in->lines.line_no);
}

/* side, check and require decide: an unknown member of theirs might change what they say. */
static int check_members(const struct stream_in *in, const struct stream_line *line, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct check_line check;
    struct stream_side side;
    int rc;
    if (line->type == LINE_CHECK)
        rc = stream_check(line, &arena, &check, err);
    else
        rc = line->type == LINE_SIDE ? stream_side(line, &arena, &side, err) : stream_require(line, NULL, err);
    if (rc != 0)
        err_prefix(err, "%s", in->lines.name);
    arena_free(&arena);
    return rc;
}

static int check_row(const struct stream_in *in, const struct stream_line *line, struct err *err)
{
    if (in->rows_unchecked)
        return 0;
    struct stream_row row;
    if (stream_row(line, &row, err) != 0)
        return err_prefix(err, "%s", in->lines.name);
    return check_json(in, line->p, line->n, err);
}

/* What the first stop says, for a program that must say on its own why its input is not whole. */
static void keep_stop(struct stream_in *in, const struct stop_line *stop)
{
    struct buf text = BUF_INIT;
    msg_mask(&text, stop->stage, strlen(stop->stage));
    buf_adds(&text, ": ");
    msg_mask(&text, stop->reason, strlen(stop->reason));
    in->stop_reason = arena_strndup(&in->arena, text.p, text.len);
    in->stop_cause = stop->cause;
    buf_free(&text);
}

static int note_stop(struct stream_in *in, const struct stream_line *line, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct json_error e;
    struct stop_line stop;
    struct json *doc = json_parse(line->p, line->n, &arena, &e);
    int rc = doc ? stop_line_parse(doc, &arena, &stop, err) : refuse(in, e.why, err);
    if (rc == 0) {
        in->refused |= stop.refused;
        in->stopped = true;
        if (!in->stop_reason)
            keep_stop(in, &stop);
    } else if (doc) {
        misfit(in, err);
    }
    arena_free(&arena);
    return rc;
}

static int check_line(struct stream_in *in, const struct stream_line *line, struct err *err)
{
    switch (line->type) {
    case LINE_ROW: return check_row(in, line, err);
    case LINE_RECORD:
    case LINE_EVENT: return in->data_unchecked ? 0 : check_json(in, line->p, line->n, err);
    case LINE_STREAM: return foreign(in, "a stream inside a stream", err);
    case LINE_SIDE:
    case LINE_CHECK:
    case LINE_REQUIRE: return check_members(in, line, err);
    case LINE_STOP:
        if (check_json(in, line->p, line->n, err) != 0)
            return -1;
        return note_stop(in, line, err);
    default: return check_json(in, line->p, line->n, err);
    }
}

static int finish(struct stream_in *in, const struct stream_line *line, struct err *err)
{
    if (check_json(in, line->p, line->n, err) != 0 || check_end(in, line, err) != 0)
        return -1;
    const char *p;
    size_t n;
    int rc = next_line(in, &p, &n, err);
    if (rc < 0)
        return -1;
    if (rc > 0)
        return foreign(in, "something follows the stream's end", err);
    in->ended = true;
    return 0;
}

struct json *stream_doc(const struct stream_line *line, struct arena *arena, struct err *err)
{
    char where[40];
    snprintf(where, sizeof where, "line %" PRIu64, line->line_no);
    struct json *doc = json_parse_named(arena_strndup(arena, line->p, line->n), line->n, arena, where, err);
    if (!doc)
        err_cause(err, BECAUSE(CODE_LINE_MALFORMED, {"line", FACT_NUMBER(line->line_no)}));
    return doc;
}

int stream_misfit(const struct stream_line *line, struct err *err)
{
    err_cause(err, BECAUSE(CODE_LINE_MALFORMED, {"line", FACT_NUMBER(line->line_no)}));
    return err_prefix(err, "line %" PRIu64, line->line_no);
}

int stream_next(struct stream_in *in, struct stream_line *line, struct err *err)
{
    if (in->ended)
        return 0;
    if (stream_open(in, err) != 0)
        return -1;
    int rc = next_line(in, &line->p, &line->n, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return unfinished(in, "its end line is missing", err);
    line->line_no = in->lines.line_no;
    if (line_type(in, line, err) != 0)
        return -1;
    if (line->type == LINE_END)
        return finish(in, line, err);
    if (check_line(in, line, err) != 0)
        return -1;
    in->counts[line->type]++;
    stream_progress(line->type);
    if (line->type == LINE_UNKNOWN)
        (*annotations_count(&in->annotations, line->type_name, line->type_len))++;
    return 1;
}
