// SPDX-License-Identifier: Apache-2.0
// The transport headers of InfiniBand as RoCEv2 carries them: IBTA vol. 1 chapter 9 (BTH, RETH, AETH, AtomicETH,
// AtomicAckETH, ImmDt, IETH), annex A17 (over UDP; the congestion notification packet).

#include "weft/wire.h"
#include "wire/bytes.h"

#define BTH_FIELDS(F)                                                                                                  \
    F(8, opcode)                                                                                                       \
    F(1, solicited)                                                                                                    \
    F(1, migration)                                                                                                    \
    F(2, pad_count)                                                                                                    \
    F(4, version)                                                                                                      \
    F(16, pkey) F(1, fecn) F(1, becn) F(6, reserved6) F(24, dest_qp) F(1, ack_request) F(7, reserved7) F(24, psn)
WEFT__CODEC(bth, WEFT_BTH_BYTES, BTH_FIELDS)
#define RETH_FIELDS(F) F(64, address) F(32, rkey) F(32, length)
WEFT__CODEC(reth, WEFT_RETH_BYTES, RETH_FIELDS)
#define AETH_FIELDS(F) F(1, reserved) F(2, code) F(5, value) F(24, msn)
WEFT__CODEC(aeth, WEFT_AETH_BYTES, AETH_FIELDS)
#define IMMDT_FIELDS(F) F(32, data)
WEFT__CODEC(immdt, WEFT_IMMDT_BYTES, IMMDT_FIELDS)
#define IETH_FIELDS(F) F(32, rkey)
WEFT__CODEC(ieth, WEFT_IETH_BYTES, IETH_FIELDS)
#define ATOMIC_ETH_FIELDS(F) F(64, address) F(32, rkey) F(64, swap_add) F(64, compare)
WEFT__CODEC(atomic_eth, WEFT_ATOMIC_ETH_BYTES, ATOMIC_ETH_FIELDS)
#define ATOMIC_ACK_ETH_FIELDS(F) F(64, original)
WEFT__CODEC(atomic_ack_eth, WEFT_ATOMIC_ACK_ETH_BYTES, ATOMIC_ACK_ETH_FIELDS)

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
