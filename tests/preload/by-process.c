/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program under test: what strftime gives depends on the process, as no operator's rows may. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

size_t strftime(char *s, size_t max, const char *format, const struct tm *tm)
{
    (void)format;
    (void)tm;
    return (size_t)snprintf(s, max, "%d", getpid());
}
