/* SPDX-License-Identifier: Apache-2.0 */
/* Which server lines were tried. */
#include "http/lines.h"

#include <string.h>

bool http_line_tested(const char *version)
{
    static const char *const lines[] = {HTTP_LINES_TESTED};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t n = strlen(lines[i]);
        if (strncmp(version, lines[i], n) == 0 && (version[n] == '\0' || version[n] == '.'))
            return true;
    }
    return false;
}
