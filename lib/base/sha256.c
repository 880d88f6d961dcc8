/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 through OpenSSL's EVP interface, which picks the CPU's instructions. */
#include "base/base.h"

#include <errno.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void digest_failed(void)
{
    msg_error("OpenSSL cannot compute SHA-256");
    _exit(OWED_TROUBLE);
}

/* Looked up once: for a small file the look-up takes longer than the digest. */
static const EVP_MD *algorithm;
static pthread_once_t algorithm_once = PTHREAD_ONCE_INIT;

static void look_up(void)
{
    algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!algorithm)
        digest_failed();
}

static void begin(struct sha256 *s)
{
    pthread_once(&algorithm_once, look_up);
    if (!s->ctx || EVP_DigestInit_ex(s->ctx, algorithm, NULL) != 1)
        digest_failed();
}

void sha256_init(struct sha256 *s)
{
    s->ctx = EVP_MD_CTX_new();
    begin(s);
}

void sha256_add(struct sha256 *s, const void *p, size_t n)
{
    if (EVP_DigestUpdate(s->ctx, p, n) != 1)
        digest_failed();
}

static void finish(struct sha256 *s, char out[SHA256_HEX + 1])
{
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (EVP_DigestFinal_ex(s->ctx, raw, &n) != 1 || n != SHA256_HEX / 2)
        digest_failed();
    static const char hex[] = "0123456789abcdef";
    for (unsigned i = 0; i < n; i++) {
        out[2 * i] = hex[raw[i] >> 4];
        out[2 * i + 1] = hex[raw[i] & 15];
    }
    out[SHA256_HEX] = '\0';
}

void sha256_free(struct sha256 *s)
{
    EVP_MD_CTX_free(s->ctx);
    s->ctx = NULL;
}

void sha256_hex(struct sha256 *s, char out[SHA256_HEX + 1])
{
    finish(s, out);
    sha256_free(s);
}

void sha256_take(struct sha256 *s, char out[SHA256_HEX + 1])
{
    finish(s, out);
    begin(s);
}

void sha256_of(const void *p, size_t n, char out[SHA256_HEX + 1])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, p, n);
    sha256_hex(&s, out);
}

bool sha256_is_hex(const char *p, size_t n)
{
    if (n != SHA256_HEX)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
            return false;
    return true;
}

int sha256_fd(int fd, const char *name, char out[SHA256_HEX + 1], uint64_t *bytes, struct err *err)
{
    enum { CHUNK = 256 << 10 };
    unsigned char *chunk = xmalloc(CHUNK);
    struct sha256 s;
    sha256_init(&s);
    uint64_t total = 0;
    int rc = 0;
    for (;;) {
        ssize_t r = read(fd, chunk, CHUNK);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            rc = err_sys(err, "cannot read '%s'", name);
        if (r <= 0)
            break;
        sha256_add(&s, chunk, (size_t)r);
        total += (uint64_t)r;
        progress_count(PROGRESS_BYTES, (uint64_t)r);
    }
    free(chunk);
    sha256_hex(&s, out);
    if (bytes)
        *bytes = total;
    return rc;
}
