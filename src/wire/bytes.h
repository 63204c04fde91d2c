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

// A header is one list of its fields, as they stand on the wire, of which both directions are made:
//   #define VLAN_FIELDS(F) F(3, priority) F(1, drop_eligible) F(12, id) F(16, ethertype)
//   WEFT__CODEC(vlan, WEFT_VLAN_BYTES, VLAN_FIELDS)

/// Writes so many bits behind those before; false: the value has more.
static inline bool weft__put_bits(uint8_t *p, unsigned *at, unsigned bits, uint64_t value) {
    if (bits < 64 && value >> bits) return false;
    while (bits) {
        unsigned room = 8 - *at % 8, n = bits < room ? bits : room;
        uint8_t *byte = &p[*at / 8], part = (uint8_t)(value >> (bits - n) & ((1u << n) - 1));
        *byte = (uint8_t)((room == 8 ? 0 : *byte) | part << (room - n));
        *at += n;
        bits -= n;
    }
    return true;
}

static inline uint64_t weft__get_bits(const uint8_t *p, unsigned *at, unsigned bits) {
    uint64_t value = 0;
    while (bits) {
        unsigned room = 8 - *at % 8, n = bits < room ? bits : room;
        value = value << n | (p[*at / 8] >> (room - n) & ((1u << n) - 1));
        *at += n;
        bits -= n;
    }
    return value;
}

#define WEFT__PUT_FIELD(bits, field) &&weft__put_bits(ret, &at, bits, from->field)
#define WEFT__GET_FIELD(bits, field) ret->field = (__typeof__(ret->field))weft__get_bits(bytes, &at, bits);
#define WEFT__CODEC(name, header_bytes, FIELDS)                                                                        \
    size_t weft_##name##_encode(const struct weft_##name *from, uint8_t *ret, size_t size) {                           \
        unsigned at = 0;                                                                                               \
        return size >= header_bytes FIELDS(WEFT__PUT_FIELD) ? header_bytes : 0;                                        \
    }                                                                                                                  \
    enum weft_wire_status weft_##name##_decode(const uint8_t *bytes, size_t size, struct weft_##name *ret) {           \
        unsigned at = 0;                                                                                               \
        if (size < header_bytes) return WEFT_WIRE_TRUNCATED;                                                           \
        FIELDS(WEFT__GET_FIELD)                                                                                        \
        return WEFT_WIRE_OK;                                                                                           \
    }
