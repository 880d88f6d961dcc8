/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a connection, taken one by one and held together before anything is opened. */
#include "http/login.h"

#include <stdlib.h>

#define DAY_MS 86400000

int http_login_option(int c, const char *arg, struct http_login *l, struct err *err)
{
    switch (c) {
    case HTTP_OPT_URL: l->o.url = arg; return 0;
    case HTTP_OPT_USER: l->o.user = arg; return 0;
    case HTTP_OPT_PASSWORD_ENV: l->password_env = arg; return 0;
    case HTTP_OPT_PASSWORD_FILE: l->password_file = arg; return 0;
    case HTTP_OPT_CACERT: l->o.cacert = arg; return 0;
    case HTTP_OPT_QUERY_TIMEOUT: return parse_u64(arg, 1, DAY_MS, &l->o.timeout_ms, "--query-timeout-ms", err);
    case HTTP_OPT_CONNECT_TIMEOUT:
        return parse_u64(arg, 1, DAY_MS, &l->o.connect_timeout_ms, "--connect-timeout-ms", err);
    default: return 1;
    }
}

int http_login_settle(struct http_login *l, struct err *err)
{
    if (l->o.url == NULL)
        return err_set(err, ERR_REFUSED, "--url is missing");
    if (l->password_env != NULL && l->password_file != NULL)
        return err_set(err, ERR_REFUSED, "--password-env and --password-file exclude each other");
    if (secret_read(l->password_env, l->password_file, &l->password, err) != 0) {
        err->kind = ERR_REFUSED;
        return -1;
    }
    l->o.password = l->password;
    struct http *h = http_open(&l->o, err);
    http_close(h);
    return h != NULL ? 0 : -1;
}

void http_login_free(struct http_login *l)
{
    free(l->password);
    l->password = NULL;
}
