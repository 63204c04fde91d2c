// SPDX-License-Identifier: Apache-2.0
// A GNet cell as a record of the engine, 32 bytes like any packet. What a cell of every type has:
//
//   bytes     the bytes of a packet or of memory that it carries, or its own bytes if it carries none
//   dst       upper half: its destination TiN; lower half: its source TiN or, for IP data, the slot in
//             the egress buffer that awaits it (which knows the source)
//   entropy   virtual channel (5), type (4), hops (4), trace bit (1)
//
// The other fields depend on its type:
//
//   RTS       qp, kind, priority: the packet's; psn: the slot in the ingress buffer, and the packet's length; ecn,
//   flags
//             and dscp: how often that slot has been used, modulo 2^11, which identifies outdated answers
//   CTS, CTD  qp: the slot in the ingress buffer; psn: the slot in the egress buffer (CTS); ecn, flags, dscp as in RTS;
//             kind: ACK
//   IP data   all other fields are the packet's
//   Req, Resp qp, psn, kind, priority, ecn, flags, dscp: their endpoint's
//
// A real cell has a routing header of 8 bytes (Gibson et al., "Aquila: A unified, low-latency fabric for datacenter
// networks", NSDI 2022, section 3.1): addresses, length, type, VC, hop count, CRC-8 and trace bit; followed by what its
// type adds (weft/wire_gnet.h).
#pragma once

#include "weft/packet.h"
#include "weft/rma.h"
#include "weft/tin.h"

/// Of a mask of ports, virtual channels or TiNs.
static inline uint64_t weft__gnet_bit(uint32_t i) {
    return UINT64_C(1) << i;
}

enum weft__cell_type {
    WEFT__GNET_RTS,
    WEFT__GNET_CTS,
    WEFT__GNET_CTD,
    WEFT__GNET_DATA,
    WEFT__GNET_REQ,
    WEFT__GNET_RESP,
    WEFT__GNET_TYPES
};

enum { WEFT__GNET_VC_BITS = 5, WEFT__GNET_TYPE_BITS = 4, WEFT__GNET_HOP_BITS = 4 };
enum {
    WEFT__GNET_TYPE_AT = WEFT__GNET_VC_BITS,
    WEFT__GNET_HOPS_AT = WEFT__GNET_TYPE_AT + WEFT__GNET_TYPE_BITS,
    WEFT__GNET_TRACE_AT = WEFT__GNET_HOPS_AT + WEFT__GNET_HOP_BITS,
};
#define WEFT__GNET_HOPS_MAX ((1u << WEFT__GNET_HOP_BITS) - 1)

static inline uint32_t weft__gnet_pair(uint32_t to, uint32_t from_or_slot) {
    return to << 16 | from_or_slot;
}
static inline uint32_t weft__gnet_to(const struct weft_packet *cell) {
    return cell->dst >> 16;
}
static inline uint32_t weft__gnet_from(const struct weft_packet *cell) {
    return cell->dst & 0xffff;
}
static inline uint32_t weft__gnet_vc(const struct weft_packet *cell) {
    return cell->entropy & ((1u << WEFT__GNET_VC_BITS) - 1);
}
static inline void weft__gnet_set_vc(struct weft_packet *cell, uint32_t vc) {
    cell->entropy = ((cell->entropy & ~((1u << WEFT__GNET_VC_BITS) - 1)) | vc) & 0x3fffu;
}
static inline enum weft__cell_type weft__gnet_type(const struct weft_packet *cell) {
    return (enum weft__cell_type)(cell->entropy >> WEFT__GNET_TYPE_AT & ((1u << WEFT__GNET_TYPE_BITS) - 1));
}
static inline uint32_t weft__gnet_hops(const struct weft_packet *cell) {
    return cell->entropy >> WEFT__GNET_HOPS_AT & WEFT__GNET_HOPS_MAX;
}
/// The field after one more hop, on a VC.
static inline uint32_t weft__gnet_next_head(const struct weft_packet *cell, uint32_t vc) {
    return ((cell->entropy & ~((1u << WEFT__GNET_VC_BITS) - 1)) | vc) + (1u << WEFT__GNET_HOPS_AT);
}
static inline bool weft__gnet_is_traced(const struct weft_packet *cell) {
    return cell->entropy >> WEFT__GNET_TRACE_AT;
}
/// The field of a new cell: no hops yet.
static inline uint32_t weft__gnet_head(enum weft__cell_type type, uint32_t vc, bool trace) {
    return (uint32_t)type << WEFT__GNET_TYPE_AT | vc | (uint32_t)trace << WEFT__GNET_TRACE_AT;
}

/// The size before the bytes that a cell carries; for a cell that carries none, its whole size.
static inline uint32_t weft__gnet_before(enum weft__cell_type type) {
    static const uint8_t before[WEFT__GNET_TYPES] = {
        [WEFT__GNET_DATA] = WEFT_GNET_DATA_HEAD_BYTES, [WEFT__GNET_RESP] = WEFT_GNET_RESP_HEAD_BYTES};
    return before[type];
}
/// Cells that the record stands for: 1 unless it is a train.
static inline uint32_t weft__gnet_cells(const struct weft_packet *cell) {
    return cell->bytes <= WEFT_GNET_PAYLOAD ? 1 : (cell->bytes + WEFT_GNET_PAYLOAD - 1u) / WEFT_GNET_PAYLOAD;
}
/// Bytes on the link: WEFT_GNET_CELL_MIN at least for each cell, so the last one of a packet may be padded.
static inline uint32_t weft__gnet_wire(const struct weft_packet *cell) {
    uint32_t before = weft__gnet_cells(cell) - 1, last = cell->bytes - before * WEFT_GNET_PAYLOAD;
    last += weft__gnet_before(weft__gnet_type(cell));
    return before * WEFT_GNET_CELL_MAX + (last > WEFT_GNET_CELL_MIN ? last : WEFT_GNET_CELL_MIN);
}

/// Units of credit for that many bytes on the link.
static inline uint32_t weft__gnet_units(uint32_t wire) {
    return (wire + WEFT_GNET_CREDIT_UNIT - 1) / WEFT_GNET_CREDIT_UNIT;
}

/// How often a slot of the ingress buffer has been used.
enum { WEFT__GNET_USE_BITS = 11 };
static inline uint32_t weft__gnet_use(const struct weft_packet *cell) {
    return (uint32_t)cell->dscp << 5 | (uint32_t)cell->flags << 2 | cell->ecn;
}
static inline void weft__gnet_set_use(struct weft_packet *cell, uint32_t use) {
    cell->dscp = use >> 5 & 63u;
    cell->flags = use >> 2 & 7u;
    cell->ecn = use & 3u;
}

// Contents of cells. A Req: qp: slot of the asking TiN; psn: its use, bytes, host, verb; dscp: the host that a write
// comes from; ecn: bulk. A Resp: qp, psn: slot and use. A Req that nobody answers: qp, and the lower bits of psn: when
// its operation began; dscp: its entry.
enum { WEFT__TIN_USE_BITS = 12, WEFT__TIN_BYTES_BITS = 13, WEFT__TIN_HOST_BITS = 4 };
enum {
    WEFT__TIN_HOST_AT = WEFT__TIN_USE_BITS + WEFT__TIN_BYTES_BITS,
    WEFT__TIN_VERB_AT = WEFT__TIN_HOST_AT + WEFT__TIN_HOST_BITS
};
static inline uint32_t weft__tin_req_psn(uint32_t use, uint32_t bytes, uint32_t host, uint32_t verb) {
    return use | bytes << WEFT__TIN_USE_BITS | host << WEFT__TIN_HOST_AT | verb << WEFT__TIN_VERB_AT;
}
static inline uint32_t weft__tin_req_use(uint32_t psn) {
    return psn & ((1u << WEFT__TIN_USE_BITS) - 1);
}
static inline uint32_t weft__tin_req_bytes(uint32_t psn) {
    return psn >> WEFT__TIN_USE_BITS & ((1u << WEFT__TIN_BYTES_BITS) - 1);
}
static inline uint32_t weft__tin_req_host(uint32_t psn) {
    return psn >> WEFT__TIN_HOST_AT & ((1u << WEFT__TIN_HOST_BITS) - 1);
}
static inline enum weft_rma_verb weft__tin_req_verb(uint32_t psn) {
    return (enum weft_rma_verb)(psn >> WEFT__TIN_VERB_AT);
}

enum { WEFT__TIN_BEGUN_BITS = WEFT__TIN_USE_BITS + WEFT__TIN_BYTES_BITS }; ///< in psn, above those in qp
static inline weft_time_ps weft__tin_req_begun(const struct weft_packet *cell) {
    return (weft_time_ps)(cell->psn & ((1u << WEFT__TIN_BEGUN_BITS) - 1)) << 32 | cell->qp;
}
/// How notes identify a request: by the use of its slot or, for an unanswered one, by the rest of its start time.
static inline uint32_t weft__tin_req_number(uint32_t psn) {
    return weft__tin_req_verb(psn) == WEFT_RMA_SEND ? psn & ((1u << WEFT__TIN_BEGUN_BITS) - 1) : weft__tin_req_use(psn);
}

/// What a credit record returns: up to six VCs, each with a number of units of WEFT_GNET_CREDIT_UNIT bytes.
enum { WEFT__GNET_CREDITS = 6, WEFT__GNET_CREDIT_BITS = 11 };
static inline void weft__gnet_put_credit(struct weft_packet *record, uint32_t k, uint32_t vc, uint32_t units) {
    uint32_t field = (vc << WEFT__GNET_CREDIT_BITS | units) << (k % 2 * 16);
    *(k / 2 == 0 ? &record->dst : k / 2 == 1 ? &record->qp : &record->psn) |= field;
}
static inline uint32_t weft__gnet_credit(const struct weft_packet *record, uint32_t k) {
    return (k / 2 == 0 ? record->dst : k / 2 == 1 ? record->qp : record->psn) >> (k % 2 * 16) & 0xffff;
}
static inline uint32_t weft__gnet_credit_vc(uint32_t credit) {
    return credit >> WEFT__GNET_CREDIT_BITS;
}
static inline uint32_t weft__gnet_credit_units(uint32_t credit) {
    return credit & ((1u << WEFT__GNET_CREDIT_BITS) - 1);
}
