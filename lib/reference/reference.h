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
#include "reference/last.h"
#include "scope/scope.h"
#include "stream/absent.h"
#include "stream/stream.h"

#define REFERENCE_FORMAT "clink-reference-result"
#define REFERENCE_VERSION 1

/* ---- writing ---- */

struct reference_writer {
    struct file_out file;
    struct buf line;
    struct sha256 hash; /* of the row lines */
    uint64_t rows, absent;
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
    uint64_t nearest;     /* fractions in the rows that are compared as the nearest value of their float column */
    const char *reasons;  /* array of strings: why it is not; empty where it is */
    struct cause cause;   /* of the first of them */
    const char *verified; /* array of strings: what the writer checked */
    const char *recorded; /* object: what it only records */
};

int reference_begin(struct reference_writer *w, const char *path, const struct reference_head *h, struct err *err);
/* A row: its cells, canonical, and where they have any its at and its ts. */
int reference_put(struct reference_writer *w, const struct stream_row *row, struct err *err);
/* A key that must be absent: cells of the key's columns, canonical. */
int reference_put_absent(struct reference_writer *w, const struct stream_absent *a, struct err *err);
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
    uint64_t rows, absent, nearest;
    const char *header_sha256, *rows_sha256;
    bool complete;
    bool unreadable; /* nothing is wrong with it but records that nobody could read: its rows are all of the others */
    struct cause cause; /* why it is not complete; its code is CODE_NONE where the writer gives none */
    struct json *reasons, *verified, *recorded; /* the last two NULL where they are not given */
    /* as the rows are read */
    const char *end_line;
    size_t end_len;
    const struct columns *columns;
    uint32_t *ends; /* of the cells of the row last read */
    struct sha256 hash;
    uint64_t seen, seen_absent;
    struct stream_row row;
    struct stream_absent key; /* that must be absent */
    struct arena line;        /* for its line */
    struct buf key_row;
    const char *text; /* the row's whole line */
    size_t text_len;
};

/* Open the artifact: its header and its end line, each member of which is checked, and the header's hash. ERR_REFUSED
 * for anything that is not an artifact as its writer finished it. name must outlive r. */
int reference_open(struct reference *r, const char *name, size_t max_line, struct err *err);
/* The same on a descriptor, which becomes r's: a regular file. */
int reference_open_fd(struct reference *r, int fd, const char *name, size_t max_line, struct err *err);
/* Hold what the artifact was computed from against this scope: ERR_REFUSED with the first field that differs, or for a
 * scope that is no document. note (may be NULL) gets the first in which the scopes ask otherwise of the same rows.
 * columns (which must outlive r) are those that its rows are held to. To be called before the first row is read. */
int reference_bind(struct reference *r, const struct json *document, const struct columns *columns, struct buf *note,
                   struct err *err);
/* 1 with the next row in *row (cells, at, ts), every cell canonical for its column; 2 with a key that must be absent in
 * r->key, its cells canonical too; 0 after a whole end: the count and both hashes hold, and nothing follows; -1 with
 * *err. The row lives until the next call. */
int reference_next(struct reference *r, const struct stream_row **row, struct err *err);
void reference_close(struct reference *r);

/* ---- cells of values by column name ---- */

struct reference_cells {
    const struct columns *columns;
    struct map passed; /* the columns that are not compared: how many values of each came, which are passed over */
    const struct json **values; /* by column */
    uint64_t nearest;           /* fractions so far that are compared as the nearest value of their float column */
};

void reference_cells_init(struct reference_cells *c, const struct scope *s); /* which must outlive c */
/* Append the row's cells: 0, or 1 where a value does not fit its column, whose cell is then unfit (one of the wrong
 * kind, and a missing one of a column that is not Nullable, among them); -1 with *err (ERR_REFUSED, "column 'x': why")
 * for a name that is no column. */
int reference_cells_put(struct reference_cells *c, const struct json *values, struct buf *out, struct err *err);
/* Append the cells of the row's key alone: 0, or 1 where one does not fit and is unfit, so that no table has it. alone:
 * values is the key, each column of it and no other. -1 with *err as above. */
int reference_key_put(struct reference_cells *c, const struct json *values, bool alone, struct buf *out,
                      struct err *err);
void reference_cells_free(struct reference_cells *c);

/* ---- is it whole: what the stages before say ---- */

/* The account lines of a stream, and what an artifact's end line says of them. The texts are items of JSON arrays and
 * members of an object, without the brackets. */
struct reference_story {
    struct arena arena;
    struct buf reasons, verified, recorded;
    uint64_t n_reasons;
    struct stream_account account[ACCOUNT_ROLES]; /* by role; one that nobody gave has no stage */
    bool word;                                    /* the operator's, that it is whole */
    uint64_t superseded, deleted;                 /* rows before the last of their keys, keys whose last is a delete */
    char *first;                                  /* the first reason, or NULL */
    struct cause cause;                           /* of the same */
};
#define REFERENCE_REASONS 20 /* listed; the others are counted */

/* Why it is not whole. */
void reference_story_say(struct reference_story *s, const struct cause *cause, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Take an account line: what it says that is not whole, what was checked, and all else as recorded, by its role.
 * ERR_REFUSED where its form is wrong or its role gave one before. */
int reference_story_account(struct reference_story *s, const struct stream_line *line, struct err *err);
/* What became of the rows before the last of each key. To be called before judge. */
void reference_story_last(struct reference_story *s, const struct reference_last_found *found);
/* Hold the accounts against each other, the scope and the rows that came (sealed: those in the artifact, failed: those
 * that could not be). An account that is missing is a reason, unless word: the operator says himself that it is whole,
 * which is recorded. */
void reference_story_judge(struct reference_story *s, const struct scope *scope, const struct reference_writer *sealed,
                           uint64_t failed, bool word);
/* The end line's texts, in the story's arena. */
void reference_story_end(struct reference_story *s, struct reference_end *end);
void reference_story_free(struct reference_story *s);

#endif
