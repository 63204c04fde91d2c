// SPDX-License-Identifier: Apache-2.0
// Which links the data of a queue pair crosses, and how long a frame takes alone. A packet's way is followed as in a
// run, with the same routes, seeds and route models. Where packets of one queue pair go by several ways at once, all
// nodes that they can have come to are followed together, and the links from these to the next ones share the load: one
// link of levels stands for all of a set, with their capacity, if no other set has any of them; else each has its part
// of the load.
// Most of that is the same for many queue pairs. Where no node on the way has a choice for each of them, the links
// between the switches of two hosts are found once (a trunk); and where all choices are alike, so are the times.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/grow.h"
#include "base/order.h"
#include "box/box.h"
#include "estimate/fluid.h"
#include "estimate/refuse.h"
#include "sim/lone.h"
#include "weft/transport.h"

enum { HOPS_MAX = 64 };

/// Links that packets share evenly: several ports, or the queue for a host at an entrance.
struct bundle {
    uint32_t link, ports;
};

/// From a switch with hosts to another one.
struct trunk {
    const struct weft_device_conf *sender; ///< of the host for which this was found
    bool fixed, spreads;                   ///< the same for all its queue pairs; packets take several ways at once
    uint32_t first, crosseds, fabrics;     ///< links, of w->between
    uint32_t enters, leaves;               ///< nodes with queues of credit; WEFT_NONE: there are none
    bool probed, even;                     ///< even: whatever is chosen takes the same time
    struct times {
        uint32_t first, last, mtu;           ///< kinds of the hosts' lines, and for which frames; 0: none yet
        double base_ps, byte_ps, control_ps; ///< as in struct weft__way, but control: there, not back
    } times;
};

/// Numbers of what has been met: a hash table.
struct numbers {
    uint64_t *key;
    uint32_t *slot, slots, n, room; ///< slot: number + 1
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
    struct numbers of_bundle, of_trunk;
    struct bundle *bundle;
    struct trunk *trunk;
    uint32_t bundles, bundles_room, trunks, trunks_room;
    struct weft__crossed *between; ///< of trunks
    uint32_t betweens, between_room;
    uint32_t *kind, kinds_n, kinds_room; ///< [ports]: of the line, + 1
    struct weft__lone_hop *kinds;
    bool probes, fixed, even, spreads; ///< probes: for times; the others: see struct trunk, of the walk
    bool draws;                        ///< the sender draws a way for each packet, or takes any line of its NIC
    bool overlaps;                     ///< and links of a step share some with those of another one
    uint32_t last;                     ///< crossed, before the last step
    struct place *at, *next;           ///< where packets are
    uint32_t ats, nexts, places_room, nexts_room;
    uint32_t *port, ports, ports_room; ///< by which they go on
    uint32_t *seen, turn;              ///< [nodes]
    struct weft__crossed *crossed;
    uint32_t crosseds, crossed_room;
    uint32_t enters, leaves; ///< nodes with queues of credit, of data and of what goes back; WEFT_NONE: none
    uint32_t fabrics;        ///< scheduled ones that the queue pair crosses
    bool adds;               ///< flows are made; before that, only the sets are found
    struct weft_error *error;
};
static const uint32_t SEVERAL = UINT32_MAX, ALONE = UINT32_MAX - 1;

/// Bytes a picosecond.
static double rate_of(weft_rate_bps rate_bps) {
    return (double)rate_bps / 8 / (double)WEFT_PS_PER_S;
}

static double port_capacity(const struct walk *w, uint32_t port) {
    return rate_of(w->t->link[w->t->port[port].link].rate_bps);
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
        if (sender->stall_ps) capacity *= 1 - sender->idle;
    }
    if (t->node[peer].role != WEFT_NODE_HOST) return capacity;
    const struct weft_host_conf *host = &w->x->net.device[peer]->host;
    double drain = host->drain_rate_bps ? rate_of(host->drain_rate_bps) : capacity;
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

static void numbers_free(struct numbers *m) {
    weft_memory_free(WEFT_MEMORY_QP, m->slot, m->slots * sizeof *m->slot);
    weft_memory_free(WEFT_MEMORY_QP, m->key, m->room * sizeof *m->key);
}

static uint32_t find_slot(const struct numbers *m, uint64_t key) {
    uint32_t i = (uint32_t)weft__digest_mix(0, key) & (m->slots - 1);
    while (m->slot[i] && m->key[m->slot[i] - 1] != key)
        i = (i + 1) & (m->slots - 1);
    return i;
}

/// A new key has the next number, which is m->n of before.
static uint32_t number_of(struct numbers *m, uint64_t key) {
    if (2 * m->n >= m->slots) {
        weft_memory_free(WEFT_MEMORY_QP, m->slot, m->slots * sizeof *m->slot);
        m->slots = m->slots ? 2 * m->slots : 256;
        m->slot = weft_memory_new(WEFT_MEMORY_QP, m->slots, sizeof *m->slot);
        for (uint32_t k = 0; k < m->n; k++)
            m->slot[find_slot(m, m->key[k])] = k + 1;
    }
    uint32_t i = find_slot(m, key);
    if (m->slot[i]) return m->slot[i] - 1;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, m->key, m->n, m->room, 64) = key;
    m->slot[i] = m->n;
    return m->n - 1;
}

/// That of w->port.
static uint32_t bundle_of(struct walk *w, uint64_t key) {
    uint32_t b = number_of(&w->of_bundle, key);
    if (b < w->bundles) return b;
    WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, w->bundle, w->bundles, w->bundles_room, 64) =
        (struct bundle){.link = WEFT_NONE, .ports = w->ports};
    for (uint32_t k = 0; k < w->ports; k++) {
        uint32_t *set = &w->set_of_port[w->port[k]];
        *set = *set ? SEVERAL : w->bundles;
    }
    return b;
}

static void cross_port(struct walk *w, uint32_t port, float weight) {
    uint32_t *set = &w->set_of_port[port];
    if (*set != ALONE) *set = *set ? SEVERAL : ALONE;
    if (w->adds) cross_link(w, link_of(w, port), weight);
}

static bool same_hop(const struct weft__lone_hop *a, const struct weft__lone_hop *b) {
    return a->speed.byte_num == b->speed.byte_num && a->speed.byte_den == b->speed.byte_den &&
           a->reach_ps == b->reach_ps && a->members == b->members && a->cut_through == b->cut_through &&
           a->turn.ps == b->turn.ps && a->turn.part == b->turn.part && a->turn.parts == b->turn.parts &&
           !memcmp(a->wire, b->wire, sizeof *a->wire);
}

/// Ports of one kind add the same to the time of a frame. Of many kinds (clocks that are off), the last ones are not
/// compared.
static uint32_t kind_of(struct walk *w, uint32_t port) {
    enum { COMPARED = 64 };
    if (w->kind[port]) return w->kind[port];
    struct weft__lone_hop hop = weft__lone_hop_of(&w->x->forwarding, port);
    uint32_t k = 0, compared = w->kinds_n < COMPARED ? w->kinds_n : COMPARED;
    while (k < compared && !same_hop(&w->kinds[k], &hop))
        k++;
    if (k == compared) {
        k = w->kinds_n;
        WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, w->kinds, w->kinds_n, w->kinds_room, 64) = hop;
    }
    return w->kind[port] = k + 1;
}

/// All ports of the step share the load, evenly: the slowest bounds the others.
static void cross_ports(struct walk *w, float weight) {
    for (uint32_t k = 1; k < w->ports && w->probes; k++)
        w->even &= kind_of(w, w->port[k]) == kind_of(w, w->port[0]);
    if (w->probes) return;
    if (w->ports == 1) {
        cross_port(w, w->port[0], weight);
        return;
    }
    qsort(w->port, w->ports, sizeof *w->port, by_number);
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
    w->overlaps |= w->draws && !alone;
    if (!alone) return;
    if (w->bundle[b].link == WEFT_NONE) {
        w->bundle[b].link = weft__levels_add_link(&w->x->levels, least * w->ports);
        for (uint32_t k = 0; k < w->ports; k++)
            w->x->port[w->port[k]] = (struct weft__fluid_port){w->bundle[b].link, 1 / (float)w->ports};
        struct weft__level_link *link = &w->x->levels.link[w->bundle[b].link];
        link->ports = w->draws ? w->ports : 0;
        if (link->ports) link->queued_ps = weft_arena_alloc(w->x->arena, link->ports, sizeof *link->queued_ps);
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
    const struct weft_model_conf *transport = &weft__fluid_host(w->x, qp->src)->transport;
    const struct weft_transport_ops *sender = transport->model->ops;
    return (ops->paths && ops->paths(route->conf) == WEFT_ROUTE_PATHS_ALL) ||
           (sender->spreads && sender->spreads(transport->conf) && !ops->choose);
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
    bool all = n > 1 && (w->probes || spreads_at(w, from->node, qp));
    if (!w->probes) w->spreads |= all;
    if (!w->probes) w->fixed &= all || (n < 2 && !w->x->forwarding.path);
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
    w->even &= w->ats == 1;
    for (uint32_t end = 0; end < 2; end++) {
        const struct weft_node_info *node = &t->node[end ? crossing.node : from->node];
        w->ports = 0;
        for (uint32_t port = node->port0; port < node->port0 + node->ports; port++)
            if (weft_topology_port_is_fabric(t, port)) add_port(w, end ? t->port[port].peer : port);
        if (w->ports && !w->probes) cross_ports(w, 1);
    }
    w->ports = 0;
    if (box->credit && !w->probes) {
        w->enters = from->node;
        w->leaves = crossing.node;
    }
    if (!w->probes) w->fabrics = from->fabrics + 1;
    add_place(w, (struct place){crossing.node, from->dst, 0, true, from->fabrics + 1});
    return true;
}

static bool has_arrived(const struct walk *w) {
    for (uint32_t i = 0; i < w->ats; i++)
        if (w->t->node[w->at[i].node].role != WEFT_NODE_HOST || w->at[i].node != w->t->host[w->at[i].dst]) return false;
    return true;
}

static void start_links(struct walk *w, uint32_t planes) {
    w->crosseds = w->fabrics = 0;
    w->spreads = planes > 1;
    w->enters = w->leaves = WEFT_NONE;
    w->fixed = planes == 1;
}

/// The links between two hosts, or the same hosts of so many planes; false: it gets nowhere.
static bool walk_links(struct walk *w, uint32_t number, uint32_t src, uint32_t dst, uint32_t planes) {
    const struct weft_qp_conf *qp = &w->x->net.qp[number];
    struct weft_packet packet = {.qp = number, .entropy = qp->entropy & 0x3fffu, .priority = qp->priority & 7u};
    uint32_t per_plane = w->t->network[0].hosts;
    const struct weft_model_conf *transport = &weft__fluid_host(w->x, qp->src)->transport;
    const struct weft_transport_ops *sender = transport->model->ops;
    w->draws = planes > 1 || (sender->spreads && sender->spreads(transport->conf));
    w->nexts = 0;
    w->even = planes == 1;
    if (!w->probes) start_links(w, planes);
    w->turn++;
    for (uint32_t p = 0; p < planes; p++)
        add_place(w, (struct place){w->t->host[src + p * per_plane], dst + p * per_plane, 0, false, 0});
    for (uint32_t hops = 0; hops < HOPS_MAX; hops++) {
        struct place *was = w->at;
        uint32_t room = w->places_room;
        w->at = w->next, w->places_room = w->nexts_room, w->ats = w->nexts;
        w->next = was, w->nexts_room = room, w->nexts = w->ports = 0;
        w->turn++;
        if (hops && has_arrived(w)) return true;
        for (uint32_t i = 0; i < w->ats; i++) {
            w->even &= w->at[i].node != w->t->host[w->at[i].dst]; // the others come later
            if (!cross_fabric(w, &w->at[i])) leave_place(w, &w->at[i], &packet, qp);
        }
        if (!w->nexts) return false;
        if (!w->probes) w->last = w->crosseds;
        if (w->ports) cross_ports(w, 1);
    }
    return false;
}

/// The ports of a queue pair's hosts: where it enters the network, and where it leaves that.
struct ends {
    uint32_t src, dst, first, last; ///< src, dst: hosts
};

static struct ends ends_of(const struct walk *w, uint32_t src, uint32_t dst) {
    const struct weft_topology *t = w->t;
    struct ends e = {.src = src, .dst = dst, .first = t->node[t->host[src]].port0};
    e.last = t->port[t->node[t->host[dst]].port0].peer;
    return e;
}

/// NULL: the receiver's link is down.
static struct trunk *trunk_of(struct walk *w, const struct ends *e) {
    const struct weft_topology *t = w->t;
    uint32_t edge = w->x->forwarding.routes->edge_of_host[e->dst], node = t->port[t->port[e->first].peer].node;
    if (edge == WEFT_NONE) return NULL;
    uint32_t k = number_of(&w->of_trunk, (uint64_t)node << 32 | edge);
    if (k == w->trunks) WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, w->trunk, w->trunks, w->trunks_room, 64) = (struct trunk){0};
    return &w->trunk[k];
}

/// The links of a queue pair whose packets have a choice of planes, or of its hosts in one plane; by the trunk that
/// such a queue pair has taken before, if it is one for all.
static bool find_links(struct walk *w, uint32_t number, const struct ends *e, uint32_t planes) {
    const struct weft_device_conf *sender = w->x->net.device[w->t->host[e->src]];
    struct trunk *trunk = planes > 1 ? NULL : trunk_of(w, e);
    if (!trunk || trunk->sender != sender || !trunk->fixed) {
        if (!walk_links(w, number, e->src, e->dst, planes)) return false;
        if (!trunk || trunk->sender == sender) return true;
        trunk->sender = sender;
        trunk->fixed = w->fixed && (!w->adds || w->crosseds == w->last + 1);
        trunk->fabrics = w->fabrics;
        trunk->spreads = w->spreads;
        trunk->enters = w->enters;
        trunk->leaves = w->leaves;
        trunk->first = w->betweens;
        for (uint32_t k = 1; k < w->last && trunk->fixed; k++)
            WEFT__ADD_DOUBLE(WEFT_MEMORY_QP, w->between, w->betweens, w->between_room, 64) = w->crossed[k];
        trunk->crosseds = w->betweens - trunk->first;
        return true;
    }
    w->crosseds = 0;
    w->fabrics = trunk->fabrics;
    w->spreads = trunk->spreads;
    w->enters = trunk->enters;
    w->leaves = trunk->leaves;
    cross_port(w, e->first, 1);
    for (uint32_t k = trunk->first; k < trunk->first + trunk->crosseds; k++)
        cross_link(w, w->between[k].link, w->between[k].weight);
    cross_port(w, e->last, 1);
    return true;
}

/// Acknowledgements go back; where it matters, on the lines of the two hosts, they are a load.
static void add_acks(struct walk *w, uint32_t number, const struct ends *back) {
    const struct weft_qp_conf *qp = &w->x->net.qp[number];
    const struct weft_host_conf *host = weft__fluid_host(w->x, qp->dst);
    const struct weft_transport_ops *transport = host->transport.model->ops;
    uint32_t packets = transport->acks ? transport->acks(host->transport.conf, qp->priority).packets : 1;
    uint32_t more = w->x->net.hosts.framing_bytes + (uint32_t)host->wire.overhead_bytes;
    uint32_t ack = (host->ack_bytes ? (uint32_t)host->ack_bytes : WEFT_FRAME_ACK) + more;
    uint32_t data = weft__message_frame_bytes(qp->mtu, false, w->x->net.hosts.data_header_bytes) + more;
    cross_port(w, back->first, -(float)ack / (float)(packets * data));
    cross_port(w, back->last, -(float)ack / (float)(packets * data));
    w->x->way[number].acked = (float)(packets * data);
}

/// From two lengths of frames, as what a frame takes grows evenly with its bytes.
static bool find_times(const struct walk *w, uint32_t number, const struct ends *e, struct times *ret) {
    const struct weft_qp_conf *qp = &w->x->net.qp[number];
    struct weft__lone_packet packet = {e->src, e->dst, number, qp->entropy};
    const uint32_t bytes[] = {512, 512 + qp->mtu, WEFT_FRAME_ACK + WEFT_WIRE_OVERHEAD};
    weft_time_ps sent[3], time[3];
    for (uint32_t k = 0; k < 3; k++) {
        time[k] = weft__calc_frame_time(&w->x->forwarding, &packet, bytes[k], &sent[k]);
        if (time[k] == WEFT_TIME_NEVER) return false;
    }
    ret->byte_ps = ((double)(time[1] - sent[1]) - (double)(time[0] - sent[0])) / (bytes[1] - bytes[0]);
    ret->base_ps = (double)(time[0] - sent[0]) - ret->byte_ps * bytes[0];
    ret->control_ps = (double)time[2];
    return true;
}

/// The same by what is known of its trunk, if that is even.
static bool know_times(struct walk *w, uint32_t number, const struct ends *e, struct times *ret) {
    struct trunk *trunk = trunk_of(w, e);
    struct times times = {.first = kind_of(w, e->first), .last = kind_of(w, e->last), .mtu = w->x->net.qp[number].mtu};
    if (!trunk) return false;
    if (!trunk->probed) {
        w->probes = true;
        trunk->even = walk_links(w, number, e->src, e->dst, 1) && w->even && !w->x->forwarding.path;
        w->probes = false;
        trunk->probed = true;
    }
    if (!trunk->even) return find_times(w, number, e, ret);
    const struct times *known = &trunk->times;
    if (known->first != times.first || known->last != times.last || known->mtu != times.mtu) {
        if (!find_times(w, number, e, &times)) return false;
        trunk->times = times;
    }
    *ret = trunk->times;
    return true;
}

static void add_queues(struct walk *w, uint32_t number, const struct ends *e) {
    struct weft__way *way = &w->x->way[number];
    bool waits = w->enters != WEFT_NONE;
    w->ports = 0;
    way->queue = waits ? queue_of(w, w->enters, e->dst) : WEFT_NONE;
    way->back = waits ? queue_of(w, w->leaves, e->src) : WEFT_NONE;
}

static enum weft_status add_way(struct walk *w, uint32_t number, uint32_t turn, uint32_t planes) {
    struct weft__fluid *x = w->x;
    const struct weft_qp_conf *qp = &x->net.qp[number];
    bool by_packet = weft__fluid_host(x, qp->src)->planes == WEFT_PLANES_PACKET;
    uint32_t offset = by_packet ? 0 : (qp->plane ? qp->plane - 1u : turn) % planes * w->t->network[0].hosts;
    struct ends there = ends_of(w, qp->src + offset, qp->dst + offset);
    struct ends back = ends_of(w, there.dst, there.src);
    bool found = find_links(w, number, &there, by_packet ? planes : 1);
    if (found && w->fabrics > 1)
        return WEFT_REFUSE(w->error, weft__estimate_place_of(&x->net, qp->flow),
                           "workload: data from %s to %s crosses %u scheduled fabrics, of which there is no estimate; "
                           "expected flows within one building, or a run",
                           w->t->node[w->t->host[qp->src]].name, w->t->node[w->t->host[qp->dst]].name, w->fabrics);
    if (found && w->spreads) {
        enum weft_status status = weft__estimate_refuse_spread(x, number, w->error);
        if (status) return status;
    }
    if (w->overlaps) return weft__estimate_refuse_overlap(&x->net, w->error);
    if (found && !by_packet) add_acks(w, number, &back);
    if (found && !w->adds) return WEFT_OK;
    struct times times, control;
    found = found && know_times(w, number, &there, &times) && know_times(w, number, &back, &control);
    if (!found)
        return WEFT_REFUSE(w->error, weft__estimate_place_of(&x->net, qp->flow),
                           "no route from %s to %s; expected one for each flow", w->t->node[w->t->host[qp->src]].name,
                           w->t->node[w->t->host[qp->dst]].name);
    add_queues(w, number, &there);
    x->way[number].base_ps = times.base_ps;
    x->way[number].byte_ps = times.byte_ps;
    x->way[number].control_ps = control.control_ps;
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

/// `of`: one of so many queue pairs; the others have no links.
static enum weft_status add_ways(struct walk *w, uint32_t of) {
    struct weft__fluid *x = w->x;
    uint32_t planes = weft__planes(w->t, x->net.device);
    enum weft_status status = WEFT_OK;
    for (uint32_t pass = may_spread(w) ? 0 : 1; pass < 2 && !status; pass++) { // at first, sets are found
        w->adds = pass;
        for (uint32_t k = 0; k < w->trunks; k++)
            w->trunk[k].sender = NULL;
        for (uint32_t q = 0; q < x->net.qps && !status; q++)
            if (q % of == 0)
                status = add_way(w, q, x->net.qp[q].at_src, planes);
            else if (w->adds)
                weft__levels_add_flow(&x->levels, NULL, 0, 0);
    }
    return status;
}

static enum weft_status walk_ways(struct weft__fluid *x, uint32_t of, struct weft_error *ret_error) {
    const struct weft_topology *t = x->net.topology;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_QP);
    struct walk w = {.x = x, .t = t, .error = ret_error};
    w.set_of_port = weft_arena_alloc(arena, t->ports, sizeof *w.set_of_port);
    w.kind = weft_arena_alloc(arena, t->ports, sizeof *w.kind);
    w.seen = weft_arena_alloc(arena, t->nodes, sizeof *w.seen);
    for (uint32_t i = 0; i < t->ports; i++)
        x->port[i].link = WEFT_NONE;
    enum weft_status status = add_ways(&w, of);
    numbers_free(&w.of_bundle);
    numbers_free(&w.of_trunk);
    weft_memory_free(WEFT_MEMORY_QP, w.bundle, w.bundles_room * sizeof *w.bundle);
    weft_memory_free(WEFT_MEMORY_QP, w.trunk, w.trunks_room * sizeof *w.trunk);
    weft_memory_free(WEFT_MEMORY_QP, w.between, w.between_room * sizeof *w.between);
    weft_memory_free(WEFT_MEMORY_QP, w.kinds, w.kinds_room * sizeof *w.kinds);
    weft_memory_free(WEFT_MEMORY_QP, w.at, w.places_room * sizeof *w.at);
    weft_memory_free(WEFT_MEMORY_QP, w.next, w.nexts_room * sizeof *w.next);
    weft_memory_free(WEFT_MEMORY_QP, w.port, w.ports_room * sizeof *w.port);
    weft_memory_free(WEFT_MEMORY_QP, w.crossed, w.crossed_room * sizeof *w.crossed);
    weft_arena_free(arena);
    return status;
}

/// The nearest are not late: a piece's last packet may have left before the fluid has drained, and has its way for
/// that. Queue pairs of jobs are as late as the nearest of their NIC: messages follow one another, and a fluid has no
/// queues that would make up for their not being in step. Where data waits for credit, it does so at the entrance.
static void find_reaches(struct weft__fluid *x) {
    const struct weft_topology *t = x->net.topology;
    float least = INFINITY, *of_nic = weft_arena_alloc(x->arena, t->hosts, sizeof *of_nic);
    if (x->queues) return;
    for (uint32_t h = 0; h < t->hosts; h++)
        of_nic[h] = INFINITY;
    for (uint32_t q = 0; q < x->net.qps; q++) {
        const struct weft_qp_conf *qp = &x->net.qp[q];
        const struct weft_flow *flow = &x->net.workload->flow[qp->flow];
        double line = rate_of(t->link[weft_topology_port(t, t->host[qp->dst], 0)->link].rate_bps);
        uint32_t frame = 0; // of a job: its messages may be of any size
        if (!flow->messages) weft__piece_wire(x, q, flow->depth ? flow->message_bytes : qp->bytes, &frame);
        float reach = (float)(x->way[q].base_ps + fmax(x->way[q].byte_ps - 1 / line, 0) * frame);
        x->way[q].reach_ps = reach;
        least = fminf(least, reach);
        if (flow->messages) of_nic[qp->src] = fminf(of_nic[qp->src], reach);
    }
    for (uint32_t q = 0; q < x->net.qps; q++) {
        const struct weft_qp_conf *qp = &x->net.qp[q];
        bool of_job = x->net.workload->flow[qp->flow].messages;
        x->way[q].reach_ps = (of_job ? of_nic[qp->src] : x->way[q].reach_ps) - least;
    }
}

/// What is refused for the ways of some queue pairs is refused for all: of many, a few are looked at first.
enum weft_status weft__ways_new(struct weft__fluid *x, struct weft_error *ret_error) {
    enum { MANY = 1 << 14, FEW = 32 };
    enum weft_status status = WEFT_OK;
    x->way = weft_arena_alloc(x->arena, x->net.qps, sizeof *x->way);
    x->port = weft_arena_alloc(x->arena, x->net.topology->ports, sizeof *x->port);
    x->drains_room = x->net.qps;
    x->drain = weft_memory_new(WEFT_MEMORY_QP, x->drains_room, sizeof *x->drain);
    if (x->net.qps >= MANY) {
        status = walk_ways(x, FEW, ret_error);
        if (!status) status = weft__estimate_refuse_ways(x, ret_error);
        double tolerance = x->levels.tolerance;
        uint32_t entries = x->levels.entries;
        weft__levels_deinit(&x->levels);
        weft__levels_init(&x->levels, tolerance);
        weft__levels_expect(&x->levels, x->net.qps, entries * FEW);
        x->queues = 0;
    }
    if (!status) status = walk_ways(x, 1, ret_error);
    if (!status) find_reaches(x);
    if (!status) weft__controls_share(x);
    return status ? status : weft__estimate_refuse_ways(x, ret_error);
}
