// SPDX-License-Identifier: Apache-2.0
// Packets of RoCE as frames: opcodes from verb and PSN, the message's address and key from the queue pair's index.
//
// Sources: as in weft/wire.h. ACK: PSN of the last packet it acknowledges; NAK: of the packet expected. MSN: messages
// completed, and of a READ one more as soon as its request is being answered (IBTA vol. 1, C9-148).
#include "transport/frames.h"

static uint32_t clip_length(weft_bytes length) {
    return length < UINT32_MAX ? (uint32_t)length : UINT32_MAX; // messages beyond 4 GiB have no RETH in the real world
}

/// From `psn` on: all that is left of the message.
static struct weft_reth reth_of(const struct weft_qp_conf *qp, uint32_t index, uint32_t psn) {
    weft_bytes before = (weft_bytes)psn * qp->mtu, left = qp->bytes - before;
    if (qp->message_packets) { // each message is written to the same buffer
        before = (weft_bytes)(psn % qp->message_packets) * qp->mtu;
        left = (weft_bytes)(qp->message_packets - 1) * qp->mtu + qp->message_last - before;
    }
    return (struct weft_reth){
        .address = ((uint64_t)index + 1) << 32 | clip_length(before),
        .rkey = index + 1,
        .length = clip_length(left),
    };
}

/// The four opcodes of a verb stand in this order, but for those with immediate data or a key.
static uint8_t data_opcode(const struct weft_qp_conf *qp, const struct weft_packet *p) {
    static const uint8_t opcodes[][4] = {
        [WEFT_VERB_WRITE] = {WEFT_RC_WRITE_MIDDLE, WEFT_RC_WRITE_FIRST, WEFT_RC_WRITE_LAST, WEFT_RC_WRITE_ONLY},
        [WEFT_VERB_SEND] = {WEFT_RC_SEND_MIDDLE, WEFT_RC_SEND_FIRST, WEFT_RC_SEND_LAST, WEFT_RC_SEND_ONLY},
        [WEFT_VERB_READ] = {WEFT_RC_READ_RESPONSE_MIDDLE, WEFT_RC_READ_RESPONSE_FIRST, WEFT_RC_READ_RESPONSE_LAST,
                            WEFT_RC_READ_RESPONSE_ONLY},
    };
    bool first = p->psn == 0, last = p->psn + 1 == qp->packets;
    if (weft_qp_has_messages(qp)) {
        first = p->flags & WEFT_PACKET_FIRST;
        last = p->flags & WEFT_PACKET_LAST;
    }
    return opcodes[qp->verb][first + 2 * last];
}

static void fill_data(struct weft_frame *f, const struct weft__frames *frames, const struct weft_qp_conf *qp,
                      const struct weft_packet *p) {
    f->bth.opcode = data_opcode(qp, p);
    f->bth.ack_request = qp->verb != WEFT_VERB_READ && p->flags & WEFT_PACKET_ACK_REQUEST;
    f->reth = reth_of(qp, p->qp, p->psn);
    f->aeth = (struct weft_aeth){.value = WEFT_AETH_NO_CREDITS, .msn = 1};
    f->payload = &frames->payload[(weft_bytes)p->psn * qp->mtu % WEFT__PAYLOAD_PERIOD];
    f->payload_bytes = weft__qp_payload(qp, p->psn);
    if (qp->packets == WEFT_QP_MESSAGES &&
        p->flags & WEFT_PACKET_LAST) // with padding, as a packet does not tell it apart
        f->payload_bytes =
            p->bytes - frames->framing_bytes - WEFT_FRAME_DATA - (p->flags & WEFT_PACKET_FIRST ? WEFT_FRAME_RETH : 0u);
}

static void fill_ack(struct weft_frame *f, const struct weft_qp_conf *qp, const struct weft_packet *p) {
    bool ack = p->kind == WEFT_PACKET_ACK;
    f->bth.opcode = WEFT_RC_ACK;
    f->bth.psn = (ack ? p->psn - 1 : p->psn) & WEFT_PSN_MASK;
    f->aeth = (struct weft_aeth){.code = ack ? WEFT_AETH_ACK : WEFT_AETH_NAK,
                                 .value = ack ? WEFT_AETH_NO_CREDITS : WEFT_NAK_PSN_SEQUENCE,
                                 .msn = p->psn == qp->packets};
}

static void fill_roce(struct weft_frame *f, const struct weft__frames *frames, const struct weft_packet *p,
                      const struct weft_sack *sack, uint8_t *message) {
    (void)sack, (void)message;
    const struct weft_qp_conf *qp = &frames->qp[p->qp];
    f->bth = (struct weft_bth){
        .migration = true,
        .pkey = 0xffff,
        .dest_qp = weft_packet_dest_qp(p, frames->qp_numbers),
        .psn = p->psn & WEFT_PSN_MASK,
    };
    switch (p->kind) {
    case WEFT_PACKET_DATA:
        fill_data(f, frames, qp, p);
        break;
    case WEFT_PACKET_READ:
        f->bth.opcode = WEFT_RC_READ_REQUEST;
        f->bth.ack_request = true;
        f->reth = reth_of(qp, p->qp, p->psn);
        break;
    case WEFT_PACKET_CTS:
        f->bth.opcode = WEFT_RC_WRITE_ONLY;
        f->payload = frames->payload;
        f->payload_bytes = WEFT_FRAME_CTS - WEFT_FRAME_DATA - WEFT_FRAME_RETH;
        f->reth = (struct weft_reth){.rkey = p->qp + 1, .length = (uint32_t)f->payload_bytes};
        break;
    case WEFT_PACKET_CNP:
        f->bth = weft_bth_cnp(f->bth.dest_qp, frames->cnp_mark);
        f->ipv4.identification = 0;
        f->payload_bytes = WEFT_CNP_RESERVED_BYTES;
        break;
    default:
        fill_ack(f, qp, p);
        break;
    }
    f->layers |= WEFT_LAYER_BTH | WEFT_LAYER_ICRC | weft_roce_opcode_find(f->bth.opcode)->layers;
}

const struct weft_transport_frames weft__frames_roce = {.name = "RoCE", .fill = fill_roce};
