/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row-map: the job's map. Each record of the lane goes through a jq program;
 * what the program gives becomes events, in order. Watermarks and barriers
 * pass where they stand; nothing is kept over a barrier.
 *
 * A record that cannot be mapped stops the job: `stop`, `end`, and not one
 * line more, so that no barrier passes for records that were not handed on.
 * Exit: 0 the lane ended whole, 2 usage, the program or a record, 3 else.
 */
#include "ops/ops.h"
#include "stream/stream.h"

#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define MAX_PROGRAM ((size_t)1 << 20)

static const char help[] =
    "usage: row-map --program=TEXT | --program-file=FILE [options] <lane >lane\n"
    "Make rows of records with a jq program that sees one record at a time and nothing else.\n"
    "  --program=TEXT        the program: . is the payload, $record the rest of the record; each output is an object\n"
    "                        of values by column name; no output, no row\n"
    "  --program-file=FILE   the program's file\n"
    "  --numbers=double      numbers are doubles; one that a double does not hold stops the job (the default)\n"
    "  --numbers=text        every number of the record is its text\n"
    "  --max-line=SIZE       longest line accepted (64M)\n"
    "  --help, --version\n";

enum { OPT_PROGRAM = 256, OPT_PROGRAM_FILE, OPT_NUMBERS, OPT_MAX_LINE };

static const struct option longopts[] = {
    {"program", required_argument, NULL, OPT_PROGRAM},
    {"program-file", required_argument, NULL, OPT_PROGRAM_FILE},
    {"numbers", required_argument, NULL, OPT_NUMBERS},
    {"max-line", required_argument, NULL, OPT_MAX_LINE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct options {
    const char *program, *program_file;
    enum ops_numbers numbers;
    uint64_t max_line;
};

/* 0 with o filled, 1 after --help or --version with *status, -1 with err. */
static int parse_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    int c;
    while ((c = getopt_long(argc, argv, "hV", longopts, NULL)) != -1) {
        switch (c) {
        case OPT_PROGRAM: o->program = optarg; break;
        case OPT_PROGRAM_FILE: o->program_file = optarg; break;
        case OPT_NUMBERS:
            if (ops_numbers_parse(optarg, &o->numbers, err) != 0)
                return err_prefix(err, "--numbers");
            break;
        case OPT_MAX_LINE:
            if (parse_size(optarg, 1024, (uint64_t)1 << 40, &o->max_line, "--max-line", err) != 0)
                return -1;
            break;
        case 'h': *status = msg_help(help); return 1;
        case 'V': *status = msg_version(); return 1;
        default: return opt_refused(argv, optind - 1, err);
        }
    }
    if (optind < argc)
        return opt_refused(argv, optind, err);
    if (!o->program == !o->program_file)
        return err_set(err, ERR_REFUSED, "give one of --program and --program-file");
    return 0;
}

static int load_program(const struct options *o, struct ops_map **map, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = 0;
    if (o->program)
        buf_adds(&text, o->program);
    else
        rc = file_read(o->program_file, MAX_PROGRAM, &text, err);
    if (rc == 0)
        rc = ops_map_new(map, buf_str(&text), text.len, o->numbers, err);
    buf_free(&text);
    return rc;
}

/* ---- libjq's aborts ---- */

static const struct ops_map *running;

/* libjq aborts where an assertion of its own fails and where memory ends. The lane stays unfinished, which is right:
 * everyone after this program sees that. Only calls that a signal handler may make. */
static void on_abort(int number)
{
    static const char head[] = "row-map: ", tail[] = ": libjq aborted on this record\n";
    (void)number;
    const char *at = ops_map_at(running);
    ssize_t unused = write(STDERR_FILENO, head, sizeof head - 1);
    unused = write(STDERR_FILENO, at, strlen(at));
    unused = write(STDERR_FILENO, tail, sizeof tail - 1);
    (void)unused;
    _exit(OWED_TROUBLE);
}

/* ---- the lane ---- */

struct mapper {
    struct ops_map *map;
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
    if (line->type != LINE_RECORD)
        return 0;
    return ops_map_record(m->map, line->p, line->n, put_event, m, err) == 0 ? 1 : -1;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.numbers = OPS_DOUBLE, .max_line = STREAM_MAX_LINE};
    struct mapper m = {0};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = parse_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0 || load_program(&o, &m.map, &err) < 0)
        return stream_refuse(&err, CODE_USAGE);
    running = m.map;
    signal(SIGABRT, on_abort);
    struct stream_in in = {.lane = true, .code = CODE_RECORD_NOT_MAPPED};
    stream_filter(&in, &m.out, o.max_line, on_line, &m);
    status = stream_end(&m.out);
    stream_in_free(&in);
    stream_out_free(&m.out);
    ops_map_free(m.map);
    return status;
}
