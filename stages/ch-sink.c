/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ch-sink: the job's sink. Events of one lane become rows of a ClickHouse table
 * by synchronous INSERTs; a barrier goes on only when every row before it was
 * acknowledged and the interval's evidence is on disk.
 *
 * Out: the lane without its events, each barrier with the interval's evidence
 * added to its `left`. A value that its column cannot hold exactly stops the
 * job. Evidence that cannot be written is absent and stops nothing.
 * Exit: 0 the lane ended whole, 2 usage, a row or a table outside the contract,
 * 3 else.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chwrite/chwrite.h"
#include "http/login.h"
#include "stream/stream.h"
#include "stream/watermark.h"
#include "evidence/tally.h"
#include "evidence/options.h"
#include "evidence/places.h"
#include "evidence/trace_pass.h"

#define BATCH_ROWS 1000
#define BATCH_MS 500
#define BATCH_BYTES ((size_t)64 << 20)

struct options {
    struct chwrite_options w;
    struct http_login login;
    struct table_name name;
    const char *job, *operator_id, *attempt;
    uint64_t subtask;
    struct chwrite_from *from;
    struct opt_list from_columns, with;
    const char *capture_dir, *trace_dir;
    uint64_t batch_rows, batch_ms, max_line;
};

/* ---- options ---- */

static int take_from(const char *value, void *ctx, struct err *err)
{
    struct options *o = ctx;
    const char *colon = strrchr(value, ':');
    enum type_from unit;

    if (!colon || colon == value)
        return err_set(err, ERR_REFUSED, "--from=%s is not COLUMN:UNIT", value);
    if (type_from_parse(colon + 1, &unit, err) != 0)
        return err_prefix(err, "--from");
    opt_list_add(&o->from_columns, value, (size_t)(colon - value));
    o->from = xrealloc(o->from, (o->w.n_from + 1) * sizeof *o->from);
    o->from[o->w.n_from] = (struct chwrite_from){o->from_columns.at[o->w.n_from], unit};
    o->w.n_from++;
    return 0;
}

static int settle_options(struct options *o, struct err *err)
{
    struct chwrite_options *w = &o->w;

    if (!o->login.o.url || !o->name.said || !o->job || !o->operator_id || !o->attempt ||
        o->subtask == EVIDENCE_NO_SUBTASK) {
        return err_set(err, ERR_REFUSED, "--url, --table, --job, --operator, --subtask and --attempt are needed");
    }
    if (table_name_settle(&o->name, err) != 0 || http_login_settle(&o->login, err) != 0)
        return -1;
    w->database = o->name.database;
    w->table = o->name.table;
    w->http = o->login.o;
    w->from = o->from;
    w->with = o->with.at;
    w->max_rows = o->batch_rows;
    return 0;
}

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    struct chwrite_options *w = &o->w;
    const struct opt table[] = {
        OPT_USAGE(
            "ch-sink --url=URL --table=DATABASE.TABLE --job=JOB --operator=ID --subtask=N --attempt=ID [options] <lane >lane\n"
            "Write a lane's events into a ClickHouse table, and pass each barrier once all before it is acknowledged."),
        HTTP_LOGIN_OPTIONS(&o->login),
        TABLE_NAME_OPTIONS(&o->name),
        TYPE_FROM_OPTION(take_from, o),
        OPT_LIST("write-default", "COLUMN", &o->with, "write this column although it has a DEFAULT; may be repeated"),
        EVIDENCE_OPTIONS_WRITER(&o->job, &o->operator_id, &o->subtask, &o->attempt),
        EVIDENCE_OPTION_CAPTURE_DIR(&o->capture_dir),
        EVIDENCE_OPTION_TRACE_DIR(&o->trace_dir),
        OPT_U64("batch-rows", &o->batch_rows, 1, CHWRITE_MAX_ROWS, "rows of one INSERT, at most (1000)"),
        OPT_U64("batch-ms", &o->batch_ms, 0, 3600000, "send a batch that is this old (500)"),
        OPT_U64("retry-ms", &w->retry_ms, 1, HTTP_LONGEST_MS, "give up on an INSERT after so long (120000)"),
        MODE_OPTION,
        STREAM_OPTIONS(&o->max_line),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);

    return rc != 0 ? rc : settle_options(o, err);
}

/* ---- the lane ---- */

struct sink {
    const struct options *o;
    struct chwrite *w; /* NULL before the first line that needs it */
    struct stream_out out;
    struct arena line; /* reset for each line */
    struct tally tally;
    struct trace trace;
    bool said;
    int64_t batch_since;
};

static void enter(struct tally *a, const struct chwrite_sent *sent)
{
    bool in_doubt = sent->cut + sent->errors > 0;

    tally_enter(a, (struct ledger_entry){.token = sent->token,
                                         .rows = sent->rows,
                                         .blocks = sent->blocks,
                                         .attempts = sent->attempts,
                                         .in_doubt = in_doubt,
                                         .resend = !in_doubt            ? RESEND_NONE
                                                   : sent->deduplicated ? RESEND_DEDUPLICATED
                                                                        : RESEND_MAY_DUPLICATE,
                                         .recorded = true,
                                         .tokens = sent->tokens,
                                         .cut = sent->cut,
                                         .errors = sent->errors,
                                         .restarted = sent->restarted});
}

/* Send what is held, if anything, and enter it in the ledger. */
static int flush(struct sink *s, struct err *err)
{
    uint64_t rows = !s->w ? 0 : chwrite_rows(s->w);
    struct chwrite_sent sent;
    struct buf token = BUF_INIT;
    int rc;

    if (rows == 0)
        return 0;
    tally_token(&s->tally, rows, chwrite_body(s->w), &token);
    rc = chwrite_send(s->w, buf_str(&token), &sent, err);
    if (rc == 0)
        enter(&s->tally, &sent);
    buf_free(&token);
    return rc;
}

static int need_table(struct sink *s, struct err *err)
{
    if (!s->w) {
        s->w = chwrite_open(&s->o->w, err);
        if (!s->w && err->kind == ERR_REFUSED)
            err_cause(err, BECAUSE(CODE_INSERT_NOT_POSSIBLE));
    }
    return !s->w ? -1 : 0;
}

static int malformed(const struct stream_line *line, struct err *err)
{
    return err_cause(err, BECAUSE(CODE_LINE_MALFORMED, {"line", FACT_NUMBER(line->line_no)}));
}

static int on_event(struct sink *s, const struct stream_line *line, struct err *err)
{
    struct json *doc, *values;
    const char *at = NULL;
    char where[48];

    snprintf(where, sizeof where, "line %" PRIu64, line->line_no);
    doc = json_parse_named(line->p, line->n, &s->line, where, err);
    if (!doc || json_opt_str(doc, "at", &s->line, &at, where, err) != 0 ||
        json_need(doc, "values", JSON_OBJECT, &values, where, err) != 0)
        return malformed(line, err);
    if (chwrite_add(s->w, values, at ? at : where, err) != 0)
        return -1;
    tally_row(&s->tally, at);
    if (chwrite_rows(s->w) == 1)
        s->batch_since = time_mono_ms();
    if (chwrite_rows(s->w) >= s->o->batch_rows || chwrite_bytes(s->w) >= BATCH_BYTES ||
        time_mono_ms() - s->batch_since >= (int64_t)s->o->batch_ms) {
        return flush(s, err);
    }
    return 0;
}

static int on_watermark(struct sink *s, const struct stream_line *line, struct err *err)
{
    struct stream_watermark w;

    if (stream_watermark(line, &w, err) != 0)
        return -1;
    if (w.has_time) { /* of an idle lane it stays what it was */
        s->tally.has_watermark = true;
        s->tally.watermark = w.time;
    }
    return 0;
}

/* What the interval came to, beside its capture. */
static void leave_evidence(struct sink *s, struct barrier *b)
{
    struct interval iv = tally_interval(&s->tally, b);
    struct left entry;
    struct err err = ERR_INIT;

    iv.destination = *chwrite_destination(s->w);
    bool ok = s->o->capture_dir && interval_write(s->o->capture_dir, &iv, &s->line, &entry, &err) == 0;
    trace_put(&s->trace, &(struct trace_event){.kind = TRACE_EVIDENCE, .checkpoint = b->checkpoint, .ok = ok});
    if (ok) {
        barrier_add(b, &s->line, &entry);
    } else if (s->o->capture_dir && !s->said) {
        msg_error("checkpoint %" PRIu64 ": the interval has no evidence: %s", b->checkpoint, err.text);
        s->said = true;
    }
}

static int on_barrier(struct sink *s, const struct stream_line *line, struct err *err)
{
    struct barrier b;

    if (barrier_parse(line->p, line->n, "barrier", &s->line, &b, err) != 0)
        return malformed(line, err);
    if (tally_follows(&s->tally, &b, err) != 0 || flush(s, err) != 0 || chwrite_look(s->w, err) != 0) {
        return -1;
    }
    trace_put(&s->trace,
              &(struct trace_event){.kind = TRACE_ACKNOWLEDGED, .checkpoint = b.checkpoint, .rows = s->tally.seen});
    leave_evidence(s, &b);
    trace_pass(&s->trace, &s->out, &b);
    tally_next(&s->tally, b.checkpoint);
    return 0;
}

static int on_line(struct sink *s, const struct stream_line *line, struct err *err)
{
    arena_reset(&s->line);
    switch (line->type) {
    case LINE_EVENT: return need_table(s, err) != 0 ? -1 : on_event(s, line, err);
    case LINE_BARRIER: return need_table(s, err) != 0 ? -1 : on_barrier(s, line, err);
    case LINE_WATERMARK:
        if (on_watermark(s, line, err) != 0)
            return -1;
        break;
    default: break;
    }
    stream_pass(&s->out, line);
    return 0;
}

/* Wait until a line can be read, and send the batch when it is old enough. */
static int await_line(struct sink *s, struct stream_in *in, struct err *err)
{
    while (!line_in_ready(&in->lines)) {
        struct pollfd p = {STDIN_FILENO, POLLIN, 0};
        int64_t left;
        stream_flush(&s->out);
        if (!s->w || chwrite_rows(s->w) == 0)
            return 0;
        left = s->batch_since + (int64_t)s->o->batch_ms - time_mono_ms();
        if (left > 0 && poll(&p, 1, (int)left) != 0)
            return 0;
        if (flush(s, err) != 0)
            return -1;
    }
    return 0;
}

/* The lane, to its end. Rows that no barrier follows are written all the same when it ended whole; of a lane that did
 * not, only what was acknowledged by then. */
static void run(struct sink *s, struct stream_in *in)
{
    struct stream_line line;
    struct err err = ERR_INIT;
    int rc = stream_open(in, &err);

    stream_begin(&s->out, STDOUT_FILENO, rc == 0 ? in : NULL);
    while (rc >= 0 && !s->out.broken) {
        if (await_line(s, in, &err) != 0) {
            rc = -1;
            break;
        }
        rc = stream_next(in, &line, &err);
        if (rc > 0 && line.type == LINE_STOP) {
            stream_pass(&s->out, &line);
            stream_status(&s->out, OWED_TROUBLE);
            return;
        }
        if ((rc > 0 && on_line(s, &line, &err) != 0) || (rc == 0 && flush(s, &err) != 0))
            rc = -1;
        if (rc == 0)
            break;
    }
    if (rc < 0)
        stream_put_stop(&s->out, &err, CODE_LINE_MALFORMED);
}

static void sink_free(struct sink *s)
{
    chwrite_close(s->w);
    tally_free(&s->tally);
    arena_free(&s->line);
    stream_out_free(&s->out);
}

int main(int argc, char **argv)
{
    struct options o = {.subtask = EVIDENCE_NO_SUBTASK,
                        .login = HTTP_LOGIN_INIT,
                        .batch_rows = BATCH_ROWS,
                        .batch_ms = BATCH_MS,
                        .max_line = STREAM_MAX_LINE};
    struct sink s = {.o = &o, .line = ARENA_INIT, .tally = TALLY_INIT};
    struct stream_in in;
    struct err err = ERR_INIT;
    int status = OWED_OK, rc;

    msg_init(argv[0]);
    rc = read_options(argc, argv, &o, &status, &err);
    if (rc < 0) {
        status = stream_refuse(&err, STREAM_NO_INPUT);
    } else if (rc == 0) {
        s.tally.job = o.job;
        s.tally.operator_id = o.operator_id;
        s.tally.attempt = o.attempt;
        s.tally.subtask = o.subtask;
        stream_in_init(&in, STDIN_FILENO, "stdin", o.max_line);
        in.lane = true;
        if (trace_open(&s.trace, o.trace_dir, o.job, o.attempt, "ch-sink", o.operator_id, o.subtask, &err) != 0)
            msg_error("there is no trace: %s", err.text);
        run(&s, &in);
        status = stream_end(&s.out);
        if (trace_close(&s.trace, status, &err) != 0)
            msg_error("the trace lacks events: %s", err.text);
        stream_in_free(&in);
        sink_free(&s);
    }
    http_login_free(&o.login);
    table_name_free(&o.name);
    opt_list_free(&o.from_columns);
    opt_list_free(&o.with);
    free(o.from);
    return status;
}
