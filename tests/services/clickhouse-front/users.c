/* SPDX-License-Identifier: Apache-2.0 */
/* Users with passwords and profiles, from a file of lines. */
#include "users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct user *users;
static size_t user_count;

static char *read_password(const char *path)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;

    if (f == NULL)
        return NULL;
    if (getline(&line, &size, f) < 0) {
        free(line);
        line = strdup("");
    }
    fclose(f);
    if (line != NULL)
        line[strcspn(line, "\r\n")] = '\0';
    return line;
}

static int add_setting(struct user *u, char *word)
{
    struct user_setting *grown, *s;
    char *equals = strchr(word, '=');

    if (equals == NULL || equals == word)
        return -1;
    grown = realloc(u->settings, (u->setting_count + 1) * sizeof *grown);
    if (grown == NULL)
        return -1;
    u->settings = grown;
    s = &grown[u->setting_count++];
    s->fixed = equals[1] == '=';
    s->value = strdup(equals + (s->fixed ? 2 : 1));
    *equals = '\0';
    s->name = strdup(word);
    return s->name != NULL && s->value != NULL ? 0 : -1;
}

static int add_user(char *line, const char **problem)
{
    char *save = NULL, *name = strtok_r(line, " \t\n", &save), *access, *file, *word;
    struct user *grown, u = {0};

    *problem = "expected NAME full|select PASSWORD_FILE";
    if (name == NULL || *name == '#')
        return 0;
    access = strtok_r(NULL, " \t\n", &save);
    file = access != NULL ? strtok_r(NULL, " \t\n", &save) : NULL;
    if (file == NULL || (strcmp(access, "full") != 0 && strcmp(access, "select") != 0))
        return -1;
    u.select_only = strcmp(access, "select") == 0;
    u.name = strdup(name);
    u.password = read_password(file);
    *problem = "the password file cannot be read";
    if (u.name == NULL || u.password == NULL)
        return -1;
    *problem = "a setting is not NAME=VALUE";
    while ((word = strtok_r(NULL, " \t\n", &save)) != NULL)
        if (add_setting(&u, word) != 0)
            return -1;
    *problem = "out of memory";
    grown = realloc(users, (user_count + 1) * sizeof *grown);
    if (grown == NULL)
        return -1;
    users = grown;
    users[user_count++] = u;
    return 0;
}

int users_read(const char *path, char *why, size_t why_size)
{
    FILE *f = fopen(path, "re");
    const char *problem;
    char *line = NULL;
    size_t size = 0;
    int number = 0, rc = 0;

    if (f == NULL) {
        snprintf(why, why_size, "%s cannot be read", path);
        return -1;
    }
    while (rc == 0 && getline(&line, &size, f) >= 0) {
        number++;
        rc = add_user(line, &problem);
        if (rc != 0)
            snprintf(why, why_size, "%s:%d: %s", path, number, problem);
    }
    free(line);
    fclose(f);
    if (rc == 0 && user_count == 0) {
        snprintf(why, why_size, "%s names no user", path);
        rc = -1;
    }
    return rc;
}

const struct user *users_find(const char *name, const char *password)
{
    for (size_t i = 0; i < user_count; i++)
        if (strcmp(users[i].name, name) == 0)
            return strcmp(users[i].password, password) == 0 ? &users[i] : NULL;
    return NULL;
}

const char *user_setting(const struct user *u, const char *name)
{
    for (size_t i = 0; i < u->setting_count; i++)
        if (strcmp(u->settings[i].name, name) == 0)
            return u->settings[i].value;
    return NULL;
}
