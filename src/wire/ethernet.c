// SPDX-License-Identifier: Apache-2.0
// Ethernet header, 802.1Q tag, and the two MAC control frames that stop a sender.
// IEEE 802.3-2022 clause 3 and annexes 31A, 31B, 31D; IEEE 802.1Q-2022 clauses 9 and 36.
#include <string.h>

#include "weft/wire.h"
#include "wire/bytes.h"

const uint8_t WEFT_MAC_CONTROL_ADDRESS[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

size_t weft_ethernet_encode(const struct weft_ethernet *ethernet, uint8_t *ret, size_t size) {
    if (size < WEFT_ETHERNET_BYTES) return 0;
    memcpy(ret, ethernet->dst, 6);
    memcpy(ret + 6, ethernet->src, 6);
    weft__put16(ret + 12, ethernet->ethertype);
    return WEFT_ETHERNET_BYTES;
}

enum weft_wire_status weft_ethernet_decode(const uint8_t *bytes, size_t size, struct weft_ethernet *ret) {
    if (size < WEFT_ETHERNET_BYTES) return WEFT_WIRE_TRUNCATED;
    memcpy(ret->dst, bytes, 6);
    memcpy(ret->src, bytes + 6, 6);
    ret->ethertype = weft__get16(bytes + 12);
    return WEFT_WIRE_OK;
}

#define VLAN_FIELDS(F) F(3, priority) F(1, drop_eligible) F(12, id) F(16, ethertype)
WEFT__CODEC(vlan, WEFT_VLAN_BYTES, VLAN_FIELDS)

size_t weft_pause_encode(const struct weft_pause *pause, uint8_t *ret, size_t size) {
    if (size < WEFT_PAUSE_BYTES) return 0;
    weft__put16(ret, WEFT_PAUSE_OPCODE);
    weft__put16(ret + 2, pause->quanta);
    return WEFT_PAUSE_BYTES;
}

enum weft_wire_status weft_pause_decode(const uint8_t *bytes, size_t size, struct weft_pause *ret) {
    if (size < WEFT_PAUSE_BYTES) return WEFT_WIRE_TRUNCATED;
    if (weft__get16(bytes) != WEFT_PAUSE_OPCODE) return WEFT_WIRE_MALFORMED;
    ret->quanta = weft__get16(bytes + 2);
    return WEFT_WIRE_OK;
}

size_t weft_pfc_encode(const struct weft_pfc *pfc, uint8_t *ret, size_t size) {
    if (size < WEFT_PFC_BYTES) return 0;
    weft__put16(ret, WEFT_PFC_OPCODE);
    weft__put16(ret + 2, pfc->classes);
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++)
        weft__put16(ret + 4 + 2 * i, pfc->quanta[i]);
    return WEFT_PFC_BYTES;
}

enum weft_wire_status weft_pfc_decode(const uint8_t *bytes, size_t size, struct weft_pfc *ret) {
    if (size < WEFT_PFC_BYTES) return WEFT_WIRE_TRUNCATED;
    if (weft__get16(bytes) != WEFT_PFC_OPCODE) return WEFT_WIRE_MALFORMED;
    ret->classes = weft__get16(bytes + 2);
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++)
        ret->quanta[i] = weft__get16(bytes + 4 + 2 * i);
    return WEFT_WIRE_OK;
}
