/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref-jq: a jq program over the records of a stream, in this process. What it
 * gives the program, what it takes for an answer and the account are those of
 * ref-run; records are worked at by one thread a core, a batch at a time, and
 * their answers are taken in the records' order.
 *
 * Exit: 0 the program's rows are whole, 2 usage or a program that cannot be run,
 * 3 the rows are not whole (the account says why) or the stream is unfinished.
 */
#include "program/program.h"
#include "rules/rules.h"
#include "stream/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_MAX ((size_t)1 << 20)
#define BATCH ((size_t)128 << 10) /* bytes of records that are worked at together */
enum { THREADS_MAX = 16, AHEAD = 3 /* batches a thread */ };

struct options {
    struct program_rows_options rows;
    const char *program, *file;
    uint64_t max_line;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("ref-jq --rules=TEXT | --rules-file=FILE [options] <stream >stream\n"
                  "Run a jq program over the records of a stream; its rows become events."),
        OPT_TEXT("rules", "TEXT", &o->program,
                 "the program: . is the record, with its payload parsed as `value` and every number\n"
                 "of that as its text; it answers as a program of ref-run does"),
        OPT_TEXT("rules-file", "FILE", &o->file, "the program's file"),
        PROGRAM_ROWS_OPTIONS(&o->rows),
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 whole, 2 refused, 3 the program's rows are not whole, or the stream is unfinished"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc == 0 && !!o->program + !!o->file != 1)
        return err_set(err, ERR_REFUSED, "give one of --rules and --rules-file");
    return rc;
}

/* ---- batches ---- */

/* What became of a record. */
struct worked {
    size_t line, line_len; /* in the batch's lines */
    uint64_t line_no;
    struct program_record record;
    char topic[256]; /* the record's, which lies in memory that is used again */
    size_t answers, answers_len;
    struct err refused; /* of the record itself */
    struct err failed;  /* of the program at it */
};

enum batch_state { EMPTY, FULL, DONE };
struct batch {
    enum batch_state state;
    struct buf lines, answers;
    struct worked *at;
    size_t n, cap;
};

struct run {
    struct options o;
    struct stream_in in;
    struct stream_out out;
    struct program program; /* no process of its own: its name, and whether its rows are whole */
    struct program_rows rows;
    size_t n_threads, n_batches;
    pthread_t threads[THREADS_MAX];
    struct rules *rules[THREADS_MAX];
    struct batch batches[THREADS_MAX * AHEAD];
    size_t filled, taken, merged; /* batches so far; the one at hand is not filled yet */
    pthread_mutex_t lock;
    pthread_cond_t more, done;
    bool started, closing, over; /* over: an answer was none, and no more are wanted */
};

static void work_record(struct worked *w, const struct batch *b, struct rules *rules, struct buf *out,
                        struct arena *arena)
{
    const struct json *record, *value;
    err_reset(&w->refused);
    err_reset(&w->failed);
    w->answers = out->len;
    if (program_record_tree(b->lines.p + w->line, w->line_len, arena, &record, &value, &w->record, &w->refused) != 0)
        return;
    if (w->record.topic_len >= sizeof w->topic) {
        err_set(&w->refused, ERR_REFUSED, "the topic's name is too long");
        return;
    }
    memcpy(w->topic, w->record.topic, w->record.topic_len);
    w->record.topic = w->topic;
    rules_run(rules, record, value, w->record.value == PROGRAM_NO_VALUE ? w->record.why : NULL, out, &w->failed);
    w->answers_len = out->len - w->answers;
}

struct worker {
    struct run *r;
    struct rules *rules;
};

static void *work(void *arg)
{
    struct worker w = *(struct worker *)arg;
    struct run *r = w.r;
    struct arena arena = ARENA_INIT;
    free(arg);
    pthread_mutex_lock(&r->lock);
    for (;;) {
        while (r->taken == r->filled && !r->closing)
            pthread_cond_wait(&r->more, &r->lock);
        if (r->taken == r->filled)
            break;
        struct batch *b = &r->batches[r->taken++ % r->n_batches];
        pthread_mutex_unlock(&r->lock);
        buf_reset(&b->answers);
        for (size_t i = 0; i < b->n; i++)
            work_record(&b->at[i], b, w.rules, &b->answers, &arena);
        pthread_mutex_lock(&r->lock);
        b->state = DONE;
        pthread_cond_signal(&r->done);
    }
    pthread_mutex_unlock(&r->lock);
    arena_free(&arena);
    return NULL;
}

/* ---- taking answers ---- */

static void not_whole(struct run *r, const struct worked *w, enum code code, const struct err *err)
{
    program_not_whole(&r->program, BECAUSE(code, {"program", r->program.name}), "%.*s/%" PRIu64 "/%" PRIu64 ": %s",
                      (int)w->record.topic_len, w->record.topic, w->record.partition, w->record.offset, err->text);
}

/* A record and its answers, in order. */
static int merge_record(struct run *r, const struct batch *b, struct worked *w, struct err *err)
{
    struct program_record *record = &w->record;
    if (w->refused.kind != ERR_NONE)
        *err = w->refused;
    if (w->refused.kind != ERR_NONE || program_rows_record(&r->rows, record, err) != 0)
        return err_prefix(err, "stdin: line %" PRIu64, w->line_no);
    const char *p = b->answers.p + w->answers, *end = p + w->answers_len;
    while (p < end && !r->over) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        struct err bad = ERR_INIT;
        if (program_rows_value(&r->rows, p, (size_t)(nl - p), &bad) != 0) {
            not_whole(r, w, CODE_PROGRAM_ANSWER, &bad);
            r->over = true;
        }
        p = nl + 1;
    }
    if (w->failed.kind != ERR_NONE)
        not_whole(r, w, CODE_PROGRAM_FAILED, &w->failed);
    return 0;
}

static int merge(struct run *r, struct batch *b, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < b->n && rc == 0; i++)
        rc = merge_record(r, b, &b->at[i], err);
    b->n = 0;
    buf_reset(&b->lines);
    b->state = EMPTY;
    r->merged++;
    return rc;
}

/* Take what is done, in order; wait for as many batches as may not be open any more. */
static int merge_done(struct run *r, size_t open, struct err *err)
{
    int rc = 0;
    while (rc == 0 && r->merged < r->filled) {
        struct batch *b = &r->batches[r->merged % r->n_batches];
        pthread_mutex_lock(&r->lock);
        while (b->state != DONE && r->filled - r->merged > open)
            pthread_cond_wait(&r->done, &r->lock);
        bool done = b->state == DONE;
        pthread_mutex_unlock(&r->lock);
        if (!done)
            break;
        rc = merge(r, b, err);
    }
    return rc;
}

/* ---- records ---- */

/* Hand the batch at hand over, and have another. */
static int hand_over(struct run *r, struct err *err)
{
    struct batch *b = &r->batches[r->filled % r->n_batches];
    if (b->n == 0)
        return 0;
    pthread_mutex_lock(&r->lock);
    b->state = FULL;
    r->filled++;
    pthread_cond_signal(&r->more);
    pthread_mutex_unlock(&r->lock);
    return merge_done(r, r->n_batches - 1, err);
}

static int add_record(struct run *r, const struct stream_line *line, struct err *err)
{
    struct batch *b = &r->batches[r->filled % r->n_batches];
    if (b->n == b->cap) {
        b->cap = b->cap == 0 ? 256 : 2 * b->cap;
        b->at = xrealloc(b->at, b->cap * sizeof *b->at);
    }
    struct worked *w = &b->at[b->n++];
    w->line = b->lines.len;
    w->line_len = line->n;
    w->line_no = line->line_no;
    w->answers_len = 0;
    buf_add(&b->lines, line->p, line->n);
    return b->lines.len < BATCH ? 0 : hand_over(r, err);
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct run *r = ctx;
    int rc = 0;
    if (line->type == LINE_RECORD) {
        rc = 1;
        r->rows.records++;
        if (add_record(r, line, err) != 0)
            return -1;
    }
    /* Before the next read may wait, all that came is handed over. */
    if (!line_in_ready(&r->in.lines) && (hand_over(r, err) != 0 || merge_done(r, r->n_batches, err) != 0))
        return -1;
    return rc;
}

/* ---- the whole ---- */

static int compile(struct run *r, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = r->o.program ? 0 : file_read(r->o.file, PROGRAM_MAX, &text, err);
    if (r->o.program)
        buf_adds(&text, r->o.program);
    setenv("TZ", "UTC", 1); /* what asks for the zone gets that */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    r->n_threads = cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (size_t)cores;
    r->n_batches = r->n_threads * AHEAD;
    for (size_t i = 0; i < r->n_threads && rc == 0; i++)
        rc = (r->rules[i] = rules_open(buf_str(&text), text.len, err)) ? 0 : -1;
    buf_free(&text);
    return rc;
}

static int start(struct run *r, struct err *err)
{
    size_t n = 0;
    for (; n < r->n_threads; n++) {
        struct worker *w = xmalloc(sizeof *w);
        *w = (struct worker){r, r->rules[n]};
        if (pthread_create(&r->threads[n], NULL, work, w) != 0) {
            free(w);
            break;
        }
    }
    for (size_t i = n; i < r->n_threads; i++)
        rules_close(r->rules[i]);
    r->n_threads = n;
    return n > 0 ? 0 : err_set(err, ERR_TROUBLE, "no thread can be started");
}

static void finish(struct run *r, bool whole)
{
    struct program *p = &r->program;
    struct err err = ERR_INIT;
    if (whole && (hand_over(r, &err) != 0 || merge_done(r, 0, &err) != 0)) {
        stream_put_stop(&r->out, &err, CODE_LINE_MALFORMED);
        whole = false;
    }
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    r->taken = r->filled; /* of a stream that is not whole nothing more is wanted */
    pthread_cond_broadcast(&r->more);
    pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; i < r->n_threads; i++)
        pthread_join(r->threads[i], NULL);
    if (!whole)
        program_not_whole(p, r->in.stop_reason ? &r->in.stop_cause : &r->out.stop_cause,
                          "the stream did not come whole");
    program_rows_conclude(&r->rows);
    if (program_whole(p))
        return;
    stream_status(&r->out, OWED_TROUBLE);
    if (whole && !r->out.broken)
        msg_error("%s", p->reason.p);
}

static void run_free(struct run *r)
{
    for (size_t i = 0; i < r->n_threads; i++)
        rules_close(r->rules[i]);
    for (size_t i = 0; i < r->n_batches; i++) {
        buf_free(&r->batches[i].lines);
        buf_free(&r->batches[i].answers);
        free(r->batches[i].at);
    }
    program_rows_free(&r->rows);
    buf_free(&r->program.reason);
    stream_in_free(&r->in);
    stream_out_free(&r->out);
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    static struct run r = {.o = {.max_line = STREAM_MAX_LINE}, .program = {.name = "jq", .child = CHILD_INIT}};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &r.o, &status, &err);
    if (rc > 0)
        return status;
    if (rc == 0)
        rc = compile(&r, &err);
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.more, NULL);
    pthread_cond_init(&r.done, NULL);
    if (rc == 0)
        rc = start(&r, &err);
    if (rc < 0)
        return stream_refuse(&err, r.o.max_line);
    r.rows = (struct program_rows){.o = r.o.rows, .payloads = PROGRAM_TEXT};
    program_rows_init(&r.rows, &r.out, &r.program);
    r.in.data_unchecked = true; /* each is then read in full here */
    bool whole = stream_filter(&r.in, &r.out, (size_t)r.o.max_line, on_line, &r);
    finish(&r, whole);
    status = stream_end(&r.out);
    run_free(&r);
    return status;
}
