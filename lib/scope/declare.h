/* SPDX-License-Identifier: Apache-2.0 */
/*
 * declare: a scope from what a person says, held against what was found of the
 * log and the table where somebody looked. What was found and what was said may
 * both name a thing; they must then agree.
 *
 * All texts live in the caller's arena, or are the caller's own and outlive it.
 */
#ifndef OWED_SCOPE_DECLARE_H
#define OWED_SCOPE_DECLARE_H

#include "scope/scope.h"
#include "stream/codes.h"
#include "stream/names.h"

struct declare_range {
    const char *said;  /* the option's value, for messages */
    const char *topic; /* NULL: the only one */
    bool all;          /* every partition of what was found */
    uint64_t partition;
    int64_t from, to; /* [from, to) */
};

/* A partition as found: its first offset, its next one, and how far it is stable. */
struct declare_bounds {
    uint64_t partition;
    int64_t low, high, stable;
};

struct declare_log {
    const char *topic, *cluster_id, *topic_id; /* NULL: not known */
    const char *policy;                        /* the topic's cleanup.policy; NULL: not known */
    struct declare_bounds *partitions;
    size_t n_partitions;
};

struct declare_column {
    const char *name, *type;
    const char *kind; /* "" for one that is written; or how the table fills it: DEFAULT, MATERIALIZED, … */
};

struct declare {
    struct arena *arena;
    /* found */
    struct declare_log *logs;
    size_t n_logs;
    struct map topics; /* of the logs */
    bool has_table;
    const char *unfit; /* why the table cannot be judged, or NULL */
    enum code unfit_code;
    struct declare_column *columns;
    size_t n_columns;
    struct map names; /* of the columns */
    /* found or said; NULL: neither */
    const char *database, *table, *server_uuid, *server_version, *table_uuid;
    /* said */
    const char *topic, *cluster_id, *topic_id, *isolation;
    struct declare_range *ranges;
    size_t n_ranges;
    const char **keys, **chosen; /* chosen: --columns; none: all that the table does not fill itself */
    size_t n_keys, n_chosen;
    const char **excepted, **filled; /* without --columns: left out though written, and compared though filled */
    size_t n_excepted, n_filled;
    bool complete_table; /* the table holds what the ranges owe and nothing else */
    const char **froms;  /* "column:unit" */
    size_t n_froms;
    /* what cannot be audited, well said as it is; STATUS_PASSED: nothing. Set by declare_scope */
    enum status status;
    struct cause cause; /* of the worst */
    struct buf reason;  /* every reason, "; " between them */
};

void declare_free(struct declare *d); /* all but what the arena holds */

/* A `log` and a `table` line, as log-look and table-look write them. ERR_REFUSED for a topic or a table that came
 * before, and for one that contradicts what was said. */
int declare_log(struct declare *d, const struct json *line, struct err *err);
int declare_table(struct declare *d, const struct json *line, struct err *err);
/* [TOPIC/]P:FROM-TO or [TOPIC/]ALL. */
int declare_range(struct declare *d, const char *said, struct err *err);
/* NAME:TYPE, a column of a table that nobody looked at. */
int declare_column(struct declare *d, const char *said, struct err *err);

/* All is there: the scope, to be freed by scope_free, and whole but for its fingerprint where d->status is passed. note
 * gets what a reader of the check must know: ids that were not given, columns that are not compared, offsets that are
 * gone, a table that cannot be judged. ERR_REFUSED for what is said wrong. */
int declare_scope(struct declare *d, struct scope *out, struct buf *note, struct err *err);

#endif
