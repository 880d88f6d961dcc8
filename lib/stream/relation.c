/* SPDX-License-Identifier: Apache-2.0 */
/* The table of relations. */
#include "stream/relation.h"

#include <string.h>

const struct relation_row relation_table[RELATION_TYPES] = {
#define X(id, name, check, owed, found, owed_rows, found_rows, failed) \
    [RELATION_##id] = {name, CHECK_##check, SIDE_##owed, SIDE_##found, owed_rows, found_rows, failed},
    RELATION_TABLE(X)
#undef X
};

const enum relation relation_order[RELATION_TYPES] = {RELATION_TRANSFORMATION, RELATION_DELIVERY,
                                                      RELATION_REFERENCE_DESTINATION, RELATION_COVERAGE};

const char *relation_name(enum relation r)
{
    return relation_table[r].name;
}

enum relation relation_of(const char *p, size_t n)
{
    size_t i = 0;
    while (i < RELATION_TYPES && (strlen(relation_table[i].name) != n || memcmp(relation_table[i].name, p, n) != 0))
        i++;
    return (enum relation)i;
}

enum relation relation_of_check(enum check_name c)
{
    size_t i = 0;
    while (i < RELATION_TYPES && relation_table[i].check != c)
        i++;
    return (enum relation)i;
}

struct relation_sides relation_sides(enum relation r, bool reference, bool captured)
{
    struct relation_sides s = {.owed = relation_table[r].owed, .found = relation_table[r].found};
    if (r == RELATION_COVERAGE && !reference)
        s.owed = SIDE_CAPTURED;
    s.need[s.owed] = s.need[s.found] = true;
    s.need[SIDE_READ2] = s.need[SIDE_READ1];
    /* The captured rows name keys of this one, where there are any. */
    s.need[SIDE_CAPTURED] |= r == RELATION_REFERENCE_DESTINATION && captured;
    return s;
}
