/* SPDX-License-Identifier: Apache-2.0 */
/* Inside bundle only: state in a bundle, by the backend that wrote it. */
#ifndef OWED_BUNDLE_STATE_H
#define OWED_BUNDLE_STATE_H

#include "bundle/bundle.h"
#include "bundle/paths.h"
#include "evidence/sidecar.h"

#define BUNDLE_SIDECAR_MAX ((size_t)1 << 20)
/* A state is read into memory whole; a larger one, or one of more than BUNDLE_VALUES_MAX values, is unsupported. */
#define BUNDLE_STATE_MAX ((size_t)256 << 20)
/* No fewer than the values that a tree of this JSON text would hold. */
size_t bundle_values(const char *p, size_t n);

int bundle_sidecar(const struct bundle *b, const char *meta, struct sidecar *out, struct err *err);

/* The owed-state document that a RocksDB checkpoint, the files below the directory dir ("checkpoint/…/0.cp-7"), holds;
 * appended to out. Made of a copy in scratch. ERR_REFUSED where the database is damaged; where owed was built without
 * RocksDB bundle_has_rocksdb() is false and this is not called. */
bool bundle_has_rocksdb(void);
int bundle_rocksdb_read(const struct bundle *b, const char *dir, const char *scratch, struct buf *out, struct err *err);

#endif
