/* SPDX-License-Identifier: Apache-2.0 */
/* When a Kafka record was written, as the log has it: the member `ts` of rows, events and findings. */
#ifndef OWED_STREAM_TS_H
#define OWED_STREAM_TS_H

#include "base/base.h"
#include "json/json.h"

struct stream_ts {
    bool has;
    uint64_t ms; /* since the epoch */
};
#define TS_MAX ((uint64_t)1 << 53) /* past it, far beyond any calendar, a number in JSON is not exact */

/* Of a member that stands only where it is known. ERR_REFUSED for what is no whole number of milliseconds from 0. */
int ts_parse(const struct json *doc, const char *name, struct stream_ts *out, const char *where, struct err *err);
/* The same of a line that others write, where null and what is no time (before 0, or past TS_MAX) say that it is not
 * known. */
int ts_take(const struct json *doc, const char *name, struct stream_ts *out, const char *where, struct err *err);
/* Append `,"ts":…`; nothing where it is not known. */
void ts_put(struct buf *line, struct stream_ts ts);
void ts_jw(struct json_w *w, const char *name, struct stream_ts ts);
/* Widen oldest and newest by one more. */
void ts_widen(struct stream_ts *oldest, struct stream_ts *newest, struct stream_ts one);
/* Append it as UTC for a person: 2026-11-30T02:00:01.123Z; a year past 9999 as its milliseconds. */
void ts_human(struct buf *out, struct stream_ts ts);

#endif
