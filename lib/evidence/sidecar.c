/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sidecars: what a snapshot's bytes must be. CRC32C is what the format began
 * with; payload_sha256 is ours, and both are held where both are there.
 */
#include "evidence/sidecar.h"
#include "evidence/fields.h"

#include <pthread.h>
#include <string.h>

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_make(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? (c >> 1) ^ 0x82f63b78u : c >> 1;
        table[i] = c;
    }
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t n)
{
    pthread_once(&table_once, table_make);
    const unsigned char *p = bytes;
    crc = ~crc;
    for (size_t i = 0; i < n; i++)
        crc = table[(crc ^ p[i]) & 0xff] ^ (crc >> 8);
    return ~crc;
}

static bool hex_u32(const char *s, uint32_t *out)
{
    if (strlen(s) != 8 || strspn(s, "0123456789abcdef") != 8)
        return false;
    uint32_t v = 0;
    for (size_t i = 0; i < 8; i++)
        v = v << 4 | (uint32_t)(s[i] <= '9' ? s[i] - '0' : s[i] - 'a' + 10);
    *out = v;
    return true;
}

int sidecar_parse(const char *p, size_t n, const char *where, struct sidecar *out, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct field f[] = {{"clink_checkpoint_meta", NULL},
                        {"checkpoint_id", NULL},
                        {"payload_bytes", NULL},
                        {"payload_crc32c", NULL},
                        {"payload_sha256", NULL}};
    *out = (struct sidecar){0};
    int rc = -1;
    uint64_t version;
    if (fields_read(p, n, where, f, sizeof f / sizeof *f, &a, err) != 0 || field_u64(&f[0], &version, where, err) != 0)
        goto done;
    if (version != 1) {
        err_set(err, ERR_REFUSED, "%s: version %" PRIu64 " of a sidecar is not known here", where, version);
        goto done;
    }
    if (field_u64(&f[1], &out->checkpoint, where, err) != 0 || field_u64(&f[2], &out->bytes, where, err) != 0)
        goto done;
    if (!f[3].value || !hex_u32(f[3].value, &out->crc32c)) {
        err_set(err, ERR_REFUSED, "%s: 'payload_crc32c' is not 8 hex digits", where);
        goto done;
    }
    if (f[4].value && !sha256_is_hex(f[4].value, strlen(f[4].value))) {
        err_set(err, ERR_REFUSED, "%s: 'payload_sha256' is not a SHA-256", where);
        goto done;
    }
    if (f[4].value) {
        out->has_sha256 = true;
        memcpy(out->sha256, f[4].value, SHA256_HEX + 1);
    }
    rc = 0;
done:
    arena_free(&a);
    return rc;
}

void sidecar_put(struct buf *out, uint64_t checkpoint, const char *payload, size_t n)
{
    char sha[SHA256_HEX + 1];
    sha256_of(payload, n, sha);
    buf_printf(out,
               "clink_checkpoint_meta=1\ncheckpoint_id=%" PRIu64
               "\npayload_bytes=%zu\npayload_crc32c=%08x\npayload_sha256=%s\n",
               checkpoint, n, crc32c(0, payload, n), sha);
}

int sidecar_verify(const struct sidecar *s, const char *payload, size_t n, const char *where, struct err *err)
{
    char sha[SHA256_HEX + 1];
    if (s->bytes != n)
        return err_set(err, ERR_REFUSED, "%s has %zu bytes, its sidecar says %" PRIu64, where, n, s->bytes);
    uint32_t crc = crc32c(0, payload, n);
    if (s->crc32c != crc)
        return err_set(err, ERR_REFUSED, "%s has CRC32C %08x, its sidecar says %08x", where, crc, s->crc32c);
    if (!s->has_sha256)
        return 0;
    sha256_of(payload, n, sha);
    if (strcmp(s->sha256, sha) != 0)
        return err_set(err, ERR_REFUSED, "%s has another SHA-256 than its sidecar says", where);
    return 0;
}
