/* SPDX-License-Identifier: Apache-2.0 */
/* What the text of a table's definition says. */
#ifndef OWED_TYPES_DEFINITION_H
#define OWED_TYPES_DEFINITION_H

#include <stdbool.h>

/* True where it sets a TTL, of the table or of a column; strings, quoted names and the word as an operand do not count.
 */
bool definition_has_ttl(const char *definition);

#endif
