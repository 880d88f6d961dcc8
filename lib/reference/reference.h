/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference: the rows that an operator's own program says a scope owes, as a
 * file bound to that scope (clink-reference-result, version 1; owed-reference(5)):
 * a header line with the scope document and the implementation, a line a row,
 * an end line with counts, hashes and whether it is whole. Also what the
 * programs around it need: cells of events, the answers to records, payloads.
 *
 * Nothing that an artifact names is opened, run or connected to.
 */
#ifndef OWED_REFERENCE_H
#define OWED_REFERENCE_H

#include "base/base.h"
#include "cells/cells.h"
#include "json/json.h"
#include "scope/scope.h"
#include "stream/stream.h"

#define REFERENCE_FORMAT "clink-reference-result"
#define REFERENCE_VERSION 1

/* ---- writing ---- */

struct reference_writer {
    struct file_out file;
    struct buf line;
    struct sha256 hash; /* of the row lines */
    uint64_t rows;
    char header_sha256[SHA256_HEX + 1], rows_sha256[SHA256_HEX + 1]; /* the second once it is finished */
};

/* What stands at the file's head and end, as JSON texts of one line. */
struct reference_head {
    const char *scope; /* the document, verbatim */
    size_t scope_len;
    const char *name, *version; /* of the implementation */
    const char *configuration;  /* an object, or NULL */
};
struct reference_end {
    bool complete;
    const char *reasons;  /* array of strings: why it is not; empty where it is */
    const char *verified; /* array of strings: what the writer checked */
    const char *recorded; /* object: what it only records */
};

int reference_begin(struct reference_writer *w, const char *path, const struct reference_head *h, struct err *err);
/* A row: its cells from '[' to ']', canonical; at (or NULL) as stream_put_row takes it. */
int reference_put(struct reference_writer *w, const char *cells, size_t cells_len, const char *at, size_t at_len,
                  struct err *err);
/* Write the end line and publish. w is freed in every case but for its counts and hashes. */
int reference_finish(struct reference_writer *w, const struct reference_end *e, struct err *err);
void reference_drop(struct reference_writer *w); /* leave nothing */

/* ---- reading ---- */

struct reference {
    int fd;
    const char *name; /* for messages */
    struct line_in lines;
    struct arena arena; /* for the header and the end */
    struct json *scope; /* of the header: the document */
    struct json *implementation;
    /* from the end line, which is read first */
    uint64_t rows;
    const char *header_sha256, *rows_sha256;
    bool complete;
    struct json *reasons, *verified, *recorded; /* the last two NULL where they are not given */
    /* as the rows are read */
    const char *end_line;
    size_t end_len;
    const struct columns *columns;
    uint32_t *ends; /* of the cells of the row last read */
    struct sha256 hash;
    uint64_t seen;
    struct stream_row row;
    const char *text; /* the row's whole line */
    size_t text_len;
};

/* Open the artifact: its header and its end line, each member of which is checked, and the header's hash. ERR_REFUSED
 * for anything that is not an artifact as its writer finished it. name must outlive r. */
int reference_open(struct reference *r, const char *name, size_t max_line, struct err *err);
/* The same on a descriptor, which becomes r's: a regular file. */
int reference_open_fd(struct reference *r, int fd, const char *name, size_t max_line, struct err *err);
/* Hold the artifact's scope against this one: ERR_REFUSED with the first field that differs. columns (which must
 * outlive r) are those that its rows are held to. To be called before the first row is read. */
int reference_bind(struct reference *r, const struct json *document, const struct columns *columns, struct err *err);
/* 1 with the next row in *row (cells, at), every cell canonical for its column; 0 after a whole end: the count and both
 * hashes hold, and nothing follows; -1 with *err. The row lives until the next call. */
int reference_next(struct reference *r, const struct stream_row **row, struct err *err);
void reference_close(struct reference *r);

/* ---- cells of values by column name ---- */

struct reference_cells {
    const struct columns *columns;
    const struct json **values; /* by column */
    size_t *order, n_order;     /* which column the i-th member was of, in the row before */
};

void reference_cells_init(struct reference_cells *c, const struct columns *columns); /* columns must outlive c */
/* Append the row's cells: 0, or 1 where a value does not fit its column, whose cell is then unfit; -1 with *err
 * (ERR_REFUSED, "column 'x': why") for one of the wrong kind, a name that is no column, and a missing value of a column
 * that is not Nullable. */
int reference_cells_put(struct reference_cells *c, const struct json *values, struct buf *out, struct err *err);
void reference_cells_free(struct reference_cells *c);

/* ---- is it whole: what the stages before say ---- */

/* The account lines of a stream, and what an artifact's end line says of them. The texts are items of JSON arrays and
 * members of an object, without the brackets. */
struct reference_story {
    struct arena arena;
    struct buf reasons, verified, recorded;
    uint64_t n_reasons;
    const char **stages; /* those that gave an account */
    size_t n_stages;
    char *first;                         /* the first reason, or NULL */
    const struct json *reader, *program; /* the accounts of kafka-read and ref-run, or NULL */
};
#define REFERENCE_REASONS 20 /* listed; the others are counted */

/* Why it is not whole. */
void reference_story_say(struct reference_story *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Take an account line: what it says that is not whole, what was checked, and all else as recorded. ERR_REFUSED where
 * its form is wrong or its stage gave one before. */
int reference_story_account(struct reference_story *s, const char *p, size_t n, struct err *err);
/* Hold the accounts against each other, the scope and the rows that came (sealed: those in the artifact, failed: those
 * that could not be). An account that is missing is a reason, unless word: the operator says himself that it is whole,
 * which is recorded. */
void reference_story_judge(struct reference_story *s, const struct scope *scope, uint64_t sealed, uint64_t failed,
                           bool word);
/* The end line's texts, in the story's arena. */
void reference_story_end(struct reference_story *s, struct reference_end *end);
void reference_story_free(struct reference_story *s);

/* ---- records and their answers ---- */

/* Which records were read, and which of them something answered. Memory is two bits a record and a little for each gap
 * in the offsets. Records of one partition must come in offset order. */
struct reference_answers;
struct reference_answers *reference_answers_new(void);
int reference_answers_record(struct reference_answers *a, const char *topic, size_t topic_len, uint64_t partition,
                             uint64_t offset, struct err *err);
/* at: topic/partition/offset, with #n for a further row. row: by a row, else by a skip. -1 with *err where no such
 * record was read. */
int reference_answers_at(struct reference_answers *a, const char *at, size_t len, bool row, struct err *err);
/* How many records nothing answered; the place of the first of them goes to place. */
uint64_t reference_answers_missing(const struct reference_answers *a, struct buf *place);
uint64_t reference_answers_without_row(
    const struct reference_answers *a); /* how many no row answered: skipped, or nothing */
void reference_answers_free(struct reference_answers *a);

/* ---- the program that computes them ---- */

enum program_until {
    PROGRAM_ROOM,  /* it has taken so much that more may be queued */
    PROGRAM_INPUT, /* standard input has more to read, and more may be queued */
    PROGRAM_END    /* it has had all and closed its output */
};

/* An operator's program between two pipes, both served at once, so that neither side waits for the other for ever
 * whatever it reads and writes first. What it has not taken is bounded, and so is what it wrote and is no whole line
 * yet. */
struct reference_program {
    const char *name; /* for messages: never its arguments */
    size_t max_line;
    int (*on_line)(void *ctx, const char *p, size_t n, struct err *err); /* each line it writes; -1 with err ends it */
    void (*before_wait)(void *ctx);                                      /* called before a wait */
    void *ctx;
    struct child child;
    bool started;
    bool ended;     /* it is gone; it was whole where reason is empty */
    bool of_itself; /* and child.status is its own, not that of our signal */
    bool fed;       /* all that it is to have has been queued */
    bool output_over;
    struct buf queue; /* for it, from queue_at on */
    size_t queue_at;
    struct buf got; /* from it: what is no whole line yet */
    size_t got_scanned;
    uint64_t lines;    /* that it wrote */
    struct buf reason; /* why its output is not whole; the first that was found */
};

int reference_program_start(struct reference_program *p, char *const *argv, struct err *err);
/* Serve it until then, or until it has ended (which is not whole before all was queued and taken). */
void reference_program_serve(struct reference_program *p, enum program_until until);
/* Room for more at the end of p->queue, where the caller appends a line; then serve it until there is room again. */
void reference_program_make_room(struct reference_program *p);
/* End it, whatever it does, with all that it started. */
void reference_program_end(struct reference_program *p);
void reference_program_not_whole(struct reference_program *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
bool reference_program_whole(const struct reference_program *p);
void reference_program_free(struct reference_program *p);

/* ---- payloads ---- */

/* Append the record's payload as a member for the program that is run: `,"value":…`, one line, digits as they stand or,
 * with text, each number as a string of its text. A null payload is null. Where the payload is no JSON:
 * `,"value_error":"…"`, and false. */
bool reference_value(const struct json *record, bool text, struct buf *out);

#endif
