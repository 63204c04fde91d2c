// SPDX-License-Identifier: Apache-2.0
// The ToR-in-NIC chips of an Aquila Clique.
#include "box/tin/tin.h"
#include "box/tin/tin_net.h"

static const bool *find_hosts_ports(const struct weft_topology *t, uint32_t node, struct weft_arena *arena) {
    bool *is = weft_arena_alloc(arena, t->node[node].ports, sizeof *is);
    for (uint32_t k = 0; k < t->node[node].ports; k++)
        is[k] = t->node[t->port[weft_topology_port(t, node, k)->peer].node].box == WEFT_BOX_HOST;
    return is;
}

static void tin_make(struct weft__network *net, uint32_t node) {
    const struct weft_node_info *info = &net->topology->node[node];
    struct weft__cliques *cliques = weft__cliques_of(net);
    struct weft__clique *clique = &cliques->clique[cliques->shape->fabric_of_node[node]];
    uint32_t self = cliques->shape->tin_of_node[node];
    struct weft__tin_setup setup = {
        .rows = &net->port_rows,
        .conf = weft__tin_conf(net->device[node]),
        .times = cliques->times,
        .endpoint_rate = cliques->rate_of_endpoint[node],
        .ethernet = &net->device[node]->sw,
        .hosts = &net->hosts,
        .places = &clique->places,
        .topology = &cliques->shape->fabric[cliques->shape->fabric_of_node[node]].tin[self],
        .egress = clique->timeline ? clique->egress[self] : NULL,
        .egresses = clique->timeline ? clique->timeline->tin[self].egresses : 0,
        .absence = clique->timeline ? clique->timeline->absence : NULL,
        .absences = clique->timeline ? clique->timeline->absences : 0,
        .tables = &clique->tables,
        .self = self,
        .who = info->index,
        .node_ports = info->ports,
        .hosts_port = find_hosts_ports(net->topology, node, net->arena_switch),
        .sampled = weft__network_sampled(net, node, net->arena_switch),
        .sampling = net->sampling,
        .seed = net->scenario->run.seed,
        .pool = weft__network_pool(net, node),
        .lldp = net->device[node]->dcbx.enabled,
        .traces = cliques->traces,
        .seen = weft__tin_seen(net, node),
        .node = node,
        .port0 = info->port0,
        .events_max = net->events_max,
        .nics = weft__tin_nics_find(net->topology, node, weft__tin_conf(net->device[node]), net->arena_switch),
        .arena = net->arena_switch,
    };
    if (setup.sampled && !net->sampling.most) setup.depths = weft__tin_depths(net, node);
    struct weft__tin_rma_setup rma = {.places = {clique->places.tin_of_host, net->topology->downlink}};
    if (weft__tin_rma_place(net, node, net->arena_switch, &rma)) setup.rma = &rma;
    weft__tin_new(&setup, &net->engine.node[node]);
}

static struct weft__port *tin_port(void *state, uint32_t k) {
    struct weft__tin *tin = state;
    return tin->slot[k] & WEFT__TIN_ETHERNET ? &tin->ether.port[tin->slot[k] & ~(uint32_t)WEFT__TIN_ETHERNET] : NULL;
}

static void tin_connect(struct weft__network *net, uint32_t port, const struct weft__port_setup *ends) {
    const struct weft_topology *t = net->topology;
    const struct weft_port_info *own = &t->port[port], *far = &t->port[own->peer];
    const struct weft_link_info *link = &t->link[own->link];
    const struct weft_tin_conf *conf = weft__tin_conf(net->device[own->node]),
                               *far_conf = weft__tin_conf(net->device[far->node]);
    const struct weft__cliques *cliques = weft__cliques_of(net);
    struct weft__tin *tin = weft__network_state(net, own->node);
    uint32_t k = port - t->node[own->node].port0;
    bool global = tin->gnet.tin->global >> k & 1;
    weft_time_ps delay = link->delay_ps + (global ? conf->fec_ps : 0);
    struct weft__gnet_link setup = {
        .rate = cliques->rate_of_port[port],
        .cross = cliques->cross_of_port[port],
        .global = global,
        .delay_ps = delay + far_conf->link_ps + far_conf->fall_through_ps,
        .credit_delay_ps = delay + far_conf->link_ps + far_conf->credit_ps,
        .far_fifo_bytes = global ? far_conf->global_fifo_bytes : far_conf->local_fifo_bytes,
        .peer_node = far->node,
        .peer_inbox = weft__engine_inbox_of(&net->engine, far->node),
        .peer_port = (uint16_t)(own->peer - t->node[far->node].port0),
        .faults = ends->faults,
        .tap = ends->tap,
    };
    weft__gnet_connect(&tin->gnet, k, &setup);
    tin->gnet.follow_log = weft__network_follow(net, own->node);
}

static struct weft__box_reaction tin_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                              uint32_t port) {
    const struct weft_tin_conf *own = weft__tin_conf(conf);
    if (weft_topology_port_is_fabric(t, port)) // the head of a cell, and credits
        return (struct weft__box_reaction){.processing_ps = own->link_ps + own->fall_through_ps,
                                           .pause_ps = own->link_ps + own->credit_ps};
    struct weft__box_reaction reaction = weft__ethernet_reaction(conf, t, port);
    reaction.processing_ps = own->processing_ps;
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
    const struct weft__cliques *cliques = weft__cliques_of(net);
    const struct weft__clique *clique = &cliques->clique[cliques->shape->fabric_of_node[node]];
    struct weft_clique_outcome *all = weft_outcome_cliques(o);
    weft__tin_finish(tin, now, &all->sum, clique->transition0);
    all->tin[all->tins++] = (struct weft_tin_part){node, tin->gnet.counts};
    all->tin[all->tins - 1].counts.seen = NULL; // its worker's
    for (uint32_t k = 0; k < info->ports; k++) {
        if (tin->slot[k] & WEFT__TIN_ETHERNET) continue;
        struct weft_gnet_port *port = &all->gnet_port[all->gnet_ports++];
        *port = weft__gnet_port_counts(&tin->gnet, k);
        port->port = info->port0 + k;
        port->global = tin->gnet.tin->global >> k & 1;
        struct weft_counters *counters = weft_outcome_at(o, port->port, 0);
        counters->tx_packets = port->cells;
        counters->tx_bytes = port->bytes;
        counters->queue_bytes_max = port->output_bytes_max;
    }
}

static void tin_each_count(struct weft__network *net, uint32_t node, weft__on_count *on_count, void *context) {
    struct weft__tin *tin = weft__network_state(net, node);
    struct weft__gnet *g = &tin->gnet;
#define X(field, type, help) on_count(context, &g->counts.field);
    WEFT_TIN_COUNTERS(X)
#undef X
    for (uint32_t h = 0; h < WEFT_TIN_HOPS; h++)
        on_count(context, &g->counts.hops[h]);
    for (uint32_t c = 0; c < WEFT_TIN_CELL_TYPES; c++)
        on_count(context, &g->counts.cells[c]);
    on_count(context, &g->ways_minimal);
    on_count(context, &g->ways_nonminimal);
    for (uint64_t left = g->links; left; left &= left - 1) {
        uint32_t port = (uint32_t)__builtin_ctzll(left);
        weft__gnet_carry_over(g, port);
        on_count(context, &g->port[port].tx_cells);
        on_count(context, &g->port[port].tx_bytes);
        on_count(context, &g->port[port].stalls);
        on_count(context, &g->port[port].stall_ps);
    }
}

/// What it has lost is given up after its timeouts, and a request of 1RMA is made again.
static weft_time_ps tin_patience(const struct weft_device_conf *conf) {
    const struct weft_tin_conf *own = weft__tin_conf(conf);
    const weft_time_ps timeout[] = {own->reassembly_timeout_ps, own->rts_timeout_ps, own->rma.timeout_ps,
                                    own->rma.dispatch_timeout_ps};
    weft_time_ps longest = 0;
    for (size_t i = 0; i < sizeof timeout / sizeof *timeout; i++)
        longest = timeout[i] > longest ? timeout[i] : longest;
    return longest;
}

static weft_time_ps tin_crossing(const struct weft_device_conf *conf) {
    return weft_tin_crossing_ps(weft__tin_conf(conf));
}

/// The times at which the firmware of `tin`'s control processor (`tin` is its number in the Clique) does not answer.
static void find_downs(const struct weft_clique_timeline *timeline, uint32_t tin, struct weft_arena *arena,
                       struct weft__host_terms *ret) {
    struct weft__down *down = weft_arena_alloc(arena, timeline->absences, sizeof *down);
    for (uint32_t i = 0; i < timeline->absences; i++)
        if (timeline->absence[i].tin == tin)
            down[ret->downs++] = (struct weft__down){timeline->absence[i].from_ps, timeline->absence[i].to_ps};
    ret->down = down;
    ret->down_drop = WEFT_DROP_PROCESSOR_AWAY;
}

static void tin_host_terms(const struct weft__network *net, uint32_t port, struct weft__host_terms *ret) {
    const struct weft_topology *t = net->topology;
    const struct weft__cliques *cliques = weft__cliques_of(net);
    uint32_t tin = t->port[port].node, host = t->port[t->port[port].peer].node;
    const struct weft_clique_timeline *timeline = cliques->clique[cliques->shape->fabric_of_node[tin]].timeline;
    ret->room_bytes = weft__tin_nic_window(net, port);
    if (t->node[host].box == WEFT_BOX_PROCESSOR && timeline)
        find_downs(timeline, cliques->shape->tin_of_node[tin], net->arena_host, ret);
}

static const char *const tin_sections[] = {"bootstrap", "sdn", "timesync", NULL};

static const struct weft__box_control tin_control = {
    .sections = tin_sections,
    .one = "a TiN",
    .several = "TiNs",
    .whats = 1 << WEFT_CONTROL_REBOOT | 1 << WEFT_CONTROL_CORRUPT | 1 << WEFT_CONTROL_JUMP,
    .expected = "cut, heal, reboot, corrupt or jump, as it is a TiN",
};

/// Besides what an interface node leaves unasked: its own `processing`, and a frame's RTS leaves before its last bit
/// has come.
static const char *const tin_unasked[] = {"processing", "forwarding",      "packet_rate",    "pipes", "queueing",
                                          "arbiter",    "fabric_patience", "fabric_speedup", "sfc",   "sfc_proxy",
                                          NULL};

const struct weft_model weft__box_tin = WEFT_MODEL_OF(
    BOX, "tin", "the ToR-in-NIC chip (TiN) of an Aquila Clique, beyond what it has of a switch",
    "Gibson et al., \"Aquila: A unified, low-latency fabric for datacenter networks\", NSDI 2022", &weft_tin_table,
    &(const struct weft__box){
        .unasked = tin_unasked,
        .make = tin_make,
        .port = tin_port,
        .connect = tin_connect,
        .reaction = tin_reaction,
        .pfc = weft__ethernet_pfc,
        .trace = tin_trace,
        .held = weft__tin_held,
        .check_state = weft__tin_check_state,
        .add_credit = weft__tin_add_credit,
        .each_count = tin_each_count,
        .finish = tin_finish,
        .deinit = weft__tin_deinit,
        .check = weft__tin_check,
        .patience = tin_patience,
        .crossing = tin_crossing,
        .draws = true,
        .host_terms = tin_host_terms,
        .cross = weft__tin_cross,
        .cells = &weft__tin_capture,
        .shared = &weft__cliques_shared,
        .results = &weft__clique_results,
        .mechanisms = &weft__tin_mechanisms,
        .control = &tin_control,
        .view = &weft__clique_view,
        .draws_ahead = true,
        .has_leaves = true,
        .port_weight = 2,
    });
