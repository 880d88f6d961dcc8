/* SPDX-License-Identifier: Apache-2.0 */
/* Request bodies. */
#include "body.h"

#include <lz4frame.h>
#include <sys/mman.h>
#include <unistd.h>

bool body_write(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);

        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

/* The frames one after the other; the last must be whole. */
static bool unpack(LZ4F_dctx *lz4, const char *in, size_t len, int out, size_t *plain)
{
    static const size_t room = 64 << 10;
    char block[64 << 10];
    size_t want = 0;

    for (size_t at = 0; at < len;) {
        size_t made = room, used = len - at;

        want = LZ4F_decompress(lz4, block, &made, in + at, &used, NULL);
        if (LZ4F_isError(want) || (made == 0 && used == 0) || !body_write(out, block, made))
            return false;
        at += used;
        *plain += made;
    }
    return want == 0;
}

int body_unpack_lz4(int fd, size_t len, size_t *plain)
{
    int out = memfd_create("plain", MFD_CLOEXEC);
    LZ4F_dctx *lz4 = NULL;
    bool done = out >= 0 && !LZ4F_isError(LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION));

    *plain = 0;
    if (done && len > 0) {
        char *in = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

        done = in != MAP_FAILED && unpack(lz4, in, len, out, plain);
        if (in != MAP_FAILED)
            munmap(in, len);
    }
    LZ4F_freeDecompressionContext(lz4);
    if (!done && out >= 0) {
        close(out);
        out = -1;
    }
    return out;
}
