// SPDX-License-Identifier: Apache-2.0
// Cells of GNet as bytes, for captures. The Aquila paper (NSDI 2022, sections 3.1, 3.3, 3.4, 3.5 and B.2) gives their
// contents; no layout is published, so this one is weft's own. Encoders are pure and return the bytes written, or 0 if
// the cell does not fit or a field holds more than its bits. The simulation counts cells by the sizes given here
// (weft/tin.h).
//
// Routing header of every cell:
//   octet 0, 1   source: pod 7 bits, TiN 4, endpoint 5      4   length of the cell in octets, header included
//         2, 3   destination, likewise                      5   type 4, hop count 4: one less at every TiN
//         6      VC 5, trace 1, reserved 2                  7   CRC-8 of octets 0 to 6
// The CRC is x^8 + x^2 + x + 1 (as in the ATM header, ITU-T I.432), preset to ones: any one, two or three wrong bits of
// the 64 are seen. It is computed anew at every TiN, for the hop count and the VC.
#pragma once

#include "weft/types.h"

struct weft_gnet_address {
    uint8_t pod, tin, endpoint; ///< 7, 4 and 5 bits
};
/// 0 to 65535; fields that do not fit are an error of the caller.
uint16_t weft_gnet_address_pack(struct weft_gnet_address);

enum weft_gnet_type {
    WEFT_GNET_TYPE_RTS = 1,
    WEFT_GNET_TYPE_CTS,
    WEFT_GNET_TYPE_CTD,
    WEFT_GNET_TYPE_DATA,
    WEFT_GNET_TYPE_REQ,
    WEFT_GNET_TYPE_RESP,
    WEFT_GNET_TYPES
};

/// Octets.
enum {
    WEFT_GNET_HEADER_BYTES = 8,
    WEFT_GNET_CELL_BYTES_MIN = 16, ///< RTS, CTS, CTD; no cell is shorter
    WEFT_GNET_CELL_BYTES_MAX = 160
};
struct weft_gnet_header {
    uint16_t source, destination; ///< weft_gnet_address_pack; source of data: see weft_gnet_data
    uint8_t length;
    uint8_t type;     ///< enum weft_gnet_type
    uint8_t hops;     ///< 4 bits
    uint8_t vc;       ///< 5 bits
    uint8_t reserved; ///< 2 bits
    bool trace;
};
size_t weft_gnet_header_encode(const struct weft_gnet_header *, uint8_t *ret, size_t size);
/// Of octets 0 to 6 of a header.
uint8_t weft_gnet_crc8(const uint8_t *bytes);

/// RTS, 16 octets: length of the packet 16, CoS 3, reserved 5, use of the ingress buffer 8, place in it 32.
struct weft_gnet_rts {
    uint16_t packet_bytes;
    uint8_t class;        ///< 0..7
    uint8_t buffer_usage; ///< of the ingress buffer, in 1/255
    uint32_t ingress;
};
/// CTS and CTD, 16 octets: place in the ingress buffer 32, as in the RTS, and in the egress buffer 32: 0 in a CTD.
struct weft_gnet_cts {
    bool drop; ///< CTD
    uint32_t ingress, egress;
};
/// Data, 16 to 160 octets: in place of the source the slot of the egress buffer 10 and the number of the cell in its
/// packet 6, then data. Cells arrive in any order, of several packets of one source too, and must say where they
/// belong; the paper counts 8 octets of header for a cell of 160 (section 6), and the egress, which asked for the
/// packet, knows its source. That the source is known this way is assumed.
enum {
    WEFT_GNET_DATA_HEAD_BYTES = WEFT_GNET_HEADER_BYTES,
    WEFT_GNET_DATA_BYTES_MAX = WEFT_GNET_CELL_BYTES_MAX - WEFT_GNET_DATA_HEAD_BYTES
};
struct weft_gnet_data {
    uint16_t slot;  ///< 10 bits
    uint8_t number; ///< 6 bits
    uint8_t bytes;  ///< 8..152
    uint8_t data[WEFT_GNET_DATA_BYTES_MAX];
};
/// Req, 48 octets: operation 8, reserved 8, length 16, number of the operation 32, memory region 32, reserved 32,
/// address 64, HMAC 128. The paper's size is of a read; an atomic's operands find room in it where the length is known
/// and half of the HMAC is left out: operation 8, number 24, region 32, address 64, operand 64, compare 64, HMAC 64.
enum weft_gnet_operation {
    WEFT_GNET_READ,
    WEFT_GNET_WRITE, ///< asks the target to read from the initiator
    WEFT_GNET_FETCH_ADD,
    WEFT_GNET_COMPARE_SWAP,
    WEFT_GNET_OPERATIONS
};
enum { WEFT_GNET_REQUEST_BYTES = 48, WEFT_GNET_OPERATION_BYTES_MAX = 4096 };
struct weft_gnet_req {
    uint8_t operation;       ///< enum weft_gnet_operation
    uint16_t bytes;          ///< 1..4096; of an atomic 8
    uint32_t number, region; ///< number: 24 bits of an atomic
    uint64_t address;
    uint8_t hmac[16];          ///< of an atomic 8, then 0
    uint64_t operand, compare; ///< of atomics; else 0
};
/// Resp, 16 to 160 octets: number of the operation 32, offset 16, status 8, reserved 8, then a PCIe completion's data.
enum {
    WEFT_GNET_RESP_HEAD_BYTES = WEFT_GNET_HEADER_BYTES + 8,
    WEFT_GNET_RESP_BYTES_MAX = WEFT_GNET_CELL_BYTES_MAX - WEFT_GNET_RESP_HEAD_BYTES
};
struct weft_gnet_resp {
    uint32_t number;
    uint16_t offset;
    uint8_t status; ///< 0: done; else why not, with no data
    uint8_t bytes;  ///< 0..144
    uint8_t data[WEFT_GNET_RESP_BYTES_MAX];
};

/// A whole cell: header->type says which of the members counts, header.length is computed.
struct weft_gnet_cell {
    struct weft_gnet_header header;
    union {
        struct weft_gnet_rts rts;
        struct weft_gnet_cts cts;
        struct weft_gnet_data data;
        struct weft_gnet_req req;
        struct weft_gnet_resp resp;
    };
};
size_t weft_gnet_cell_encode(const struct weft_gnet_cell *, uint8_t *ret, size_t size);
