/* SPDX-License-Identifier: Apache-2.0 */
/* A file of connection properties: what is refused names its line and repeats no value. */
#include "kafka/kafka.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECRET "hunter2"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[40];
    struct err err = ERR_INIT;
    if (memmem(data, size, "plugin", 6)) /* which the library would load */
        return -1;
    if (fd < 0)
        fd = memfd_create("conf", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    struct kafka_conf *c = kafka_conf_new();
    int rc = kafka_conf_file(c, path, &err);
    if ((rc != 0) != (err.kind == ERR_REFUSED) || (rc != 0 && strncmp(err.text, path, strlen(path)) != 0))
        abort();
    /* A name is repeated, and may be anything; what stands behind the first '=' of its line is not. */
    const char *value = memmem(data, size, "=" SECRET, sizeof SECRET);
    if (value && memmem(data, size, SECRET, sizeof SECRET - 1) == value + 1 && strstr(err.text, "=" SECRET))
        abort();
    kafka_conf_free(c);
    return 0;
}
