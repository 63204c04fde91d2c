// SPDX-License-Identifier: Apache-2.0
// Packets of Ultra Ethernet as frames, as far as public text describes them (weft/wire_uet.h). Data is a request with
// the standard semantic header; a SACK is an ACK with congestion control and a response, whose cumulative PSN is the
// last one below which nothing is missing; a sender's request for an answer, and a grant of credit, are control
// packets. A trimmed packet is the front of its frame, and its IP length is what remains. Delivery contexts are numbers
// of queue pairs.
//
// Our own choices: a grant's 32 bits are the credit since the start in units of 256 B. A request to READ, a CNP and
// other control that the text has no form for are control packets (NOOP). Responses to a READ are requests with that
// opcode. Zeros pad a control packet to its length. Requests have no retransmission flag and do not set up contexts,
// because a packet of the simulator does not carry that information.
#include <string.h>

#include "transport/frames.h"
#include "weft/wire_uet.h"

/// Writes a header where there is room; only the front of a trimmed packet is kept.
static void put_header(const uint8_t *header, size_t bytes, size_t at, uint8_t *ret, size_t size) {
    if (at < size) memcpy(ret + at, header, bytes < size - at ? bytes : size - at);
}

static void put_pds(const struct weft_pds *pds, uint8_t *ret, size_t size) {
    uint8_t header[WEFT_PDS_BYTES_MAX];
    put_header(header, weft_pds_encode(pds, header, sizeof header), 0, ret, size);
}

static uint8_t opcode_of(const struct weft_qp_conf *qp) {
    return qp->verb == WEFT_VERB_SEND ? WEFT_SES_SEND : qp->verb == WEFT_VERB_READ ? WEFT_SES_READ : WEFT_SES_WRITE;
}

static void put_request(const struct weft__frames *frames, const struct weft_packet *p, const struct weft_pds *pds,
                        uint8_t *ret, size_t size) {
    const struct weft_qp_conf *qp = &frames->qp[p->qp];
    bool messages = weft_qp_has_messages(qp);
    weft_bytes before = (weft_bytes)p->psn * qp->mtu, payload = size - WEFT_PDS_BYTES - WEFT_SES_REQUEST_BYTES;
    if (p->spare) payload = qp->packets == WEFT_QP_MESSAGES ? 0 : weft__qp_payload(qp, p->psn);
    const struct weft_ses_request ses = {
        .opcode = opcode_of(qp),
        .first = messages ? p->flags & WEFT_PACKET_FIRST : p->psn == 0,
        .last = messages ? p->flags & WEFT_PACKET_LAST : p->psn + 1 == qp->packets,
        .key = p->qp + UINT64_C(1),
        .payload = (uint16_t)payload,
        .offset = messages ? 0 : (uint32_t)before,
        .length = messages || qp->bytes > UINT32_MAX ? 0 : (uint32_t)qp->bytes,
    };
    uint8_t header[WEFT_SES_REQUEST_BYTES];
    put_pds(pds, ret, size);
    put_header(header, weft_ses_request_encode(&ses, header, sizeof header), WEFT_PDS_BYTES, ret, size);
    if (size > WEFT_PDS_BYTES + sizeof header)
        memcpy(ret + WEFT_PDS_BYTES + sizeof header, &frames->payload[before % WEFT__PAYLOAD_PERIOD],
               size - WEFT_PDS_BYTES - sizeof header);
}

/// Fills in an answer to data.
static void fill_answer(const struct weft_packet *p, const struct weft_sack *sack, struct weft_pds *pds) {
    uint32_t cumulative = p->psn - 1; // 2^32 - 1 before the first packet
    pds->flags = p->flags & WEFT_PACKET_ECHO ? WEFT_PDS_MARKED : 0;
    if (p->kind == WEFT_PACKET_NAK) {
        pds->type = WEFT_PDS_NACK;
        pds->offset = WEFT_PDS_NACK_TRIMMED << 8;
        pds->psn = sack->psn;
        return;
    }
    pds->type = WEFT_PDS_ACK_CC;
    pds->next = WEFT_PDS_NEXT_RESPONSE;
    pds->psn = cumulative;
    pds->offset = (uint16_t)(sack->psn - cumulative);
    pds->sack_offset = (uint16_t)(sack->base - cumulative);
    pds->sack_bits = sack->bits;
}

static void fill_control(const struct weft_packet *p, struct weft_pds *pds) {
    pds->type = WEFT_PDS_CONTROL;
    pds->psn = p->psn;
    if (p->kind != WEFT_PACKET_ACK) return;
    if (p->flags & WEFT_PACKET_GRANT) {
        pds->next = WEFT_PDS_CONTROL_CREDIT;
        pds->psn = 0;
        pds->payload = p->psn;
    } else {
        pds->next = WEFT_PDS_CONTROL_ASK;
        pds->flags = WEFT_PDS_ASKS;
    }
}

static void fill_uet(struct weft_frame *f, const struct weft__frames *frames, const struct weft_packet *p,
                     const struct weft_sack *sack, uint8_t *message) {
    size_t size = p->bytes - WEFT_FCS_BYTES - weft_frame_header_bytes(f);
    const struct weft_qp_numbers *n = &frames->qp_numbers[p->qp];
    bool forward = weft_packet_goes_with_data(p);
    struct weft_pds pds = {.source = (uint16_t)(forward ? n->at_src : n->at_dst),
                           .destination = (uint16_t)(forward ? n->at_dst : n->at_src)};
    bool answers = p->kind == WEFT_PACKET_NAK ||
                   (p->kind == WEFT_PACKET_ACK && !(p->flags & (WEFT_PACKET_GRANT | WEFT_PACKET_ASK)));
    f->udp.dst_port = WEFT_UDP_PORT_UET;
    f->payload = message;
    f->payload_bytes = size;
    memset(message, 0, size);
    if (p->kind == WEFT_PACKET_DATA) {
        pds.type = frames->ordered ? WEFT_PDS_ROD_REQUEST : WEFT_PDS_RUD_REQUEST;
        pds.next = WEFT_PDS_NEXT_REQUEST;
        pds.flags = p->flags & WEFT_PACKET_ACK_REQUEST ? WEFT_PDS_ASKS : 0;
        pds.psn = p->psn;
        put_request(frames, p, &pds, message, size);
        return;
    }
    if (answers)
        fill_answer(p, sack, &pds);
    else
        fill_control(p, &pds);
    put_pds(&pds, message, size);
}

const struct weft_transport_frames weft__frames_uet = {
    .name = "Ultra Ethernet",
    .data_bytes = WEFT_FRAME_UET_DATA,
    .ack_bytes = WEFT_FRAME_UET_ACK,
    .header_bytes = WEFT_PDS_BYTES + WEFT_SES_REQUEST_BYTES,
    .trims = true,
    .sacks = true,
    .fill = fill_uet,
};
