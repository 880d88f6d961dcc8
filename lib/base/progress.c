/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a long work is, for whoever waits before a terminal: one line on
 * standard error, first after two seconds, written again in its place at most
 * twice a second and taken away at the end. Nothing is written into a pipe or a
 * file, and nothing where standard output is the same terminal and written to.
 */
#include "base/base.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_MS = 2000, AGAIN_MS = 500, COLUMNS = 80 };

enum { UNKNOWN, OFF, ON };
static atomic_int state = UNKNOWN;
static atomic_bool output_waits;
static atomic_flag painting = ATOMIC_FLAG_INIT;
static _Atomic uint64_t counts[PROGRESS_UNITS], share_done, share_of;
static _Atomic int64_t begun, share_begun, painted;
static atomic_bool shown;

static bool is_on(void)
{
    if (atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN) {
        int was = errno;
        bool on = isatty(STDERR_FILENO) && (atomic_load(&output_waits) || !isatty(STDOUT_FILENO));
        atomic_store(&begun, time_mono_ms());
        if (on)
            atexit(progress_clear);
        atomic_store(&state, on ? ON : OFF);
        errno = was; /* isatty's is nobody's */
    }
    return atomic_load_explicit(&state, memory_order_relaxed) == ON;
}

void progress_output_waits(void)
{
    atomic_store(&output_waits, true);
}

/* A number with its thousands apart. */
static void put_number(struct buf *b, uint64_t v)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%" PRIu64, v);
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            buf_addc(b, ',');
        buf_addc(b, text[i]);
    }
}

static void put_counts(struct buf *b)
{
    static const char *const names[] = {"records", "events", "rows", "bytes"};
    const char *comma = " ";
    for (int u = 0; u < PROGRESS_UNITS; u++) {
        uint64_t n = atomic_load(&counts[u]);
        if (n == 0)
            continue;
        buf_adds(b, comma);
        put_number(b, n);
        buf_printf(b, " %s", names[u]);
        comma = ", ";
    }
}

/* The share, and how long the rest takes where it goes on as it went so far. */
static void put_share(struct buf *b, int64_t now)
{
    uint64_t done = atomic_load(&share_done), of = atomic_load(&share_of);
    int64_t took = now - atomic_load(&share_begun);
    if (of == 0 || done > of)
        return;
    buf_printf(b, ", %.0f%%", 100.0 * (double)done / (double)of);
    if (done > 0 && took >= AGAIN_MS)
        buf_printf(b, ", %.0f s left", (double)took / 1000 * (double)(of - done) / (double)done);
}

static size_t columns(void)
{
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1U : COLUMNS - 1U;
}

static void paint(void)
{
    int64_t now = time_mono_ms();
    if (now - atomic_load(&begun) < FIRST_MS || now - atomic_load(&painted) < AGAIN_MS ||
        atomic_flag_test_and_set(&painting))
        return;
    struct buf line = BUF_INIT;
    int was = errno;
    buf_printf(&line, "%s:", msg_program());
    put_counts(&line);
    put_share(&line, now);
    if (line.len > columns())
        line.len = columns();
    buf_adds(&line, "\033[K\r"); /* the cursor waits at the line's begin, where the next message goes */
    fd_write_all(STDERR_FILENO, line.p, line.len, "standard error", NULL);
    buf_free(&line);
    errno = was;
    atomic_store(&painted, now);
    atomic_store(&shown, true);
    atomic_flag_clear(&painting);
}

void progress_count(enum progress_unit unit, uint64_t n)
{
    if (!is_on())
        return;
    atomic_fetch_add_explicit(&counts[unit], n, memory_order_relaxed);
    paint();
}

void progress_share(uint64_t done, uint64_t of)
{
    if (!is_on())
        return;
    if (of != atomic_exchange(&share_of, of))
        atomic_store(&share_begun, time_mono_ms());
    atomic_store(&share_done, done);
    paint();
}

void progress_file(int fd)
{
    struct stat st;
    off_t at = is_on() && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    if (at >= 0 && st.st_size > 0)
        progress_share((uint64_t)at, (uint64_t)st.st_size);
}

void progress_next(void)
{
    for (int u = 0; u < PROGRESS_UNITS; u++)
        atomic_store(&counts[u], 0);
    atomic_store(&share_of, 0);
}

void progress_clear(void)
{
    static const char erase[] = "\r\033[K";
    int was = errno;
    if (atomic_exchange(&shown, false))
        fd_write_all(STDERR_FILENO, erase, sizeof erase - 1, "standard error", NULL);
    errno = was;
}
