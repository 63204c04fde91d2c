// SPDX-License-Identifier: Apache-2.0
// Invariants of a TiN: the ingress buffer and what it has announced, the queues of RTSs, packets that are fetched, the
// NICs that hosts share, requests of 1RMA; and those of its cell switch (gnet_check_state.c).
#include "box/box.h"
#include "box/tin/tin.h"
#include "box/tin/tin_net.h"
#include "link/port_check.h"

/// The length of a list of slots; `slots`: of its array.
static uint32_t length_of(const struct weft__tin_list *list, struct weft__tin_link *links, size_t stride,
                          uint32_t slots) {
    uint32_t n = 0;
    for (uint32_t slot = list->first; slot != WEFT_NONE && n <= slots;
         slot = weft__tin_link(links, stride, slot)->after)
        n++;
    return n;
}

static void check_ingress(const struct weft__tin *tin, struct weft__held *held, struct weft__check *c) {
    weft_bytes bytes = 0;
    uint32_t announced = 0, unused = 0;
    for (uint32_t i = 0; i < tin->packets; i++) {
        const struct weft__tin_packet *s = &tin->packet[i];
        unused += !s->used;
        if (!s->used) continue;
        announced += s->is_announced && !s->is_asked_for;
        bytes += s->packet.bytes;
        weft__held_add_in(held, &s->packet);
    }
    weft__check_equal(c, "bytes in the ingress buffer of cells", tin->ingress_bytes, "bytes of packets there", bytes);
    if (!tin->packets) return;
    weft__check_equal(c, "packets in the list of those announced",
                      length_of(&tin->announced, &tin->packet->link, sizeof *tin->packet, tin->packets),
                      "packets announced and not cleared", announced);
    weft__check_equal(c, "slots in the list of free ones",
                      length_of(&tin->packet_free, &tin->packet->link, sizeof *tin->packet, tin->packets),
                      "slots without a packet", unused);
}

static void check_rts(const struct weft__tin_port *port, uint32_t at, struct weft__check *c) {
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        weft_bytes bytes = 0;
        struct weft__fifo_cursor cursor = weft__fifo_begin(&port->rts[p]);
        for (const struct weft_packet *rts; (rts = weft__fifo_next(&cursor));)
            bytes += rts->psn >> 16;
        weft__check_at(c, at, p);
        weft__check_equal(c, "bytes announced to the port", port->rts_bytes[p], "bytes of the RTSs that wait", bytes);
        weft__check_equal(c, "the mark that RTSs wait", port->ready >> p & 1, "whether any wait", port->rts[p].n > 0);
    }
}

/// The packets that a port fetches.
static void check_fetches(const struct weft__tin *tin, uint32_t k, struct weft__check *c) {
    const struct weft__tin_port *port = &tin->port[k];
    weft_bytes fetching = 0, egress = tin->ether.queues[k].bytes;
    uint32_t used = 0, chained = 0;
    for (uint32_t i = 0; i < tin->fetches; i++) {
        const struct weft__tin_fetch *f = &tin->fetch[i];
        if (!f->used || f->port != k) continue;
        used++;
        egress += f->bytes;
        fetching += f->whole ? 0u : f->bytes;
        weft__check_at_most(c, "bytes that have arrived of a packet", f->packet.bytes, "its bytes", f->bytes);
    }
    for (uint32_t flow = 0; flow < WEFT__TIN_FLOWS && used; flow++)
        for (uint32_t at = port->head[flow]; at != WEFT_NONE && chained <= tin->fetches; at = tin->fetch[at].next)
            chained++;
    weft__check_equal(c, "packets in the chains of flows", chained, "packets fetched by the port", used);
    weft__check_equal(c, "bytes that the port fetches", port->fetching_bytes, "bytes of packets not yet whole",
                      fetching);
    weft__check_equal(c, "bytes in the egress buffer", port->egress_bytes, "bytes of packets fetched and queued",
                      egress);
}

static void check_egress(const struct weft__tin *tin, uint32_t port0, struct weft__check *c) {
    uint32_t fetching = 0, unused = 0;
    for (uint32_t k = 0; k < tin->ether.ports; k++) {
        check_rts(&tin->port[k], tin->ether.port[k].id - port0, c);
        weft__check_at(c, tin->ether.port[k].id - port0, WEFT_NONE);
        check_fetches(tin, k, c);
    }
    for (uint32_t i = 0; i < tin->fetches; i++) {
        fetching += tin->fetch[i].used && !tin->fetch[i].whole;
        unused += !tin->fetch[i].used;
    }
    weft__check_at(c, WEFT_NONE, WEFT_NONE);
    if (!tin->fetches) return;
    weft__check_equal(c, "packets in the list of those fetched",
                      length_of(&tin->fetching, &tin->fetch->link, sizeof *tin->fetch, tin->fetches),
                      "packets not yet whole", fetching);
    weft__check_equal(c, "slots in the list of free ones",
                      length_of(&tin->fetch_free, &tin->fetch->link, sizeof *tin->fetch, tin->fetches),
                      "slots without a packet", unused);
}

/// NICs that hosts share: frames wait there until the NIC takes them.
static void check_nics(const struct weft__tin_nics *nics, struct weft__check *c) {
    for (uint32_t i = 0; i < nics->n; i++) {
        const struct weft__tin_nic *nic = &nics->nic[i];
        weft_bytes bytes = 0;
        for (uint32_t h = 0; h < nic->hosts; h++) {
            struct weft__fifo_cursor cursor = weft__fifo_begin(&nic->waiting[h]);
            for (const struct weft_packet *p; (p = weft__fifo_next(&cursor));)
                bytes += p->bytes;
        }
        weft__check_equal(c, "bytes that wait in a shared NIC", nic->waiting_bytes, "bytes of the frames there", bytes);
    }
}

/// Requests of 1RMA that await an answer.
static void check_requests(const struct weft__tin_rma *rma, struct weft__check *c) {
    uint32_t listed = 0, asked = 0, unused = 0, spare = 0;
    for (uint32_t i = 0; i < rma->requests; i++) {
        asked += rma->request[i].state == WEFT__TIN_ASKED;
        unused += rma->request[i].state == WEFT__TIN_FREE;
    }
    for (uint32_t i = rma->asked_first; i != WEFT_NONE && listed <= rma->requests; i = rma->request[i].after)
        listed++;
    for (uint32_t i = rma->free; i != WEFT_NONE && spare <= rma->requests; i = rma->request[i].after)
        spare++;
    weft__check_equal(c, "requests in the list of those unanswered", listed, "requests sent and not answered", asked);
    weft__check_at_most(c, "bytes solicited", rma->solicited_bytes, "the window", rma->conf->window_bytes);
    weft__check_equal(c, "requests in the list of free ones", spare, "requests without an operation", unused);
}

void weft__tin_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until, struct weft__check *c) {
    const struct weft__tin *tin = net->engine.node[node].state;
    const struct weft__timers *timers = &net->engine.node[node].timers;
    uint32_t port0 = net->topology->node[node].port0;
    WEFT_ENDS(weft__held_deinit) struct weft__held held = {0};
    weft__held_init(&held, &tin->ether);
    check_ingress(tin, &held, c);
    weft__ether_each(&tin->ether, weft__held_leaving, &held);
    weft__ether_check(&tin->ether, timers, port0, true, until, &held, c);
    check_egress(tin, port0, c);
    if (tin->nics) check_nics(tin->nics, c);
    if (tin->rma) check_requests(tin->rma, c);
    weft__check_at_most(c, "whether announced packets wait", tin->announced.first != WEFT_NONE,
                        "whether their timer is set",
                        weft__timer_at(timers, weft__tin_key(tin, WEFT__TIN_KEY_ANNOUNCED)) != WEFT_TIME_NEVER);
    weft__check_at_most(c, "whether packets are fetched", tin->fetching.first != WEFT_NONE,
                        "whether their timer is set",
                        weft__timer_at(timers, weft__tin_key(tin, WEFT__TIN_KEY_FETCHING)) != WEFT_TIME_NEVER);
    weft__gnet_check(&tin->gnet, c);
}

// --- credit of links, at the end of a run -------------------------------------------------------------------------

/// What a record on its way to a TiN takes of the far end's credit, or returns to the TiN.
static void add_flying(uint32_t own, uint32_t far, const struct weft_packet *p, struct weft__credit_sums *sums) {
    if (p->kind != WEFT_PACKET_ROOM) {
        sums->found[weft__credit_at(far, weft__gnet_vc(p))] += weft__gnet_units(weft__gnet_wire(p));
        return;
    }
    for (uint32_t k = 0, credit; k < WEFT__GNET_CREDITS && (credit = weft__gnet_credit(p, k)) != 0; k++)
        sums->found[weft__credit_at(own, weft__gnet_credit_vc(credit))] += weft__gnet_credit_units(credit);
}

void weft__tin_add_credit(const struct weft__network *net, uint32_t node, const struct weft_packet *flying,
                          struct weft__credit_sums *sums) {
    const struct weft__gnet *g = &((const struct weft__tin *)net->engine.node[node].state)->gnet;
    const struct weft_topology *t = net->topology;
    uint32_t port0 = t->node[node].port0;
    if (flying) {
        if (flying->port < WEFT__GNET_PORTS && g->links >> flying->port & 1)
            add_flying(port0 + flying->port, t->port[port0 + flying->port].peer, flying, sums);
        return;
    }
    for (uint64_t left = g->links; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(left), far = t->port[port0 + k].peer;
        for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
            sums->granted[weft__credit_at(port0 + k, vc)] = (uint64_t)g->port[k].credits / WEFT_GNET_VCS;
            sums->found[weft__credit_at(port0 + k, vc)] += (uint64_t)g->out[k].credits[vc];
            sums->found[weft__credit_at(far, vc)] += g->in[k].owed[vc];
        }
        for (uint32_t q = g->in[k].queue; q; q = g->queues.queue[q].next)
            sums->found[weft__credit_at(far, g->queues.queue[q].vc)] += g->queues.queue[q].units;
    }
}
