// SPDX-License-Identifier: Apache-2.0
// The transport headers of InfiniBand as RoCEv2 carries them: IBTA vol. 1 chapter 9 (BTH, RETH, AETH, AtomicETH,
// AtomicAckETH, ImmDt, IETH), annex A17 (over UDP; the congestion notification packet).

#include "weft/wire.h"
#include "wire/bytes.h"

size_t weft_bth_encode(const struct weft_bth *bth, uint8_t *ret, size_t size) {
    if (size < WEFT_BTH_BYTES || bth->pad_count > 3 || bth->version > 15 || bth->reserved6 > 63) return 0;
    if (bth->dest_qp > WEFT_QP_MAX || bth->reserved7 > 127 || bth->psn > WEFT_PSN_MASK) return 0;
    ret[0] = bth->opcode;
    ret[1] = (uint8_t)(bth->solicited << 7 | bth->migration << 6 | bth->pad_count << 4 | bth->version);
    weft__put16(ret + 2, bth->pkey);
    ret[4] = (uint8_t)(bth->fecn << 7 | bth->becn << 6 | bth->reserved6);
    weft__put24(ret + 5, bth->dest_qp);
    ret[8] = (uint8_t)(bth->ack_request << 7 | bth->reserved7);
    weft__put24(ret + 9, bth->psn);
    return WEFT_BTH_BYTES;
}

enum weft_wire_status weft_bth_decode(const uint8_t *bytes, size_t size, struct weft_bth *ret) {
    if (size < WEFT_BTH_BYTES) return WEFT_WIRE_TRUNCATED;
    *ret = (struct weft_bth){
        .opcode = bytes[0],
        .solicited = bytes[1] >> 7,
        .migration = bytes[1] >> 6 & 1,
        .pad_count = bytes[1] >> 4 & 3,
        .version = bytes[1] & 15,
        .pkey = weft__get16(bytes + 2),
        .fecn = bytes[4] >> 7,
        .becn = bytes[4] >> 6 & 1,
        .reserved6 = bytes[4] & 63,
        .dest_qp = weft__get24(bytes + 5),
        .ack_request = bytes[8] >> 7,
        .reserved7 = bytes[8] & 127,
        .psn = weft__get24(bytes + 9),
    };
    return WEFT_WIRE_OK;
}

size_t weft_reth_encode(const struct weft_reth *reth, uint8_t *ret, size_t size) {
    if (size < WEFT_RETH_BYTES) return 0;
    weft__put64(ret, reth->address);
    weft__put32(ret + 8, reth->rkey);
    weft__put32(ret + 12, reth->length);
    return WEFT_RETH_BYTES;
}

enum weft_wire_status weft_reth_decode(const uint8_t *bytes, size_t size, struct weft_reth *ret) {
    if (size < WEFT_RETH_BYTES) return WEFT_WIRE_TRUNCATED;
    ret->address = weft__get64(bytes);
    ret->rkey = weft__get32(bytes + 8);
    ret->length = weft__get32(bytes + 12);
    return WEFT_WIRE_OK;
}

size_t weft_aeth_encode(const struct weft_aeth *aeth, uint8_t *ret, size_t size) {
    if (size < WEFT_AETH_BYTES || aeth->code > 3 || aeth->value > 31 || aeth->msn > 0xffffff) return 0;
    ret[0] = (uint8_t)(aeth->reserved << 7 | aeth->code << 5 | aeth->value);
    weft__put24(ret + 1, aeth->msn);
    return WEFT_AETH_BYTES;
}

enum weft_wire_status weft_aeth_decode(const uint8_t *bytes, size_t size, struct weft_aeth *ret) {
    if (size < WEFT_AETH_BYTES) return WEFT_WIRE_TRUNCATED;
    ret->reserved = bytes[0] >> 7;
    ret->code = bytes[0] >> 5 & 3;
    ret->value = bytes[0] & 31;
    ret->msn = weft__get24(bytes + 1);
    return WEFT_WIRE_OK;
}

size_t weft_immdt_encode(const struct weft_immdt *immdt, uint8_t *ret, size_t size) {
    if (size < WEFT_IMMDT_BYTES) return 0;
    weft__put32(ret, immdt->data);
    return WEFT_IMMDT_BYTES;
}

enum weft_wire_status weft_immdt_decode(const uint8_t *bytes, size_t size, struct weft_immdt *ret) {
    if (size < WEFT_IMMDT_BYTES) return WEFT_WIRE_TRUNCATED;
    ret->data = weft__get32(bytes);
    return WEFT_WIRE_OK;
}

size_t weft_ieth_encode(const struct weft_ieth *ieth, uint8_t *ret, size_t size) {
    if (size < WEFT_IETH_BYTES) return 0;
    weft__put32(ret, ieth->rkey);
    return WEFT_IETH_BYTES;
}

enum weft_wire_status weft_ieth_decode(const uint8_t *bytes, size_t size, struct weft_ieth *ret) {
    if (size < WEFT_IETH_BYTES) return WEFT_WIRE_TRUNCATED;
    ret->rkey = weft__get32(bytes);
    return WEFT_WIRE_OK;
}

size_t weft_atomic_eth_encode(const struct weft_atomic_eth *atomic, uint8_t *ret, size_t size) {
    if (size < WEFT_ATOMIC_ETH_BYTES) return 0;
    weft__put64(ret, atomic->address);
    weft__put32(ret + 8, atomic->rkey);
    weft__put64(ret + 12, atomic->swap_add);
    weft__put64(ret + 20, atomic->compare);
    return WEFT_ATOMIC_ETH_BYTES;
}

enum weft_wire_status weft_atomic_eth_decode(const uint8_t *bytes, size_t size, struct weft_atomic_eth *ret) {
    if (size < WEFT_ATOMIC_ETH_BYTES) return WEFT_WIRE_TRUNCATED;
    ret->address = weft__get64(bytes);
    ret->rkey = weft__get32(bytes + 8);
    ret->swap_add = weft__get64(bytes + 12);
    ret->compare = weft__get64(bytes + 20);
    return WEFT_WIRE_OK;
}

size_t weft_atomic_ack_eth_encode(const struct weft_atomic_ack_eth *atomic, uint8_t *ret, size_t size) {
    if (size < WEFT_ATOMIC_ACK_ETH_BYTES) return 0;
    weft__put64(ret, atomic->original);
    return WEFT_ATOMIC_ACK_ETH_BYTES;
}

enum weft_wire_status weft_atomic_ack_eth_decode(const uint8_t *bytes, size_t size, struct weft_atomic_ack_eth *ret) {
    if (size < WEFT_ATOMIC_ACK_ETH_BYTES) return WEFT_WIRE_TRUNCATED;
    ret->original = weft__get64(bytes);
    return WEFT_WIRE_OK;
}

struct weft_bth weft_bth_cnp(uint32_t dest_qp, enum weft_cnp_mark mark) {
    return (struct weft_bth){
        .opcode = WEFT_ROCE_CNP,
        .pkey = 0xffff,
        .fecn = mark == WEFT_CNP_FECN,
        .becn = mark == WEFT_CNP_BECN,
        .dest_qp = dest_qp,
    };
}

enum {
    RETH = WEFT_LAYER_RETH,
    AETH = WEFT_LAYER_AETH,
    IMMDT = WEFT_LAYER_IMMDT,
    IETH = WEFT_LAYER_IETH,
    ATOMIC = WEFT_LAYER_ATOMIC_ETH,
    ATOMIC_ACK = WEFT_LAYER_ATOMIC_ACK_ETH,
};

static const struct weft_roce_opcode opcodes[] = {
    {"RC SEND First", WEFT_RC_SEND_FIRST, 1, 0},
    {"RC SEND Middle", WEFT_RC_SEND_MIDDLE, 1, 0},
    {"RC SEND Last", WEFT_RC_SEND_LAST, 1, 0},
    {"RC SEND Last with Immediate", WEFT_RC_SEND_LAST_IMMEDIATE, 1, IMMDT},
    {"RC SEND Only", WEFT_RC_SEND_ONLY, 1, 0},
    {"RC SEND Only with Immediate", WEFT_RC_SEND_ONLY_IMMEDIATE, 1, IMMDT},
    {"RC RDMA WRITE First", WEFT_RC_WRITE_FIRST, 1, RETH},
    {"RC RDMA WRITE Middle", WEFT_RC_WRITE_MIDDLE, 1, 0},
    {"RC RDMA WRITE Last", WEFT_RC_WRITE_LAST, 1, 0},
    {"RC RDMA WRITE Last with Immediate", WEFT_RC_WRITE_LAST_IMMEDIATE, 1, IMMDT},
    {"RC RDMA WRITE Only", WEFT_RC_WRITE_ONLY, 1, RETH},
    {"RC RDMA WRITE Only with Immediate", WEFT_RC_WRITE_ONLY_IMMEDIATE, 1, RETH | IMMDT},
    {"RC RDMA READ Request", WEFT_RC_READ_REQUEST, 0, RETH},
    {"RC RDMA READ Response First", WEFT_RC_READ_RESPONSE_FIRST, 1, AETH},
    {"RC RDMA READ Response Middle", WEFT_RC_READ_RESPONSE_MIDDLE, 1, 0},
    {"RC RDMA READ Response Last", WEFT_RC_READ_RESPONSE_LAST, 1, AETH},
    {"RC RDMA READ Response Only", WEFT_RC_READ_RESPONSE_ONLY, 1, AETH},
    {"RC Acknowledge", WEFT_RC_ACK, 0, AETH},
    {"RC ATOMIC Acknowledge", WEFT_RC_ATOMIC_ACK, 0, AETH | ATOMIC_ACK},
    {"RC CmpSwap", WEFT_RC_COMPARE_SWAP, 0, ATOMIC},
    {"RC FetchAdd", WEFT_RC_FETCH_ADD, 0, ATOMIC},
    {"RC SEND Last with Invalidate", WEFT_RC_SEND_LAST_INVALIDATE, 1, IETH},
    {"RC SEND Only with Invalidate", WEFT_RC_SEND_ONLY_INVALIDATE, 1, IETH},
    {"CNP", WEFT_ROCE_CNP, 0, 0}, // its 16 reserved octets are not payload
};

const struct weft_roce_opcode *weft_roce_opcode_find(uint8_t opcode) {
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (opcodes[i].opcode == opcode) return &opcodes[i];
    return NULL;
}
