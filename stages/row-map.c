/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-map: the job's map. Each record or event of the lane goes through a jq
 * program; what the program gives becomes events, in order. Watermarks and barriers
 * pass where they stand; nothing is kept over a barrier.
 *
 * A record that cannot be mapped stops the job: `stop`, `end`, and not one
 * line more, so that no barrier passes for records that were not handed on.
 * Exit: 0 the lane ended whole, 2 usage, the program or a record, 3 else.
 */
#include "evidence/options.h"
#include "evidence/trace_pass.h"
#include "ops/ops.h"
#include "stream/stream.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_MAX ((size_t)1 << 20)
#define PARAMETERS_MAX ((size_t)16 << 20)

struct options {
    const char *program, *program_file, *parameters, *numbers;
    const char *trace_dir, *job, *operator_id, *attempt;
    uint64_t max_line, subtask;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("row-map --program=TEXT | --program-file=FILE | --parameters=FILE [options] <lane >lane\n"
                  "Make rows of records, or of rows, with a jq program that sees one at a time and nothing else."),
        OPT_TEXT("program", "TEXT", &o->program,
                 "the program: . is the payload or the row's values, $record the rest of the line; each output\n"
                 "is an object of values by column name; no output, no row"),
        OPT_TEXT("program-file", "FILE", &o->program_file, "the program's file"),
        OPT_TEXT("parameters", "FILE", &o->parameters, "the operator's parameters as one JSON object"),
        OPT_TEXT("numbers", "double|text", &o->numbers,
                 "double (the default): numbers are doubles; one that a double does not hold stops the job\n"
                 "text: every number of the record is its text"),
        EVIDENCE_OPTION_TRACE_DIR(&o->trace_dir),
        EVIDENCE_OPTIONS_WRITER(&o->job, &o->operator_id, &o->subtask, &o->attempt),
        MODE_OPTION,
        STREAM_OPTIONS(&o->max_line),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc != 0)
        return rc;
    if (!!o->program + !!o->program_file + !!o->parameters != 1)
        return err_set(err, ERR_REFUSED, "give one of --program, --program-file and --parameters");
    if (o->parameters && o->numbers)
        return err_set(err, ERR_REFUSED, "--numbers stands in the file of --parameters");
    if (o->trace_dir && (!o->job || !o->operator_id || !o->attempt || o->subtask == EVIDENCE_NO_SUBTASK))
        return err_set(err, ERR_REFUSED, "--trace-dir needs --job, --operator, --subtask and --attempt");
    return 0;
}

/* The operator's parameters as the text of one JSON object, whichever way they were given. */
static int parameters_text(const struct options *o, struct buf *text, struct err *err)
{
    struct buf program = BUF_INIT;
    if (o->parameters)
        return file_read(o->parameters, PARAMETERS_MAX, text, err);
    int rc = o->program ? 0 : file_read(o->program_file, PROGRAM_MAX, &program, err);
    if (o->program)
        buf_adds(&program, o->program);
    if (rc == 0 && !utf8_valid(buf_str(&program), program.len))
        rc = err_set(err, ERR_REFUSED, "program: invalid UTF-8");
    struct json_w w;
    jw_init(&w, text);
    jw_obj(&w, NULL);
    if (rc == 0)
        jw_strn(&w, "program", buf_str(&program), program.len);
    if (o->numbers)
        jw_str(&w, "numbers", o->numbers);
    jw_end_obj(&w);
    buf_free(&program);
    return rc;
}

static int open_operator(const struct options *o, struct op **op, struct err *err)
{
    struct buf text = BUF_INIT;
    struct arena arena = ARENA_INIT;
    const char *what = o->parameters ? o->parameters : "parameters";
    int rc = parameters_text(o, &text, err);
    const struct json *parameters = rc == 0 ? json_parse_named(buf_str(&text), text.len, &arena, what, err) : NULL;
    rc = parameters ? op_open(op, "map", parameters, err) : -1;
    buf_free(&text);
    arena_free(&arena);
    return rc;
}

/* ---- libjq's aborts ---- */

static const struct op *running;

/* libjq aborts where an assertion of its own fails and where memory ends. The lane stays unfinished, which is right:
 * everyone after this program sees that. Only calls that a signal handler may make. */
static void on_abort(int number)
{
    static const char head[] = "row-map: ", tail[] = ": libjq aborted on this record\n";
    (void)number;
    const char *at = op_at(running);
    ssize_t unused = write(STDERR_FILENO, head, sizeof head - 1);
    unused = write(STDERR_FILENO, at, strlen(at));
    unused = write(STDERR_FILENO, tail, sizeof tail - 1);
    (void)unused;
    _exit(OWED_TROUBLE);
}

/* ---- the lane ---- */

struct mapper {
    struct op *map;
    struct trace trace;
    struct stream_out out;
};

static void put_event(void *ctx, const char *p, size_t n)
{
    struct mapper *m = ctx;
    stream_put(&m->out, LINE_EVENT, p, n);
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct mapper *m = ctx;
    struct op_output out = {put_event, m};
    if (line->type == LINE_BARRIER)
        return trace_pass_line(&m->trace, &m->out, line, err);
    if (line->type != LINE_RECORD && line->type != LINE_EVENT)
        return 0;
    int rc = line->type == LINE_RECORD ? op_record(m->map, line->p, line->n, &out, err)
                                       : op_event(m->map, line->p, line->n, &out, err);
    return rc == 0 ? 1 : -1;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.max_line = STREAM_MAX_LINE, .subtask = EVIDENCE_NO_SUBTASK};
    struct mapper m = {0};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = read_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0 || open_operator(&o, &m.map, &err) < 0)
        return stream_refuse(&err, STREAM_NO_INPUT);
    if (trace_open(&m.trace, o.trace_dir, o.job, o.attempt, "row-map", o.operator_id, o.subtask, &err) != 0)
        msg_error("there is no trace: %s", err.text);
    running = m.map;
    signal(SIGABRT, on_abort);
    struct stream_in in = {.lane = true, .code = CODE_RECORD_NOT_MAPPED};
    stream_filter(&in, &m.out, o.max_line, on_line, &m);
    status = stream_end(&m.out);
    if (trace_close(&m.trace, status, &err) != 0)
        msg_error("the trace lacks events: %s", err.text);
    stream_in_free(&in);
    stream_out_free(&m.out);
    op_close(m.map);
    return status;
}
