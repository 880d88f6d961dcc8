/* SPDX-License-Identifier: Apache-2.0 */
/* A report of any stream: both forms are written, the JSON one is JSON, and only a whole stream is passed. */
#include "report/view.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct err err = ERR_INIT;
    if (fd < 0)
        fd = scratch_open(NULL, &err);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    struct stream_in in;
    struct stream_line line;
    struct report r;
    report_init(&r);
    stream_in_init(&in, fd, "fuzz", 1 << 16);
    int rc;
    while ((rc = stream_next(&in, &line, &r.input)) > 0)
        if (report_line(&r, &line, &r.input) != 0)
            break;
    if (rc == 0)
        r.input = (struct err)ERR_INIT;
    /* Of a cut stream too, since few changes leave an end that holds. */
    struct err whole = ERR_INIT;
    r.ended = in.ended;
    report_imply(&r, in.stages);
    report_whole(&r, in.shard, &whole);
    report_decide(&r);
    if (r.exit == OWED_OK && !in.ended)
        abort();
    struct buf text = BUF_INIT, json = BUF_INIT;
    struct view view;
    view_make(&view, &r);
    report_text(&view, 3, &text);
    report_json(&view, &json);
    struct json_error e;
    if (!json_valid(json.p, json.len, &e))
        abort();
    buf_free(&text);
    buf_free(&json);
    view_free(&view);
    report_free(&r);
    stream_in_free(&in);
    return 0;
}
