/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account line: what a stage of the reference did, by its role there. A
 * reader says what it read of the source, a program what it made of the records, a
 * sealer what it put in the artifact, a binder which artifact it gave the stream.
 */
#ifndef OWED_STREAM_ACCOUNT_H
#define OWED_STREAM_ACCOUNT_H

#include "base/base.h"
#include "json/json.h"

struct stream_line;
struct stream_out;

/* clang-format off */
#define ACCOUNT_TABLE(X) X(READER, "reader") X(PROGRAM, "program") X(SEALER, "sealer") X(BINDER, "binder")

enum account_role {
#define X(id, text) ACCOUNT_##id,
    ACCOUNT_TABLE(X)
#undef X
    ACCOUNT_ROLES
};
/* clang-format on */
const char *account_role_name(enum account_role r);

#define ON_UNREADABLE_SKIP "skip"

/* A number that a line may leave out, or give as null. */
struct account_number {
    bool has;
    uint64_t n;
};

struct account_range {
    const char *topic;
    struct account_number partition, from, to, position;
    struct account_number offsets, delivered, null_values, not_delivered;
    struct account_number aborted, marker_or_absent; /* where they were told apart */
    bool has_complete, complete;
    const char *reason; /* why it is not complete; or "" */
};

struct account_log {
    const char *topic;
    const char *cluster_id, *topic_id; /* NULL: not known */
};

/* JSON text; p NULL: the member is left out. */
struct account_text {
    const char *p;
    size_t n;
};

struct stream_account {
    uint64_t line_no;
    const char *stage; /* NULL: there is no such account */
    enum account_role role;
    bool complete;
    struct cause cause;                    /* of the first reason; its code is CODE_NONE where none is given */
    struct account_text reasons, verified; /* arrays of texts */
    struct account_number rows;            /* of a program, a sealer and a binder */
    struct account_number absent;          /* of the same: keys that must be absent */
    struct account_number aborted; /* of a reader and a program: records of aborted transactions, beside the others */
    /* of a reader */
    const char *client, *isolation;
    const struct account_log *logs;
    size_t n_logs;
    const struct account_range *ranges;
    size_t n_ranges;
    /* of an account that was read: sorted, for account_log and account_range */
    const struct account_log **by_topic;
    const struct account_range **by_place;
    struct account_number delivered;
    /* of a program */
    const char *program, *payload; /* payload: how payloads went to it */
    struct account_number records, skips, without_row;
    struct account_number aborted_unreadable;
    struct account_number readable, null_values, unreadable; /* records; of all of them, where it answered them all */
    struct account_text unreadable_records;                  /* an array of texts: the first of them, each with why */
    const char *on_unreadable;          /* ON_UNREADABLE_SKIP: the operator says that they owe nothing; or NULL */
    struct account_number exit, signal; /* how the program ended of itself */
    /* of a sealer */
    struct account_number unfit_rows, nearest, failed_rows;
    struct account_number superseded,
        deleted_keys; /* rows before the last of their keys; keys whose last is a delete */
    const char *path;
    bool word; /* recorded: that it is complete is the operator's word */
    /* of a binder; of a sealer the second hash */
    struct account_text implementation, verified_here, verified_by_writer;
    const char *header_sha256, *rows_sha256;
    struct account_number excluded;
    /* of a reader and a binder */
    struct account_text recorded;
    const struct json *doc; /* the line, where it was read */
};

/* Parse an account line; everything lives in arena. ERR_REFUSED, with the line's number, for a role that is not known
 * and a member of another type than its own. */
int stream_account(const struct stream_line *line, struct arena *arena, struct stream_account *out, struct err *err);
/* What an artifact keeps of the accounts before it (NULL: nothing): kept by role, said what stands there bare, as
 * another writer's may, which also is kept for a reader's where there is none by that role. ERR_REFUSED as
 * stream_account. */
int account_recorded(const struct json *recorded, struct arena *arena, const char *where, struct stream_account *said,
                     struct stream_account kept[ACCOUNT_ROLES], struct err *err);
/* The members of an account that another line keeps, without what only a line has: out->stage stays NULL where it names
 * none. where is for messages. */
int account_kept(const struct json *doc, enum account_role role, struct arena *arena, const char *where,
                 struct stream_account *out, struct err *err);
/* A figure that every stage of its role gives of what is whole, and this account, which was read, does not: what is not
 * there contradicts nothing. NULL where it gives them all, or is no stage's. */
const char *account_lacks(const struct stream_account *a);
/* False where the counts of a program's account cannot be those of one run, with *why. Counts that it does not give are
 * not looked at. */
bool account_adds_up(const struct stream_account *program, const char **why);
/* False where more records are without a row than were skipped or could not be read: some were not answered. */
bool account_all_answered(const struct stream_account *program);
/* Write one of this program. */
void stream_put_account(struct stream_out *out, const struct stream_account *a);

/* The account's range of a partition, and its log of a topic; NULL where it has none. */
const struct account_range *account_range(const struct stream_account *a, const char *topic, uint64_t partition);
const struct account_log *account_log(const struct stream_account *a, const char *topic);

#endif
