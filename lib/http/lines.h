/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of the server lines that were tried. The parts of deps.sh, the services of the tests and the pages have
 * the same (tests/codes.bats). */
#ifndef OWED_HTTP_LINES_H
#define OWED_HTTP_LINES_H

#include "base/base.h"

#define HTTP_LINES_TESTED "26.5", "26.7"

/* True for a server version of one of them. */
bool http_line_tested(const char *version);

#endif
