/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: the verdict. Lines of a stream are gathered, the required checks
 * decided (STREAM.md, rules 5 and 6). What is gathered lives in the report's own
 * arena until report_free. view.h makes of it what is printed.
 */
#ifndef OWED_REPORT_H
#define OWED_REPORT_H

#include "base/base.h"
#include "evidence/line.h"
#include "json/json.h"
#include "scope/looks.h"
#include "scope/scope.h"
#include "stream/check.h"
#include "stream/absent.h"
#include "stream/excluded.h"
#include "stream/finding.h"
#include "stream/log.h"
#include "stream/observation.h"
#include "stream/stop.h"
#include "stream/stream.h"
#include "stream/summary.h"
#include "types/types.h"

#define REPORT_FORMAT "clink-reconcile-report"
#define REPORT_VERSION 1

/* One kept line, parsed. */
struct report_line {
    enum line_type type;
    uint64_t line_no;
    struct json *doc;
    struct report_line *next;
};

struct report_lines {
    struct report_line *first, **tail;
    size_t n;
};

/* Lines of one type, taken apart; as they came. */
struct report_made {
    struct check_line line;
    uint64_t line_no;
    struct report_made *next;
};
struct report_summary {
    struct summary line;
    uint64_t line_no;
    struct report_summary *next;
};
struct report_stop {
    struct stop_line line;
    struct report_stop *next;
};
struct report_finding {
    struct finding line;
    const struct json *doc; /* for its cells */
    uint64_t line_no;
    struct report_finding *next;
};
struct report_interval {
    struct interval_line line;
    struct report_interval *next;
};

/* A check as decided: the worst of its lines. */
struct report_check {
    bool made;
    enum status status; /* UNAVAILABLE where it was not made */
    struct cause cause; /* of the line that decided; its code is CODE_NONE where it passed */
    uint64_t line_no;   /* of the same; 0: not made */
};

struct report {
    struct arena arena, line; /* for all of it, and for one line */
    struct report_lines checks, findings, summaries, intervals, sides, stops, scopes, observations, bundles, columns,
        accounts, logs;
    struct report_made *made, **made_tail;
    struct report_stop *stopped, **stopped_tail;
    struct report_summary *summary, **summary_tail;
    struct report_finding *finding, **finding_tail;
    struct report_interval *interval, **interval_tail;
    struct scope_looks looks; /* at the logs */
    bool observed;
    struct observation observation; /* of the line, where observed */
    struct stream_log *log;         /* as they came */
    size_t n_logs;
    struct report_check check[CHECK_NAMES];
    bool required[CHECK_NAMES];
    struct stream_account **account; /* as they came */
    size_t n_accounts, cap_accounts;
    struct stream_account
        kept[ACCOUNT_ROLES];        /* those that the reference's file keeps, by role; without a stage where there
                                     * is none. Of a file that keeps none of a reader what it says itself */
    struct stream_account said;     /* what it says itself */
    struct stream_side side[SIDES]; /* of the side lines */
    uint64_t side_line[SIDES];      /* their numbers; 0: there is none */
    enum profile profile;           /* set by the caller: what is required beside what the stream is about */
    struct columns cols;            /* of the last columns line; empty where none came */
    bool has_scope;
    struct scope scope; /* of the scope line, where has_scope */
    const struct json *stages;
    uint64_t rows_left;                    /* rows that no stage compared */
    uint64_t excluded;                     /* keys left out of comparisons with the reference */
    uint64_t excluded_why[EXCLUDED_TYPES]; /* of these */
    uint64_t absent[ABSENT_TYPES];         /* keys that must be absent, as their lines come */
    struct err input;                      /* why the stream is refused or unfinished; ERR_NONE where it ended whole */
    bool ended;                            /* set by the caller: the stream was read to its end */
    uint64_t unread; /* set by the caller: the line that was refused, from which on nothing was read; 0: none */
    uint64_t unknown_lines;
    struct buf unknown_types; /* names of annotation types, each once, comma separated */
    struct stream_annotations *annotations;
    int exit; /* set by report_decide */
};

void report_init(struct report *r);
/* Keep one line. ERR_REFUSED for a line whose members are not as STREAM.md says. */
int report_line(struct report *r, const struct stream_line *line, struct err *err);
/* What the stream is about requires its checks, whether or not a require line is there: a scope those of its origin and
 * coverage, a reference its own. stages: the header's, or NULL; kept. */
void report_imply(struct report *r, const struct json *stages);
/* A stream that ended whole must show what its passed checks are about, and nothing that contradicts them. ERR_TROUBLE
 * where a line is missing (or it is one shard of several), ERR_REFUSED where one contradicts; either belongs in
 * r->input. */
int report_whole(const struct report *r, const struct json *shard, struct err *err);
/* After the last line: statuses and the exit status. */
void report_decide(struct report *r);
void report_free(struct report *r);

#endif
