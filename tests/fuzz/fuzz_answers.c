/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator's program answers to records: the first byte says which options hold, and then each line is a record
 * of an own count (with a bit for one that was aborted or cannot be read) where it begins with one of ten letters, and
 * an answer else. Whatever it answers, each line that goes on is JSON, and the account of it all adds up.
 */
#include "program/program.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

static void insist(bool ok)
{
    if (!ok)
        abort();
}

static void record(struct program_rows *r, uint64_t *offset, const char *p, size_t n, struct arena *a)
{
    struct buf line = BUF_INIT, queue = BUF_INIT;
    struct program_record of;
    struct err err = ERR_INIT;
    *offset += 1U + (unsigned)(p[0] - 'a') / 5;
    buf_printf(&line, "{\"type\":\"record\",\"topic\":\"t\",\"partition\":%u,\"offset\":%" PRIu64 ",\"payload\":",
               (unsigned)(p[0] - 'a') % 2, *offset);
    if (utf8_valid(p + 1, n - 1))
        json_put_str(&line, p + 1, n - 1);
    else
        buf_adds(&line, "null");
    buf_adds(&line, (p[0] - 'a') % 3 == 2 ? ",\"aborted\":true}" : "}");
    insist(program_record(line.p, line.len, PROGRAM_TEXT, a, &queue, &of, &err) == 0);
    insist(program_rows_record(r, &of, &err) == 0);
    r->records++;
    buf_free(&line);
    buf_free(&queue);
}

static void check_account(const struct stream_line *line, struct arena *a)
{
    struct stream_account account;
    const char *why;
    insist(stream_account(line, a, &account, NULL) == 0 && account.role == ACCOUNT_PROGRAM);
    insist(!account.complete || (account_adds_up(&account, &why) && !account_lacks(&account)));
}

static void check_lines(const struct buf *block, const struct program_rows *r, struct arena *a)
{
    uint64_t events = 0, accounts = 0;
    for (size_t at = 0, n; at < block->len; at += n + 1) {
        const char *p = block->p + at, *nl = memchr(p, '\n', block->len - at);
        insist(nl);
        n = (size_t)(nl - p);
        insist(json_valid(p, n, NULL));
        bool account = n > 18 && memcmp(p, "{\"type\":\"account\",", 18) == 0;
        if (account)
            check_account(&(struct stream_line){.type = LINE_ACCOUNT, .p = p, .n = n, .line_no = 1}, a);
        accounts += account;
        events += !account;
    }
    insist(accounts == 1 && events == r->rows + r->absent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 8192)
        return -1;
    struct stream_out out = {.fd = -1, .broken = false};
    struct program program = {.name = "f"};
    struct program_rows r = {.o = {data[0] & 1, data[0] & 2}, .payloads = PROGRAM_TEXT};
    struct arena a = ARENA_INIT;
    const char *p = (const char *)data + 1, *end = p + size - 1;
    uint64_t offset = 0;
    bool answered = true;
    program_rows_init(&r, &out, &program);
    while (p < end && answered) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((nl ? nl : end) - p);
        struct err err = ERR_INIT;
        if (n > 0 && p[0] >= 'a' && p[0] <= 'j')
            record(&r, &offset, p, n, &a);
        else if (program_rows_value(&r, p, n, &err) != 0) {
            insist(err.kind == ERR_REFUSED && utf8_valid(err.text, strlen(err.text)));
            program_not_whole(&program, BECAUSE(CODE_PROGRAM_ANSWER), "%s", err.text);
            answered = false;
        }
        p += n + 1;
    }
    if (out.block.len < (size_t)48 << 10) {
        program_rows_conclude(&r);
        check_lines(&out.block, &r, &a);
    }
    program_rows_free(&r);
    buf_free(&program.reason);
    stream_out_free(&out);
    arena_free(&a);
    return 0;
}
