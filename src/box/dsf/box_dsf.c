// SPDX-License-Identifier: Apache-2.0
// The boxes of a disaggregated scheduled fabric.
#include "box/box.h"
#include "box/dsf/dsf_fn.h"
#include "box/dsf/dsf_in.h"
#include "box/dsf/dsf_net.h"

static bool is_fabric(const struct weft_topology *t, uint32_t port) {
    return weft_topology_link_is_fabric(t, t->port[port].link);
}

static bool has_dsf(const struct weft_topology *t) {
    for (uint32_t i = 0; i < t->nodes; i++)
        if (t->node[i].box == WEFT_BOX_DSF_INTERFACE) return true;
    return false;
}

/// Where each host is.
static void find_hosts(struct weft__dsf *dsf, const struct weft_topology *t, struct weft_arena *arena) {
    dsf->in_of_host = weft_arena_alloc(arena, t->hosts, sizeof *dsf->in_of_host);
    dsf->port_of_host = weft_arena_alloc(arena, t->hosts, sizeof *dsf->port_of_host);
    for (uint32_t h = 0; h < t->hosts; h++) {
        uint32_t peer = t->port[weft_topology_port(t, t->host[h], 0)->peer].node, port = 0;
        dsf->in_of_host[h] = dsf->eligible->in_of_node[peer];
        for (uint32_t k = t->node[peer].port0; t->port[k].peer != t->node[t->host[h]].port0; k++)
            port += !is_fabric(t, k);
        dsf->port_of_host[h] = (uint16_t)port;
    }
}

/// What the control plane makes of failures, repairs and what happens to nodes.
struct story {
    struct weft__dsf_story of;
    struct weft_reach_timeline *reach; ///< NULL: nothing fails, and nobody is drained
    struct weft_known_timeline *known;
};

static enum weft_status tell_story(struct weft__network *net, struct story *story, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    const struct weft_scenario *s = net->scenario;
    uint64_t seed = s->run.seed;
    struct weft__dsf_story *of = &story->of;
    *story = (struct story){0};
    enum weft_status status = weft_control_events_read(t, s->control_tree, &of->event, &of->events, ret_error);
    uint32_t happens = t->events;
    for (uint32_t i = 0; i < of->events; i++)
        happens += weft_control_is_drain(&of->event[i]);
    if (!status && happens)
        status = weft_reach_timeline_new(t, &s->control.reach, of->event, of->events, seed, net->arena_switch,
                                         &story->reach, ret_error);
    if (!status)
        status = weft_known_timeline_new(t, &s->control, of->event, of->events, seed, net->arena_switch, &story->known,
                                         ret_error);
    return status;
}

enum weft_status weft__dsf_new(struct weft__network *net, struct weft__dsf **ret_dsf, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    struct story story;
    *ret_dsf = NULL;
    if (!has_dsf(t)) return WEFT_OK;
    enum weft_status status = tell_story(net, &story, ret_error);
    if (status) return status;
    struct weft__dsf *dsf = *ret_dsf = weft_arena_alloc(net->arena_switch, 1, sizeof *dsf);
    dsf->eligible = weft__eligible_by_paths(t);
    if (story.reach) weft__eligible_change(dsf->eligible, story.reach);
    dsf->known = weft__known_new(story.known, dsf->eligible, net->arena_switch);
    find_hosts(dsf, t, net->arena_switch);
    for (uint32_t i = 0; i < t->nodes; i++) {
        dsf->llfc |= t->node[i].box == WEFT_BOX_DSF_FABRIC && net->device[i]->fabric_node.llfc;
        dsf->packing |= t->node[i].box == WEFT_BOX_DSF_INTERFACE && net->device[i]->interface_node.packing;
    }
    return weft__outside_new(net, dsf, &story.of, ret_error);
}

void weft__dsf_free(struct weft__dsf *dsf) {
    if (!dsf) return;
    weft_eligible_free(dsf->eligible);
}

/// The far end of a fabric link.
static void connect_lane(struct weft__network *net, uint32_t port, struct weft__lanes *lanes, uint32_t lane) {
    const struct weft_topology *t = net->topology;
    const struct weft_port_info *info = &t->port[port];
    struct weft__port_peer peer = weft__network_peer(net, port);
    bool connected = weft__lanes_connect(lanes, lane, &t->link[info->link], &peer,
                                         weft__network_faults(net, port, net->arena_switch));
    assert(connected); // weft_simulation_check has seen to it
}

static weft_time_ps calc_cell_least(const struct weft_topology *t, uint32_t port) {
    return WEFT_CELL_CONTROL * 8 * WEFT_PS_PER_S / t->link[t->port[port].link].rate_bps;
}

// --- interface node -----------------------------------------------------------------------------------------------

/// Where its worker counts distributions.
static struct weft_dsf_histograms *seen_by(struct weft__network *net, uint32_t node) {
    struct weft__dsf *dsf = net->dsf;
    if (!dsf->seen) dsf->seen = weft_arena_alloc(net->arena_switch, net->engine.conf.workers, sizeof *dsf->seen);
    struct weft_dsf_histograms **seen = &dsf->seen[weft__engine_worker_of(&net->engine, node)];
    if (!*seen) *seen = weft_arena_alloc(net->arena_switch, 1, sizeof **seen);
    return *seen;
}

void weft__dsf_collect(struct weft__network *net) {
    struct weft_dsf_histograms *sum = net->dsf ? net->outcome->dsf->seen : NULL;
    for (uint32_t w = 0; sum && w < net->engine.conf.workers; w++) {
        const struct weft_dsf_histograms *one = net->dsf->seen[w];
        if (!one) continue;
#define X(field, type, unit, help) weft_histogram_merge(&sum->field, &one->field);
        WEFT_DSF_HISTOGRAMS(X)
#undef X
    }
}

static void in_make(struct weft__network *net, uint32_t node) {
    const struct weft_topology *t = net->topology;
    const struct weft_node_info *info = &t->node[node];
    struct weft_arena *arena = net->arena_switch;
    bool *fabric = weft_arena_alloc(arena, info->ports, sizeof *fabric);
    for (uint32_t k = 0; k < info->ports; k++)
        fabric[k] = is_fabric(t, info->port0 + k);
    struct weft__in_setup setup = {
        .conf = &net->device[node]->interface_node,
        .ethernet = &net->device[node]->sw,
        .hosts = &net->hosts,
        .eligible = &net->dsf->eligible->box[node],
        .in_of_host = net->dsf->in_of_host,
        .port_of_host = net->dsf->port_of_host,
        .outside = net->dsf->outside ? &net->dsf->outside[net->dsf->fabric_of_node[node]] : NULL,
        .known = net->dsf->known ? &net->dsf->known[net->dsf->eligible->in_of_node[node]] : NULL,
        .self = net->dsf->eligible->in_of_node[node],
        .ins = net->dsf->eligible->ins,
        .who = info->index,
        .node_ports = info->ports,
        .is_fabric = fabric,
        .sampled = weft__network_sampled(net, node, arena),
        .sample_interval_ps = net->scenario->run.sample_interval_ps,
        .seed = net->scenario->run.seed,
        .pool = weft__network_pool(net, node),
        .lldp = net->device[node]->dcbx.enabled,
        .llfc = net->dsf->llfc,
        .seen = seen_by(net, node),
        .node = node,
        .port0 = info->port0,
        .events_max = net->events_max,
        .arena = arena,
    };
    weft__in_new(&setup, &net->engine.node[node]);
}

static struct weft__port *in_port(void *state, uint32_t k) {
    struct weft__in *in = state;
    return in->slot[k] & WEFT__IN_ETHERNET ? &in->ether.port[in->slot[k] & ~(uint32_t)WEFT__IN_ETHERNET] : NULL;
}

static void in_connect(struct weft__network *net, uint32_t port) {
    uint32_t node = net->topology->port[port].node;
    struct weft__in *in = weft__network_state(net, node);
    connect_lane(net, port, &in->lanes, in->slot[port - net->topology->node[node].port0]);
}

static struct weft__box_reaction in_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                             uint32_t port) {
    if (!is_fabric(t, port)) return weft__switch_reaction(conf, t, port);
    weft_time_ps processing = conf->interface_node.processing_ps;
    return (struct weft__box_reaction){
        .processing_ps = processing, .pause_ps = processing, .frame_least_ps = calc_cell_least(t, port)};
}

static struct weft__trace *in_trace(const void *state) {
    return ((const struct weft__in *)state)->trace;
}

uint32_t weft__dsf_ethernet_port(const struct weft_topology *t, uint32_t node, uint32_t k) {
    uint32_t port = t->node[node].port0;
    while (is_fabric(t, port) || k--)
        port++;
    return port;
}

/// A VOQ is part of the queue of the port that its packets leave by, wherever that is: the marks of all show there.
static void collect_marks(struct weft__network *net, const struct weft__in *in) {
    for (uint32_t i = 0; i < in->voqs.n; i++) {
        const struct weft__voq *v = &in->voq[i];
        if (!in->voq_marked[i]) continue;
        uint32_t port = weft__dsf_ethernet_port(net->topology, net->dsf->eligible->node_of_in[v->to], v->port);
        net->outcome->port[(size_t)port * WEFT_PRIORITIES + v->priority].ecn_marked += in->voq_marked[i];
    }
}

static void in_finish(struct weft__network *net, uint32_t node, weft_time_ps now) {
    struct weft__in *in = weft__network_state(net, node);
    const struct weft_node_info *info = &net->topology->node[node];
    weft__in_finish(in, now, net->outcome->dsf);
    collect_marks(net, in);
    for (uint32_t k = 0; k < info->ports; k++)
        if (!(in->slot[k] & WEFT__IN_ETHERNET))
            weft__lane_finish(&in->lanes, &in->lanes.lane[in->slot[k]],
                              &net->outcome->port[(size_t)(info->port0 + k) * WEFT_PRIORITIES]);
}

/// At the end of a run.
static bool has_way(const struct weft__network *net, struct weft__in *in, uint32_t to) {
    return weft__in_has_way(in, net->outcome->sim_time_ps, to);
}

static void in_each_starved(const struct weft__network *net, uint32_t node,
                            void (*on_queue)(void *context, const struct weft__starved *), void *context) {
    struct weft__in *in = weft__network_state(net, node);
    for (uint32_t i = 0; i < in->voqs.n; i++) {
        const struct weft__voq *v = &in->voq[i];
        if (!v->fifo.n || v->balance > 0) continue;
        uint32_t to = net->dsf->eligible->node_of_in[v->to];
        struct weft__starved s = {
            .node = node,
            .port = weft__dsf_ethernet_port(net->topology, to, v->port),
            .cut = !has_way(net, in, v->to) || !has_way(net, weft__network_state(net, to), in->self),
            .priority = v->priority,
            .packets = v->fifo.n,
            .bytes = v->bytes,
            .since_ps = v->credit_ps,
        };
        on_queue(context, &s);
    }
}

const struct weft__box weft__box_interface_node = {
    .name = "DSF interface node",
    .make = in_make,
    .port = in_port,
    .connect = in_connect,
    .start = weft__in_start,
    .reaction = in_reaction,
    .pfc = weft__switch_pfc,
    .trace = in_trace,
    .held = weft__in_held,
    .finish = in_finish,
    .deinit = weft__in_deinit,
    .each_waiting = weft__in_each_waiting,
    .each_starved = in_each_starved,
    .port_weight = 2,
};

// --- fabric node --------------------------------------------------------------------------------------------------

static void fn_make(struct weft__network *net, uint32_t node) {
    const struct weft_node_info *info = &net->topology->node[node];
    struct weft__fn_setup setup = {
        .conf = &net->device[node]->fabric_node,
        .eligible = &net->dsf->eligible->box[node],
        .ports = info->ports,
        .ins = net->dsf->eligible->ins,
        .who = info->index,
        .seed = net->scenario->run.seed,
        .packing = net->dsf->packing,
        .seen = seen_by(net, node),
        .node = node,
        .port0 = info->port0,
        .events_max = net->events_max,
        .pool = net->dsf->llfc ? weft__network_pool(net, node) : NULL,
        .arena = net->arena_switch,
    };
    weft__fn_new(&setup, &net->engine.node[node]);
}

static struct weft__port *fn_port(void *state, uint32_t k) {
    return NULL;
}

static void fn_connect(struct weft__network *net, uint32_t port) {
    uint32_t node = net->topology->port[port].node;
    struct weft__fn *fn = weft__network_state(net, node);
    connect_lane(net, port, &fn->lanes, port - net->topology->node[node].port0);
}

static struct weft__box_reaction fn_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                             uint32_t port) {
    weft_time_ps processing = conf->fabric_node.processing_ps;
    return (struct weft__box_reaction){
        .processing_ps = processing,
        .pause_ps = processing,
        .cut_through = true, // of trains
        .frame_least_ps = calc_cell_least(t, port),
    };
}

static struct weft__trace *fn_trace(const void *state) {
    return ((const struct weft__fn *)state)->lanes.trace;
}

static void fn_finish(struct weft__network *net, uint32_t node, weft_time_ps now) {
    struct weft__fn *fn = weft__network_state(net, node);
    uint32_t port0 = net->topology->node[node].port0;
    weft__fn_finish(fn, now, net->outcome->dsf);
    for (uint32_t k = 0; k < fn->lanes.n; k++)
        weft__lane_finish(&fn->lanes, &fn->lanes.lane[k], &net->outcome->port[(size_t)(port0 + k) * WEFT_PRIORITIES]);
}

const struct weft__box weft__box_fabric_node = {
    .name = "DSF fabric node",
    .make = fn_make,
    .port = fn_port,
    .connect = fn_connect,
    .reaction = fn_reaction,
    .trace = fn_trace,
    .held = weft__fn_held,
    .finish = fn_finish,
    .port_weight = 2,
};
