/* SPDX-License-Identifier: Apache-2.0 */
/* Inside evidence only: files of key=value lines, each key once, unknown keys ignored. */
#ifndef OWED_EVIDENCE_FIELDS_H
#define OWED_EVIDENCE_FIELDS_H

#include "base/base.h"

struct field {
    const char *key;
    const char *value; /* in the arena; NULL until it was seen */
};

/* Fill the values of the n_f known fields. Refuses an empty text, a line without its newline, a line that is no
 * key=value or no text, and a known key given twice. */
int fields_read(const char *p, size_t n, const char *where, struct field *f, size_t n_f, struct arena *a,
                struct err *err);
/* A field that must be there and be a decimal. */
int field_u64(const struct field *f, uint64_t *out, const char *where, struct err *err);

/* Refuse a document of another format or of a version that is not 1. */
struct json;
int format_check(const struct json *doc, const char *format, const char *where, struct arena *a, struct err *err);
/* Make the directories that path lies in. */
int make_parent(const char *path, struct err *err);

#endif
