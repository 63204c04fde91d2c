// SPDX-License-Identifier: Apache-2.0
// Packet memory in cells, which every buffer may have: a packet occupies whole cells, and sizes, thresholds, headroom
// and levels are then of occupied bytes. A Tomahawk has cells of 254 B, so a 64 B frame occupies 254 B; cells of other
// chips are in SONiC's platform tables (asic_table.j2, buffers_config.j2).
#pragma once

#include "weft/buffer.h"

#define WEFT__BUFFER_CELL(T)                                                                                           \
    WEFT_BYTES(                                                                                                        \
        T, cell_bytes, "cell", "0B", "0B", "16384B",                                                                   \
        "a packet occupies whole cells of this size, and all sizes here are of occupied bytes; 0B: it occupies "       \
        "its own bytes")

/// weft_buffer_occupied of a frame: in 32 bits, which divide faster.
static inline uint32_t weft__buffer_frame(weft_bytes cell_bytes, uint32_t bytes) {
    uint32_t cell = (uint32_t)cell_bytes;
    return cell > 1 ? (bytes + cell - 1) / cell * cell : bytes;
}

/// The largest packet that fits into what is free.
static inline weft_bytes weft__buffer_whole(weft_bytes cell_bytes, weft_bytes free_bytes) {
    return cell_bytes > 1 ? free_bytes / cell_bytes * cell_bytes : free_bytes;
}
