/* SPDX-License-Identifier: Apache-2.0 */
/* The standing texts of the report: what kind of assurance, how, and under which assumptions. */
#include "report/words.h"

const char *const report_method[] = {
    "whole rows are compared as multisets, key by key, as canonical cells of version clink-canonical-cells-v1",
    "equal means equal bytes; counts, totals and hashes decide nothing",
    "the destination is read twice, whole for the scope's keys, and its identity, definition and mutations before and after",
    NULL,
};

const char *const report_assumptions[] = {
    "the server answers for the table truthfully: a row policy or a view in its place cannot be seen from a read",
    "rows of keys outside the scope are not read, and nothing is said about them",
    "the observation is of one time: later writes, merges and the loss of the server's host are not covered",
    "the bundle's digests show that nothing changed after it was collected, not who collected it",
    NULL,
};

const char *report_assurance(const struct report *r)
{
    bool destination = false, recorded = false;
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        if (!r->check[i].required)
            continue;
        if (i >= CHECK_RECONCILE_SCOPE)
            destination = true;
        else
            recorded = true;
    }
    if (destination)
        return "of the three assurances this is the third: the observed destination against what one checkpoint owed it. It says "
               "nothing of what the job's settings promise, nor that the recorded execution replays or conforms";
    if (recorded)
        return "of the three assurances this is the second: that the recorded evidence is intact and consistent. It says nothing of "
               "what the job's settings promise, nor of any destination";
    return "no assurance: nothing was required";
}
