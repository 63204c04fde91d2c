// SPDX-License-Identifier: Apache-2.0
// Any bytes as a GNet cell, with the CRC that they have and with the right one, and as ordered sets one after the
// other: what is read is written as the same bytes, and what a receiver of packets over management sets gives is a
// packet.
#include <assert.h>
#include <string.h>

#include "weft/wire_gnet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_cell(const uint8_t *data, size_t size) {
    struct weft_gnet_cell cell;
    uint8_t again[WEFT_GNET_CELL_BYTES_MAX];
    enum weft_gnet_wire_status status = weft_gnet_cell_decode(data, size, &cell);
    if (size < WEFT_GNET_HEADER_BYTES) assert(status == WEFT_GNET_WIRE_TRUNCATED);
    if (status) return;
    assert(cell.header.length <= size);
    assert(weft_gnet_cell_encode(&cell, again, sizeof again) == cell.header.length);
    assert(!memcmp(again, data, cell.header.length));
}

static void try_sets(const uint8_t *data, size_t size) {
    struct weft_pmos_receiver receiver = {0};
    for (; size >= WEFT_GNET_ORDERED_BYTES; data += WEFT_GNET_ORDERED_BYTES, size -= WEFT_GNET_ORDERED_BYTES) {
        struct weft_gnet_timesync time;
        struct weft_gnet_mos set;
        uint8_t again[WEFT_GNET_ORDERED_BYTES];
        if (!weft_gnet_timesync_decode(data, size, &time)) {
            assert(weft_gnet_timesync_encode(&time, again, sizeof again) == sizeof again);
            assert(!memcmp(again, data, sizeof again));
        }
        if (weft_gnet_mos_decode(data, size, &set)) continue;
        assert(weft_gnet_mos_encode(&set, again, sizeof again) == sizeof again);
        assert(!memcmp(again, data, sizeof again));
        if (weft_pmos_on_set(&receiver, &set) != WEFT_PMOS_PACKET) continue;
        assert(receiver.bytes && receiver.bytes <= WEFT_PMOS_BYTES_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t copy[WEFT_GNET_CELL_BYTES_MAX];
    try_cell(data, size);
    try_sets(data, size);
    if (size < WEFT_GNET_HEADER_BYTES || size > sizeof copy) return 0;
    memcpy(copy, data, size);
    copy[7] = weft_gnet_crc8(copy);
    try_cell(copy, size);
    return 0;
}
