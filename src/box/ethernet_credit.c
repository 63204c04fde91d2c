// SPDX-License-Identifier: Apache-2.0
// Where the credit of Ethernet links (weft/credit.h) is at the end of a run: see struct weft__credit_sums.
#include "box/box.h"
#include "link/port_credit.h"

/// The port, among all ports, at which a packet arrives. Ports of one NIC in several networks have numbers from the
/// top (box/nic/nic.h).
static uint32_t arrival_port(const struct weft_topology *t, uint32_t node, const struct weft_packet *p) {
    if (p->port < t->node[node].ports) return t->node[node].port0 + p->port;
    uint32_t plane = UINT16_MAX - p->port, hosts = t->network[0].hosts;
    assert(plane < t->networks);
    return t->node[t->host[plane * hosts + t->node[node].index]].port0;
}

static void add_taken(const struct weft__port_credit *sender, uint32_t port, const struct weft_packet *p,
                      struct weft__credit_sums *sums) {
    if (sender->priorities >> p->priority & 1)
        sums->found[weft__credit_at(port, p->priority)] += weft_credit_take(sender->unit, p->bytes);
}

static void add_flying(const struct weft__network *net, uint32_t node, const struct weft_packet *p,
                       struct weft__credit_sums *sums) {
    if (weft_packet_is_local(p) && p->kind != WEFT_PACKET_ROOM) return; // some of these come by no port
    uint32_t own = arrival_port(net->topology, node, p), far = net->topology->port[own].peer;
    const struct weft__port *from = weft__network_port(net, far), *to = weft__network_port(net, own);
    if (p->kind == WEFT_PACKET_ROOM && to && to->credit)
        sums->found[weft__credit_at(own, p->priority)] += p->psn;
    else if (p->kind != WEFT_PACKET_ROOM && from && from->credit)
        add_taken(from->credit, far, p, sums);
}

struct holder {
    const struct weft__network *net;
    struct weft__credit_sums *sums;
    uint32_t port0;
};

static void add_held(void *context, const struct weft_packet *p, uint32_t out) {
    const struct holder *h = context;
    uint32_t far = h->net->topology->port[h->port0 + p->port].peer;
    const struct weft__port *from = weft__network_port(h->net, far);
    if (from && from->credit) add_taken(from->credit, far, p, h->sums);
}

void weft__ethernet_add_credit(const struct weft__network *net, uint32_t node, const struct weft_packet *flying,
                               struct weft__credit_sums *sums) {
    const struct weft_node_info *info = &net->topology->node[node];
    const struct weft__box *box = weft__box_of(info);
    const void *state = net->engine.node[node].state;
    struct holder holder = {net, sums, info->port0};
    weft_bytes held = 0;
    if (flying) {
        add_flying(net, node, flying, sums);
        return;
    }
    for (uint32_t k = 0; k < info->ports; k++) {
        const struct weft__port *port = weft__network_port(net, info->port0 + k);
        const struct weft__port_credit *credit = port ? port->credit : NULL;
        for (uint32_t p = 0; credit && p < WEFT_PRIORITIES; p++) {
            if (!(credit->priorities >> p & 1)) continue;
            sums->granted[weft__credit_at(info->port0 + k, p)] = credit->grant;
            sums->found[weft__credit_at(info->port0 + k, p)] += credit->left[p];
        }
    }
    if (box->each_waiting)
        box->each_waiting(state, add_held, &holder);
    else
        held = box->held(state);
    for (uint32_t k = 0; k < info->ports && held; k++)
        sums->unknown[net->topology->port[info->port0 + k].peer] = true;
}
