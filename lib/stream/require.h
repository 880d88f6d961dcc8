/* SPDX-License-Identifier: Apache-2.0 */
/* The require line, and what a run requires: one rule for whoever writes that line and for whoever decides by it. */
#ifndef OWED_STREAM_REQUIRE_H
#define OWED_STREAM_REQUIRE_H

#include "stream/names.h"

#include "base/base.h"
#include "json/json.h"

struct stream_line;
struct stream_out;

/* What a run asks for where no stage said so (verdict --profile): each adds to the one before. */
enum profile { REQUIRE_NONE, REQUIRE_INTEGRITY, REQUIRE_CONSISTENCY, REQUIRE_REPLAY, REQUIRE_FULL };
int profile_parse(const char *s, enum profile *out, struct err *err);

/* What is known of a run, from which its checks follow. */
struct run_known {
    bool scope;                /* it has a scope */
    bool declared;             /* which no bundle shows */
    bool complete_table;       /* and which is of the whole table */
    bool reference;            /* something of a reference is there */
    bool expected;             /* rows were named that a replay must give */
    bool golden;               /* it is of a regression case */
    bool rows;                 /* rows, or a summary of some, are there */
    const struct json *stages; /* of the header, or NULL: one that binds a reference had one to bind */
    enum profile profile;
};
/* Add the checks that such a run requires. */
void require_checks(const struct run_known *known, bool required[CHECK_NAMES]);

/* Parse a require line and add its checks. ERR_REFUSED, with the line's number. */
int stream_require(const struct stream_line *line, bool required[CHECK_NAMES], struct err *err);
void stream_put_require(struct stream_out *out, const struct run_known *known);

#endif
