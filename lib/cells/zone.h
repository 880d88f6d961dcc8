/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zone: local times of a time zone as instants, by the system's own description
 * of it (TZif files, RFC 8536), whatever the environment says. What is read is
 * kept for the life of the process, and may be asked for by several threads.
 */
#ifndef OWED_CELLS_ZONE_H
#define OWED_CELLS_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zone;

/* The zone of that name (Europe/Berlin), or NULL where the system has none, or one that cannot be read. */
const struct zone *zone_named(const char *name);

enum zone_local { ZONE_ONCE, ZONE_NEVER, ZONE_TWICE };
/* The instant of a local time, both in seconds since the epoch (a local time as if it were UTC's). ZONE_NEVER: clocks
 * went past it; ZONE_TWICE: they came to it again. */
enum zone_local zone_instant(const struct zone *z, int64_t local, int64_t *utc);

/* A file's bytes; NULL for what is none. The caller's, to be freed by zone_free. */
struct zone *zone_parse(const unsigned char *p, size_t n);
void zone_free(struct zone *z);
int64_t zone_offset(const struct zone *z, int64_t utc); /* local less UTC, in seconds */

#endif
