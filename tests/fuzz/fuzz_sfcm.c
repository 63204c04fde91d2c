// SPDX-License-Identifier: Apache-2.0
// Any bytes as a source flow control message: a decoded message encodes to the same bytes.
#include <assert.h>
#include <string.h>

#include "wire_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct weft_sfcm message;
    uint8_t again[WEFT_SFCM_BYTES];
    enum weft_wire_status status = sfcm_decode(data, size, &message);
    assert((status == WEFT_WIRE_TRUNCATED) == (size < WEFT_SFCM_BYTES));
    if (status) return 0;
    assert(weft_sfcm_encode(&message, again, sizeof again) == WEFT_SFCM_BYTES);
    assert(!memcmp(again, data, WEFT_SFCM_BYTES));
    return 0;
}
