/* SPDX-License-Identifier: Apache-2.0 */
/* The watermark line: how far a lane's time has come. */
#ifndef OWED_STREAM_WATERMARK_H
#define OWED_STREAM_WATERMARK_H

#include "base/base.h"

struct stream_line;
struct stream_out;

/* One of the two: a time, or that the lane is idle or no longer is (and has no time yet). */
struct stream_watermark {
    bool idle, has_time;
    int64_t time;
};

/* The members of such a line. ERR_REFUSED, with what was wrong. */
struct json;
int watermark_parse(const struct json *doc, struct stream_watermark *out, struct err *err);
/* Parse a watermark line. ERR_REFUSED, with the line's number. */
int stream_watermark(const struct stream_line *line, struct stream_watermark *out, struct err *err);
void stream_put_watermark(struct stream_out *out, const struct stream_watermark *w);

#endif
