// SPDX-License-Identifier: Apache-2.0
// Packets that enter a Clique at a TiN (Gibson et al., NSDI 2022, section 3.3): the input pipeline finds the TiN and
// port by which a packet leaves, and sends its RTS, early if the packet is long; the packet waits in the ingress buffer
// for a CTS, which sends it as cells, or for a CTD, which discards it. Assumed: a packet is cut into cells when it is
// complete; a packet that is neither cleared nor discarded for rts_timeout has lost its RTS, or the answer, and is
// discarded.
#include "base/grow.h"
#include "box/tin/tin.h"
#include "weft/memory.h"

#include <assert.h>

enum { PACKETS_FIRST = 16, PACKETS_MOST = 1 << 16 };

static void append_packet(struct weft__tin *tin, struct weft__tin_list *list, uint32_t slot) {
    weft__tin_append(list, &tin->packet->link, sizeof *tin->packet, slot);
}
static void remove_from(struct weft__tin *tin, struct weft__tin_list *list, uint32_t slot) {
    weft__tin_remove(list, &tin->packet->link, sizeof *tin->packet, slot);
}

/// A slot; WEFT_NONE: the buffer is full.
static uint32_t take_slot(struct weft__tin *tin) {
    uint32_t slot = tin->packet_free.first;
    if (slot != WEFT_NONE) {
        remove_from(tin, &tin->packet_free, slot);
        return slot;
    }
    if (tin->packets == PACKETS_MOST) return WEFT_NONE;
    tin->packet = weft__memory_double(WEFT_MEMORY_QUEUE, tin->packet, tin->packets, &tin->packet_capacity,
                                      PACKETS_FIRST, sizeof *tin->packet);
    tin->packet[tin->packets] = (struct weft__tin_packet){.use = 0};
    return tin->packets++;
}

/// The packet leaves the ingress buffer.
static void leave_buffer(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t slot) {
    struct weft__tin_packet *s = &tin->packet[slot];
    struct weft__tin_port *port = &tin->port[s->packet.port];
    if (port->incoming == slot) {
        port->incoming = WEFT_NONE;
        weft__timer_cancel(&node->timers, weft__ether_key(WEFT__TIN_KEY_COMPLETE, s->packet.port));
    }
    assert(s->used && tin->ingress_bytes >= s->packet.bytes);
    tin->ingress_bytes -= s->packet.bytes;
    s->used = false;
    s->use = (uint16_t)((s->use + 1) & ((1u << WEFT__GNET_USE_BITS) - 1));
    append_packet(tin, &tin->packet_free, slot);
    weft__ether_release(&tin->ether, node, w, &s->packet);
}

static void announce_packet(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t slot) {
    struct weft__tin_packet *s = &tin->packet[slot];
    const struct weft_packet *p = &s->packet;
    struct weft_packet rts = {
        .bytes = WEFT_GNET_CELL_MIN,
        .dst = weft__gnet_pair(s->to, tin->gnet.self),
        .qp = p->qp,
        .psn = slot | (uint32_t)p->bytes << 16,
        .entropy = weft__gnet_head(WEFT__GNET_RTS, 0, false) & 0x3fffu,
        .kind = p->kind,
        .priority = p->priority,
    };
    weft__gnet_set_use(&rts, s->use);
    s->is_announced = true;
    s->since_ps = w->now_ps;
    append_packet(tin, &tin->announced, slot);
    uint32_t key = weft__tin_key(tin, WEFT__TIN_KEY_ANNOUNCED);
    if (weft__timer_at(&node->timers, key) == WEFT_TIME_NEVER)
        weft__timer_set(&node->timers, key, w->now_ps + tin->conf->rts_timeout_ps);
    tin->gnet.counts.rts++;
    if (__builtin_expect(tin->gnet.follow_log != NULL, 0)) {
        weft__tin_follow_stage(tin, w->now_ps, p, p->psn, WEFT_STAGE_ASKED);
        if (p->kind == WEFT_PACKET_DATA && weft__follow_has_qp(tin->gnet.follow_log, p->qp))
            weft__follow_last(tin->gnet.follow_log)->busy_ps = slot;
    }
    w->tally.injected_bytes += rts.bytes;
    weft__gnet_inject(node, &tin->gnet, w, &rts, WEFT__GNET_IP, weft__gnet_hash(&rts),
                      weft_gnet_class(WEFT_GNET_KIND_RTS, weft__tin_level(tin, p->priority)));
}

bool weft__tin_punt(struct weft__tin *tin, weft_time_ps now) {
    weft_time_ps each = WEFT_PS_PER_S / tin->conf->punt_rate;
    if (weft_clique_is_absent(tin->absence, tin->absences, tin->gnet.self, now)) {
        tin->gnet.counts.punts_missed++;
        return false;
    }
    if (tin->punts_until_ps < now) tin->punts_until_ps = now;
    if (tin->punts_until_ps - now >= tin->conf->punt_packets * each) {
        tin->gnet.counts.punts_refused++;
        return false;
    }
    tin->punts_until_ps += each;
    tin->gnet.counts.punted++;
    return true;
}

/// One of the exits, the same for all packets of a flow, chosen as often as its group lists it: WCMP.
static uint32_t find_exit(struct weft__tin *tin, const struct weft_packet *p, weft_time_ps now) {
    const struct weft__tin_places *places = tin->places;
    for (; tin->egresses && tin->egress->from_ps <= now; tin->egresses--)
        tin->exit_state = tin->egress++->state;
    const struct weft__tin_exits *exits =
        &places->exits[tin->exit_state * places->classes + places->class_of_host[p->dst]];
    uint64_t x = ((uint64_t)p->dst << 32 | (uint64_t)p->entropy << 16 | tin->gnet.self) * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    return exits->n ? exits->tin[(x * UINT64_C(0xbf58476d1ce4e5b9) >> 32) * exits->n >> 32] : WEFT_TIN_NONE;
}

/// Where the packet leaves the Clique; false: it cannot.
static bool find_egress(struct weft__tin *tin, const struct weft_packet *p, weft_time_ps now, uint32_t *ret_to) {
    *ret_to = tin->places->tin_of_host[p->dst];
    if (__builtin_expect(*ret_to == WEFT_TIN_NONE, 0)) *ret_to = find_exit(tin, p, now);
    return *ret_to != WEFT_TIN_NONE;
}

void weft__tin_on_frame(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, struct weft_packet *p) {
    assert(!p->side); // cells cannot carry the record
    uint32_t k = p->port, to;
    bool xoff;
    if (!find_egress(tin, p, w->now_ps, &to)) {
        weft__tin_punt(tin, w->now_ps); // the control processor knows no route either
        weft__ether_drop(&tin->ether, w, p, k, WEFT_DROP_NO_ROUTE);
        return;
    }
    uint32_t slot = take_slot(tin);
    if (slot == WEFT_NONE) {
        weft__ether_drop(&tin->ether, w, p, k, WEFT_DROP_BUFFER_FULL);
        return;
    }
    if (!weft__ether_enter(&tin->ether, w, p, &xoff)) {
        append_packet(tin, &tin->packet_free, slot);
        return;
    }
    struct weft__tin_packet *s = &tin->packet[slot];
    *s = (struct weft__tin_packet){.packet = *p, .complete_ps = w->now_ps, .to = to, .use = s->use, .used = true};
    tin->ingress_bytes += p->bytes;
    if (tin->ingress_bytes > tin->gnet.counts.ingress_bytes_max)
        tin->gnet.counts.ingress_bytes_max = tin->ingress_bytes;
    if (p->bytes > WEFT__HEADER) {
        uint32_t rest = p->bytes - WEFT__HEADER;
        weft_time_ps through = tin->nics ? w->now_ps + weft__tin_nic_time(tin->nics, k, rest) : 0;
        s->complete_ps = p->time_ps + weft__port_time(&tin->ether.port[k], rest);
        if (s->complete_ps < through) s->complete_ps = through;
    }
    if (s->complete_ps > w->now_ps) {
        tin->port[k].incoming = slot;
        weft__timer_set(&node->timers, weft__ether_key(WEFT__TIN_KEY_COMPLETE, k), s->complete_ps);
    }
    if (p->bytes > tin->conf->rts_early_bytes || s->complete_ps == w->now_ps) announce_packet(node, tin, w, slot);
    if (xoff) weft__ether_hold(&tin->ether, node, w, k, p->priority);
}

/// The packet is cleared and complete: it is sent as cells.
static void send_packet(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t slot) {
    const struct weft__tin_packet *s = &tin->packet[slot];
    uint32_t left = s->packet.bytes - WEFT__TIN_L2_BYTES,
             class = weft_gnet_class(WEFT_GNET_KIND_DATA, weft__tin_level(tin, s->packet.priority)),
             most = (uint32_t)tin->conf->train * WEFT_GNET_PAYLOAD;
    struct weft_packet cell = s->packet;
    cell.dst = weft__gnet_pair(s->to, s->fetch);
    if (__builtin_expect(tin->gnet.follow_log != NULL, 0))
        weft__tin_follow_stage(tin, w->now_ps, &cell, cell.psn, WEFT_STAGE_CUT);
    leave_buffer(node, tin, w, slot);
    w->tally.delivered_bytes += WEFT__TIN_L2_BYTES; // the Ethernet header is removed; the egress adds another
    while (left) {
        struct weft_packet one = cell;
        one.bytes = (uint16_t)(left < most ? left : most);
        one.entropy = weft__gnet_head(WEFT__GNET_DATA, 0, false) & 0x3fffu;
        left -= one.bytes;
        weft__gnet_inject(node, &tin->gnet, w, &one, WEFT__GNET_IP, WEFT_NONE, class);
    }
}

void weft__tin_on_complete(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t k) {
    uint32_t slot = tin->port[k].incoming;
    assert(slot != WEFT_NONE && tin->packet[slot].used);
    tin->port[k].incoming = WEFT_NONE;
    if (!tin->packet[slot].is_announced)
        announce_packet(node, tin, w, slot);
    else if (tin->packet[slot].is_asked_for)
        send_packet(node, tin, w, slot);
}

void weft__tin_on_clear(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                        const struct weft_packet *cell) {
    uint32_t slot = cell->qp;
    assert(slot < tin->packets); // another TiN says so
    struct weft__tin_packet *s = &tin->packet[slot];
    if (!s->used || s->use != weft__gnet_use(cell)) {
        tin->gnet.counts.cells_late++;
        return;
    }
    remove_from(tin, &tin->announced, slot);
    weft__tin_count_ns(&tin->gnet.counts.seen->clear_ns, w->now_ps - s->since_ps);
    if (weft__gnet_type(cell) == WEFT__GNET_CTD) {
        tin->gnet.counts.ctd++;
        weft__ether_drop(&tin->ether, w, &s->packet, s->packet.port, WEFT_DROP_CTD);
        leave_buffer(node, tin, w, slot);
        return;
    }
    s->fetch = (uint16_t)cell->psn;
    s->is_asked_for = true;
    if (__builtin_expect(tin->gnet.follow_log != NULL, 0))
        weft__tin_follow_stage(tin, w->now_ps, &s->packet, s->packet.psn, WEFT_STAGE_CLEARED);
    if (s->complete_ps <= w->now_ps) send_packet(node, tin, w, slot);
}

void weft__tin_forget(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w) {
    weft_time_ps timeout = tin->conf->rts_timeout_ps;
    uint32_t slot;
    while ((slot = tin->announced.first) != WEFT_NONE && tin->packet[slot].since_ps + timeout <= w->now_ps) {
        struct weft__tin_packet *s = &tin->packet[slot];
        remove_from(tin, &tin->announced, slot);
        weft__ether_drop(&tin->ether, w, &s->packet, s->packet.port, WEFT_DROP_RTS_TIMEOUT);
        tin->gnet.counts.packets_lost++;
        leave_buffer(node, tin, w, slot);
    }
    if (slot != WEFT_NONE)
        weft__timer_set(&node->timers, weft__tin_key(tin, WEFT__TIN_KEY_ANNOUNCED),
                        tin->packet[slot].since_ps + timeout);
}
