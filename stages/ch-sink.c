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
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chwrite/chwrite.h"
#include "stream/stream.h"
#include "evidence/places.h"

#define BATCH_ROWS 1000
#define BATCH_MS 500
#define BATCH_BYTES ((size_t)64 << 20)

static const char help[] =
    "usage: ch-sink --url=URL --database=NAME --table=NAME --job=JOB --operator=ID --subtask=N --attempt=ID [options] <lane >lane\n"
    "Write a lane's events into a ClickHouse table, and pass each barrier once all before it is acknowledged.\n"
    "  --url=URL               http://host:port or https://host:port, without a user\n"
    "  --user=NAME             and one of --password-env=VARIABLE, --password-file=FILE\n"
    "  --cacert=FILE           authorities to trust for https, instead of the system's\n"
    "  --database=NAME --table=NAME   a table of the MergeTree family\n"
    "  --from=COLUMN:UNIT      the unit of a time column's values: s, ms, us, ns, ticks, days or iso; repeated\n"
    "  --column=NAME           write this column although it has a DEFAULT; repeated\n"
    "  --job=JOB --operator=ID --subtask=N --attempt=ID   who writes\n"
    "  --capture-dir=DIR       where the interval's evidence goes; without it there is none\n"
    "  --batch-rows=N          rows of one INSERT, at most (1000)\n"
    "  --batch-ms=N            send a batch that is this old (500)\n"
    "  --timeout-ms=N          wait so long for the answer to one statement (30000)\n"
    "  --connect-timeout-ms=N  and so long for a connection (10000)\n"
    "  --retry-ms=N            give up on an INSERT after so long (120000)\n"
    "  --max-line=SIZE         longest line accepted (64M)\n"
    "  --help, --version\n";

enum {
    OPT_URL = 256,
    OPT_USER,
    OPT_PASSWORD_ENV,
    OPT_PASSWORD_FILE,
    OPT_CACERT,
    OPT_DATABASE,
    OPT_TABLE,
    OPT_FROM,
    OPT_COLUMN,
    OPT_JOB,
    OPT_OPERATOR,
    OPT_SUBTASK,
    OPT_ATTEMPT,
    OPT_CAPTURE_DIR,
    OPT_BATCH_ROWS,
    OPT_BATCH_MS,
    OPT_TIMEOUT,
    OPT_CONNECT,
    OPT_RETRY,
    OPT_MAX_LINE
};

static const struct option longopts[] = {
    {"url", required_argument, NULL, OPT_URL},
    {"user", required_argument, NULL, OPT_USER},
    {"password-env", required_argument, NULL, OPT_PASSWORD_ENV},
    {"password-file", required_argument, NULL, OPT_PASSWORD_FILE},
    {"cacert", required_argument, NULL, OPT_CACERT},
    {"database", required_argument, NULL, OPT_DATABASE},
    {"table", required_argument, NULL, OPT_TABLE},
    {"from", required_argument, NULL, OPT_FROM},
    {"column", required_argument, NULL, OPT_COLUMN},
    {"job", required_argument, NULL, OPT_JOB},
    {"operator", required_argument, NULL, OPT_OPERATOR},
    {"subtask", required_argument, NULL, OPT_SUBTASK},
    {"attempt", required_argument, NULL, OPT_ATTEMPT},
    {"capture-dir", required_argument, NULL, OPT_CAPTURE_DIR},
    {"batch-rows", required_argument, NULL, OPT_BATCH_ROWS},
    {"batch-ms", required_argument, NULL, OPT_BATCH_MS},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT},
    {"connect-timeout-ms", required_argument, NULL, OPT_CONNECT},
    {"retry-ms", required_argument, NULL, OPT_RETRY},
    {"max-line", required_argument, NULL, OPT_MAX_LINE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct options {
    struct chwrite_options w;
    struct chwrite_from *from; /* at most argc of them */
    const char **with;
    size_t n_with;
    const char *password_env, *password_file, *capture_dir;
    uint64_t batch_rows, batch_ms, max_line;
    bool has_subtask;
};

/* ---- options ---- */

static int add_from(struct options *o, char *arg, struct err *err)
{
    char *colon = strrchr(arg, ':');

    if (colon == NULL || colon == arg) {
        return err_set(err, ERR_REFUSED, "--from is not COLUMN:UNIT");
    }
    if (type_from_parse(colon + 1, &o->from[o->w.n_from].unit, err) != 0) {
        return err_prefix(err, "--from");
    }
    *colon = '\0';
    o->from[o->w.n_from++].column = arg;
    return 0;
}

static int set_number(int c, const char *arg, struct options *o, struct err *err)
{
    switch (c) {
    case OPT_SUBTASK: o->has_subtask = true; return parse_u64(arg, 0, UINT32_MAX, &o->w.subtask, "--subtask", err);
    case OPT_BATCH_ROWS: return parse_u64(arg, 1, CHWRITE_MAX_ROWS, &o->batch_rows, "--batch-rows", err);
    case OPT_BATCH_MS: return parse_u64(arg, 0, 3600000, &o->batch_ms, "--batch-ms", err);
    case OPT_TIMEOUT: return parse_u64(arg, 1, 86400000, &o->w.http.timeout_ms, "--timeout-ms", err);
    case OPT_CONNECT: return parse_u64(arg, 1, 86400000, &o->w.http.connect_timeout_ms, "--connect-timeout-ms", err);
    case OPT_RETRY: return parse_u64(arg, 1, 86400000, &o->w.retry_ms, "--retry-ms", err);
    default: return parse_size(arg, 1024, (uint64_t)1 << 40, &o->max_line, "--max-line", err);
    }
}

static int check_options(const struct options *o, struct err *err)
{
    const struct chwrite_options *w = &o->w;

    if (w->http.url == NULL || w->database == NULL || w->table == NULL || w->job == NULL || w->operator_id == NULL ||
        w->attempt == NULL || !o->has_subtask) {
        return err_set(err, ERR_REFUSED,
                       "--url, --database, --table, --job, --operator, --subtask and --attempt are needed");
    }
    if (*w->database == '\0' || *w->table == '\0' || *w->attempt == '\0') {
        return err_set(err, ERR_REFUSED, "--database, --table or --attempt is empty");
    }
    if (!utf8_valid(w->database, strlen(w->database)) || !utf8_valid(w->table, strlen(w->table)) ||
        !utf8_valid(w->attempt, strlen(w->attempt))) {
        return err_set(err, ERR_REFUSED, "--database, --table or --attempt is not UTF-8");
    }
    if (!evidence_job_ok(w->job) || !evidence_operator_ok(w->operator_id)) {
        return err_set(err, ERR_REFUSED, "--job or --operator is no plain id");
    }
    if (o->password_env != NULL && o->password_file != NULL) {
        return err_set(err, ERR_REFUSED, "give one of --password-env and --password-file");
    }
    return 0;
}

/* 0 with o filled, 1 after --help or --version with *status, -1 with err. */
static int parse_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    int c;

    while ((c = getopt_long(argc, argv, "hV", longopts, NULL)) != -1) {
        switch (c) {
        case OPT_URL: o->w.http.url = optarg; break;
        case OPT_USER: o->w.http.user = optarg; break;
        case OPT_PASSWORD_ENV: o->password_env = optarg; break;
        case OPT_PASSWORD_FILE: o->password_file = optarg; break;
        case OPT_CACERT: o->w.http.cacert = optarg; break;
        case OPT_DATABASE: o->w.database = optarg; break;
        case OPT_TABLE: o->w.table = optarg; break;
        case OPT_COLUMN: o->with[o->n_with++] = optarg; break;
        case OPT_JOB: o->w.job = optarg; break;
        case OPT_OPERATOR: o->w.operator_id = optarg; break;
        case OPT_ATTEMPT: o->w.attempt = optarg; break;
        case OPT_CAPTURE_DIR: o->capture_dir = optarg; break;
        case OPT_FROM:
            if (add_from(o, optarg, err) != 0) {
                return -1;
            }
            break;
        case 'h': *status = msg_help(help); return 1;
        case 'V': *status = msg_version(); return 1;
        case '?': return opt_refused(argv, optind - 1, err);
        default:
            if (set_number(c, optarg, o, err) != 0) {
                return -1;
            }
        }
    }
    if (optind < argc) {
        return opt_refused(argv, optind, err);
    }
    o->w.from = o->from;
    o->w.with = o->with;
    o->w.max_rows = o->batch_rows;
    return check_options(o, err);
}

/* ---- the lane ---- */

struct sink {
    const struct options *o;
    struct chwrite *w; /* NULL before the first line that needs it */
    struct stream_out out;
    struct arena line, interval; /* reset for each line, and for each interval */
    struct ledger_entry *ledger;
    size_t n_ledger, cap_ledger;
    uint64_t seen;  /* events of this interval, those of the batch included */
    uint64_t after; /* the barrier before it */
    bool has_watermark, said;
    int64_t watermark, batch_since;
};

/* Send what is held, if anything, and enter it in the ledger. */
static int flush(struct sink *s, struct err *err)
{
    uint64_t rows = s->w == NULL ? 0 : chwrite_rows(s->w);

    if (rows == 0) {
        return 0;
    }
    if (s->n_ledger == s->cap_ledger) {
        s->cap_ledger = s->cap_ledger * 2 + 16;
        s->ledger = xrealloc(s->ledger, s->cap_ledger * sizeof *s->ledger);
    }
    if (chwrite_send(s->w, s->after, s->seen - rows, &s->interval, &s->ledger[s->n_ledger], err) != 0) {
        return -1;
    }
    s->n_ledger++;
    return 0;
}

static int need_table(struct sink *s, struct err *err)
{
    if (s->w == NULL) {
        s->w = chwrite_open(&s->o->w, err);
        if (s->w == NULL && err->kind == ERR_REFUSED)
            err_cause(err, BECAUSE(CODE_INSERT_NOT_POSSIBLE));
    }
    return s->w == NULL ? -1 : 0;
}

static int on_event(struct sink *s, const struct stream_line *line, struct err *err)
{
    struct json *doc, *values;
    const char *at = NULL;
    char where[48];

    snprintf(where, sizeof where, "line %" PRIu64, line->line_no);
    doc = json_parse_named(line->p, line->n, &s->line, where, err);
    if (doc == NULL || json_opt_str(doc, "at", &s->line, &at, where, err) != 0 ||
        json_need(doc, "values", JSON_OBJECT, &values, where, err) != 0 ||
        chwrite_add(s->w, values, at, where, err) != 0) {
        return -1;
    }
    if (chwrite_rows(s->w) == 1) {
        s->batch_since = time_mono_ms();
    }
    s->seen++;
    if (chwrite_rows(s->w) >= s->o->batch_rows || chwrite_bytes(s->w) >= BATCH_BYTES ||
        time_mono_ms() - s->batch_since >= (int64_t)s->o->batch_ms) {
        return flush(s, err);
    }
    return 0;
}

static int on_watermark(struct sink *s, const struct stream_line *line, struct err *err)
{
    struct json *doc = json_parse_named(line->p, line->n, &s->line, "watermark", err);

    if (doc == NULL) {
        return -1;
    }
    if (json_get(doc, "ts") == NULL) {
        return 0; /* an idle lane: the watermark stays what it was */
    }
    s->has_watermark = true;
    return json_need_i64(doc, "ts", &s->watermark, "watermark", err);
}

/* What the interval came to, beside its capture. */
static void leave_evidence(struct sink *s, struct barrier *b)
{
    const struct options *o = s->o;
    struct interval iv = {.job = o->w.job,
                          .operator_id = o->w.operator_id,
                          .attempt = o->w.attempt,
                          .subtask = o->w.subtask,
                          .epoch = b->checkpoint,
                          .previous = b->previous,
                          .has_watermark = s->has_watermark,
                          .watermark = s->watermark,
                          .destination = *chwrite_destination(s->w),
                          .ledger = s->ledger,
                          .n_ledger = s->n_ledger};
    struct left entry;
    struct err err = ERR_INIT;

    if (o->capture_dir == NULL) {
        return;
    }
    interval_set_capture(&iv, barrier_find(b, o->w.operator_id, o->w.subtask, LEFT_CAPTURE), s->seen);
    if (interval_write(o->capture_dir, &iv, &s->line, &entry, &err) == 0) {
        barrier_add(b, &s->line, &entry);
    } else if (!s->said) {
        msg_error("checkpoint %" PRIu64 ": the interval has no evidence: %s", b->checkpoint, err.text);
        s->said = true;
    }
}

static int check_barrier(const struct sink *s, const struct barrier *b, struct err *err)
{
    if (strcmp(b->job, s->o->w.job) != 0 || strcmp(b->attempt, s->o->w.attempt) != 0) {
        return err_set(err, ERR_REFUSED, "barrier %" PRIu64 " is of job %s, attempt %s, not of job %s, attempt %s",
                       b->checkpoint, b->job, b->attempt, s->o->w.job, s->o->w.attempt);
    }
    if (b->previous != s->after || b->checkpoint <= s->after) {
        return err_set(err, ERR_REFUSED,
                       "barrier %" PRIu64 " says that it follows %" PRIu64 ", and the last one here was %" PRIu64,
                       b->checkpoint, b->previous, s->after);
    }
    return 0;
}

static int on_barrier(struct sink *s, const struct stream_line *line, struct err *err)
{
    struct barrier b;
    struct buf text = BUF_INIT;

    if (barrier_parse(line->p, line->n, "barrier", &s->line, &b, err) != 0 || check_barrier(s, &b, err) != 0 ||
        flush(s, err) != 0 || chwrite_look(s->w, err) != 0) {
        return -1;
    }
    leave_evidence(s, &b);
    barrier_put(&text, &b);
    stream_put(&s->out, LINE_BARRIER, text.p, text.len);
    buf_free(&text);
    s->after = b.checkpoint;
    s->seen = 0;
    s->n_ledger = 0;
    arena_reset(&s->interval);
    return 0;
}

static int on_line(struct sink *s, const struct stream_line *line, struct err *err)
{
    arena_reset(&s->line);
    switch (line->type) {
    case LINE_EVENT: return need_table(s, err) != 0 ? -1 : on_event(s, line, err);
    case LINE_BARRIER: return need_table(s, err) != 0 ? -1 : on_barrier(s, line, err);
    case LINE_WATERMARK:
        if (on_watermark(s, line, err) != 0) {
            return -1;
        }
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
        if (s->w == NULL || chwrite_rows(s->w) == 0) {
            return 0;
        }
        left = s->batch_since + (int64_t)s->o->batch_ms - time_mono_ms();
        if (left > 0 && poll(&p, 1, (int)left) != 0) {
            return 0;
        }
        if (flush(s, err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The lane, to its end. Rows that no barrier follows are written all the same when it ended whole; of a lane that did
 * not, only what was acknowledged by then. */
static void run(struct sink *s, struct stream_in *in)
{
    struct stream_line line;
    struct err err = ERR_INIT;
    enum code refused = CODE_LINE_MALFORMED;
    int rc = stream_open(in, &err);

    stream_begin(&s->out, STDOUT_FILENO, rc == 0 ? in : NULL);
    while (rc >= 0 && !s->out.broken) {
        if (await_line(s, in, &err) != 0) {
            rc = -1;
            refused = CODE_VALUE_NOT_STORABLE;
            break;
        }
        rc = stream_next(in, &line, &err);
        if (rc > 0 && line.type == LINE_STOP) {
            stream_pass(&s->out, &line);
            stream_status(&s->out, OWED_TROUBLE);
            return;
        }
        if ((rc > 0 && on_line(s, &line, &err) != 0) || (rc == 0 && flush(s, &err) != 0)) {
            rc = -1;
            refused = CODE_VALUE_NOT_STORABLE;
        }
        if (rc == 0) {
            break;
        }
    }
    if (rc < 0) {
        stream_put_stop(&s->out, &err, refused);
    }
}

static void sink_free(struct sink *s)
{
    chwrite_close(s->w);
    free(s->ledger);
    arena_free(&s->line);
    arena_free(&s->interval);
    stream_out_free(&s->out);
}

int main(int argc, char **argv)
{
    struct options o = {.batch_rows = BATCH_ROWS, .batch_ms = BATCH_MS, .max_line = STREAM_MAX_LINE};
    struct sink s = {.o = &o, .line = ARENA_INIT, .interval = ARENA_INIT};
    struct stream_in in;
    struct err err = ERR_INIT;
    char *password = NULL;
    int status = OWED_OK, rc;

    msg_init(argv[0]);
    o.from = xcalloc((size_t)argc + 1, sizeof *o.from);
    o.with = xcalloc((size_t)argc + 1, sizeof *o.with);
    rc = parse_options(argc, argv, &o, &status, &err);
    if (rc == 0 && secret_read(o.password_env, o.password_file, &password, &err) != 0) {
        rc = -1;
    }
    if (rc != 0) {
        status = rc > 0 ? status : stream_refuse(&err, CODE_USAGE);
    } else {
        o.w.http.password = password;
        stream_in_init(&in, STDIN_FILENO, "stdin", o.max_line);
        in.lane = true;
        run(&s, &in);
        status = stream_end(&s.out);
        stream_in_free(&in);
        sink_free(&s);
    }
    if (password != NULL) {
        explicit_bzero(password, strlen(password));
    }
    free(password);
    free(o.from);
    free(o.with);
    return status;
}
