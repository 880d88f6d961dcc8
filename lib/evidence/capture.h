/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: captures: what one subtask of an operator saw in an epoch.
 * Parsers put strings and arrays in the caller's arena, NUL-terminated; writers only read theirs. `where` names the
 * text in errors (a path). What is malformed is refused (ERR_REFUSED); members that are not known are ignored.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_CAPTURE_H
#define OWED_EVIDENCE_CAPTURE_H

#include "base/base.h"
#include "evidence/barrier.h"
#include "stream/stream.h"

#define CAPTURE_HEADER 512       /* bytes of the first line, padded, newline counted */
#define CAPTURE_RECORDS 10000    /* default bound of data lines an epoch */
#define CAPTURE_CONTROL_FACTOR 4 /* control lines: this many times the bound */

struct capture_header {
    const char *job, *operator_id, *attempt;
    uint64_t subtask, epoch;
    uint64_t seen, stored, control;
    bool truncated;
};

/* A writer of one operator's subtask, used for one interval after another. A failed write disarms the interval:
 * counting goes on, capture_end says what failed, and the next interval starts afresh. */
struct capture_writer {
    char *capture_dir, *job, *operator_id, *attempt; /* owned */
    uint64_t subtask, limit;
    int fd; /* of the interval's temporary file, -1: none */
    uint64_t seen, stored, control;
    bool truncated, failed;
    struct err failure;
    struct buf block;
};

/* limit 0: CAPTURE_RECORDS. Makes op-<id>/subtask-<s> on the first interval. */
void capture_open(struct capture_writer *w, const char *capture_dir, const char *job, const char *op, uint64_t subtask,
                  const char *attempt, uint64_t limit);
void capture_data(struct capture_writer *w, const char *line, size_t n);    /* a record or event line, no newline */
void capture_control(struct capture_writer *w, const char *line, size_t n); /* a watermark line */
/* Close the interval at barrier `epoch`: header in place, synced, renamed to epoch-<n>.cap. Fills entry, strings in a.
 * -1: no file under the final name and no entry to add. Either way the writer is ready for the next interval. */
int capture_end(struct capture_writer *w, uint64_t epoch, struct arena *a, struct left *entry, struct err *err);
/* The tail after the last barrier, as final.cap (its header's epoch is the last barrier's plus one). */
int capture_final(struct capture_writer *w, uint64_t last_epoch, struct err *err);
void capture_close(struct capture_writer *w); /* drops an unfinished interval */

/* A reader that hashes what it gives out. */
struct capture_reader {
    struct line_in lines;
    struct capture_header h;
    struct arena arena;
    struct sha256 sha;
    bool hashing;
    uint64_t data, control, bytes;
    char *name; /* owned */
};

/* Read the header from fd (kept open by the caller; name for messages). */
int capture_read_open(struct capture_reader *r, int fd, const char *name, struct err *err);
/* 1 with a line (*is_data false for a control line; only `event`, `record` and `watermark` lines are legal), 0 at the
 * end, once the counts hold against the header: fewer lines than stored is "cut short" (ERR_REFUSED), -1 on error. */
int capture_read_next(struct capture_reader *r, const char **p, size_t *n, bool *is_data, struct err *err);
/* After the end: the bytes and the digest of the whole file. */
void capture_read_digest(struct capture_reader *r, uint64_t *bytes, char sha256[SHA256_HEX + 1]);
void capture_read_close(struct capture_reader *r);

#endif
