/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program: running the operator's own program over records. The program
 * between two pipes, which records it answered, and the payloads that it gets.
 */
#ifndef OWED_PROGRAM_H
#define OWED_PROGRAM_H

#include "base/base.h"
#include "json/json.h"
#include "stream/codes.h"

/* ---- records and their answers ---- */

/* Which records were read, and which of them something answered. Memory is two bits a record and a little for each gap
 * in the offsets. Records of one partition must come in offset order. */
struct program_answers;
struct program_answers *program_answers_new(void);
int program_answers_record(struct program_answers *a, const char *topic, size_t topic_len, uint64_t partition,
                           uint64_t offset, struct err *err);
/* at: topic/partition/offset, with #n for a further row. row: by a row, else by a skip. -1 with *err where no such
 * record was read. */
int program_answers_at(struct program_answers *a, const char *at, size_t len, bool row, struct err *err);
/* How many records nothing answered; the place of the first of them goes to place. */
uint64_t program_answers_missing(const struct program_answers *a, struct buf *place);
uint64_t program_answers_without_row(
    const struct program_answers *a); /* how many no row answered: skipped, or nothing */
void program_answers_free(struct program_answers *a);

/* ---- the program that computes them ---- */

enum program_until {
    PROGRAM_ROOM,  /* it has taken so much that more may be queued */
    PROGRAM_INPUT, /* standard input has more to read, and more may be queued */
    PROGRAM_END    /* it has had all and closed its output */
};

/* An operator's program between two pipes, both served at once, so that neither side waits for the other for ever
 * whatever it reads and writes first. What it has not taken is bounded, and so is what it wrote and is no whole line
 * yet. */
struct program {
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
    uint64_t lines;     /* that it wrote */
    struct buf reason;  /* why its output is not whole; the first that was found */
    struct cause cause; /* of the same */
};

int program_start(struct program *p, char *const *argv, struct err *err);
/* Serve it until then, or until it has ended (which is not whole before all was queued and taken). */
void program_serve(struct program *p, enum program_until until);
/* Room for more at the end of p->queue, where the caller appends a line; then serve it until there is room again. */
void program_make_room(struct program *p);
/* End it, whatever it does, with all that it started. */
void program_end(struct program *p);
void program_not_whole(struct program *p, const struct cause *cause, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool program_whole(const struct program *p);
void program_free(struct program *p);

/* ---- payloads ---- */

/* Append the record's payload as a member for the program that is run: `,"value":…`, one line, digits as they stand or,
 * with text, each number as a string of its text. A null payload is null. Where the payload is no JSON:
 * `,"value_error":"…"`, and false. */
bool program_payload(const struct json *record, bool text, struct buf *out);

#endif
