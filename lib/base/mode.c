/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may read what a program writes under a name: evidence, bundles and streams hold records. It is the mask of the
 * process, so that no place that creates a file can leave it out.
 */
#include "base/base.h"
#include "base/options.h"

#include <string.h>
#include <sys/stat.h>

static mode_t users = 022; /* the mask that this program was started with */

void mode_keep(void)
{
    users = umask(0077);
}

void mode_give_back(void)
{
    umask(users);
}

int take_mode(const char *value, void *ctx, struct err *err)
{
    (void)ctx;
    unsigned mode = 0;
    size_t n = strspn(value, "01234567");
    for (size_t i = 0; i < n && mode <= 0777; i++)
        mode = mode * 8 + (unsigned)(value[i] - '0');
    if (n == 0 || value[n] || (mode & ~0666u) || (mode & 0600) != 0600)
        return err_set(
            err, ERR_REFUSED,
            "--mode=%.20s: octal permissions without execution are needed that let the owner read and write, "
            "such as 0640",
            value);
    umask((mode_t)(0777 & ~(mode | (mode & 0444) >> 2)));
    return 0;
}
