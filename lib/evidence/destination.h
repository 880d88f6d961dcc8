/* SPDX-License-Identifier: Apache-2.0 */
/* evidence: the table that a sink writes into, as its evidence names it. Every text is somebody else's. */
#ifndef OWED_EVIDENCE_DESTINATION_H
#define OWED_EVIDENCE_DESTINATION_H

struct destination {
    const char *endpoint, *server_uuid, *server_version, *server_host, *database, *table, *table_uuid;
    const char *engine, *engine_full, *create_table_query, *partition_key, *dedup_window;
    const char *async_insert, *wait_for_async_insert;
    const char *columns; /* JSON text of the array: [{"name","type","from"?}] */
};

#endif
