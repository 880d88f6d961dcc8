/* SPDX-License-Identifier: Apache-2.0 */
/* What both forms of the report say in the same words. */
#ifndef OWED_REPORT_WORDS_H
#define OWED_REPORT_WORDS_H

#include "report/report.h"

/* Which of the three assurances the required checks are about, in a sentence. */
const char *report_assurance(const struct report *r);
/* NULL-terminated. */
extern const char *const report_method[];
extern const char *const report_assumptions[];

#endif
