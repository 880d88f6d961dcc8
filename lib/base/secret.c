/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets: the words that name one, and where a program takes one from. Nothing here shows one. */
#include "base/base.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX 65536

/* Letters and digits alone, in lower case: apiKey, api_key and X-Api-Key are one. */
static const char *const words[] = {
    "password",   "passwd",    "passphrase", "passcode",      "pwd",           "secret",       "token",
    "credential", "jaas",      "apikey",     "accesskey",     "privatekey",    "accountkey",   "sslkey",
    "signingkey", "sharedkey", "masterkey",  "encryptionkey", "authorization", "authuserinfo", "oauthbearerconfig"};

/* Behind the word where it stands at p, else 0. */
static size_t word_end(const char *p, size_t n, const char *word)
{
    size_t i = 0;
    for (; *word && i < n; i++)
        if (isalnum((unsigned char)p[i]) && tolower((unsigned char)p[i]) != *word++)
            return 0;
    return *word ? 0 : i;
}

size_t secret_word(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words && isalnum((unsigned char)name[i]); k++) {
            size_t end = word_end(name + i, n - i, words[k]);
            if (end > 0)
                return i + end;
        }
    return 0;
}

int env_missing(const char *name, struct err *err)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (!*name)
        return err_set(err, ERR_REFUSED, "no environment variable is named");
    if (name[n] == '\0')
        return err_set(err, ERR_REFUSED, "the environment variable '%s' is not set", name);
    return err_set(err, ERR_REFUSED,
                   "the environment variable that is named is not set (a name of A-Z, 0-9 and _ is shown)");
}

static int first_line(const char *file, char **out, struct err *err)
{
    struct buf text = BUF_INIT;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "its file cannot be opened");
    int rc = file_read_fd(fd, "its file", FILE_MAX, &text, err);
    close(fd);
    size_t n = 0;
    while (rc == 0 && n < text.len && text.p[n] != '\n')
        n++;
    if (n && text.p[n - 1] == '\r')
        n--;
    if (rc == 0 && n && memchr(text.p, 0, n))
        rc = err_set(err, ERR_REFUSED, "its file holds a NUL byte in its first line");
    else if (rc == 0)
        *out = xstrndup(text.p ? text.p : "", n);
    if (text.p)
        explicit_bzero(text.p, text.len);
    buf_free(&text);
    return rc;
}

int secret_read(const char *env, const char *file, char **out, struct err *err)
{
    *out = NULL;
    if (!env)
        return file ? first_line(file, out, err) : 0;
    const char *v = *env ? getenv(env) : NULL;
    if (!v)
        return env_missing(env, err);
    *out = xstrdup(v);
    return 0;
}
