/* SPDX-License-Identifier: Apache-2.0 */
/* CityHash128 as its version 1.0.2 has it (1.1 changed what it gives): the checksum of ClickHouse's compressed frames.
 */
#ifndef CLICKHOUSE_FRONT_CITY_H
#define CLICKHOUSE_FRONT_CITY_H

#include <stddef.h>
#include <stdint.h>

struct city {
    uint64_t low, high;
};

struct city city_hash128(const void *data, size_t len);

#endif
