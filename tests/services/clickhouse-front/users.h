/* SPDX-License-Identifier: Apache-2.0 */
/* The front's users: the embedded engine has none. Read once at start; all pointers live for the run. */
#ifndef CLICKHOUSE_FRONT_USERS_H
#define CLICKHOUSE_FRONT_USERS_H

#include <stdbool.h>
#include <stddef.h>

struct user_setting {
    char *name, *value;
    bool fixed; /* the user may not change it (code 452) */
};

struct user {
    char *name, *password;
    bool select_only; /* anything that writes is refused with code 497 */
    struct user_setting *settings;
    size_t setting_count;
};

/* Reads a file of lines `NAME full|select PASSWORD_FILE [SETTING=VALUE | SETTING==VALUE]…`; two equal
 * signs fix the setting, # begins a comment line. A password is its file's first line. 0, or -1 with
 * the reason in why, which never holds a password. */
int users_read(const char *path, char *why, size_t why_size);

/* The user of that name and password, or NULL. */
const struct user *users_find(const char *name, const char *password);

/* The value the user's profile gives a setting, or NULL. */
const char *user_setting(const struct user *u, const char *name);

#endif
