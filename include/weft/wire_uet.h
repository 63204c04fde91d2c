// SPDX-License-Identifier: Apache-2.0
// Headers of Ultra Ethernet's packet delivery sublayer (PDS), behind UDP port 4793. Like the codecs of weft/wire.h:
// pure, total, `ret` written only with WEFT_WIRE_OK. What follows a header, such as the semantic sublayer's, is not
// taken apart.
//
//   octet 0, 1   type (5 bits), next header or kind of control (4), flags (7)
//         2, 3   request: clear PSN less PSN; ACK: PSN less cumulative PSN; NACK: code, vendor's code; control: opaque
//         4 to 7 PSN: of the request, the cumulative one, the refused one, the control packet's
//         8, 9   delivery context (PDC) of the source      10, 11   that of the destination; with SYN: mode and offset
//   then  ACK with congestion control: kind (4), flags (4), range of PSNs (8), SACK's PSN less cumulative PSN (16), 64
//   bits
//         of SACK, 64 of state; NACK and control: 32 bits of payload; request with congestion control: 32 of state
//
// Behind a request stands a header of the semantic sublayer (SES), here the standard one of 44 octets:
//   octet 0      opcode (6 bits, behind 2 reserved)    1   version (2), delivery complete, initiator error, relative,
//   header data, end of message, start of message      2, 3  message      4  generation   5 to 7  job
//         8, 9   process on the endpoint (12 bits)     10, 11  resource (12)   12 to 19  buffer offset
//         20 to 23  initiator    24 to 31  memory key  32 to 39  at the start of a message header data, else 2
//         reserved, payload (2) and its offset in the message (4)                        40 to 43  length of the
//         message
// and behind an ACK a response of 12: kind (6 bits, behind 2 reserved), version (2) and return code (6), message,
// generation, job, length. Of both, what weft does not know is 0.
//
// Sources: Wireshark's dissector of UET (epan/dissectors/packet-uet.c) and the headers proposed for Linux
// (include/uapi/linux/ultraeth.h), and T. Herbert's protocol definitions for XDP2 (uet-ses.h), all after the UE
// specification 1.0. The latter says no UDP port of IANA's; the
// former and IANA do.
#pragma once

#include "weft/wire.h"

#define WEFT_UDP_PORT_UET 4793u

/// Of a frame: Ethernet 14, IPv4 20, UDP 8, request 12, semantic header 44, FCS 4; ACK 32 with response 12.
#define WEFT_FRAME_UET_DATA 102u
#define WEFT_FRAME_UET_ACK 90u

enum weft_pds_type {
    WEFT_PDS_RUD_REQUEST = 2,
    WEFT_PDS_ROD_REQUEST = 3,
    WEFT_PDS_RUDI_REQUEST = 4,
    WEFT_PDS_RUDI_RESPONSE = 5,
    WEFT_PDS_UUD_REQUEST = 6,
    WEFT_PDS_ACK = 7,
    WEFT_PDS_ACK_CC = 8,
    WEFT_PDS_ACK_CCX = 9,
    WEFT_PDS_NACK = 10,
    WEFT_PDS_CONTROL = 11,
    WEFT_PDS_NACK_CCX = 12,
    WEFT_PDS_RUD_CC_REQUEST = 13,
    WEFT_PDS_ROD_CC_REQUEST = 14,
    WEFT_PDS_TYPES = 32,
};

enum weft_pds_flag {
    WEFT_PDS_AGAIN = 0x10, ///< sent again; of an answer: its packet was
    WEFT_PDS_ASKS = 0x08,  ///< of a request: acknowledge at once (AR)
    WEFT_PDS_SYN = 0x04,   ///< of a request: it sets up the context
    WEFT_PDS_MARKED = 0x20 ///< of an answer: its packet was marked
};

enum weft_pds_next { WEFT_PDS_NEXT_NONE = 0, WEFT_PDS_NEXT_REQUEST = 3, WEFT_PDS_NEXT_RESPONSE = 4 };
enum weft_pds_control { WEFT_PDS_CONTROL_NOOP = 0, WEFT_PDS_CONTROL_ASK = 1, WEFT_PDS_CONTROL_CREDIT = 7 };
enum weft_pds_nack { WEFT_PDS_NACK_TRIMMED = 1, WEFT_PDS_NACK_TRIMMED_LAST_HOP = 2 };

#define WEFT_PDS_BYTES 12u ///< of every type but RUDI and UUD, and more:
#define WEFT_PDS_ACK_CC_MORE 20u
#define WEFT_PDS_MORE 4u ///< of NACK, control and requests with congestion control
#define WEFT_PDS_BYTES_MAX (WEFT_PDS_BYTES + WEFT_PDS_ACK_CC_MORE)
struct weft_pds {
    uint8_t type;    ///< enum weft_pds_type
    uint8_t next;    ///< 4 bits: next header; of a control packet what it is (1: request for an ACK, 6: probe)
    uint8_t flags;   ///< 7 bits: enum weft_pds_flag
    uint16_t offset; ///< octets 2 and 3; of a NACK its code is the upper half
    uint32_t psn;
    uint16_t source, destination; ///< contexts
    uint32_t payload;             ///< of types that have 4 bytes more
    uint8_t cc_type, cc_flags;    ///< 4 bits each; of an ACK with congestion control, as what follows
    uint8_t range;
    uint16_t sack_offset;
    uint64_t sack_bits, state;
};

/// Standard header of a request.
struct weft_ses_request {
    uint8_t opcode;   ///< enum weft_ses_opcode
    bool first, last; ///< packet of the message
    uint16_t message; ///< number
    uint64_t key;     ///< of memory
    uint16_t payload; ///< not in the first packet; 14 bits
    uint32_t offset;  ///< likewise, in the message
    uint32_t length;  ///< of the message
};
enum weft_ses_opcode { WEFT_SES_WRITE = 1, WEFT_SES_READ = 2, WEFT_SES_SEND = 5 };
#define WEFT_SES_REQUEST_BYTES 44u
#define WEFT_SES_RESPONSE_BYTES 12u
/// 0: no room, or a field that is too large.
size_t weft_ses_request_encode(const struct weft_ses_request *, uint8_t *ret, size_t size);

/// NULL: no type that there is.
const char *weft_pds_type_name(uint8_t type);
/// 0: a type whose header has another form or is not public (RUDI, UUD, CCX, encrypted).
size_t weft_pds_bytes(uint8_t type);
size_t weft_pds_encode(const struct weft_pds *, uint8_t *ret, size_t size);
/// MALFORMED: a type of which weft_pds_bytes is 0.
enum weft_wire_status weft_pds_decode(const uint8_t *bytes, size_t size, struct weft_pds *ret);
