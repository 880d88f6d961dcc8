/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz the readers of evidence. The first byte chooses one; what is accepted is written and read back as the same. */
#include "evidence/barrier.h"
#include "evidence/capture.h"
#include "evidence/interval.h"
#include "evidence/manifest.h"
#include "evidence/marker.h"
#include "evidence/sidecar.h"
#include "evidence/snapshot.h"
#include "json/json.h"
#include "json/redact.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct arena arena;

static void insist(bool ok)
{
    if (!ok)
        abort();
}

static void barrier(const char *p, size_t n)
{
    struct barrier b, again;
    struct buf text = BUF_INIT, second = BUF_INIT;
    if (barrier_parse(p, n, "f", &arena, &b, NULL) == 0) {
        barrier_put(&text, &b);
        insist(barrier_parse(text.p, text.len, "f", &arena, &again, NULL) == 0);
        barrier_put(&second, &again);
        insist(buf_is(&second, text.p, text.len));
    }
    buf_free(&text);
    buf_free(&second);
}

static void snapshot(const char *p, size_t n)
{
    struct snapshot s, again;
    struct buf text = BUF_INIT, second = BUF_INIT;
    if (snapshot_parse(p, n, "f", &arena, &s, NULL) == 0) {
        snapshot_put(&text, &s);
        insist(snapshot_parse(text.p, text.len, "f", &arena, &again, NULL) == 0);
        snapshot_put(&second, &again);
        insist(buf_is(&second, text.p, text.len));
    }
    buf_free(&text);
    buf_free(&second);
}

static void interval(const char *p, size_t n)
{
    struct interval iv, again;
    struct buf text = BUF_INIT, second = BUF_INIT;
    if (interval_parse(p, n, "f", &arena, &iv, NULL) == 0) {
        interval_put(&text, &iv);
        insist(interval_parse(text.p, text.len, "f", &arena, &again, NULL) == 0);
        interval_put(&second, &again);
        insist(interval_parse(second.p, second.len, "f", &arena, &again, NULL) == 0);
    }
    buf_free(&text);
    buf_free(&second);
}

static void capture(const char *bytes, size_t n)
{
    struct capture_reader r;
    const char *p;
    size_t len;
    bool data;
    int fd = memfd_create("capture", MFD_CLOEXEC), rc;
    insist(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
    rc = capture_read_open(&r, fd, "f", NULL);
    if (rc == 0)
        while ((rc = capture_read_next(&r, &p, &len, &data, NULL)) == 1)
            ;
    if (rc == 0) {
        uint64_t whole;
        char sha[SHA256_HEX + 1], own[SHA256_HEX + 1];
        capture_read_digest(&r, &whole, sha);
        sha256_of(bytes, n, own);
        insist(whole == n && strcmp(sha, own) == 0 && r.data == r.h.stored);
    }
    capture_read_close(&r);
    close(fd);
}

static void redact(const char *p, size_t n)
{
    struct buf out = BUF_INIT;
    const struct json *v = json_parse(p, n, &arena, NULL);
    if (v) {
        redact_put(&out, v);
        insist(json_valid(out.p, out.len, NULL));
    }
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct marker m;
    struct restored r;
    struct sidecar s;
    struct op_spec op;
    struct job_manifest job;
    size_t n = size - 1;
    arena = (struct arena)ARENA_INIT;
    const char *p = arena_strndup(&arena, (const char *)data + 1, n);
    switch (data[0] % 9) {
    case 0: marker_parse(p, n, "f", &arena, &m, NULL); break;
    case 1: restored_parse(p, n, "f", &arena, &r, NULL); break;
    case 2: sidecar_parse(p, n, "f", &s, NULL); break;
    case 3: snapshot(p, n); break;
    case 4: interval(p, n); break;
    case 5: op_spec_parse(p, n, "f", &arena, &op, NULL); break;
    case 6:
        job_manifest_parse(p, n, "f", &arena, &job, NULL);
        redact(p, n);
        break;
    case 7: barrier(p, n); break;
    default: capture(p, n);
    }
    arena_free(&arena);
    return 0;
}
