/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row lines, split without a tree. The head is read forwards and the tail
 * backwards, so that the cells between them are looked at once, by whoever
 * checks them. A quote inside a cell is escaped, so the tail's quotes are its own.
 */
#include "stream/stream.h"

#include <inttypes.h>
#include <string.h>

static const char head[] = "{\"type\":\"row\",\"side\":\"";

static int bad_row(const struct stream_line *line, const char *why, struct err *err)
{
    return err_set(err, ERR_REFUSED, "line %" PRIu64 ": a row %s", line->line_no, why);
}

/* True when text may stand in a row's side, at or again: nothing that JSON would escape. */
static bool plain(const char *p, size_t n)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t w, quote, slash;
        memcpy(&w, p + i, 8);
        quote = w ^ (ones * '"');
        slash = w ^ (ones * '\\');
        /* A borrow can mark a byte too many, never one too few: the loop below decides. */
        if ((((w - ones * 0x20) & ~w) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & highs)
            break;
    }
    for (; i < n; i++)
        if ((unsigned char)p[i] < 0x20 || p[i] == '"' || p[i] == '\\')
            return false;
    return n > 0;
}

/* Take `,"name":"text"` off the end of p[0..*n), where it stands there. */
static void take_tail(const char *p, size_t *n, const char *name, size_t name_len, const char **text, size_t *len)
{
    if (*n < name_len + 4 || p[*n - 1] != '"')
        return;
    const char *open = memrchr(p, '"', *n - 1);
    if (!open || (size_t)(open - p) < name_len)
        return;
    const char *label = open - name_len;
    size_t text_len = (size_t)(p + *n - 1 - (open + 1));
    if (memcmp(label, name, name_len) != 0 || !plain(open + 1, text_len))
        return;
    *text = open + 1;
    *len = text_len;
    *n = (size_t)(label - p);
}

/* Take `,"ts":number` off the end of p[0..*n), where it stands there in its one spelling. */
static void take_ts(const char *p, size_t *n, struct stream_ts *ts)
{
    static const char name[] = ",\"ts\":";
    const size_t name_len = sizeof name - 1;
    size_t k = 0;
    uint64_t ms;
    while (k < *n && k < 17 && p[*n - 1 - k] >= '0' && p[*n - 1 - k] <= '9')
        k++;
    const char *digits = p + *n - k;
    if (k == 0 || *n - k < name_len || memcmp(digits - name_len, name, name_len) != 0 || !scan_u64(digits, k, &ms) ||
        ms > TS_MAX)
        return;
    *ts = (struct stream_ts){true, ms};
    *n -= k + name_len;
}

int stream_row(const struct stream_line *line, struct stream_row *row, struct err *err)
{
    *row = (struct stream_row){0};
    const char *p = line->p, *end = p + line->n;
    if (line->n < sizeof head || memcmp(p, head, sizeof head - 1) != 0)
        return bad_row(line, "does not begin with its side", err);
    const char *side = p + sizeof head - 1, *q = memchr(side, '"', (size_t)(end - side));
    if (!q)
        return bad_row(line, "has a side that does not end", err);
    size_t side_len = (size_t)(q++ - side);
    uint64_t read = 0;
    if (end - q > 8 && memcmp(q, ",\"read\":", 8) == 0) {
        const char *digits = q + 8;
        q = digits;
        while (q < end && *q >= '0' && *q <= '9' && q - digits < 10)
            q++;
        if (!scan_u64(digits, (size_t)(q - digits), &read) || read < 1)
            return bad_row(line, "has a read that is no number from 1", err);
    }
    row->side = side_of(side, side_len, read);
    if (row->side == SIDES)
        return bad_row(line, "of no side known here (captured, reference, destination with read 1 or 2)", err);
    if (end - q < 12 || memcmp(q, ",\"cells\":[", 10) != 0)
        return bad_row(line, "has another member where its cells should stand", err);
    return stream_row_tail(line, q + 9, row, err);
}

int stream_row_tail(const struct stream_line *line, const char *cells, struct stream_row *row, struct err *err)
{
    row->cells = cells;
    size_t n = (size_t)(line->p + line->n - cells);
    if (n < 1 || cells[n - 1] != '}')
        return bad_row(line, "does not end after its members", err);
    n--;
    if (n > 0 && cells[n - 1] != ']') {
        take_tail(cells, &n, ",\"again\":", sizeof ",\"again\":" - 1, &row->again, &row->again_len);
        take_ts(cells, &n, &row->ts);
        take_tail(cells, &n, ",\"at\":", sizeof ",\"at\":" - 1, &row->at, &row->at_len);
        if (row->ts.has && !row->at)
            return bad_row(line, "has a ts and no at", err);
    }
    if (n < 2 || cells[n - 1] != ']')
        return bad_row(line, "has a member that is not known or not in its place", err);
    row->cells_len = n;
    return 0;
}
