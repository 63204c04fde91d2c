// SPDX-License-Identifier: Apache-2.0
// IEEE 802.1AB-2016 clause 8 (formats) and 9.2.7.7 (which LLDPDUs are valid). Difference: a TTL TLV longer than two
// octets is refused rather than truncated, so that a decoded frame encodes to the same bytes.
#include "weft/wire_lldp.h"

#include <string.h>

#include "wire/bytes.h"

const uint8_t WEFT_LLDP_ADDRESS[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};

size_t weft_lldp_tlv_encode(const struct weft_lldp_tlv *tlv, uint8_t *ret, size_t size) {
    size_t bytes = WEFT_LLDP_TLV_HEADER + (size_t)tlv->length;
    if (tlv->type > 127 || tlv->length > WEFT_LLDP_VALUE_MAX || bytes > size) return 0;
    weft__put16(ret, (uint32_t)tlv->type << 9 | tlv->length);
    if (tlv->length) memcpy(ret + WEFT_LLDP_TLV_HEADER, tlv->value, tlv->length);
    return bytes;
}

enum weft_wire_status weft_lldp_tlv_decode(const uint8_t *bytes, size_t size, struct weft_lldp_tlv *ret) {
    if (size < WEFT_LLDP_TLV_HEADER) return WEFT_WIRE_TRUNCATED;
    uint16_t head = weft__get16(bytes), length = head & WEFT_LLDP_VALUE_MAX;
    if (size - WEFT_LLDP_TLV_HEADER < length) return WEFT_WIRE_TRUNCATED;
    *ret = (struct weft_lldp_tlv){(uint8_t)(head >> 9), length, bytes + WEFT_LLDP_TLV_HEADER};
    return WEFT_WIRE_OK;
}

/// Whether the bytes are a sequence of complete TLVs, none of the four that have a fixed place.
static bool is_optional(const uint8_t *bytes, size_t size) {
    struct weft_lldp_tlv tlv;
    for (size_t at = 0; at < size; at += WEFT_LLDP_TLV_HEADER + (size_t)tlv.length)
        if (weft_lldp_tlv_decode(bytes + at, size - at, &tlv) || tlv.type <= WEFT_LLDP_TTL) return false;
    return true;
}

size_t weft_lldpdu_bytes(const struct weft_lldpdu *pdu) {
    size_t ids = 2 * (WEFT_LLDP_TLV_HEADER + 1) + (size_t)pdu->chassis.length + pdu->port.length;
    return ids + WEFT_LLDP_TLV_HEADER + 2 + pdu->optional_bytes + (pdu->ended ? WEFT_LLDP_TLV_HEADER : 0);
}

static uint8_t *put_id(uint8_t *at, enum weft_lldp_type type, const struct weft_lldp_id *id) {
    weft__put16(at, (uint32_t)type << 9 | (id->length + 1u));
    at[2] = id->subtype;
    memcpy(at + 3, id->id, id->length);
    return at + 3 + id->length;
}

size_t weft_lldpdu_encode(const struct weft_lldpdu *pdu, uint8_t *ret, size_t size) {
    size_t bytes = weft_lldpdu_bytes(pdu);
    if (bytes > size || !pdu->chassis.length || !pdu->port.length) return 0;
    if (!is_optional(pdu->optional, pdu->optional_bytes)) return 0;
    uint8_t *at = put_id(ret, WEFT_LLDP_CHASSIS_ID, &pdu->chassis);
    at = put_id(at, WEFT_LLDP_PORT_ID, &pdu->port);
    weft__put16(at, WEFT_LLDP_TTL << 9 | 2);
    weft__put16(at + 2, pdu->ttl_s);
    if (pdu->optional_bytes) memcpy(at + 4, pdu->optional, pdu->optional_bytes);
    if (pdu->ended) weft__put16(ret + bytes - WEFT_LLDP_TLV_HEADER, WEFT_LLDP_END << 9);
    return bytes;
}

static enum weft_wire_status take_id(const struct weft_lldp_tlv *tlv, struct weft_lldp_id *ret) {
    if (tlv->length < 2 || tlv->length > WEFT_LLDP_ID_MAX + 1) return WEFT_WIRE_MALFORMED;
    ret->subtype = tlv->value[0];
    ret->length = (uint8_t)(tlv->length - 1);
    memcpy(ret->id, tlv->value + 1, ret->length);
    return WEFT_WIRE_OK;
}

/// The k-th of the three TLVs that come first.
static enum weft_wire_status take_head(const struct weft_lldp_tlv *tlv, unsigned k, struct weft_lldpdu *pdu) {
    if (tlv->type != WEFT_LLDP_CHASSIS_ID + k) return WEFT_WIRE_MALFORMED;
    if (tlv->type == WEFT_LLDP_CHASSIS_ID) return take_id(tlv, &pdu->chassis);
    if (tlv->type == WEFT_LLDP_PORT_ID) return take_id(tlv, &pdu->port);
    if (tlv->length != 2) return WEFT_WIRE_MALFORMED;
    pdu->ttl_s = weft__get16(tlv->value);
    return WEFT_WIRE_OK;
}

enum weft_wire_status weft_lldpdu_decode(const uint8_t *bytes, size_t size, struct weft_lldpdu *ret) {
    struct weft_lldpdu pdu = {0};
    size_t at = 0;
    for (unsigned k = 0; at < size || k < 3; k++) {
        struct weft_lldp_tlv tlv;
        enum weft_wire_status status = weft_lldp_tlv_decode(bytes + at, size - at, &tlv);
        if (!status && k < 3) status = take_head(&tlv, k, &pdu);
        if (status) return status;
        if (k >= 3 && tlv.type <= WEFT_LLDP_TTL) {
            if (tlv.type != WEFT_LLDP_END || tlv.length) return WEFT_WIRE_MALFORMED;
            pdu.ended = true;
            break;
        }
        at += WEFT_LLDP_TLV_HEADER + (size_t)tlv.length;
        if (k == 2)
            pdu.optional = bytes + at;
        else if (k > 2)
            pdu.optional_bytes = (size_t)(bytes + at - pdu.optional);
    }
    *ret = pdu;
    return WEFT_WIRE_OK;
}
