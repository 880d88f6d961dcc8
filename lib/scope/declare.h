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
    const char *by, *said; /* for messages: "--range=" and its value, or what else chose it */
    const char *topic;     /* NULL: the only one */
    bool all;              /* every partition of what was found */
    uint64_t partition;
    int64_t from, to; /* [from, to) */
};

/* A partition as found: its first offset, its next one, and how far it is stable. */
struct declare_bounds {
    uint64_t partition;
    int64_t low, high, stable;
    int64_t since, until; /* the first offsets at or after the log's instants of that name */
};

struct declare_log {
    const char *topic, *cluster_id, *topic_id; /* NULL: not known */
    const char *policy;                        /* the topic's cleanup.policy; NULL: not known */
    const char *since, *until;                 /* instants, in ISO form; NULL: not asked for */
    struct declare_bounds *partitions;
    size_t n_partitions;
};

struct declare_column {
    const char *name, *type;
    const char *kind; /* "" for one that is written; or how the table fills it: DEFAULT, MATERIALIZED, … */
};

#define DECLARE_LATEST (-1)
#define DECLARE_EARLIEST (-2)

struct declare {
    struct arena *arena;
    /* found */
    struct declare_log *logs;
    size_t n_logs;
    struct map topics; /* of the logs */
    bool has_table;
    const char *unfit;                              /* why the table cannot be judged, or NULL */
    const char *engine, *engine_full, *sorting_key; /* of the table; "": not known */
    const char *replica_path, *replica_name;        /* of one that is replicated */
    enum code unfit_code;
    struct declare_column *columns;
    size_t n_columns;
    struct map names; /* of the columns */
    /* found or said; NULL: neither */
    const char *database, *table, *server_uuid, *server_version, *table_uuid;
    /* said */
    const char *topic, *cluster_id, *topic_id, *isolation, *zone;
    struct declare_range *ranges; /* none: all, or by the times or the offsets that follow */
    size_t n_ranges;
    struct declare_offsets {
        bool given;
        struct declare_offset {
            const char *topic;
            uint64_t partition;
            int64_t offset; /* DECLARE_LATEST, DECLARE_EARLIEST or one of the log */
        } * at;
        size_t n;
        struct map places; /* of "topic/partition" */
    } from, to;
    const char **keys, **chosen; /* chosen: --columns; none: all that the table does not fill itself */
    size_t n_keys, n_chosen;
    bool final;                      /* of each key the row that FINAL shows */
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
/* A file of offsets: {"topic":{"0":123}}, as Spark's checkpoints and startingOffsets have them, or a checkpoint's file
 * of them (v1), whose lines after the second are such. to: where ranges end, else where they begin. */
int declare_offsets(struct declare *d, bool to, const char *text, size_t n, struct err *err);
/* NAME:TYPE, a column of a table that nobody looked at. */
int declare_column(struct declare *d, const char *said, struct err *err);

/* All is there: the scope, to be freed by scope_free, and whole but for its fingerprint where d->status is passed. note
 * gets what a reader of the check must know: ids that were not given, columns that are not compared, offsets that are
 * gone, a table that cannot be judged. ERR_REFUSED for what is said wrong. */
int declare_scope(struct declare *d, struct scope *out, struct buf *note, struct err *err);

#endif
