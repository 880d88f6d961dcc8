/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Native decoder on any bytes: the first byte chooses the columns and the
 * second the size of the pieces. It may refuse or give rows; each row must be
 * one of canonical cells, and the pieces must not matter.
 */
#include "decoder_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return decoder_fuzz(CHREAD_NATIVE, data, size);
}
