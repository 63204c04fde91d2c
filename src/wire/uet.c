// SPDX-License-Identifier: Apache-2.0
#include "weft/wire_uet.h"

#include <string.h>

#include "wire/bytes.h"

static const struct {
    const char *name;
    uint8_t bytes;
} types[WEFT_PDS_TYPES] = {
    [WEFT_PDS_RUD_REQUEST] = {"RUD request", WEFT_PDS_BYTES},
    [WEFT_PDS_ROD_REQUEST] = {"ROD request", WEFT_PDS_BYTES},
    [WEFT_PDS_RUDI_REQUEST] = {"RUDI request", 0},
    [WEFT_PDS_RUDI_RESPONSE] = {"RUDI response", 0},
    [WEFT_PDS_UUD_REQUEST] = {"UUD request", 0},
    [WEFT_PDS_ACK] = {"ACK", WEFT_PDS_BYTES},
    [WEFT_PDS_ACK_CC] = {"ACK with SACK", WEFT_PDS_BYTES + WEFT_PDS_ACK_CC_MORE},
    [WEFT_PDS_ACK_CCX] = {"ACK CCX", 0},
    [WEFT_PDS_NACK] = {"NACK", WEFT_PDS_BYTES + WEFT_PDS_MORE},
    [WEFT_PDS_CONTROL] = {"control", WEFT_PDS_BYTES + WEFT_PDS_MORE},
    [WEFT_PDS_NACK_CCX] = {"NACK CCX", 0},
    [WEFT_PDS_RUD_CC_REQUEST] = {"RUD request with congestion control", WEFT_PDS_BYTES + WEFT_PDS_MORE},
    [WEFT_PDS_ROD_CC_REQUEST] = {"ROD request with congestion control", WEFT_PDS_BYTES + WEFT_PDS_MORE},
};

const char *weft_pds_type_name(uint8_t type) {
    return type < WEFT_PDS_TYPES ? types[type].name : NULL;
}

size_t weft_pds_bytes(uint8_t type) {
    return type < WEFT_PDS_TYPES ? types[type].bytes : 0;
}

size_t weft_pds_encode(const struct weft_pds *p, uint8_t *ret, size_t size) {
    size_t bytes = weft_pds_bytes(p->type);
    if (!bytes || size < bytes || p->next > 15 || p->flags > 127 || p->cc_type > 15 || p->cc_flags > 15) return 0;
    weft__put16(ret, (uint32_t)p->type << 11 | (uint32_t)p->next << 7 | p->flags);
    weft__put16(ret + 2, p->offset);
    weft__put32(ret + 4, p->psn);
    weft__put16(ret + 8, p->source);
    weft__put16(ret + 10, p->destination);
    if (bytes == WEFT_PDS_BYTES + WEFT_PDS_MORE) weft__put32(ret + 12, p->payload);
    if (p->type != WEFT_PDS_ACK_CC) return bytes;
    weft__put16(ret + 12, (uint32_t)p->cc_type << 12 | (uint32_t)p->cc_flags << 8 | p->range);
    weft__put16(ret + 14, p->sack_offset);
    weft__put64(ret + 16, p->sack_bits);
    weft__put64(ret + 24, p->state);
    return bytes;
}

enum weft_wire_status weft_pds_decode(const uint8_t *bytes, size_t size, struct weft_pds *ret) {
    if (size < 2) return WEFT_WIRE_TRUNCATED;
    uint16_t prologue = weft__get16(bytes);
    uint8_t type = (uint8_t)(prologue >> 11);
    if (!weft_pds_bytes(type)) return WEFT_WIRE_MALFORMED;
    if (size < weft_pds_bytes(type)) return WEFT_WIRE_TRUNCATED;
    *ret = (struct weft_pds){
        .type = type,
        .next = prologue >> 7 & 15,
        .flags = prologue & 127,
        .offset = weft__get16(bytes + 2),
        .psn = weft__get32(bytes + 4),
        .source = weft__get16(bytes + 8),
        .destination = weft__get16(bytes + 10),
    };
    if (weft_pds_bytes(type) == WEFT_PDS_BYTES + WEFT_PDS_MORE) ret->payload = weft__get32(bytes + 12);
    if (type != WEFT_PDS_ACK_CC) return WEFT_WIRE_OK;
    ret->cc_type = bytes[12] >> 4;
    ret->cc_flags = bytes[12] & 15;
    ret->range = bytes[13];
    ret->sack_offset = weft__get16(bytes + 14);
    ret->sack_bits = weft__get64(bytes + 16);
    ret->state = weft__get64(bytes + 24);
    return WEFT_WIRE_OK;
}

enum { SES_OPCODE = 0x3f, SES_LAST = 0x02, SES_FIRST = 0x01, PAYLOAD_MAX = 0x3fff };

size_t weft_ses_request_encode(const struct weft_ses_request *p, uint8_t *ret, size_t size) {
    if (size < WEFT_SES_REQUEST_BYTES || p->opcode > SES_OPCODE || p->payload > PAYLOAD_MAX) return 0;
    memset(ret, 0, WEFT_SES_REQUEST_BYTES);
    ret[0] = p->opcode;
    ret[1] = (uint8_t)((p->last ? SES_LAST : 0) | (p->first ? SES_FIRST : 0));
    weft__put16(ret + 2, p->message);
    weft__put64(ret + 24, p->key);
    if (!p->first) {
        weft__put16(ret + 34, p->payload);
        weft__put32(ret + 36, p->offset);
    }
    weft__put32(ret + 40, p->length);
    return WEFT_SES_REQUEST_BYTES;
}
