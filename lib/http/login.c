/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a connection, taken one by one and held together before anything is opened. */
#include "http/login.h"

#include <stdlib.h>
#include <string.h>

int http_login_settle(struct http_login *l, struct err *err)
{
    if (!l->o.url)
        return err_set(err, ERR_REFUSED, "--url is missing");
    if (l->password_env && l->password_file)
        return err_set(err, ERR_REFUSED, "--password-env and --password-file exclude each other");
    if (secret_read(l->password_env, l->password_file, &l->password, err) != 0) {
        err->kind = ERR_REFUSED;
        return err_prefix(err, l->password_env ? "--password-env" : "--password-file");
    }
    l->o.password = l->password;
    struct http *h = http_open(&l->o, err);
    http_close(h);
    return h ? 0 : -1;
}

void http_login_free(struct http_login *l)
{
    if (l->password)
        explicit_bzero(l->password, strlen(l->password));
    free(l->password);
    l->password = NULL;
}
