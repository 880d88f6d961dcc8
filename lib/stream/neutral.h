/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that change which rows a SELECT returns, with the value under which they do not: what a reader of the
 * destination sends, and what its observation is held to. */
#ifndef OWED_STREAM_NEUTRAL_H
#define OWED_STREAM_NEUTRAL_H

#include <stdbool.h>
#include <stddef.h>

struct neutral_setting {
    const char *name, *value;
    bool always; /* known to every line that is read, and sent with the first statement; else where the server lists it
                  */
};
extern const struct neutral_setting neutral_settings[];
extern const size_t neutral_settings_n;

/* Those by which a JSON comes as its text, and always the same: sent where a column is read so. */
extern const struct neutral_setting json_settings[];
extern const size_t json_settings_n;
/* The one without which a JSON does not come as its text in the format "native" or "rowbinary". */
const char *json_as_text(const char *format);

/* The value under which the setting changes no rows; NULL where it is none of these. Any %overflow_mode% is one. */
const char *neutral_value(const char *name);

#endif
