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
#include "stream/stream.h"

/* ---- records ---- */

/* What became of a record's payload. */
enum program_value {
    PROGRAM_READ, /* parsed, or left to the program */
    PROGRAM_NULL, /* a null value of the log */
    PROGRAM_NO_VALUE
};

/* How payloads go to the program, in the order of the option's words. */
enum program_payloads { PROGRAM_TEXT, PROGRAM_JSON, PROGRAM_RAW, PROGRAM_BASE64 };
extern const char *const program_payload_words[];
#define PROGRAM_PAYLOAD_WORDS "text|json|raw|base64"
#define RECORD_ABORTED ",\"aborted\":true" /* the last member of the line of a record whose transaction was aborted */

#define PROGRAM_FRAMING 120
struct program_record {
    const char *topic;
    size_t topic_len;
    uint64_t partition, offset;
    struct stream_ts ts;
    bool aborted; /* its transaction was aborted */
    enum program_value value;
    const char *why;               /* why it is PROGRAM_NO_VALUE */
    bool bytes;                    /* its payload comes as payload_b64, since it is not UTF-8 */
    char framing[PROGRAM_FRAMING]; /* then what its first bytes are known for, or "" */
    char why_text[200];
};

/* Take the record line {"type":"record",…}: out is where it lies and what its payload is; its line for the program goes
 * to queue, with the payload parsed as `value` but for the last two (`,"value":…`, one line, digits as they stand or as
 * strings of their text; a null payload is null; `,"value_error":"…"` where it is no JSON); PROGRAM_BASE64: in place of
 * the payload `,"payload_b64":"…"` of its bytes, whatever they are, or null. ERR_REFUSED for what is no
 * record. Texts of out live as long as line and a. */
int program_record(const char *line, size_t n, enum program_payloads payloads, struct arena *a, struct buf *queue,
                   struct program_record *out, struct err *err);

/* The same for a program that takes trees: record's first member is its type; value is the payload parsed, NULL where
 * it is null or has none. All live in a, which is used again. */
int program_record_tree(const char *line, size_t n, struct arena *a, const struct json **record,
                        const struct json **value, struct program_record *out, struct err *err);

/* ---- their answers ---- */

/* Which records were read, when they were written, and what something answered to each. Memory is four bits a record,
 * its time's share (nothing to two bytes where records are written one after another) and a little for each gap in the
 * offsets. Records of one partition must come in offset order. */
struct program_answers;
struct program_answers *program_answers_new(void);
int program_answers_record(struct program_answers *a, const struct program_record *r, struct err *err);

enum program_answer { PROGRAM_ROW, PROGRAM_SKIP, PROGRAM_UNREADABLE };
#define PROGRAM_WHY ((size_t)200) /* bytes of a reason that are kept */
/* at: topic/partition/offset, with #n for a further row. why: of PROGRAM_UNREADABLE. *ts (may be NULL) is when the
 * record was written. -1 with *err where no such record was read. */
int program_answers_at(struct program_answers *a, const char *at, size_t len, enum program_answer answer,
                       const char *why, size_t why_len, struct stream_ts *ts, struct err *err);
/* How many records nothing answered; the place of the first of them goes to place. Of one without a value no answer is
 * missing. */
uint64_t program_answers_missing(const struct program_answers *a, struct buf *place);

/* A record cannot be read where the program says so, and where it has no value and no row. */
struct program_counts {
    uint64_t records, readable, nulls, unreadable; /* the first is the sum of the others */
    uint64_t without_row;                          /* no row answered them, whatever they are */
    bool no_value_is_json;                         /* of those that are not null none was parsed */
};
struct program_counts program_answers_count(const struct program_answers *a);

struct program_place {
    char at[300];
    /* As long as the answers are not changed. */
    const char *why, *framing; /* framing: as of its record */
    bool bytes;
};
/* The first of those that cannot be read, by topic, partition and offset: how many are in out, at most max. */
size_t program_answers_unreadable(const struct program_answers *a, struct program_place *out, size_t max);
void program_answers_free(struct program_answers *a);

/* ---- the values that it writes ---- */

/* Where in a program's output a value ends: what was seen of one that has begun. Zeros: none has. */
struct program_scan {
    size_t at;      /* bytes of it so far */
    unsigned depth; /* of the objects and arrays that are open */
    bool in_string;
    char before;    /* the last character outside a string that is no white space */
    uint64_t lines; /* that it has come to the end of */
};
/* The value that begins at p, of which s->at bytes were seen by earlier calls: its length, or 0 where it goes on past
 * n. It ends with its last bracket; what begins none ends with its line, and so does one that cannot go on so. */
size_t program_scan_value(struct program_scan *s, const char *p, size_t n);

/* ---- the program that computes them ---- */

enum program_until {
    PROGRAM_ROOM,  /* it has taken so much that more may be queued */
    PROGRAM_INPUT, /* standard input has more to read, and more may be queued */
    PROGRAM_END    /* it has had all and closed its output */
};

/* An operator's program between two pipes, both served at once, so that neither side waits for the other for ever
 * whatever it reads and writes first. What it has not taken is bounded, and so is what it wrote and is no whole value
 * yet. */
struct program {
    const char *name; /* for messages: never its arguments */
    size_t max_line;
    /* Each JSON value that it writes, whatever lines it takes, on one line; or a line that begins none. -1 with err
     * ends the program. */
    int (*on_value)(void *ctx, const char *p, size_t n, struct err *err);
    void (*before_wait)(void *ctx); /* called before a wait */
    void *ctx;
    struct child child;
    bool started;
    bool ended;     /* it is gone; it was whole where reason is empty */
    bool of_itself; /* and child.status is its own, not that of our signal */
    bool fed;       /* all that it is to have has been queued */
    bool output_over;
    struct buf queue; /* for it, from queue_at on */
    size_t queue_at;
    struct buf got;           /* from it: what is no whole value yet */
    struct program_scan scan; /* how far that was looked at */
    uint64_t lines;           /* that it wrote, before what is in got */
    struct buf reason;        /* why its output is not whole; the first that was found */
    struct cause cause;       /* of the same */
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

/* ---- what its answers come to ---- */

struct program_rows_options {
    bool skip, strict; /* skip: records that cannot be read owe nothing */
};
int program_rows_unreadable(const char *value, void *options, struct err *err);
/* clang-format off */
/* Entries for a table of options (base/options.h). */
#define PROGRAM_ROWS_OPTIONS(O) \
    OPT_TAKE("unreadable", ON_UNREADABLE_SKIP, program_rows_unreadable, O, \
             "records that cannot be read owe nothing: an assumption, which the report leads with"), \
    OPT_FLAG("strict", &(O)->strict, \
             "every record that can be read must be answered, by rows or a skip, with its `at`")
/* clang-format on */

struct program_rows {
    struct program_rows_options o;
    unsigned payloads; /* enum program_payloads */
    struct stream_out *out;
    struct program *program;                   /* whose name it is, and whether its output is whole */
    struct arena arena;                        /* for one line */
    struct program_answers *answers, *aborted; /* of the records, and of those whose transaction was aborted */
    bool any_aborted;
    bool unplaced; /* a row, or a record, whose place is not known: which records have no row is not known either */
    uint64_t records, rows, skips, absent; /* records: counted by whoever reads them */
};
/* Where o and payloads are set. */
void program_rows_init(struct program_rows *r, struct stream_out *out, struct program *program);
void program_rows_free(struct program_rows *r);
/* A record was read; it must be before its answers come. */
int program_rows_record(struct program_rows *r, const struct program_record *record, struct err *err);
/* One answer, a JSON value on one line: ctx is the rows. -1 with *err where it is none. */
int program_rows_value(void *ctx, const char *p, size_t n, struct err *err);
/* All answers have come, or no more will: what they come to, and the account. */
void program_rows_conclude(struct program_rows *r);

#endif
