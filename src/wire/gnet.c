// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <string.h>

#include "weft/wire_gnet.h"
#include "wire/bytes.h"

enum { POLYNOMIAL = 0x07, PRESET = 0xff };

uint16_t weft_gnet_address_pack(struct weft_gnet_address a) {
    assert(a.pod < 128 && a.tin < 16 && a.endpoint < 32);
    return (uint16_t)(a.pod << 9 | a.tin << 5 | a.endpoint);
}

uint8_t weft_gnet_crc8(const uint8_t *bytes) {
    uint32_t crc = PRESET;
    for (unsigned i = 0; i < WEFT_GNET_HEADER_BYTES - 1; i++) {
        crc ^= bytes[i];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc & 0x80 ? (crc << 1 ^ POLYNOMIAL) & 0xff : crc << 1;
    }
    return (uint8_t)crc;
}

/// Whether a cell of this type may have this length.
static bool fits_type(uint32_t type, uint32_t length) {
    switch (type) {
    case WEFT_GNET_TYPE_RTS:
    case WEFT_GNET_TYPE_CTS:
    case WEFT_GNET_TYPE_CTD:
        return length == WEFT_GNET_CELL_BYTES_MIN;
    case WEFT_GNET_TYPE_REQ:
        return length == WEFT_GNET_REQUEST_BYTES;
    default:
        return length >= WEFT_GNET_CELL_BYTES_MIN && length <= WEFT_GNET_CELL_BYTES_MAX;
    }
}

size_t weft_gnet_header_encode(const struct weft_gnet_header *h, uint8_t *ret, size_t size) {
    if (size < WEFT_GNET_HEADER_BYTES || !h->type || h->type >= WEFT_GNET_TYPES || !fits_type(h->type, h->length) ||
        h->hops > 15 || h->vc > 31 || h->reserved > 3)
        return 0;
    weft__put16(ret, h->source);
    weft__put16(ret + 2, h->destination);
    ret[4] = h->length;
    ret[5] = (uint8_t)(h->type << 4 | h->hops);
    ret[6] = (uint8_t)(h->vc << 3 | h->trace << 2 | h->reserved);
    ret[7] = weft_gnet_crc8(ret);
    return WEFT_GNET_HEADER_BYTES;
}

// --- what is behind the header ------------------------------------------------------------------------------------

static size_t encode_rts(const struct weft_gnet_rts *rts, uint8_t *to) {
    if (rts->class > 7) return 0;
    weft__put16(to, rts->packet_bytes);
    to[2] = (uint8_t)(rts->class << 5);
    to[3] = rts->buffer_usage;
    weft__put32(to + 4, rts->ingress);
    return WEFT_GNET_CELL_BYTES_MIN;
}

static size_t encode_cts(const struct weft_gnet_cts *cts, bool drop, uint8_t *to) {
    if (cts->drop != drop || (drop && cts->egress)) return 0;
    weft__put32(to, cts->ingress);
    weft__put32(to + 4, cts->egress);
    return WEFT_GNET_CELL_BYTES_MIN;
}

static size_t encode_data(const struct weft_gnet_data *data, struct weft_gnet_header *header, uint8_t *to) {
    if (data->slot > 1023 || data->number > 63 || data->bytes < 8 || data->bytes > WEFT_GNET_DATA_BYTES_MAX) return 0;
    header->source = (uint16_t)(data->slot << 6 | data->number);
    memcpy(to, data->data, data->bytes);
    return WEFT_GNET_DATA_HEAD_BYTES + (size_t)data->bytes;
}

enum { ATOMIC_HMAC = 8 };

static bool is_atomic(uint8_t operation) {
    return operation >= WEFT_GNET_FETCH_ADD;
}

static bool is_request(const struct weft_gnet_req *req) {
    static const uint8_t none[sizeof req->hmac - ATOMIC_HMAC];
    if (req->operation >= WEFT_GNET_OPERATIONS || !req->bytes || req->bytes > WEFT_GNET_OPERATION_BYTES_MAX)
        return false;
    if (!is_atomic(req->operation)) return !req->operand && !req->compare;
    return req->bytes == 8 && !(req->number >> 24) && !memcmp(req->hmac + ATOMIC_HMAC, none, sizeof none);
}

static size_t encode_req(const struct weft_gnet_req *req, uint8_t *to) {
    if (!is_request(req)) return 0;
    if (is_atomic(req->operation)) {
        weft__put32(to, (uint32_t)req->operation << 24 | req->number);
        weft__put32(to + 4, req->region);
        weft__put64(to + 8, req->address);
        weft__put64(to + 16, req->operand);
        weft__put64(to + 24, req->compare);
        memcpy(to + 32, req->hmac, ATOMIC_HMAC);
        return WEFT_GNET_REQUEST_BYTES;
    }
    to[0] = req->operation;
    to[1] = 0;
    weft__put16(to + 2, req->bytes);
    weft__put32(to + 4, req->number);
    weft__put32(to + 8, req->region);
    weft__put32(to + 12, 0);
    weft__put64(to + 16, req->address);
    memcpy(to + 24, req->hmac, sizeof req->hmac);
    return WEFT_GNET_REQUEST_BYTES;
}

static size_t encode_resp(const struct weft_gnet_resp *resp, uint8_t *to) {
    if (resp->bytes > WEFT_GNET_RESP_BYTES_MAX || (resp->status && resp->bytes)) return 0;
    weft__put32(to, resp->number);
    weft__put16(to + 4, resp->offset);
    to[6] = resp->status;
    to[7] = 0;
    memcpy(to + 8, resp->data, resp->bytes);
    return WEFT_GNET_RESP_HEAD_BYTES + (size_t)resp->bytes;
}

size_t weft_gnet_cell_encode(const struct weft_gnet_cell *cell, uint8_t *ret, size_t size) {
    uint8_t bytes[WEFT_GNET_CELL_BYTES_MAX], *to = bytes + WEFT_GNET_HEADER_BYTES;
    struct weft_gnet_header header = cell->header;
    size_t length = 0;
    switch (header.type) {
    case WEFT_GNET_TYPE_RTS:
        length = encode_rts(&cell->rts, to);
        break;
    case WEFT_GNET_TYPE_CTS:
    case WEFT_GNET_TYPE_CTD:
        length = encode_cts(&cell->cts, header.type == WEFT_GNET_TYPE_CTD, to);
        break;
    case WEFT_GNET_TYPE_DATA:
        length = encode_data(&cell->data, &header, to);
        break;
    case WEFT_GNET_TYPE_REQ:
        length = encode_req(&cell->req, to);
        break;
    case WEFT_GNET_TYPE_RESP:
        length = encode_resp(&cell->resp, to);
        break;
    default:
        break;
    }
    header.length = (uint8_t)length;
    if (!length || length > size || !weft_gnet_header_encode(&header, bytes, sizeof bytes)) return 0;
    memcpy(ret, bytes, length);
    return length;
}
