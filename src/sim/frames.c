// SPDX-License-Identifier: Apache-2.0
// What a packet of 32 bytes does not carry is derived, so that the same run gives the same frames: addresses and queue
// pair numbers from indices, opcodes from verb and PSN, the payload from its place in the message (octet k is k mod
// 256). Switches are drawn as routers (RFC 1812 section 5.3.1: each takes 1 off the TTL) or as bridges.
//
// Sources: as in weft/wire.h. ACK: PSN of the last packet it acknowledges; NAK: of the packet expected. MSN: messages
// completed, and of a READ one more as soon as its request is being answered (IBTA vol. 1, C9-148).
#include "sim/frames.h"

#include <string.h>

#include "weft/sim.h"
#include "weft/wire_sfcm.h"
#include "weft/wire_uet.h"

enum { TTL = 64, PORT_FIRST = 0xc000 };

void weft__frames_init(struct weft__frames *frames) {
    for (size_t i = 0; i < sizeof frames->payload; i++)
        frames->payload[i] = (uint8_t)i;
}

static uint32_t clip(weft_bytes length) {
    return length < UINT32_MAX ? (uint32_t)length : UINT32_MAX; // messages beyond 4 GiB have no RETH in the real world
}

/// From `psn` on: all that is left of the message.
static struct weft_reth reth_of(const struct weft_qp_conf *qp, uint32_t index, uint32_t psn) {
    weft_bytes before = (weft_bytes)psn * qp->mtu;
    return (struct weft_reth){
        .address = ((uint64_t)index + 1) << 32 | clip(before),
        .rkey = index + 1,
        .length = clip(qp->bytes - before),
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
    if (qp->packets == WEFT_QP_MESSAGES) {
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
    if (qp->packets == WEFT_QP_MESSAGES) f->payload_bytes = weft__message_payload(p, frames->framing_bytes, 0);
}

static void fill_ack(struct weft_frame *f, const struct weft_qp_conf *qp, const struct weft_packet *p) {
    bool ack = p->kind == WEFT_PACKET_ACK;
    f->bth.opcode = WEFT_RC_ACK;
    f->bth.psn = (ack ? p->psn - 1 : p->psn) & WEFT_PSN_MASK;
    f->aeth = (struct weft_aeth){.code = ack ? WEFT_AETH_ACK : WEFT_AETH_NAK,
                                 .value = ack ? WEFT_AETH_NO_CREDITS : WEFT_NAK_PSN_SEQUENCE,
                                 .msn = p->psn == qp->packets};
}

/// From one end of the link to the other, or, past bridges, from host to host.
static void fill_macs(struct weft_frame *f, const struct weft__frames *frames, uint32_t src, uint32_t dst,
                      uint32_t sender) {
    const struct weft_topology *t = frames->topology;
    bool routed = frames->routed && frames->roce == WEFT_ROCE_V2;
    weft_address_mac(routed ? sender : t->node[t->host[src]].port0, f->ethernet.src);
    weft_address_mac(routed ? t->port[sender].peer : t->node[t->host[dst]].port0, f->ethernet.dst);
}

/// GIDs are link-local, of the hosts' MAC addresses: the first of any RoCE NIC.
static void fill_grh(struct weft_frame *f) {
    f->grh = (struct weft_ipv6){.hop_limit = TTL};
    weft_address_gid(f->ethernet.src, f->grh.src);
    weft_address_gid(f->ethernet.dst, f->grh.dst);
    f->layers = WEFT_LAYER_GRH;
}

static void fill_tag(struct weft_frame *f, const struct weft__frames *frames, const struct weft_packet *p) {
    f->vlan = (struct weft_vlan){.priority = p->priority, .id = frames->vlan};
    f->layers |= WEFT_LAYER_VLAN;
}

/// Between the two hosts of its queue pair. Returns the queue pair.
static const struct weft_qp_conf *fill_ip(struct weft_frame *f, const struct weft__frames *frames,
                                          const struct weft_packet *p, uint32_t sender) {
    const struct weft_qp_conf *qp = &frames->qp[p->qp];
    uint32_t src = p->dst == qp->dst ? qp->src : qp->dst;
    fill_macs(f, frames, src, p->dst, sender);
    f->ipv4 = (struct weft_ipv4){
        .dscp = p->dscp,
        .ecn = p->ecn,
        .identification = (uint16_t)p->psn,
        .dont_fragment = true,
        .ttl = (uint8_t)(TTL - (frames->routed ? p->hops : 0u)),
        .src = weft_address_ipv4(src),
        .dst = weft_address_ipv4(p->dst),
    };
    f->udp.src_port = (uint16_t)(PORT_FIRST | p->entropy);
    f->layers = WEFT_LAYER_IPV4 | WEFT_LAYER_UDP;
    if (frames->roce == WEFT_ROCE_V1) fill_grh(f);
    if (frames->vlan) fill_tag(f, frames, p);
    return qp;
}

static void fill_roce(struct weft_frame *f, const struct weft__frames *frames, const struct weft_packet *p,
                      uint32_t sender) {
    const struct weft_qp_conf *qp = fill_ip(f, frames, p, sender);
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

/// `message`: room for it.
static void fill_sfcm(struct weft_frame *f, const struct weft__frames *frames, const struct weft_packet *p,
                      uint32_t sender, uint8_t *message) {
    const struct weft_qp_conf *qp = fill_ip(f, frames, p, sender);
    const struct weft_sfcm m = {
        .version = WEFT_SFCM_VERSION,
        .priority = qp->priority,
        .src_port = (uint16_t)(PORT_FIRST | qp->entropy),
        .dest_qp = frames->qp_numbers[p->qp].at_dst, // as in the data
        .pause_ns = weft_packet_sfcm_pause_ns(p),
        .congestion_point = p->entropy,
    };
    f->udp.dst_port = WEFT_UDP_PORT_SFCM;
    f->payload = message;
    f->payload_bytes = weft_sfcm_encode(&m, message, WEFT_SFCM_BYTES);
}

/// `message`: room for it.
static void fill_uet(struct weft_frame *f, const struct weft__frames *frames, const struct weft_packet *p,
                     const struct weft_sack *sack, uint32_t sender, uint8_t *message) {
    fill_ip(f, frames, p, sender);
    f->udp.dst_port = WEFT_UDP_PORT_UET;
    f->payload_bytes = p->bytes - WEFT_FCS_BYTES - weft_frame_header_bytes(f);
    f->payload = message;
    weft__frames_uet(frames, p, sack, message, f->payload_bytes);
}

/// Of data with `headers`, all that is not payload.
static size_t put_headers(const struct weft__frames *frames, struct weft_frame *f, uint8_t *ret) {
    weft_frame_complete(f);
    size_t written = weft_frame_encode_headers(f, ret, WEFT__FRAME_BYTES_MAX);
    if (!frames->uet) return written;
    size_t own = WEFT_PDS_BYTES + WEFT_SES_REQUEST_BYTES, more = f->payload_bytes < own ? f->payload_bytes : own;
    memcpy(ret + written, f->payload, more);
    return written + more;
}

static void fill_pfc(struct weft_frame *f, const struct weft_packet *p, uint32_t sender) {
    weft_address_mac(sender, f->ethernet.src);
    memcpy(f->ethernet.dst, WEFT_MAC_CONTROL_ADDRESS, sizeof f->ethernet.dst);
    f->layers = WEFT_LAYER_PFC;
    f->pfc.classes = weft_packet_pfc_classes(p);
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++)
        f->pfc.quanta[i] = (uint16_t)weft_packet_pfc_quanta(p, i);
}

/// The bytes that the sender's codec produced, and padding.
static size_t put_lldp(const struct weft__frames *frames, const struct weft_packet *p, uint8_t *ret) {
    const struct weft__lldp_frame *lldp = &frames->lldp[p->psn];
    size_t size = p->bytes - WEFT_FCS_BYTES;
    memcpy(ret, lldp->bytes, lldp->size);
    memset(ret + lldp->size, 0, size - lldp->size);
    return size;
}

size_t weft__frames_build(const struct weft__frames *frames, const struct weft_packet *p, const struct weft_sack *sack,
                          uint32_t sender, uint8_t *ret) {
    if (p->kind == WEFT_PACKET_LLDP) return put_lldp(frames, p, ret);
    struct weft_frame f = {0};
    uint8_t message[WEFT__FRAME_BYTES_MAX];
    if (p->kind == WEFT_PACKET_PFC)
        fill_pfc(&f, p, sender);
    else if (p->kind == WEFT_PACKET_SFCM)
        fill_sfcm(&f, frames, p, sender, message);
    else if (frames->uet)
        fill_uet(&f, frames, p, sack, sender, message);
    else
        fill_roce(&f, frames, p, sender);
    bool headers = frames->headers && p->kind == WEFT_PACKET_DATA;
    size_t written = headers ? put_headers(frames, &f, ret) : weft_frame_build(&f, ret, WEFT__FRAME_BYTES_MAX);
    assert(written >= WEFT__FRAME_WRITTEN_MIN && weft_frame_bytes(&f) == p->bytes - WEFT_FCS_BYTES);
    return written;
}
