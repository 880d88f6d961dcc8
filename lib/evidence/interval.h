/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: a sink's interval evidence: its capture, the destination, the ledger of its INSERTs.
 * Parsers put strings and arrays in the caller's arena, NUL-terminated; writers only read theirs. `where` names the
 * text in errors (a path). What is malformed is refused (ERR_REFUSED); members that are not known are ignored.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_INTERVAL_H
#define OWED_EVIDENCE_INTERVAL_H

#include "base/base.h"
#include "evidence/barrier.h"
#include "evidence/destination.h"
#include "evidence/ledger.h"

enum capture_outcome { CAPTURE_WRITTEN, CAPTURE_EMPTY, CAPTURE_DISARMED };

struct interval {
    const char *job, *operator_id, *attempt;
    uint64_t subtask, epoch, previous;
    enum capture_outcome outcome;
    const char *file, *sha256; /* NULL when disarmed; file is the name beside the interval's own */
    uint64_t bytes, seen, stored;
    bool truncated;
    bool has_watermark;
    int64_t watermark;
    struct destination destination;
    struct ledger_entry *ledger;
    size_t n_ledger;
};

/* The member `destination` of a document or a line; the writer masks as interval_put does. */
int destination_parse(const struct json *doc, const char *where, struct arena *a, struct destination *d,
                      struct err *err);
void destination_put(struct json_w *w, const struct destination *d);
int interval_parse(const char *p, size_t n, const char *where, struct arena *a, struct interval *out, struct err *err);
/* The members that the stream's interval line has too: all but job and destination, which are left as they were. */
int interval_members(const struct json *doc, const char *where, struct arena *a, struct interval *out, struct err *err);
/* The member `capture` of the same. */
void capture_put(struct json_w *w, const struct interval *iv);
/* The document with its final newline. A user part of the endpoint's URL and what looks like a credential in
 * create_table_query are masked. */
void interval_put(struct buf *out, const struct interval *iv);
/* Written beside its name, synced, renamed. entry as in capture_end. */
int interval_write(const char *capture_dir, const struct interval *iv, struct arena *a, struct left *entry,
                   struct err *err);
/* Fill the capture part of iv from the barrier's entry of the sink's own input (NULL: there is none) and the sink's own
 * count: written, empty, or disarmed where there is no entry or the counts differ. */
void interval_set_capture(struct interval *iv, const struct left *capture, uint64_t sink_seen);
const char *capture_outcome_name(enum capture_outcome o);

#endif
