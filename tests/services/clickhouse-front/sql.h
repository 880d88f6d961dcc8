/* SPDX-License-Identifier: Apache-2.0 */
/* Just enough of ClickHouse's lexer to know what one statement is: how many statements a text holds,
 * what kind, where an INSERT's data begins, the output format, and where serverUUID() stands.
 * Everything else is left to the engine's parser. Texts are (pointer, length) and may hold NULs. */
#ifndef CLICKHOUSE_FRONT_SQL_H
#define CLICKHOUSE_FRONT_SQL_H

#include <stdbool.h>
#include <stddef.h>

enum sql_kind {
    SQL_NONE,        /* no statement */
    SQL_SELECT,      /* SELECT or WITH: the engine can stream it */
    SQL_LOOK,        /* SHOW, DESCRIBE, EXISTS, EXPLAIN, USE, SET: changes nothing stored */
    SQL_INSERT_DATA, /* an INSERT whose data follows it */
    SQL_WRITE,       /* anything else */
};

struct sql_statement {
    enum sql_kind kind;
    bool several;     /* more than one statement */
    bool in_session;  /* USE, SET, CREATE TEMPORARY: what it does holds for the session */
    bool outfile;     /* INTO OUTFILE or FROM INFILE: a server refuses these */
    size_t data_at;   /* SQL_INSERT_DATA: where the data begins */
    size_t infile_at; /* SQL_INSERT_DATA: where FROM INFILE belongs */
    size_t format_at; /* SQL_INSERT_DATA: where FORMAT or VALUES stands */
    char format[64];  /* the FORMAT clause's name, or empty */
};

void sql_scan(const char *text, size_t len, struct sql_statement *out);

/* The statement with every call of serverUUID() answered by uuid, under the column name it would have
 * had. Allocated; NULL when memory is out. */
char *sql_answer_server_uuid(const char *text, size_t len, const char *uuid, size_t *out_len);

/* The statement with every table of the database `system` taken from the database `made` instead. Allocated; NULL when
 * memory is out. */
char *sql_of_made(const char *text, size_t len, size_t *out_len);

/* Whether the text sets the setting to anything but value in a SETTINGS clause or SET. */
bool sql_changes_setting(const char *text, size_t len, const char *setting, const char *value);

#endif
