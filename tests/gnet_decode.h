// SPDX-License-Identifier: Apache-2.0
// Reads the cells of GNet that weft/wire_gnet.h writes: weft itself only writes them, into captures. Total: `ret` is
// written only with WEFT_GNET_WIRE_OK.
#pragma once

#include <string.h>

#include "weft/wire_gnet.h"
#include "wire/bytes.h"

enum weft_gnet_wire_status {
    WEFT_GNET_WIRE_OK,
    WEFT_GNET_WIRE_TRUNCATED, ///< fewer bytes than the header, or than it says
    WEFT_GNET_WIRE_CRC,
    WEFT_GNET_WIRE_TYPE,   ///< none of the types, or not the one asked for
    WEFT_GNET_WIRE_LENGTH, ///< none that a cell of this type has
    WEFT_GNET_WIRE_FIELD   ///< a field that contradicts others, or a reserved one that is not 0
};

/// Whether a cell of this type may have this length.
static inline bool gnet_length_fits(uint32_t type, uint32_t length) {
    if (type <= WEFT_GNET_TYPE_CTD) return length == WEFT_GNET_CELL_BYTES_MIN;
    if (type == WEFT_GNET_TYPE_REQ) return length == WEFT_GNET_REQUEST_BYTES;
    return length >= WEFT_GNET_CELL_BYTES_MIN && length <= WEFT_GNET_CELL_BYTES_MAX;
}

static inline struct weft_gnet_address gnet_address_unpack(uint16_t address) {
    return (struct weft_gnet_address){(uint8_t)(address >> 9), address >> 5 & 15, address & 31};
}

static inline enum weft_gnet_wire_status gnet_header_decode(const uint8_t *bytes, size_t size,
                                                            struct weft_gnet_header *ret) {
    if (size < WEFT_GNET_HEADER_BYTES) return WEFT_GNET_WIRE_TRUNCATED;
    if (weft_gnet_crc8(bytes) != bytes[7]) return WEFT_GNET_WIRE_CRC;
    uint8_t type = bytes[5] >> 4;
    if (!type || type >= WEFT_GNET_TYPES) return WEFT_GNET_WIRE_TYPE;
    if (!gnet_length_fits(type, bytes[4])) return WEFT_GNET_WIRE_LENGTH;
    *ret = (struct weft_gnet_header){
        .source = weft__get16(bytes),
        .destination = weft__get16(bytes + 2),
        .length = bytes[4],
        .type = type,
        .hops = bytes[5] & 15,
        .vc = bytes[6] >> 3,
        .reserved = bytes[6] & 3,
        .trace = bytes[6] >> 2 & 1,
    };
    return WEFT_GNET_WIRE_OK;
}

static inline bool gnet_decode_rts(const uint8_t *from, struct weft_gnet_rts *ret) {
    *ret = (struct weft_gnet_rts){weft__get16(from), from[2] >> 5, from[3], weft__get32(from + 4)};
    return !(from[2] & 31);
}

static inline bool gnet_decode_cts(const uint8_t *from, bool drop, struct weft_gnet_cts *ret) {
    *ret = (struct weft_gnet_cts){drop, weft__get32(from), weft__get32(from + 4)};
    return !drop || !ret->egress;
}

static inline bool gnet_decode_data(const struct weft_gnet_header *header, const uint8_t *from, size_t size,
                                    struct weft_gnet_data *ret) {
    *ret = (struct weft_gnet_data){.slot = header->source >> 6, .number = header->source & 63, .bytes = (uint8_t)size};
    memcpy(ret->data, from, ret->bytes);
    return true;
}

/// Whether the fields of a request may stand together: what the encoder accepts.
static inline bool gnet_request_fits(const struct weft_gnet_req *req) {
    uint8_t out[WEFT_GNET_CELL_BYTES_MAX];
    struct weft_gnet_cell cell = {.header.type = WEFT_GNET_TYPE_REQ, .req = *req};
    return weft_gnet_cell_encode(&cell, out, sizeof out);
}

static inline bool gnet_decode_req(const uint8_t *from, struct weft_gnet_req *ret) {
    if (from[0] >= WEFT_GNET_FETCH_ADD) {
        *ret = (struct weft_gnet_req){.operation = from[0],
                                      .bytes = 8,
                                      .number = weft__get32(from) & 0xffffffu,
                                      .region = weft__get32(from + 4),
                                      .address = weft__get64(from + 8),
                                      .operand = weft__get64(from + 16),
                                      .compare = weft__get64(from + 24)};
        memcpy(ret->hmac, from + 32, 8);
        return gnet_request_fits(ret);
    }
    *ret = (struct weft_gnet_req){.operation = from[0],
                                  .bytes = weft__get16(from + 2),
                                  .number = weft__get32(from + 4),
                                  .region = weft__get32(from + 8),
                                  .address = weft__get64(from + 16)};
    memcpy(ret->hmac, from + 24, sizeof ret->hmac);
    return !from[1] && !weft__get32(from + 12) && gnet_request_fits(ret);
}

static inline bool gnet_decode_resp(const uint8_t *from, size_t size, struct weft_gnet_resp *ret) {
    *ret = (struct weft_gnet_resp){weft__get32(from), weft__get16(from + 4), from[6], (uint8_t)(size - 8), {0}};
    memcpy(ret->data, from + 8, ret->bytes);
    return !from[7] && !(ret->status && ret->bytes);
}

static inline enum weft_gnet_wire_status gnet_cell_decode(const uint8_t *bytes, size_t size,
                                                          struct weft_gnet_cell *ret) {
    struct weft_gnet_cell cell;
    enum weft_gnet_wire_status status = gnet_header_decode(bytes, size, &cell.header);
    if (status) return status;
    if (size < cell.header.length) return WEFT_GNET_WIRE_TRUNCATED;
    const uint8_t *from = bytes + WEFT_GNET_HEADER_BYTES;
    size_t behind = cell.header.length - WEFT_GNET_HEADER_BYTES;
    bool good = false;
    switch (cell.header.type) {
    case WEFT_GNET_TYPE_RTS:
        good = gnet_decode_rts(from, &cell.rts);
        break;
    case WEFT_GNET_TYPE_CTS:
    case WEFT_GNET_TYPE_CTD:
        good = gnet_decode_cts(from, cell.header.type == WEFT_GNET_TYPE_CTD, &cell.cts);
        break;
    case WEFT_GNET_TYPE_DATA:
        good = gnet_decode_data(&cell.header, from, behind, &cell.data);
        break;
    case WEFT_GNET_TYPE_REQ:
        good = gnet_decode_req(from, &cell.req);
        break;
    case WEFT_GNET_TYPE_RESP:
        good = gnet_decode_resp(from, behind, &cell.resp);
        break;
    }
    if (!good) return WEFT_GNET_WIRE_FIELD;
    *ret = cell;
    return WEFT_GNET_WIRE_OK;
}
