// SPDX-License-Identifier: Apache-2.0
// What a packet of 32 bytes does not carry is derived, so that the same run gives the same frames: addresses and queue
// pair numbers from indices, the payload from its place in the message. Switches are drawn as routers (RFC 1812 section
// 5.3.1: each takes 1 off the TTL) or as bridges. What follows UDP is the transport's (transport/frames.h).
//
// Sources: as in weft/wire.h.
#include "sim/frames.h"

#include <assert.h>
#include <string.h>

#include "transport/raw.h"
#include "weft/sim.h"
#include "weft/wire_sfcm.h"

enum { TTL = 64, PORT_FIRST = 0xc000 };

void weft__frames_init(struct weft__frames *frames) {
    for (size_t i = 0; i < sizeof frames->payload; i++)
        frames->payload[i] = (uint8_t)i;
}

/// From one end of the link to the other, or, past bridges, from host to host.
static void fill_macs(struct weft_frame *f, const struct weft__frames *frames, uint32_t src, uint32_t dst,
                      uint32_t sender) {
    const struct weft_topology *t = frames->topology;
    bool routed = frames->routed && frames->roce == WEFT_ROCE_V2;
    weft_address_mac(routed ? sender : t->node[t->host[src]].port0, f->ethernet.src);
    weft_address_mac(routed ? t->port[sender].peer : t->node[t->host[dst]].port0, f->ethernet.dst);
}

/// GIDs are link-local, formed from the hosts' MAC addresses: the first GID of any RoCE NIC.
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

/// The addresses of the queue pair's two hosts. Returns the queue pair.
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

/// `message`: room for it.
static void fill_sfcm(struct weft_frame *f, const struct weft__frames *frames, const struct weft_packet *p,
                      uint32_t sender, uint8_t *message) {
    const struct weft_qp_conf *qp = fill_ip(f, frames, p, sender);
    const struct weft_sfcm m = {
        .version = WEFT_SFCM_VERSION,
        .priority = qp->priority,
        .src_port = (uint16_t)(PORT_FIRST | qp->entropy),
        .dest_qp = frames->qp_numbers[p->qp].at_dst, // the same as in the data
        .pause_ns = weft_packet_sfcm_pause_ns(p),
        .congestion_point = p->entropy,
    };
    f->udp.dst_port = WEFT_UDP_PORT_SFCM;
    f->payload = message;
    f->payload_bytes = weft_sfcm_encode(&m, message, WEFT_SFCM_BYTES);
}

/// Of data with `headers`, all that is not payload.
static size_t put_headers(const struct weft__frames *frames, struct weft_frame *f, uint8_t *ret) {
    weft_frame_complete(f);
    size_t written = weft_frame_encode_headers(f, ret, WEFT__FRAME_BYTES_MAX);
    size_t own = frames->format->header_bytes, more = f->payload_bytes < own ? f->payload_bytes : own;
    assert(written + more <= WEFT__FRAME_BYTES_MAX);
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
    assert(lldp->size <= size && size <= WEFT__FRAME_BYTES_MAX);
    memcpy(ret, lldp->bytes, lldp->size);
    memset(ret + lldp->size, 0, size - lldp->size);
    return size;
}

size_t weft__frames_build(const struct weft__frames *frames, const struct weft_packet *p, const struct weft_sack *sack,
                          uint32_t sender, uint8_t *ret) {
    if (p->kind == WEFT_PACKET_LLDP) return put_lldp(frames, p, ret);
    if (frames->raw && p->kind == WEFT_PACKET_DATA && frames->qp[p->qp].verb == WEFT_VERB_RAW)
        return weft__raw_write(&frames->raw->frame[p->psn], p->ecn, true, ret);
    struct weft_frame f = {0};
    uint8_t message[WEFT__FRAME_BYTES_MAX];
    if (p->kind == WEFT_PACKET_PFC)
        fill_pfc(&f, p, sender);
    else if (p->kind == WEFT_PACKET_SFCM)
        fill_sfcm(&f, frames, p, sender, message);
    else {
        fill_ip(&f, frames, p, sender);
        frames->format->fill(&f, frames, p, sack, message);
    }
    bool headers = frames->headers && p->kind == WEFT_PACKET_DATA;
    size_t written = headers ? put_headers(frames, &f, ret) : weft_frame_build(&f, ret, WEFT__FRAME_BYTES_MAX);
    assert(written >= WEFT__FRAME_WRITTEN_MIN && weft_frame_bytes(&f) == p->bytes - WEFT_FCS_BYTES);
    return written;
}
