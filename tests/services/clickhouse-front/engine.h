/* SPDX-License-Identifier: Apache-2.0 */
/* The ClickHouse engine as a library (libchdb.so), loaded at run time.
 * One data path a process; a session is one connection to it and runs one statement at a time.
 * The library's package has no header, so the few calls used are declared in engine.c. */
#ifndef CLICKHOUSE_FRONT_ENGINE_H
#define CLICKHOUSE_FRONT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

/* What a statement answered. data lives until engine_answer_free; the counts are zero beside an error. */
struct answer {
    void *handle;
    const char *error; /* the engine's own text, or NULL */
    const char *data;
    size_t len;
    uint64_t result_rows, result_bytes, read_rows, read_bytes, written_rows, written_bytes;
};

/* Values of {name:Type} placeholders, each in the TabSeparated escaping, as the engine reads them. */
struct engine_params {
    const char **names;
    const char **values;
    size_t *name_lens;
    size_t *value_lens;
    size_t count;
};

/* Loads the library at lib and opens the data path, with the engine's own configuration where one is given (NULL). 0,
 * or -1 with the reason in why. */
int engine_open(const char *lib, const char *path, const char *config, char *why, size_t why_size);
/* Closes the engine's own connection; the last one to close ends the engine. */
void engine_close(void);

/* A new session, or NULL. Any thread. */
struct session *engine_session(void);
void engine_session_close(struct session *s);

/* Runs one statement to its end. format is the default output format. */
struct answer engine_query(struct session *s, const char *sql, size_t len, const char *format,
                           const struct engine_params *params);
/* Starts a SELECT; the answer has no data. An error mostly shows at the first fetch. */
struct answer engine_stream(struct session *s, const char *sql, size_t len, const char *format,
                            const struct engine_params *params);
/* The next block, a whole document of its own. No rows: the end, after what data it has. */
struct answer engine_fetch(struct session *s, struct answer *stream);
void engine_cancel(struct session *s, struct answer *stream);
void engine_answer_free(struct answer *a);

#endif
