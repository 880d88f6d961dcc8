/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref-run: an operator's own program over the records of a stream. Each record
 * goes to the program as one line of JSON, each object that it writes becomes
 * an event for ref-seal; everything else goes around it. The program runs
 * without a shell, in a process group of its own.
 *
 * Exit: 0 the program's rows are whole, 2 usage or a program that cannot be run,
 * 3 the rows are not whole (the account says why) or the stream is unfinished.
 */
#include "program/program.h"
#include "stream/stream.h"

#include <string.h>

struct options {
    unsigned payloads; /* enum program_payloads */
    struct program_rows_options rows;
    uint64_t max_line;
    char **command;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("ref-run [options] -- PROGRAM [ARGUMENT...] <stream >stream\n"
                  "Run a reference program of your own over the records of a stream; its rows become events."),
        OPT_COMMAND(&o->command),
        OPT_WORD("payload", PROGRAM_PAYLOAD_WORDS, &o->payloads,
                 "give each record its payload parsed from JSON, as `value`: with every number\n"
                 "as its text (text), which jq needs to keep digits, or as it stands (json);\n"
                 "raw, base64: leave reading it to the program, as text or as `payload_b64` of its bytes"),
        PROGRAM_ROWS_OPTIONS(&o->rows),
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 whole, 2 refused, 3 the program's rows are not whole, or the stream is unfinished"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && (!o->command || !**o->command))
        return err_set(err, ERR_REFUSED, "no program: give it after --");
    return rc;
}

struct run {
    struct options o;
    struct stream_in in;
    struct stream_out out;
    struct program program;
    struct buf name; /* the program's */
    struct program_rows rows;
};

static void before_wait(void *ctx)
{
    struct program_rows *rows = ctx;
    stream_flush(rows->out);
}

/* ---- records ---- */

static int queue_record(struct run *r, const struct stream_line *line, struct err *err)
{
    struct program_record record;
    program_make_room(&r->program);
    if (program_record(line->p, line->n, (enum program_payloads)r->o.payloads, &r->rows.arena, &r->program.queue,
                       &record, err) == 0 &&
        program_rows_record(&r->rows, &record, err) == 0)
        return 0;
    return err_prefix(err, "stdin: line %" PRIu64, line->line_no);
}

static int start(struct run *r, struct err *err)
{
    if (program_start(&r->program, r->o.command, err) == 0)
        return 0;
    err_cause(err, BECAUSE(CODE_PROGRAM_NOT_RUN, {"program", r->program.name}));
    program_not_whole(&r->program, &err->cause, "%s", err->text);
    stream_put_stop(&r->out, err, CODE_PROGRAM_NOT_RUN);
    return -1;
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct run *r = ctx;
    int rc = 0;
    if (!r->program.started && start(r, err) != 0)
        return 0;
    if (line->type == LINE_RECORD) {
        rc = 1;
        r->rows.records++;
        if (!r->program.ended && queue_record(r, line, err) != 0)
            return -1;
        program_serve(&r->program, PROGRAM_ROOM);
    }
    /* Before the next read may wait, the program is served until there is something to read. */
    if (!line_in_ready(&r->in.lines))
        program_serve(&r->program, PROGRAM_INPUT);
    return rc;
}

/* ---- the whole ---- */

static void finish(struct run *r, bool whole)
{
    struct program *p = &r->program;
    struct err err = ERR_INIT;
    if (whole && !p->started)
        whole = start(r, &err) == 0;
    if (whole) {
        p->fed = true;
        program_serve(p, PROGRAM_END);
    } else {
        program_not_whole(p, r->in.stop_reason ? &r->in.stop_cause : &r->out.stop_cause,
                          "the stream did not come whole");
    }
    program_end(p);
    program_rows_conclude(&r->rows);
    if (program_whole(p))
        return;
    stream_status(&r->out, OWED_TROUBLE);
    if (whole && !r->out.broken)
        msg_error("%s", p->reason.p);
}

static void run_free(struct run *r)
{
    program_free(&r->program);
    buf_free(&r->name);
    program_rows_free(&r->rows);
    stream_in_free(&r->in);
    stream_out_free(&r->out);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct run r = {.o = {.max_line = STREAM_MAX_LINE}};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &r.o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0)
        return stream_refuse(&err, r.o.max_line);
    const char *slash = strrchr(r.o.command[0], '/');
    buf_adds(&r.name, slash ? slash + 1 : r.o.command[0]);
    r.program = (struct program){.name = buf_str(&r.name),
                                 .max_line = (size_t)r.o.max_line,
                                 .on_value = program_rows_value,
                                 .before_wait = before_wait,
                                 .ctx = &r.rows,
                                 .child = CHILD_INIT};
    r.rows = (struct program_rows){.o = r.o.rows, .payloads = r.o.payloads};
    program_rows_init(&r.rows, &r.out, &r.program);
    r.in.data_unchecked = r.o.payloads != PROGRAM_RAW; /* each is then read in full here */
    bool whole = stream_filter(&r.in, &r.out, (size_t)r.o.max_line, on_line, &r);
    finish(&r, whole);
    status = stream_end(&r.out);
    run_free(&r);
    return status;
}
