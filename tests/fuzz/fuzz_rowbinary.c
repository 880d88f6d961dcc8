/* SPDX-License-Identifier: Apache-2.0 */
/* The RowBinary decoder on any bytes, as fuzz_native has the other one. */
#include "decoder_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return decoder_fuzz(CHREAD_ROWBINARY, data, size);
}
