/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into libchdb.so. The library's counters hold garbage beside an error, so they are read only
 * without one, and connecting is serialised: only running statements is known to be parallel. */
#include "engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
    void **conn;
};

static struct {
    void **(*connect)(int, char **);
    void (*close_conn)(void **);
    void *(*query)(void *, const char *, size_t, const char *, size_t, const char *const *, const size_t *,
                   const char *const *, const size_t *, size_t);
    void *(*stream)(void *, const char *, size_t, const char *, size_t, const char *const *, const size_t *,
                    const char *const *, const size_t *, size_t);
    void *(*fetch)(void *, void *);
    void (*cancel)(void *, void *);
    void (*destroy)(void *);
    char *(*buffer)(void *);
    size_t (*length)(void *);
    const char *(*error)(void *);
    uint64_t (*rows)(void *);
    uint64_t (*bytes)(void *);
    uint64_t (*storage_rows)(void *);
    uint64_t (*storage_bytes)(void *);
    uint64_t (*rows_written)(void *);
    uint64_t (*bytes_written)(void *);
    void (*signal_handlers)(int);
} lib;

static const struct {
    const char *name;
    void *slot;
} symbols[] = {
    {"chdb_connect", &lib.connect},
    {"chdb_close_conn", &lib.close_conn},
    {"chdb_query_with_params_n", &lib.query},
    {"chdb_stream_query_with_params_n", &lib.stream},
    {"chdb_stream_fetch_result", &lib.fetch},
    {"chdb_stream_cancel_query", &lib.cancel},
    {"chdb_destroy_query_result", &lib.destroy},
    {"chdb_result_buffer", &lib.buffer},
    {"chdb_result_length", &lib.length},
    {"chdb_result_error", &lib.error},
    {"chdb_result_rows_read", &lib.rows},
    {"chdb_result_bytes_read", &lib.bytes},
    {"chdb_result_storage_rows_read", &lib.storage_rows},
    {"chdb_result_storage_bytes_read", &lib.storage_bytes},
    {"chdb_result_rows_written", &lib.rows_written},
    {"chdb_result_bytes_written", &lib.bytes_written},
    {"chdb_set_signal_handlers_enabled", &lib.signal_handlers},
};

static char path_arg[4096], config_arg[4096]; /* the second "" where there is none */
static void **own_conn;
static pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;

static void **new_conn(void)
{
    static char program[] = "clickhouse-front";
    char *argv[] = {program, path_arg, *config_arg != '\0' ? config_arg : NULL, NULL};
    void **conn;

    pthread_mutex_lock(&connecting);
    conn = lib.connect(*config_arg != '\0' ? 3 : 2, argv);
    pthread_mutex_unlock(&connecting);
    return conn;
}

int engine_open(const char *lib_path, const char *path, const char *config, char *why, size_t why_size)
{
    void *handle = dlopen(lib_path, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        snprintf(why, why_size, "%s", dlerror());
        return -1;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        /* POSIX's way round C's rule against object-to-function pointer conversion. */
        *(void **)symbols[i].slot = dlsym(handle, symbols[i].name);
        if (*(void **)symbols[i].slot == NULL) {
            snprintf(why, why_size, "%s has no %s", lib_path, symbols[i].name);
            return -1;
        }
    }
    snprintf(path_arg, sizeof path_arg, "--path=%s", path);
    if (config != NULL)
        snprintf(config_arg, sizeof config_arg, "--config-file=%s", config);
    lib.signal_handlers(0); /* SIGTERM is the front's */
    own_conn = new_conn();
    if (own_conn == NULL) {
        snprintf(why, why_size, "the engine does not open %s (another process on it?)", path);
        return -1;
    }
    return 0;
}

void engine_close(void)
{
    lib.close_conn(own_conn);
}

struct session *engine_session(void)
{
    struct session *s = malloc(sizeof *s);

    if (s == NULL)
        return NULL;
    s->conn = new_conn();
    if (s->conn == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

void engine_session_close(struct session *s)
{
    if (s == NULL)
        return;
    pthread_mutex_lock(&connecting);
    lib.close_conn(s->conn);
    pthread_mutex_unlock(&connecting);
    free(s);
}

static struct answer answer_of(void *handle)
{
    struct answer a = {.handle = handle};

    if (handle == NULL) {
        a.error = "Code: 1001. DB::Exception: the engine gave no result. (STD_EXCEPTION)";
        return a;
    }
    a.error = lib.error(handle);
    if (a.error != NULL)
        return a;
    a.data = lib.buffer(handle);
    a.len = a.data != NULL ? lib.length(handle) : 0;
    a.result_rows = lib.rows(handle);
    a.result_bytes = lib.bytes(handle);
    a.read_rows = lib.storage_rows(handle);
    a.read_bytes = lib.storage_bytes(handle);
    a.written_rows = lib.rows_written(handle);
    a.written_bytes = lib.bytes_written(handle);
    return a;
}

struct answer engine_query(struct session *s, const char *sql, size_t len, const char *format,
                           const struct engine_params *p)
{
    return answer_of(lib.query(*s->conn, sql, len, format, strlen(format), p->names, p->name_lens, p->values,
                               p->value_lens, p->count));
}

struct answer engine_stream(struct session *s, const char *sql, size_t len, const char *format,
                            const struct engine_params *p)
{
    struct answer a = {.handle = lib.stream(*s->conn, sql, len, format, strlen(format), p->names, p->name_lens,
                                            p->values, p->value_lens, p->count)};

    a.error = a.handle != NULL ? lib.error(a.handle)
                               : "Code: 1001. DB::Exception: the engine gave no stream. (STD_EXCEPTION)";
    return a;
}

struct answer engine_fetch(struct session *s, struct answer *stream)
{
    return answer_of(lib.fetch(*s->conn, stream->handle));
}

void engine_cancel(struct session *s, struct answer *stream)
{
    lib.cancel(*s->conn, stream->handle);
}

void engine_answer_free(struct answer *a)
{
    if (a->handle != NULL)
        lib.destroy(a->handle);
    *a = (struct answer){0};
}
