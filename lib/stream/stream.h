/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream: owed-stream, version 1 (STREAM.md): lines, pass-through, checks, stop
 * and end. A program reads at most one stream and writes exactly one.
 *
 * Lines pass as the bytes they came as. A line handed to a caller lives until
 * the next one is read.
 */
#ifndef OWED_STREAM_H
#define OWED_STREAM_H

#include "base/base.h"
#include "base/options.h"
#include "json/json.h"
#include "stream/account.h"
#include "stream/bundle.h"
#include "stream/check.h"
#include "stream/codes.h"
#include "stream/names.h"
#include "stream/relation.h"
#include "stream/require.h"
#include "stream/side.h"
#include "stream/ts.h"

#define STREAM_FORMAT "owed-stream"
#define STREAM_VERSION 1
#define STREAM_MAX_LINE ((size_t)64 << 20)

/* ---- lines from a descriptor, without the stream's rules (saved files, job lanes) ---- */

struct line_in {
    int fd;
    const char *name; /* for messages, such as "stdin" */
    size_t max_line;
    struct prefetch *prefetch; /* the thread that reads, or NULL */
    struct buf own;
    const char *p; /* what was read and not yet dropped: in own, or a block that was read ahead */
    size_t len;
    size_t at;        /* next unread byte of p */
    size_t scanned;   /* bytes of p from at known to hold no newline */
    uint64_t line_no; /* of the line last returned, from 1 */
    bool eof;
};

void line_in_init(struct line_in *in, int fd, const char *name, size_t max_line);
/* From now on a thread of its own reads, ahead of the caller; where none can be had, all stays as it is. To be called
 * before the first line. */
void line_in_prefetch(struct line_in *in);
/* 1 with the line (newline not counted), 0 at the end, -1 on error. A last line without its newline is an error
 * (ERR_TROUBLE, "cut in the middle of line N"); one past max_line is ERR_REFUSED. */
int line_in_next(struct line_in *in, const char **p, size_t *n, struct err *err);
/* True when another whole line is already in memory, so that the next call will not block. */
bool line_in_ready(struct line_in *in);
void line_in_free(struct line_in *in);

/* ---- reading a stream ---- */

struct stream_line {
    enum line_type type;   /* LINE_UNKNOWN: an annotation of a type that this version does not know */
    const char *type_name; /* not NUL-terminated */
    size_t type_len;
    const char *p; /* the whole line, newline not counted */
    size_t n;
    uint64_t line_no;
};

struct stream_in {
    struct line_in lines;
    uint64_t counts[LINE_TYPES]; /* lines so far by type; unknown ones by name in annotations */
    struct stream_annotations *annotations;
    struct arena arena;  /* for the header and the end */
    struct json *stages; /* `stages` of the header that came in, NULL before it */
    struct json *shard;  /* `shard` of the header, or NULL */
    bool ended, stopped;
    bool refused;            /* a `stop` of kind refused has passed */
    const char *stop_reason; /* of the first stop, "stage: reason", in arena; NULL before it */
    struct cause stop_cause; /* of the same */
    bool rows_unchecked;     /* set by a caller that checks the cells of every row itself */
    bool data_unchecked; /* set where the next program reads every record and event in full: of these the type alone */
    enum code code;      /* set by a stage: of a line that it refuses without a code; CODE_NONE: CODE_LINE_MALFORMED */
    bool prefetch;       /* set by a caller for whom reading is much of the work: a thread reads ahead */
    bool lane;           /* set by a job's stage: stream_filter ends at a stop, since a live source would not */
};

void stream_in_init(struct stream_in *in, int fd, const char *name, size_t max_line);
/* Read the header, which stream_next does too where this was not called. 0, or -1 as stream_next. */
int stream_open(struct stream_in *in, struct err *err);
/* 1 with a line, 0 after a whole `end`, -1 on error: ERR_REFUSED for what is outside the contract (not JSON, another
 * format, a newer version, a stream inside a stream, bytes after `end`, an unknown member of row, side, check or
 * require, an unknown check or status), ERR_TROUBLE for a stream that is unfinished (empty, cut, `end` missing or not
 * holding). `end` is not returned. Every line is checked to be one strict JSON object whose first member is "type"; of
 * a row only the members around its cells are checked where rows_unchecked is set, and of a record or an event only its
 * first member where data_unchecked is. */
int stream_next(struct stream_in *in, struct stream_line *line, struct err *err);
void stream_in_free(struct stream_in *in);

/* A line's object, in arena with its text; NULL with *err, which names the line. What each type's own parser begins
 * with: the file of a line type holds its struct, its parser and its writer. */
struct json *stream_doc(const struct stream_line *line, struct arena *arena, struct err *err);
/* Put the line's number before *err; returns -1. */
int stream_misfit(const struct stream_line *line, struct err *err);

/* ---- rows, the hot path ---- */

struct stream_row {
    enum side side;
    const char *cells; /* from '[' to ']' */
    size_t cells_len;
    const char *at; /* or NULL */
    size_t at_len;
    struct stream_ts ts; /* when the record that at names was written; decides nothing */
    const char *again;   /* or NULL */
    size_t again_len;
};

/* Split a row line: members side, read, cells, at, ts, again in that order, no white space; ts only behind at. The
 * cells' own form is the caller's to check: cells_scan_row must find the row's end at cells_len. ERR_REFUSED with what
 * is wrong. side, at and again may hold nothing that needs an escape. */
int stream_row(const struct stream_line *line, struct stream_row *row, struct err *err);
/* The same for a line known to hold, up to its cells' bracket at cells, what a row before it held: fills cells, at, ts
 * and again of a row that is otherwise that one's, these three not there. */
int stream_row_tail(const struct stream_line *line, const char *cells, struct stream_row *row, struct err *err);

/* A row's at: topic/partition/offset, with #n for a record's further rows. */
struct stream_place {
    size_t topic_len, name_len;    /* of topic, and of topic/partition */
    uint64_t partition, offset, n; /* n 0: none */
};
/* False where it is not of that form; whether the topic could be one is looked at apart, since most rows' is that of
 * the row before. */
bool stream_place_split(const char *at, size_t n, struct stream_place *out);
bool stream_place_named(const char *at, const struct stream_place *p);
bool stream_place_ok(const char *at, size_t n); /* both */

/* ---- writing a stream ---- */

struct stream_out {
    int fd;
    struct buf block;
    uint64_t counts[LINE_TYPES];
    struct stream_annotations *annotations;
    uint64_t checks[STATUS_TYPES]; /* check lines this program wrote, by status */
    bool begun, ended, stopped;
    bool rows_off;           /* after a stop: rows are not passed on */
    bool broken;             /* standard output failed; said once */
    const char *stop_reason; /* of this program's own first stop, in arena; NULL before it */
    struct cause stop_cause; /* of the same */
    int status;              /* the exit status so far; only rises (stream_status) */
    struct buf line;         /* the line being built */
    struct arena arena;
};

/* Start a stream on fd. in (NULL for a first stage) gives the stages and the shard so far: its header must have been
 * read, see stream_open. */
void stream_begin(struct stream_out *out, int fd, const struct stream_in *in);
/* Append one line of a known type, complete JSON text without its newline. */
void stream_put(struct stream_out *out, enum line_type type, const char *p, size_t n);
/* Pass a line on as the bytes it came as. After a stop, rows and a job's lines (record, event, watermark, barrier: each
 * says that something was done) are dropped. */
/* Count a line for the terminal (base.h, progress): those that come, and those that this program makes. */
void stream_progress(enum line_type type);
void stream_pass(struct stream_out *out, const struct stream_line *line);
/* Build a line in place: returns out->line holding `{"type":"<name>"`; the caller appends `,"member":…` parts and
 * stream_put_built closes and writes it. */
struct buf *stream_build(struct stream_out *out, enum line_type type);
void stream_put_built(struct stream_out *out, enum line_type type);

/* A row, as stream_row gives it: at and again, which are left out where they are NULL, hold nothing to escape. */
void stream_put_row(struct stream_out *out, const struct stream_row *row);
/* Append a row's `,"at":…,"ts":…`, those that it has. */
void stream_row_place(struct buf *line, const struct stream_row *row);
/* A check of this program. cause: why it did not pass; not written where it did. evidence: NULL-terminated array of
 * texts or NULL. counts: JSON object text or NULL. Raises the program's own exit status. */
void stream_put_check(struct stream_out *out, enum check_name name, enum status status, const struct cause *cause,
                      const char *reason, const char *const *evidence, const char *counts);
/* A stop: kind from err (ERR_REFUSED refused, else unfinished), cause by code_of_err. Also prints `prog: reason` on
 * standard error and raises the exit status to 2 or 3. From then on rows are not passed. */
void stream_put_stop(struct stream_out *out, const struct err *err, enum code refused);
/* Append a text as a JSON string. Reasons may quote what a server or a file said, which need not be UTF-8: it is masked
 * as a message is. */
void stream_put_text(struct buf *line, const char *s);
void stream_status(struct stream_out *out, int status); /* 2 over 1 over 3 over 0; nothing lowers it */
/* Write what is held, so that a reader sees it before this program blocks. 0, or -1 where the output failed. */
int stream_flush(struct stream_out *out);
/* Write `end`, flush, check the descriptor's close. Returns the exit status (OWED_TROUBLE where the output failed). */
int stream_end(struct stream_out *out);
void stream_out_free(struct stream_out *out);

/* ---- the shape of a filter ---- */

/* What a stage does with each line that came. Return 0 to pass the line on, 1 to keep it back (the stage owns it), or
 * -1 with *err for a stop. */
typedef int stream_line_fn(void *ctx, const struct stream_line *line, struct err *err);

/* Run standard input (fd 0) through: reads the header, begins out on fd 1, calls on_line for every line, passes what
 * is to pass. When the input is unfinished or outside the contract, or on_line returns -1, a stop is written and what
 * follows still passes, but rows (rules 2 and 4); on_line is not called again. Returns true when the input ended
 * whole, no stop is in it, and the stage may do its own work; the caller then ends with stream_end in every case. */
bool stream_filter(struct stream_in *in, struct stream_out *out, size_t max_line, stream_line_fn *on_line, void *ctx);

/* A whole stream that says why nothing was done, the arguments being at fault. A filter gives its longest line, and
 * what came still passes, but rows (from a terminal nothing is read). A program that begins a stream reads none, nor
 * does one in a job's lane, which need not end. Returns err_exit(err). */
#define STREAM_NO_INPUT ((size_t)0)
int stream_refuse(const struct err *err, size_t max_line);

/* ---- the options of every program that reads a stream ---- */

/* A row's cells are counted in 32 bits. */
#define STREAM_MAX_LINE_MOST ((uint64_t)1 << 30)

/* clang-format off */
/* Entries for a table of options (base/options.h). */
#define STREAM_OPTIONS(MAX_LINE) \
    OPT_SIZE("max-line", MAX_LINE, 1024, STREAM_MAX_LINE_MOST, "longest line accepted (64M)")
#define STREAM_OPTION_FIRST(FIRST) OPT_FLAG("first", FIRST, "begin the stream, and read none")
#define STREAM_OPTION_SCRATCH(DIR) OPT_TEXT("scratch", "DIR", DIR, "where scratch files go (/var/tmp)")
/* clang-format on */

#endif
