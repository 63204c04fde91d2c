// SPDX-License-Identifier: Apache-2.0
// The ToR-in-NIC chips of an Aquila Clique.
#include <string.h>

#include "box/box.h"
#include "box/tin/tin.h"
#include "box/tin/tin_net.h"
#include "sim/capture.h"
#include "sim/rma.h"

static bool is_gnet(const struct weft_topology *t, uint32_t port) {
    return weft_topology_link_is_fabric(t, t->port[port].link);
}

static const struct weft_tin_conf *conf_of(const struct weft__network *net, uint32_t node) {
    return &net->device[node]->tin;
}

// --- what TiNs share ----------------------------------------------------------------------------------------------

static void find_hosts(struct weft__clique *clique, const struct weft_topology *t, const struct weft_dragonflies *shape,
                       uint32_t fabric, struct weft_arena *arena) {
    uint16_t *tin = weft_arena_alloc(arena, t->hosts, sizeof *tin);
    uint16_t *port = weft_arena_alloc(arena, t->hosts, sizeof *port);
    for (uint32_t h = 0; h < t->hosts; h++) {
        uint32_t peer = t->port[weft_topology_port(t, t->host[h], 0)->peer].node;
        tin[h] = WEFT_TIN_NONE;
        if (shape->fabric_of_node[peer] != fabric) continue;
        tin[h] = shape->tin_of_node[peer];
        for (uint32_t k = t->node[peer].port0; t->port[k].peer != t->node[t->host[h]].port0; k++)
            port[h] = (uint16_t)(port[h] + !is_gnet(t, k));
    }
    clique->places.tin_of_host = tin;
    clique->places.port_of_host = port;
}

/// Number of a rate in the table that all TiNs share; WEFT__GNET_NO_LINK: there are too many different ones.
static uint8_t find_rate(struct weft__cliques *cliques, weft_rate_bps rate, double overhead, struct weft_arena *arena) {
    uint8_t k = 0;
    while (k < WEFT__GNET_NO_LINK && cliques->times[k] &&
           (cliques->times[k]->rate != rate || cliques->times[k]->overhead != overhead))
        k++;
    if (k < WEFT__GNET_NO_LINK && !cliques->times[k]) {
        struct weft__gnet_times *times = weft_arena_alloc(arena, 1, sizeof *times);
        weft__gnet_times_init(times, rate, overhead);
        cliques->times[k] = times;
    }
    return k;
}

/// The times of cells at all rates; false: too many different ones.
static bool find_rates(const struct weft__network *net, struct weft__cliques *cliques) {
    const struct weft_topology *t = net->topology;
    struct weft_arena *arena = net->arena_switch;
    cliques->rate_of_port = weft_arena_alloc(arena, t->ports, 1);
    cliques->cross_of_port = weft_arena_alloc(arena, t->ports, 1);
    cliques->rate_of_endpoint = weft_arena_alloc(arena, t->nodes, 1);
    uint8_t most = 0;
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (t->node[n].box != WEFT_BOX_TIN) continue;
        uint8_t rate = cliques->rate_of_endpoint[n] = find_rate(cliques, conf_of(net, n)->endpoint_rate_bps, 0, arena);
        if (rate > most) most = rate;
    }
    for (uint32_t p = 0; p < t->ports; p++) {
        uint32_t node = t->port[p].node, far = t->port[t->port[p].peer].node;
        if (t->node[node].box != WEFT_BOX_TIN || !is_gnet(t, p)) continue;
        const struct weft_tin_conf *conf = conf_of(net, node);
        weft_rate_bps rate = t->link[t->port[p].link].rate_bps;
        double overhead = t->node[node].cluster != t->node[far].cluster ? conf->fec_overhead : 0;
        uint8_t own = cliques->rate_of_port[p] = find_rate(cliques, rate, overhead, arena);
        uint8_t cross = cliques->cross_of_port[p] =
            find_rate(cliques, (weft_rate_bps)((double)rate * conf->speedup), 0, arena);
        if (own > most) most = own;
        if (cross > most) most = cross;
    }
    return most < WEFT__GNET_NO_LINK;
}

enum weft_status weft__cliques_new(const struct weft__network *net, struct weft__cliques **ret_cliques,
                                   struct weft_error *ret_error) {
    struct weft_arena *arena = net->arena_switch;
    struct weft_dragonflies *shape = weft_dragonflies_new(net->topology, arena);
    *ret_cliques = NULL;
    if (!shape->n) return WEFT_OK;
    struct weft__cliques *cliques = *ret_cliques = weft_arena_alloc(arena, 1, sizeof *cliques);
    cliques->shape = shape;
    for (uint32_t n = 0; n < net->topology->nodes; n++)
        cliques->traces |= net->topology->node[n].box == WEFT_BOX_TIN && conf_of(net, n)->trace;
    cliques->clique = weft_arena_alloc(arena, shape->n, sizeof *cliques->clique);
    for (uint32_t f = 0; f < shape->n; f++) {
        find_hosts(&cliques->clique[f], net->topology, shape, f, arena);
        enum weft_status status = weft__clique_tables(net, &cliques->clique[f], shape, f, ret_error);
        if (status) return status;
    }
    if (find_rates(net, cliques)) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, net->scenario->topology.place,
                          "links and endpoints of TiNs have more than %d different rates", WEFT__GNET_NO_LINK);
}

void weft__cliques_free(struct weft__cliques *cliques) {
    for (uint32_t f = 0; cliques && f < cliques->shape->n; f++)
        for (uint32_t e = 0; e < cliques->clique[f].tables.n; e++)
            weft_gnet_routes_free(cliques->clique[f].routes[e]);
}

const struct weft__down *weft__processor_downs(const struct weft__network *net, uint32_t node, uint32_t *ret_n) {
    uint32_t tin = net->topology->port[weft_topology_port(net->topology, node, 0)->peer].node, n = 0;
    const struct weft_clique_timeline *timeline =
        net->cliques->clique[net->cliques->shape->fabric_of_node[tin]].timeline;
    *ret_n = 0;
    if (!timeline) return NULL;
    struct weft__down *down = weft_arena_alloc(net->arena_host, timeline->absences, sizeof *down);
    for (uint32_t i = 0; i < timeline->absences; i++)
        if (timeline->absence[i].tin == net->cliques->shape->tin_of_node[tin])
            down[n++] = (struct weft__down){timeline->absence[i].from_ps, timeline->absence[i].to_ps};
    *ret_n = n;
    return down;
}

// --- the box ------------------------------------------------------------------------------------------------------

/// Where samples of the node's VCs are counted.
static struct weft_gnet_depths *depths_of(struct weft__network *net, uint32_t node) {
    struct weft__cliques *cliques = net->cliques;
    if (!cliques->depths)
        cliques->depths = weft_arena_alloc(net->arena_switch, net->engine.conf.workers, sizeof *cliques->depths);
    struct weft_gnet_depths **depths = &cliques->depths[weft__engine_worker_of(&net->engine, node)];
    if (!*depths) *depths = weft_arena_alloc(net->arena_switch, 1, sizeof **depths);
    return *depths;
}

/// Where its worker counts distributions.
static struct weft_tin_histograms *seen_by(struct weft__network *net, uint32_t node) {
    struct weft__cliques *cliques = net->cliques;
    if (!cliques->seen)
        cliques->seen = weft_arena_alloc(net->arena_switch, net->engine.conf.workers, sizeof *cliques->seen);
    struct weft_tin_histograms **seen = &cliques->seen[weft__engine_worker_of(&net->engine, node)];
    if (!*seen) *seen = weft_arena_alloc(net->arena_switch, 1, sizeof **seen);
    return *seen;
}

static void collect_depths(struct weft__network *net) {
    struct weft_outcome *o = net->outcome;
    if (!net->cliques->depths) return;
    o->gnet_depths = weft_arena_alloc(o->arena, 1, sizeof *o->gnet_depths);
    for (uint32_t w = 0; w < net->engine.conf.workers; w++)
        for (uint32_t vc = 0; net->cliques->depths[w] && vc < WEFT_GNET_VCS; vc++) {
            weft_histogram_merge(&o->gnet_depths->output[vc], &net->cliques->depths[w]->output[vc]);
            weft_histogram_merge(&o->gnet_depths->fifo[vc], &net->cliques->depths[w]->fifo[vc]);
        }
}

void weft__tin_distributions_collect(struct weft__network *net) {
    if (!net->cliques) return;
    struct weft_tin_histograms *sum = net->outcome->tin->seen;
    for (uint32_t w = 0; w < net->engine.conf.workers; w++) {
        const struct weft_tin_histograms *one = net->cliques->seen[w];
        if (!one) continue;
#define X(field, type, unit, help) weft_histogram_merge(&sum->field, &one->field);
        WEFT_TIN_HISTOGRAMS(X)
#undef X
    }
    collect_depths(net);
}

static void tin_make(struct weft__network *net, uint32_t node) {
    const struct weft_node_info *info = &net->topology->node[node];
    struct weft__clique *clique = &net->cliques->clique[net->cliques->shape->fabric_of_node[node]];
    uint32_t self = net->cliques->shape->tin_of_node[node];
    struct weft__tin_setup setup = {
        .conf = conf_of(net, node),
        .times = net->cliques->times,
        .endpoint_rate = net->cliques->rate_of_endpoint[node],
        .ethernet = &net->device[node]->sw,
        .hosts = &net->hosts,
        .places = &clique->places,
        .topology = &net->cliques->shape->fabric[net->cliques->shape->fabric_of_node[node]].tin[self],
        .egress = clique->timeline ? clique->egress[self] : NULL,
        .egresses = clique->timeline ? clique->timeline->tin[self].egresses : 0,
        .absence = clique->timeline ? clique->timeline->absence : NULL,
        .absences = clique->timeline ? clique->timeline->absences : 0,
        .tables = &clique->tables,
        .self = self,
        .who = info->index,
        .node_ports = info->ports,
        .sampled = weft__network_sampled(net, node, net->arena_switch),
        .sample_interval_ps = net->scenario->run.sample_interval_ps,
        .seed = net->scenario->run.seed,
        .pool = weft__network_pool(net, node),
        .lldp = net->device[node]->dcbx.enabled,
        .traces = net->cliques->traces,
        .seen = seen_by(net, node),
        .node = node,
        .port0 = info->port0,
        .events_max = net->events_max,
        .nics = weft__tin_nics_find(net->topology, node, conf_of(net, node), net->arena_switch),
        .arena = net->arena_switch,
    };
    if (setup.sampled) setup.depths = depths_of(net, node);
    struct weft__tin_rma_setup rma = {.places = {clique->places.tin_of_host, net->topology->downlink}};
    if (weft__rma_at_tin(net, node, net->arena_switch, &rma)) setup.rma = &rma;
    weft__tin_new(&setup, &net->engine.node[node]);
}

static struct weft__port *tin_port(void *state, uint32_t k) {
    struct weft__tin *tin = state;
    return tin->slot[k] & WEFT__TIN_ETHERNET ? &tin->ether.port[tin->slot[k] & ~(uint32_t)WEFT__TIN_ETHERNET] : NULL;
}

static void tin_connect(struct weft__network *net, uint32_t port) {
    const struct weft_topology *t = net->topology;
    const struct weft_port_info *own = &t->port[port], *far = &t->port[own->peer];
    const struct weft_link_info *link = &t->link[own->link];
    const struct weft_tin_conf *conf = conf_of(net, own->node), *far_conf = conf_of(net, far->node);
    struct weft__tin *tin = weft__network_state(net, own->node);
    uint32_t k = port - t->node[own->node].port0;
    bool global = tin->gnet.tin->global >> k & 1;
    weft_time_ps delay = link->delay_ps + (global ? conf->fec_ps : 0);
    struct weft__gnet_link setup = {
        .rate = net->cliques->rate_of_port[port],
        .cross = net->cliques->cross_of_port[port],
        .global = global,
        .delay_ps = delay + far_conf->link_ps + far_conf->fall_through_ps,
        .credit_delay_ps = delay + far_conf->link_ps + far_conf->credit_ps,
        .far_fifo_bytes = global ? far_conf->global_fifo_bytes : far_conf->local_fifo_bytes,
        .peer_node = far->node,
        .peer_inbox = weft__engine_inbox_of(&net->engine, far->node),
        .peer_port = (uint16_t)(own->peer - t->node[far->node].port0),
        .faults = weft__network_faults(net, port, net->arena_switch),
        .tap = weft__capture_tap(net, port, net->arena_switch),
    };
    weft__gnet_connect(&tin->gnet, k, &setup);
}

static struct weft__box_reaction tin_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                              uint32_t port) {
    if (is_gnet(t, port)) // the head of a cell, and credits
        return (struct weft__box_reaction){.processing_ps = conf->tin.link_ps + conf->tin.fall_through_ps,
                                           .pause_ps = conf->tin.link_ps + conf->tin.credit_ps};
    struct weft__box_reaction reaction = weft__switch_reaction(conf, t, port);
    reaction.processing_ps = conf->tin.processing_ps;
    reaction.cut_through = true; // the RTS of a packet may be sent before it is complete
    return reaction;
}

static struct weft__trace *tin_trace(const void *state) {
    return ((const struct weft__tin *)state)->trace;
}

static void tin_finish(struct weft__network *net, uint32_t node, weft_time_ps now) {
    struct weft__tin *tin = weft__network_state(net, node);
    const struct weft_node_info *info = &net->topology->node[node];
    struct weft_outcome *o = net->outcome;
    const struct weft__clique *clique = &net->cliques->clique[net->cliques->shape->fabric_of_node[node]];
    weft__tin_finish(tin, now, o->tin, clique->transition0);
    o->tin_part[o->tins++] = (struct weft_tin_part){node, tin->gnet.counts};
    o->tin_part[o->tins - 1].counts.seen = NULL; // its worker's
    for (uint32_t k = 0; k < info->ports; k++) {
        if (tin->slot[k] & WEFT__TIN_ETHERNET) continue;
        struct weft_gnet_port *port = &o->gnet_port[o->gnet_ports++];
        *port = weft__gnet_port_counts(&tin->gnet, k);
        port->port = info->port0 + k;
        port->global = tin->gnet.tin->global >> k & 1;
        struct weft_counters *counters = &o->port[(size_t)port->port * WEFT_PRIORITIES];
        counters->tx_packets = port->cells;
        counters->tx_bytes = port->bytes;
        counters->queue_bytes_max = port->output_bytes_max;
    }
}

const struct weft__box weft__box_tin = {
    .name = "TiN",
    .make = tin_make,
    .port = tin_port,
    .connect = tin_connect,
    .reaction = tin_reaction,
    .pfc = weft__switch_pfc,
    .trace = tin_trace,
    .held = weft__tin_held,
    .finish = tin_finish,
    .deinit = weft__tin_deinit,
    .port_weight = 2,
};
