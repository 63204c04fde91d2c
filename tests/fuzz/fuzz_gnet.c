// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GNet cell, with the CRC that they have and with the right one: what is read is written as the same
// bytes.
#include <assert.h>

#include "gnet_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_cell(const uint8_t *data, size_t size) {
    struct weft_gnet_cell cell;
    uint8_t again[WEFT_GNET_CELL_BYTES_MAX];
    enum weft_gnet_wire_status status = gnet_cell_decode(data, size, &cell);
    if (size < WEFT_GNET_HEADER_BYTES) assert(status == WEFT_GNET_WIRE_TRUNCATED);
    if (status) return;
    assert(cell.header.length <= size);
    assert(weft_gnet_cell_encode(&cell, again, sizeof again) == cell.header.length);
    assert(!memcmp(again, data, cell.header.length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t copy[WEFT_GNET_CELL_BYTES_MAX];
    try_cell(data, size);
    if (size < WEFT_GNET_HEADER_BYTES || size > sizeof copy) return 0;
    memcpy(copy, data, size);
    copy[7] = weft_gnet_crc8(copy);
    try_cell(copy, size);
    return 0;
}
