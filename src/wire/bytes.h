// SPDX-License-Identifier: Apache-2.0
// Numbers in network byte order.
#pragma once

#include "weft/types.h"

static inline uint16_t weft__get16(const uint8_t *p) {
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t weft__get24(const uint8_t *p) {
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t weft__get32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | weft__get24(p + 1);
}

static inline uint64_t weft__get64(const uint8_t *p) {
    return (uint64_t)weft__get32(p) << 32 | weft__get32(p + 4);
}

static inline void weft__put16(uint8_t *p, uint32_t value) {
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline void weft__put24(uint8_t *p, uint32_t value) {
    p[0] = (uint8_t)(value >> 16);
    weft__put16(p + 1, value);
}

static inline void weft__put32(uint8_t *p, uint32_t value) {
    weft__put16(p, value >> 16);
    weft__put16(p + 2, value);
}

static inline void weft__put64(uint8_t *p, uint64_t value) {
    weft__put32(p, (uint32_t)(value >> 32));
    weft__put32(p + 4, (uint32_t)value);
}

/// Lowest octet first: check sums only.
static inline uint32_t weft__get32_low_first(const uint8_t *p) {
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline void weft__put32_low_first(uint8_t *p, uint32_t value) {
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}
