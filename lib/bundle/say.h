/* SPDX-License-Identifier: Apache-2.0 */
/* bundle: its findings as check lines. */
#ifndef OWED_BUNDLE_SAY_H
#define OWED_BUNDLE_SAY_H

#include "bundle/bundle.h"
#include "stream/stream.h"

/* ERR_REFUSED where the opened bundle is not the one that a stream's bundle line names. */
int bundle_is(const struct bundle *b, const struct stream_bundle *said, struct err *err);
/* One check line of what was found; f is freed. */
enum status bundle_put_finding(struct stream_out *out, enum check_name name, struct bundle_finding *f);
/* The same with counts, an object's text. */
enum status bundle_put_counted(struct stream_out *out, enum check_name name, struct bundle_finding *f,
                               const char *counts);
/* Add a check that did not pass to a list for people. */
void bundle_not_passed(enum check_name name, enum status status, struct buf *list);
/* bundle.manifest, bundle.artifacts and bundle.completeness; those that did not pass are added to not_passed. Returns
 * the status of the artifacts: only where it passed may what stands behind read them. keep, stop and err as in
 * bundle_verify. */
enum status bundle_put_integrity(struct stream_out *out, struct bundle *b, bool keep, const volatile int *stop,
                                 struct buf *not_passed, struct err *err);

#endif
