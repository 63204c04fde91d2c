// SPDX-License-Identifier: Apache-2.0
// Source flow control at the congestion point and at the edge (IEEE P802.1Qdw).
//
// A packet that has joined a queue is shown to the model; if the model says so, a message goes to the packet's source.
// Only data counts: an ACK has no source that could slow down (a switch distinguishes them by the BTH's opcode). The
// message is a packet of 64 bytes with the code point of control traffic; it counts at the input where the data
// arrived, as if that frame had been trimmed and turned round, and follows the switch's own routes.
//
// At the edge, a message for a NIC that does not understand it becomes a pause frame (the standard's project authorizes
// bridges to do so); the NIC then stops the whole priority, not only the flow concerned.
#include "box/switch/switch.h"
#include "link/lldp.h"

#include <assert.h>

static weft_rate_bps rate_of(const struct weft__port *port) {
    return (weft_rate_bps)((unsigned __int128)(8 * WEFT_PS_PER_S) * port->speed.byte_den / port->speed.byte_num);
}

/// The number of inputs that have packets for an output and share its rate; 1 if packets do not wait at inputs.
static uint32_t count_contenders(struct weft__switch *sw, uint32_t out, uint32_t priority) {
    uint32_t n = 0;
    if (!sw->arbitrated) return 1;
    const uint64_t *inputs = sw->queueing->inputs(sw->queueing_state, out, priority);
    for (uint32_t k = 0; k < sw->words; k++)
        n += (uint32_t)__builtin_popcountll(inputs[k]);
    return n ? n : 1;
}

/// Details that only some models need.
static void describe_fact(struct weft__switch *sw, const struct weft__sfc_packet *packet, uint32_t out,
                          struct weft_sfc_fact *fact) {
    fact->output_rate_bps = rate_of(&sw->port[out]);
    fact->drain_rate_bps = fact->output_rate_bps / count_contenders(sw, out, packet->priority);
    weft__sfc_count(&sw->sfc, packet, fact);
    fact->input_rate_bps = packet->in_rate_bps;
    fact->room_bytes = sw->buffer->room(sw->buffer_state, sw->conf->buffer.conf, packet->in, out, packet->priority);
}

static void send_message(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                         const struct weft_packet *p, weft_time_ps pause) {
    uint8_t dscp = (uint8_t)sw->sfc.conf->dscp;
    uint32_t now_ns = (uint32_t)(w->now_ps / WEFT_PS_PER_NS),
             pause_ns = (uint32_t)((pause + WEFT_PS_PER_NS - 1) / WEFT_PS_PER_NS);
    assert(!(pause_ns >> WEFT_PACKET_SFCM_PAUSE_BITS)); // sfc.pause is bounded by it
    struct weft_packet message = {
        .time_ps = w->now_ps,
        .port = p->port,
        .bytes = (uint16_t)(WEFT_FRAME_SFCM + sw->hosts->framing_bytes),
        .dst = sw->hosts->qp[p->qp].src,
        .qp = p->qp,
        .psn = (now_ns >> 3) << WEFT_PACKET_SFCM_PAUSE_BITS | pause_ns,
        .entropy = sw->index & 0x3fffu,
        .kind = WEFT_PACKET_SFCM,
        .flags = now_ns & 7u,
        .priority = sw->conf->dscp_map[dscp] & 7u,
        .dscp = dscp & 63u,
    };
    w->tally.injected_bytes += message.bytes;
    weft__switch_emit(node, sw, w, &message);
}

void weft__switch_judge_source(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                               const struct weft_packet *p, uint32_t out) {
    if (p->kind != WEFT_PACKET_DATA || !(sw->sfc.conf->priorities >> p->priority & 1)) return;
    struct weft_sfc_fact fact = {.now_ps = w->now_ps, .packet_bytes = p->bytes};
    struct weft__sfc_packet packet = {.queue = out,
                                      .priority = p->priority,
                                      .qp = p->qp,
                                      .src = sw->hosts->qp[p->qp].src,
                                      .in = p->port,
                                      .in_rate_bps = rate_of(&sw->port[p->port])};
    weft_bytes depth = weft__port_queue_of(&sw->port[out], p->priority)->bytes;
    if (sw->queueing->depth) depth = sw->queueing->depth(sw->queueing_state, p->port, out, p->priority, &packet.queue);
    fact.queue_bytes = depth - p->bytes;
    if (fact.queue_bytes <= sw->sfc.watch_bytes) return;
    if (sw->sfc.memory_ps) describe_fact(sw, &packet, out, &fact);
    struct weft_sfc_act act = weft__sfc_judge(&sw->sfc, &fact);
    if (!act.signal) return;
    struct weft_counters *counters = weft__port_counters(&sw->port[out], p->priority);
    if (weft__sfc_allow(&sw->sfc, &packet, w->now_ps)) {
        counters->sfc_sent++;
        if (__builtin_expect(sw->trace != NULL, 0))
            weft__trace_sfc_sent(sw->trace, w->now_ps, p, out, act.pause_ps, depth);
        send_message(node, sw, w, p, act.pause_ps);
    } else {
        counters->sfc_suppressed++;
    }
}

bool weft__switch_intercept(struct weft__switch *sw, struct weft__worker *w, const struct weft_packet *p,
                            uint32_t out) {
    const struct weft__port *port = &sw->port[out];
    if (!port->proxy_until_ps || (port->lldp && port->lldp->peer_sfc)) return false;
    uint32_t priority = sw->hosts->qp[p->qp].priority;
    assert(priority < WEFT_PRIORITIES);
    w->tally.delivered_bytes += p->bytes;
    weft__port_counters(&sw->port[out], priority)->sfc_proxied++;
    weft_time_ps pause = weft_packet_sfcm_pause_ns(p) * WEFT_PS_PER_NS;
    if (__builtin_expect(sw->trace != NULL, 0)) weft__trace_sfc_received(sw->trace, w->now_ps, out, priority, p);
    weft__port_proxy_pause(&sw->port[out], priority, w->now_ps + pause);
    return true;
}
