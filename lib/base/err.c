/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as text with a kind, and the program's messages on standard error. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void set(struct err *err, enum err_kind kind, int sys, const struct cause *cause, const char *fmt, va_list ap)
{
    struct cause own = CAUSE_INIT;
    if (cause)
        own = *cause; /* which may be the one that err holds */
    err->kind = kind;
    err->sys = sys;
    err->cause = own;
    vsnprintf(err->text, sizeof err->text, fmt, ap);
}

void err_reset(struct err *err)
{
    err->kind = ERR_NONE;
    err->sys = 0;
    err->cause.code = 0;
    err->cause.len = 0;
    err->text[0] = '\0';
}

int err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    set(err, kind, 0, NULL, fmt, ap);
    va_end(ap);
    return -1;
}

int err_fail(struct err *err, enum err_kind kind, const struct cause *cause, const char *fmt, ...)
{
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    set(err, kind, 0, cause, fmt, ap);
    va_end(ap);
    return -1;
}

int err_cause(struct err *err, const struct cause *cause)
{
    if (err && err->cause.code == 0)
        err->cause = *cause;
    return -1;
}

int err_sys(struct err *err, const char *fmt, ...)
{
    int saved = errno;
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    set(err, saved == ENOENT ? ERR_MISSING : ERR_TROUBLE, saved, NULL, fmt, ap);
    va_end(ap);
    size_t at = strlen(err->text);
    char why[128];
    snprintf(err->text + at, sizeof err->text - at, ": %s", strerror_r(saved, why, sizeof why));
    errno = saved;
    return -1;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char head[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(head, sizeof head, fmt, ap);
    va_end(ap);
    char tail[sizeof err->text];
    memcpy(tail, err->text, sizeof tail);
    size_t room = sizeof err->text;
    size_t n = strnlen(head, room - 3);
    memcpy(err->text, head, n);
    snprintf(err->text + n, room - n, ": %s", tail);
    return -1;
}

int err_exit(const struct err *err)
{
    return err->kind == ERR_REFUSED ? OWED_REFUSED : OWED_TROUBLE;
}

static const char *program = "owed";

/* A descriptor that came closed would be given to the next file opened, which would then take the stream's bytes. It
 * is held by something that neither reads nor writes the way it is meant to, so that its use is an error. */
static void hold_closed(int fd)
{
    while (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

void msg_init(const char *argv0)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        hold_closed(fd);
    mode_keep();
    if (!argv0 || !*argv0)
        return;
    const char *slash = strrchr(argv0, '/');
    program = slash ? slash + 1 : argv0;
}

const char *msg_program(void)
{
    return program;
}

static bool printable(unsigned char c)
{
    return c >= 0x20 && c != 0x7f;
}

/* The bytes of the character at p, in text known to be UTF-8. */
static size_t character(const char *p, uint32_t *code)
{
    unsigned char c = (unsigned char)p[0];
    size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    *code = n == 1 ? c : c & (0x7fu >> n);
    for (size_t i = 1; i < n; i++)
        *code = *code << 6 | ((unsigned char)p[i] & 0x3f);
    return n;
}

/* Past ASCII: what drives a terminal as the C0 controls do, turns the direction of what follows, breaks a line, or is
 * not seen, so that two names that differ would look alike. */
static bool hidden(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0x80, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},   {0x180e, 0x180e},
                                         {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f}, {0xfeff, 0xfeff},
                                         {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

void msg_mask(struct buf *out, const char *p, size_t n)
{
    bool utf8 = utf8_valid(p, n);
    for (size_t i = 0, len; i < n; i += len) {
        uint32_t code = (unsigned char)p[i];
        len = utf8 ? character(p + i, &code) : 1;
        if (code < 0x80 ? printable((unsigned char)code) : utf8 && !hidden(code)) {
            buf_add(out, p + i, len);
            continue;
        }
        for (size_t k = 0; k < len; k++)
            buf_printf(out, "\\x%02x", (unsigned char)p[i + k]);
    }
}

static void message(const char *fmt, va_list ap)
{
    struct buf text = BUF_INIT, line = BUF_INIT;
    buf_vprintf(&text, fmt, ap);
    buf_printf(&line, "%s: ", program);
    msg_mask(&line, text.p ? text.p : "", text.len);
    buf_addc(&line, '\n');
    progress_clear();
    /* One write, so that the lines of programs that share a terminal do not mix. */
    if (fd_write_all(2, line.p, line.len, "standard error", NULL) != 0)
        errno = 0;
    buf_free(&text);
    buf_free(&line);
}

void msg_error(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message(fmt, ap);
    va_end(ap);
}

void msg_note(const struct buf *note)
{
    for (size_t at = 0, n; at < note->len; at += n + 1) {
        n = (size_t)((char *)memchr(note->p + at, '\n', note->len - at) - (note->p + at));
        msg_error("%.*s", (int)n, note->p + at);
    }
}
