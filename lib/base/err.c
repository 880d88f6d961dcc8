/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as text with a kind, and the program's messages on standard error. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

int err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    err->kind = kind;
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return -1;
}

int err_sys(struct err *err, const char *fmt, ...)
{
    int saved = errno;
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    err->kind = saved == ENOENT ? ERR_MISSING : ERR_TROUBLE;
    vsnprintf(err->text, sizeof err->text, fmt, ap);
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
    opterr = 0;
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

void msg_mask(struct buf *out, const char *p, size_t n)
{
    bool utf8 = utf8_valid(p, n);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        /* U+0080 to U+009F drive some terminals as the C0 controls do. */
        bool c1 = utf8 && c == 0xc2 && i + 1 < n && (unsigned char)p[i + 1] < 0xa0;
        if (printable(c) && (c < 0x80 || (utf8 && !c1))) {
            buf_addc(out, (char)c);
        } else {
            buf_printf(out, "\\x%02x", c);
            if (c1)
                buf_printf(out, "\\x%02x", (unsigned char)p[++i]);
        }
    }
}

static void message(const char *tail, const char *fmt, va_list ap)
{
    struct buf text = BUF_INIT, line = BUF_INIT;
    buf_vprintf(&text, fmt, ap);
    buf_printf(&line, "%s: ", program);
    msg_mask(&line, text.p ? text.p : "", text.len);
    buf_adds(&line, tail);
    buf_addc(&line, '\n');
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
    message("", fmt, ap);
    va_end(ap);
}

int msg_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message(" (try --help)", fmt, ap);
    va_end(ap);
    return OWED_REFUSED;
}

int opt_refused(char *const *argv, int at, struct err *err)
{
    const char *arg = argv[at];
    int shown = (int)strcspn(arg, "=");
    if (arg[0] != '-')
        return err_set(err, ERR_REFUSED, "'%.*s': no such argument is expected (try --help)", shown, arg);
    return err_set(err, ERR_REFUSED, "'%.*s' is no option here, or its value is missing or too much (try --help)", shown, arg);
}

bool opt_operand(int argc, char *const *argv)
{
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            return true;
    return false;
}

static int print_out(const char *p, size_t n)
{
    struct err err = ERR_INIT;
    if (fd_write_all(1, p, n, "standard output", &err) == 0)
        return OWED_OK;
    msg_error("%s", err.text);
    return OWED_TROUBLE;
}

int msg_version(void)
{
    char line[256];
    int n = snprintf(line, sizeof line, "%s %s\n", program, OWED_VERSION);
    return print_out(line, (size_t)n);
}

int msg_help(const char *text)
{
    return print_out(text, strlen(text));
}
