/* SPDX-License-Identifier: Apache-2.0 */
/* The observation line: the destination as it was found, how it was read, and whether it stood still meanwhile. */
#ifndef OWED_STREAM_OBSERVATION_H
#define OWED_STREAM_OBSERVATION_H

#include "base/base.h"
#include "json/json.h"
#include "stream/replica.h"

struct stream_line;
struct stream_out;

/* The engine of a table that can be judged. */
#define OBSERVED_ENGINE "MergeTree"

struct observed_column {
    const char *name, *type; /* ClickHouse's */
};

struct observed_setting {
    const char *name, *value; /* a number's is its text */
};

struct observed_mutation {
    const char *id, *command, *created; /* created: ISO 8601, in UTC */
    bool done;
};

/* A table under a Merge. */
struct observed_under {
    const char *table, *table_uuid, *engine, *engine_full, *create_table_query, *partition_key, *sorting_key;
};

struct observed_clocks {
    bool has;
    int64_t client_ms, server_ms;
};

struct observed_read {
    uint64_t read, rows, queries, bytes; /* read: from 1 */
    uint64_t ranges, passed_over;        /* queries that read a range, and rows of other keys in it */
};

struct observation {
    uint64_t line_no;
    const char *endpoint, *user, *server_uuid, *server_version;
    bool line_tested; /* this program was run against the server's line */
    const char *server_host, *timezone, *database, *table, *table_uuid;
    const char *engine, *engine_full, *create_table_query; /* the last two of a MergeTree or a Merge alone */
    const char *partition_key, *sorting_key, *dedup_window;
    const struct observed_under *tables; /* of a Merge */
    size_t n_tables;
    const struct observed_column *columns;
    size_t n_columns;
    const struct observed_setting *settings; /* sent with every statement */
    size_t n_settings;
    const char *format; /* native, rowbinary */
    uint64_t query_timeout_ms, max_rows_per_query, keys_per_query, settle_ms;
    const struct observed_mutation *mutations;
    size_t n_mutations;
    struct observed_clocks started, finished;
    const struct observed_read *reads;
    size_t n_reads;
    bool has_keys;
    uint64_t keys, unfit_keys; /* asked for; owed and not to be asked for */
    bool table_whole;          /* each read was of every row; then the next five are given */
    bool has_max_table_rows, has_parts;
    uint64_t max_table_rows;
    uint64_t parts_before, parts_after;
    bool parts_same;
    bool final;                           /* read with FINAL; then the next two are given */
    uint64_t undetermined_keys, unpaired; /* of several last rows; and of more rows taken back than written */
    const char *ttl; /* by which rows expire, such as `t + toIntervalDay(30)`; NULL: none. Then the next are given */
    uint64_t expired_rows, expired_keys; /* owed rows past it, and keys left out for them */
    uint64_t expired_mixed;              /* of these: keys that also owe rows which are not */
    bool expired_ignored;                /* on the operator's word */
    bool has_replica;                    /* of a table that is replicated */
    struct replica replica;
    bool stable;
    char *const *unstable; /* why not */
    size_t n_unstable;
};

/* True where a mutation's command deletes rows: DELETE, or the mask that a lightweight one sets. */
bool observed_deletes(const struct observed_mutation *m);

/* Parse an observation line; everything lives in arena. ERR_REFUSED, with the line's number, for a member of another
 * type than its own and one without `stable`; whatever else it does not say is NULL, none or false. */
int stream_observation(const struct stream_line *line, struct arena *arena, struct observation *out, struct err *err);
/* Write the member `tables` of an observation or of a table line. */
struct json_w;
void observed_tables_put(struct json_w *w, const struct observed_under *tables, size_t n);
/* A text that is no UTF-8 is masked. */
void stream_put_observation(struct stream_out *out, const struct observation *o);

#endif
