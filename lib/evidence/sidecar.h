/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: the sidecar of a stored state: its size, CRC-32C and SHA-256.
 * Parsers put strings and arrays in the caller's arena, NUL-terminated; writers only read theirs. `where` names the
 * text in errors (a path). What is malformed is refused (ERR_REFUSED); members that are not known are ignored.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_SIDECAR_H
#define OWED_EVIDENCE_SIDECAR_H

#include "base/base.h"

struct sidecar {
    uint64_t checkpoint, bytes;
    uint32_t crc32c;
    bool has_sha256;
    char sha256[SHA256_HEX + 1];
};
int sidecar_parse(const char *p, size_t n, const char *where, struct sidecar *out, struct err *err);
void sidecar_put(struct buf *out, uint64_t checkpoint, const char *payload, size_t n);
/* Refuses a payload of another size, CRC or digest, naming which. */
int sidecar_verify(const struct sidecar *s, const char *payload, size_t n, const char *where, struct err *err);
uint32_t crc32c(uint32_t crc, const void *p, size_t n); /* start with 0 */

#endif
