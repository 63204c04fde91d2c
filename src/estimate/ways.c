// SPDX-License-Identifier: Apache-2.0
// Which links the data of a queue pair crosses, and how long a frame takes alone. A packet's way is followed as in a
// run, with the same routes, seeds and route models. Where packets of one queue pair go by several ways at once, all
// nodes that they can have come to are followed together, and the links from these to the next ones share the load: one
// link of levels stands for all of a set, with their capacity, if no other set has any of them; else each has its part
// of the load.
#include <stdlib.h>

#include "base/digest.h"
#include "base/grow.h"
#include "base/order.h"
#include "box/box.h"
#include "estimate/fluid.h"
#include "estimate/refuse.h"
#include "sim/lone.h"
#include "weft/transport.h"

enum { HOPS_MAX = 64 };

/// Links that packets share evenly; most often only one.
struct bundle {
    uint64_t key; ///< of its ports
    uint32_t link, ports;
};

struct place {
    uint32_t node, dst; ///< dst: the host that packets go to from here
    uint16_t in;
    bool crossed;
    uint32_t fabrics; ///< scheduled ones that packets have crossed
};

struct walk {
    struct weft__fluid *x;
    const struct weft_topology *t;
    uint32_t *set_of_port; ///< [ports]: the only set that has it, + 1; 0: none has, SEVERAL: several have it
    uint32_t *slot, slots; ///< of a hash table of bundles: number + 1
    struct bundle *bundle;
    uint32_t bundles, bundles_room;
    struct place *at, *next; ///< where packets are
    uint32_t ats, nexts, places_room, nexts_room;
    uint32_t *port, ports, ports_room; ///< by which they go on
    uint32_t *seen, turn;              ///< [nodes]
    struct weft__crossed *crossed;
    uint32_t crosseds, crossed_room;
    uint32_t src;         ///< host
    uint32_t queue, back; ///< of credit, for data and for what goes back; WEFT_NONE: none
    uint32_t fabrics;     ///< scheduled ones that the queue pair crosses
    bool adds;            ///< flows are made; before that, only the sets are found
    struct weft_error *error;
};
static const uint32_t SEVERAL = UINT32_MAX;

static double port_capacity(const struct walk *w, uint32_t port) {
    return (double)w->t->link[w->t->port[port].link].rate_bps / 8 / (double)WEFT_PS_PER_S;
}

/// A host takes data no faster than its drain allows, and sends none faster than PCIe and the NIC's packets allow.
static double line_capacity(const struct walk *w, uint32_t port) {
    const struct weft_topology *t = w->t;
    uint32_t peer = t->port[t->port[port].peer].node, own = t->port[port].node;
    double capacity = port_capacity(w, port);
    if (t->node[own].role == WEFT_NODE_HOST) {
        const struct weft_host_conf *sender = &w->x->net.device[own]->host;
        const struct weft__hosts *hosts = &w->x->net.hosts;
        uint32_t frame = weft__message_frame_bytes((uint32_t)sender->mtu_bytes, false, hosts->data_header_bytes) +
                         hosts->framing_bytes;
        double gap = (double)weft__frame_gap(sender, frame), wire = frame + (double)sender->wire.overhead_bytes;
        if (gap > 0 && wire / gap < capacity) capacity = wire / gap;
    }
    if (t->node[peer].role != WEFT_NODE_HOST) return capacity;
    const struct weft_host_conf *host = &w->x->net.device[peer]->host;
    double drain = host->drain_rate_bps ? (double)host->drain_rate_bps / 8 / (double)WEFT_PS_PER_S : capacity;
    return drain < capacity ? drain : capacity;
}

static uint32_t link_of(struct walk *w, uint32_t port) {
    uint32_t *link = &w->x->port[port].link;
    if (*link == WEFT_NONE) *link = weft__levels_add_link(&w->x->levels, line_capacity(w, port));
    w->x->port[port].share = 1;
    return *link;
}

static void cross_link(struct walk *w, uint32_t link, float weight) {
    for (uint32_t i = 0; i < w->crosseds; i++)
        if (w->crossed[i].link == link) {
            w->crossed[i].weight += weight;
            return;
        }
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, w->crossed, w->crosseds, w->crossed_room, 64) =
        (struct weft__crossed){.link = link, .weight = weight};
}

WEFT__ORDER(by_number, uint32_t, (*x > *y) - (*x < *y))

static uint32_t bundle_of(struct walk *w, uint64_t key) {
    if (2 * w->bundles >= w->slots) {
        weft_memory_free(WEFT_MEMORY_QP, w->slot, w->slots * sizeof *w->slot);
        w->slots = w->slots ? 2 * w->slots : 256;
        w->slot = weft_memory_new(WEFT_MEMORY_QP, w->slots, sizeof *w->slot);
        for (uint32_t b = 0; b < w->bundles; b++) {
            uint32_t i = (uint32_t)w->bundle[b].key & (w->slots - 1);
            while (w->slot[i])
                i = (i + 1) & (w->slots - 1);
            w->slot[i] = b + 1;
        }
    }
    uint32_t i = (uint32_t)key & (w->slots - 1);
    while (w->slot[i] && w->bundle[w->slot[i] - 1].key != key)
        i = (i + 1) & (w->slots - 1);
    if (w->slot[i]) return w->slot[i] - 1;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, w->bundle, w->bundles, w->bundles_room, 64) =
        (struct bundle){.key = key, .link = WEFT_NONE, .ports = w->ports};
    w->slot[i] = w->bundles;
    for (uint32_t k = 0; k < w->ports; k++) {
        uint32_t *set = &w->set_of_port[w->port[k]];
        *set = *set ? SEVERAL : w->bundles;
    }
    return w->bundles - 1;
}

/// All ports of the step share the load, evenly: the slowest bounds the others.
static void cross_ports(struct walk *w, float weight) {
    if (w->ports > 1) qsort(w->port, w->ports, sizeof *w->port, by_number);
    uint32_t b = bundle_of(w, weft__hash(WEFT__HASH_START, w->port, w->ports * sizeof *w->port));
    bool alone = true;
    if (!w->adds) return;
    double least = line_capacity(w, w->port[0]);
    for (uint32_t k = 0; k < w->ports; k++) {
        double capacity = line_capacity(w, w->port[k]);
        alone &= w->set_of_port[w->port[k]] == b + 1;
        if (capacity < least) least = capacity;
    }
    for (uint32_t k = 0; k < w->ports && !alone; k++)
        cross_link(w, link_of(w, w->port[k]), weight / (float)w->ports);
    if (!alone) return;
    if (w->bundle[b].link == WEFT_NONE) {
        w->bundle[b].link = weft__levels_add_link(&w->x->levels, least * w->ports);
        for (uint32_t k = 0; k < w->ports; k++)
            w->x->port[w->port[k]] = (struct weft__fluid_port){w->bundle[b].link, 1 / (float)w->ports};
    }
    cross_link(w, w->bundle[b].link, weight);
}

static void add_port(struct walk *w, uint32_t port) {
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, w->port, w->ports, w->ports_room, 64) = port;
}

static void add_place(struct walk *w, struct place place) {
    if (w->seen[place.node] == w->turn) return;
    w->seen[place.node] = w->turn;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, w->next, w->nexts, w->nexts_room, 64) = place;
}

static bool spreads_at(const struct walk *w, uint32_t node, const struct weft_qp_conf *qp) {
    const struct weft_model_conf *route = &w->x->net.device[node]->sw.route;
    const struct weft_route_ops *ops = route->model->ops;
    const struct weft_transport_ops *transport = weft__fluid_host(w->x, qp->src)->transport.model->ops;
    return (ops->paths && ops->paths(route->conf) == WEFT_ROUTE_PATHS_ALL) || (transport->path && !ops->choose);
}

/// Goes on by all ports by which packets leave this place.
static void leave_place(struct walk *w, const struct place *from, const struct weft_packet *packet,
                        const struct weft_qp_conf *qp) {
    const struct weft_topology *t = w->t;
    const struct weft_node_info *node = &t->node[from->node];
    bool host = node->role == WEFT_NODE_HOST;
    uint32_t n = 1, own;
    const uint16_t *port = NULL;
    struct weft_packet p = *packet;
    p.dst = from->dst;
    p.port = from->in;
    if (!host) port = weft_routes_at(w->x->forwarding.routes, node->index, from->dst, &n);
    bool all = n > 1 && spreads_at(w, from->node, qp);
    if (!all) own = host ? 0 : weft__forwarding_port(&w->x->forwarding, from->node, &p);
    for (uint32_t k = 0; k < (all ? n : n > 0); k++) {
        uint32_t out = node->port0 + (all ? port[k] : own), far = t->port[out].peer;
        add_port(w, out);
        add_place(w, (struct place){t->port[far].node, from->dst, (uint16_t)(far - t->node[t->port[far].node].port0),
                                    false, from->fabrics});
    }
}

/// The queue at an entrance for what goes to a host; among bundles, as a set without ports.
static uint32_t queue_of(struct walk *w, uint32_t node, uint32_t dst) {
    const uint32_t key[] = {node, dst, WEFT_NONE};
    uint32_t b = bundle_of(w, weft__hash(WEFT__HASH_START, key, sizeof key));
    if (w->bundle[b].link == WEFT_NONE) w->bundle[b].link = weft__credits_add(w->x, node, dst);
    return w->bundle[b].link;
}

/// Cells cross the fabric by all its links: those of the node where they enter, and those of the node where they leave.
static bool cross_fabric(struct walk *w, const struct place *from) {
    const struct weft_topology *t = w->t;
    const struct weft__box *box = weft__box_of(&t->node[from->node]);
    struct weft__lone_frame frame = {
        .node = from->node, .dst = from->dst, .bytes = WEFT_FRAME_MIN, .crossed = from->crossed};
    struct weft__crossing crossing;
    if (!box->cross || !box->cross(&w->x->forwarding, &frame, &crossing)) return false;
    for (uint32_t end = 0; end < 2; end++) {
        const struct weft_node_info *node = &t->node[end ? crossing.node : from->node];
        w->ports = 0;
        for (uint32_t port = node->port0; port < node->port0 + node->ports; port++)
            if (weft_topology_port_is_fabric(t, port)) add_port(w, end ? t->port[port].peer : port);
        if (w->ports) cross_ports(w, 1);
    }
    w->ports = 0;
    if (box->credit && w->adds) {
        w->queue = queue_of(w, from->node, from->dst);
        w->back = queue_of(w, crossing.node, w->src);
    }
    w->fabrics = from->fabrics + 1;
    add_place(w, (struct place){crossing.node, from->dst, 0, true, w->fabrics});
    return true;
}

static bool has_arrived(const struct walk *w) {
    for (uint32_t i = 0; i < w->ats; i++)
        if (w->t->node[w->at[i].node].role != WEFT_NODE_HOST || w->at[i].node != w->t->host[w->at[i].dst]) return false;
    return true;
}

/// The links of a queue pair; false: it gets nowhere.
static bool walk_links(struct walk *w, uint32_t number, uint32_t plane, uint32_t planes, bool by_packet) {
    const struct weft_qp_conf *qp = &w->x->net.qp[number];
    struct weft_packet packet = {.qp = number, .entropy = qp->entropy & 0x3fffu, .priority = qp->priority & 7u};
    uint32_t per_plane = w->t->network[0].hosts;
    w->crosseds = w->nexts = w->fabrics = 0;
    w->queue = w->back = WEFT_NONE;
    w->src = qp->src + (by_packet ? 0 : plane) * per_plane;
    w->turn++;
    for (uint32_t p = by_packet ? 0 : plane; p < (by_packet ? planes : plane + 1); p++)
        add_place(w, (struct place){w->t->host[qp->src + p * per_plane], qp->dst + p * per_plane, 0, false, 0});
    for (uint32_t hops = 0; hops < HOPS_MAX; hops++) {
        struct place *was = w->at;
        uint32_t room = w->places_room;
        w->at = w->next, w->places_room = w->nexts_room, w->ats = w->nexts;
        w->next = was, w->nexts_room = room, w->nexts = w->ports = 0;
        w->turn++;
        if (hops && has_arrived(w)) return true;
        for (uint32_t i = 0; i < w->ats; i++)
            if (!cross_fabric(w, &w->at[i])) leave_place(w, &w->at[i], &packet, qp);
        if (!w->nexts) return false;
        if (w->ports) cross_ports(w, 1);
    }
    return false;
}

/// Acknowledgements go back; where it matters, on the lines of the two hosts, they are a load.
static void add_acks(struct walk *w, uint32_t number, uint32_t plane) {
    const struct weft_topology *t = w->t;
    const struct weft_qp_conf *qp = &w->x->net.qp[number];
    const struct weft_host_conf *host = weft__fluid_host(w->x, qp->dst);
    const struct weft_transport_ops *transport = host->transport.model->ops;
    uint32_t packets = transport->acks ? transport->acks(host->transport.conf, qp->priority).packets : 1;
    uint32_t more = w->x->net.hosts.framing_bytes + (uint32_t)host->wire.overhead_bytes;
    uint32_t ack = (host->ack_bytes ? (uint32_t)host->ack_bytes : WEFT_FRAME_ACK) + more;
    uint32_t data = weft__message_frame_bytes(qp->mtu, false, w->x->net.hosts.data_header_bytes) + more;
    for (uint32_t end = 0; end < 2; end++) {
        uint32_t at = t->host[(end ? qp->src : qp->dst) + plane * t->network[0].hosts], port = t->node[at].port0;
        w->ports = 0;
        add_port(w, end ? t->port[port].peer : port);
        cross_ports(w, -(float)ack / (float)(packets * data));
    }
    w->x->way[number].acked = (float)(packets * data);
}

/// From two lengths of frames, as what a frame takes grows evenly with its bytes.
static bool find_times(const struct walk *w, uint32_t number, uint32_t plane, struct weft__way *ret) {
    const struct weft__fluid *x = w->x;
    const struct weft_qp_conf *qp = &x->net.qp[number];
    uint32_t offset = plane * w->t->network[0].hosts, small = 512, large = 512 + qp->mtu;
    struct weft__lone_packet there = {qp->src + offset, qp->dst + offset, number, qp->entropy};
    struct weft__lone_packet back = {there.dst, there.src, number, qp->entropy};
    weft_time_ps sent[2], time[2] = {weft__calc_frame_time(&x->forwarding, &there, small, &sent[0]),
                                     weft__calc_frame_time(&x->forwarding, &there, large, &sent[1])};
    weft_time_ps control = weft__calc_frame_time(&x->forwarding, &back, WEFT_FRAME_ACK + WEFT_WIRE_OVERHEAD, &sent[0]);
    if (time[0] == WEFT_TIME_NEVER || control == WEFT_TIME_NEVER) return false;
    weft__calc_frame_time(&x->forwarding, &there, small, &sent[0]);
    ret->byte_ps = ((double)(time[1] - sent[1]) - (double)(time[0] - sent[0])) / (large - small);
    ret->base_ps = (double)(time[0] - sent[0]) - ret->byte_ps * small;
    ret->control_ps = (double)control;
    return true;
}

static enum weft_status add_way(struct walk *w, uint32_t number, uint32_t turn, uint32_t planes) {
    struct weft__fluid *x = w->x;
    const struct weft_qp_conf *qp = &x->net.qp[number];
    bool by_packet = weft__fluid_host(x, qp->src)->planes == WEFT_PLANES_PACKET;
    uint32_t plane = (qp->plane ? qp->plane - 1u : turn) % planes;
    const char *src = w->t->node[w->t->host[qp->src]].name, *dst = w->t->node[w->t->host[qp->dst]].name;
    if (!walk_links(w, number, plane, planes, by_packet) || (w->adds && !find_times(w, number, plane, &x->way[number])))
        return WEFT_REFUSE(w->error, weft__estimate_place_of(&x->net, qp->flow),
                           "no route from %s to %s; expected one for each flow", src, dst);
    if (w->fabrics > 1)
        return WEFT_REFUSE(w->error, weft__estimate_place_of(&x->net, qp->flow),
                           "workload: data from %s to %s crosses %u scheduled fabrics, of which there is no estimate; "
                           "expected flows within one building, or a run",
                           src, dst, w->fabrics);
    x->way[number].queue = w->queue;
    x->way[number].back = w->back;
    if (!by_packet) add_acks(w, number, plane);
    if (!w->adds) return WEFT_OK;
    weft__levels_add_flow(&x->levels, w->crossed, w->crosseds, weft__bound_of(x, number));
    weft__fluid_add_drain(x, number);
    return WEFT_OK;
}

static bool may_spread(const struct walk *w) {
    const struct weft__fluid *x = w->x;
    bool spreads = weft__planes(w->t, x->net.device) > 1;
    for (uint32_t q = 0; q < x->net.qps && !spreads; q++)
        spreads =
            ((const struct weft_transport_ops *)weft__fluid_host(x, x->net.qp[q].src)->transport.model->ops)->path;
    for (uint32_t i = 0; i < w->t->switches && !spreads; i++)
        spreads = ((const struct weft_route_ops *)x->net.device[w->t->switch_node[i]]->sw.route.model->ops)->choose;
    return spreads;
}

enum weft_status weft__ways_new(struct weft__fluid *x, struct weft_error *ret_error) {
    const struct weft_topology *t = x->net.topology;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_QP);
    struct walk w = {.x = x, .t = t, .error = ret_error};
    w.set_of_port = weft_arena_alloc(arena, t->ports, sizeof *w.set_of_port);
    w.seen = weft_arena_alloc(arena, t->nodes, sizeof *w.seen);
    uint32_t planes = weft__planes(t, x->net.device);
    x->way = weft_arena_alloc(x->arena, x->net.qps, sizeof *x->way);
    x->port = weft_arena_alloc(x->arena, t->ports, sizeof *x->port);
    for (uint32_t i = 0; i < t->ports; i++)
        x->port[i].link = WEFT_NONE;
    enum weft_status status = WEFT_OK;
    for (uint32_t pass = may_spread(&w) ? 0 : 1; pass < 2 && !status; pass++) { // at first, sets are found
        w.adds = pass;
        for (uint32_t q = 0; q < x->net.qps && !status; q++)
            status = add_way(&w, q, x->net.qp[q].at_src, planes);
    }
    weft_memory_free(WEFT_MEMORY_QP, w.slot, w.slots * sizeof *w.slot);
    weft_memory_free(WEFT_MEMORY_QP, w.bundle, w.bundles_room * sizeof *w.bundle);
    weft_memory_free(WEFT_MEMORY_QP, w.at, w.places_room * sizeof *w.at);
    weft_memory_free(WEFT_MEMORY_QP, w.next, w.nexts_room * sizeof *w.next);
    weft_memory_free(WEFT_MEMORY_QP, w.port, w.ports_room * sizeof *w.port);
    weft_memory_free(WEFT_MEMORY_QP, w.crossed, w.crossed_room * sizeof *w.crossed);
    weft_arena_free(arena);
    return status;
}
