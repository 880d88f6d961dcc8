/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials, taken out of documents and texts by name before anything is written or handed on. */
#ifndef OWED_JSON_REDACT_H
#define OWED_JSON_REDACT_H

#include "base/base.h"
#include "json/json.h"

#define REDACTED "<redacted>"
/* True when a parameter of this name is taken for a credential (password, secret, token, api key, …). */
bool redact_name(const char *name, size_t n);
/* Append v as JSON text with such members' values replaced at any depth, and user parts of URLs in texts masked. */
void redact_put(struct buf *out, const struct json *v);
/* The same of what an operator or a job says of itself. An operator's `program` is what it runs: its text stands as it
 * is, since {token: .token} with a word taken out is another program, or none. */
void redact_operators(struct buf *out, const struct json *v);
/* The same by the texts alone, of what has names of its own: an INSERT's token is no credential. */
void redact_texts(struct buf *out, const struct json *v);
/* Append a text with user parts of URLs, and what looks like a password argument of SQL, masked. */
void redact_text(struct buf *out, const char *p, size_t n);
/* Another's text as jw_shown, its credentials masked. */
void jw_redacted(struct json_w *w, const char *name, const char *s);

#endif
