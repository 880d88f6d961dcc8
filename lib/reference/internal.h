/* SPDX-License-Identifier: Apache-2.0 */
/* Inside reference only: the two lines around the rows. */
#ifndef OWED_REFERENCE_INTERNAL_H
#define OWED_REFERENCE_INTERNAL_H

#include "reference/reference.h"

int reference_head_parse(struct reference *r, const char *p, size_t n, struct err *err);
int reference_end_parse(struct reference *r, const char *p, size_t n, struct err *err);

#endif
