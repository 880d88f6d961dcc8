/* SPDX-License-Identifier: Apache-2.0 */
/* Test hooks: real cut connections and delays around real statements, asked for over
 * POST /__fault?when=…&n=…&match=…&ms=…&bytes=…&status=…&code=… (only with --faults, only by a full user).
 *   before   cut the connection instead of executing
 *   after    execute, then cut the connection without answering
 *   error    execute, then answer `status` (default 500) with an exception, or with the exception of that `code`
 *   refuse   answer `status` (default 503) instead of executing
 *   delay    wait `ms` milliseconds, then execute
 *   stall    execute, wait `ms` milliseconds, then answer
 *   during   cut the connection after `bytes` bytes of the answer's body
 *   hold     execute only once it is released
 *   withhold execute, and answer only once it is released
 *   made     execute it of the database `made`, where it asks a table of `system`: an answer made for the test
 * Each is used up by its next n matching statements (default 1). match is a text that the statement
 * must contain; without one a fault waits for an INSERT.
 * /__fault?await=N answers as soon as N statements are held at once, with 504 when that has not come after `ms`
 * milliseconds (default 120000); /__fault?release=1 lets all that are held go on; /__fault?clear=1 does that too, and
 * drops all faults. */
#ifndef CLICKHOUSE_FRONT_FAULT_H
#define CLICKHOUSE_FRONT_FAULT_H

#include <stdbool.h>
#include <stddef.h>

enum fault_when {
    FAULT_NONE,
    FAULT_BEFORE,
    FAULT_AFTER,
    FAULT_ERROR,
    FAULT_REFUSE,
    FAULT_DELAY,
    FAULT_STALL,
    FAULT_DURING,
    FAULT_HOLD,
    FAULT_WITHHOLD,
    FAULT_MADE
};

struct fault {
    enum fault_when when;
    unsigned long n, ms, bytes, status, code;
    char match[256]; /* empty: any INSERT */
};

/* The kind of that name, or FAULT_NONE. */
enum fault_when fault_when_named(const char *name);
/* Keeps the fault for its statements; false when there are too many. */
bool fault_add(const struct fault *f);
void fault_clear(void);
/* Uses up one fault for this statement; .when is FAULT_NONE when none applies. */
struct fault fault_take(const char *sql, size_t len, bool is_insert);
/* Holds the calling statement until it is released. */
void fault_hold(void);
void fault_release(void);
/* Waits until n statements are held at once; false when that did not come in time. */
bool fault_await(unsigned long n, unsigned long ms);

#endif
