// SPDX-License-Identifier: Apache-2.0
#include "box/box.h"

#include "box/tin/tin_net.h"
#include "sim/rma.h"
#include "sim/te.h"

/// The shortest frame.
static weft_time_ps calc_frame_least(const struct weft_topology *t, uint32_t port) {
    return (WEFT__PREAMBLE + WEFT_FRAME_MIN) * 8 * WEFT_PS_PER_S / t->link[t->port[port].link].rate_bps;
}

// --- RDMA NIC -----------------------------------------------------------------------------------------------------

static void nic_make(struct weft__network *net, uint32_t node) {
    const struct weft_topology *t = net->topology;
    const struct weft_node_info *info = &t->node[node];
    const struct weft__qp_lists *qps = &net->qp_lists;
    uint32_t h = info->index;
    const bool *sampled = weft__network_sampled(net, node, net->arena_host);
    struct weft__nic_setup setup = {
        .conf = &net->device[node]->host,
        .hosts = &net->hosts,
        .host = h,
        .line_rate_bps = t->link[weft_topology_port(t, node, 0)->link].rate_bps,
        .room_bytes = weft__tin_nic_window(net, node),
        .sends = qps->send_first[h + 1] - qps->send_first[h],
        .receives = qps->receive_first[h + 1] - qps->receive_first[h],
        .send_qp = &qps->send[qps->send_first[h]],
        .receive_qp = &qps->receive[qps->receive_first[h]],
        .pool = weft__network_pool(net, node),
        .gpu = net->gpu ? net->gpu[h] : NULL,
        .rma = weft__rma_host_of(net, h),
        .round_trips = net->round_trips ? net->round_trips[weft__engine_worker_of(&net->engine, node)] : NULL,
        .lldp = net->device[node]->dcbx.enabled,
        .sampled = sampled && sampled[0],
        .sample_interval_ps = net->scenario->run.sample_interval_ps,
        .node = node,
        .port0 = info->port0,
        .events_max = net->events_max,
        .arena = net->arena_host,
    };
    setup.down_drop = WEFT_DROP_PROCESSOR_AWAY;
    if (info->box == WEFT_BOX_PROCESSOR) setup.down = weft__processor_downs(net, node, &setup.downs);
    weft__nic_new(&setup, &net->engine.node[node]);
}

static struct weft__port *nic_port(void *state, uint32_t k) {
    return &((struct weft__nic *)state)->port;
}

static struct weft__box_reaction nic_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                              uint32_t port) {
    return (struct weft__box_reaction){
        .processing_ps = conf->host.processing_ps,
        .pause_ps = conf->host.pfc.reaction_ps,
        .frame_least_ps = calc_frame_least(t, port),
    };
}

/// A host as fast as its link takes what comes.
static bool nic_is_quiet(const struct weft_device_conf *conf) {
    return !conf->host.drain_rate_bps && !conf->dcbx.enabled;
}

static const struct weft_pfc_conf *nic_pfc(const struct weft_device_conf *conf) {
    return &conf->host.pfc;
}

static struct weft__trace *nic_trace(const void *state) {
    return ((const struct weft__nic *)state)->trace;
}

static void nic_finish(struct weft__network *net, uint32_t node, weft_time_ps now) {
    weft__nic_finish(weft__network_state(net, node), now);
}

static const struct weft__box nic_box = {
    .name = "NIC",
    .make = nic_make,
    .port = nic_port,
    .reaction = nic_reaction,
    .pfc = nic_pfc,
    .is_quiet = nic_is_quiet,
    .trace = nic_trace,
    .held = weft__nic_held,
    .finish = nic_finish,
    .weight = 3,
};

// --- Ethernet switch ----------------------------------------------------------------------------------------------

static void switch_make(struct weft__network *net, uint32_t node) {
    const struct weft_topology *t = net->topology;
    const struct weft_node_info *info = &t->node[node];
    const struct weft_run_conf *run = &net->scenario->run;
    const struct weft_switch_conf *conf = &net->device[node]->sw;
    struct weft__switch_setup setup = {
        .conf = conf,
        .hosts = &net->hosts,
        .index = info->index,
        .ports = info->ports,
        .seed = run->seed,
        .epoch = net->epoch,
        .epochs = net->epochs,
        .pool = weft__network_pool(net, node),
        .route_state = weft__route_state_new(t, node, conf, net->epoch[0].routes->edges, run->seed, net->arena_switch),
        .lldp = net->device[node]->dcbx.enabled,
        .sampled = weft__network_sampled(net, node, net->arena_switch),
        .sample_interval_ps = run->sample_interval_ps,
        .te = weft__te_agent(net->te, info->index),
        .node = node,
        .port0 = info->port0,
        .events_max = net->events_max,
        .arena = net->arena_switch,
    };
    weft__switch_new(&setup, &net->engine.node[node]);
}

static struct weft__port *switch_port(void *state, uint32_t k) {
    return &((struct weft__switch *)state)->port[k];
}

struct weft__box_reaction weft__switch_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                                uint32_t port) {
    return (struct weft__box_reaction){
        .processing_ps = conf->sw.processing_ps,
        .pause_ps = conf->sw.pfc.reaction_ps,
        .cut_through = conf->sw.forwarding == WEFT_CUT_THROUGH,
        .frame_least_ps = calc_frame_least(t, port),
    };
}

const struct weft_pfc_conf *weft__switch_pfc(const struct weft_device_conf *conf) {
    return &conf->sw.pfc;
}

static struct weft__trace *switch_trace(const void *state) {
    return ((const struct weft__switch *)state)->trace;
}

static void switch_finish(struct weft__network *net, uint32_t node, weft_time_ps now) {
    weft__switch_finish(weft__network_state(net, node), now);
}

static void switch_each_waiting(const void *state,
                                void (*on_packet)(void *context, const struct weft_packet *, uint32_t out),
                                void *context) {
    const struct weft__switch *sw = state;
    sw->queueing->each(sw->queueing_state, on_packet, context);
}

static const struct weft__box switch_box = {
    .name = "Ethernet switch",
    .make = switch_make,
    .port = switch_port,
    .reaction = weft__switch_reaction,
    .pfc = weft__switch_pfc,
    .trace = switch_trace,
    .held = weft__switch_held,
    .finish = switch_finish,
    .deinit = weft__switch_deinit,
    .each_waiting = switch_each_waiting,
    .port_weight = 2,
};

// --- which is which -----------------------------------------------------------------------------------------------

const struct weft__box *weft__box_of(const struct weft_node_info *node) {
    static const struct weft__box *const boxes[WEFT_BOXES] = {
        [WEFT_BOX_HOST] = &nic_box,
        [WEFT_BOX_PROCESSOR] = &nic_box,
        [WEFT_BOX_ETHERNET_SWITCH] = &switch_box,
        [WEFT_BOX_DSF_INTERFACE] = &weft__box_interface_node,
        [WEFT_BOX_DSF_FABRIC] = &weft__box_fabric_node,
        [WEFT_BOX_TIN] = &weft__box_tin,
    };
    return boxes[node->box];
}

const struct weft__box *weft__box_at(const struct weft_topology *t, uint32_t port) {
    return weft__box_of(&t->node[t->port[port].node]);
}

struct weft__port_peer weft__network_peer(const struct weft__network *net, uint32_t port) {
    const struct weft_topology *t = net->topology;
    uint32_t peer = t->port[port].peer, node = t->port[peer].node;
    struct weft__box_reaction reaction = weft__box_at(t, peer)->reaction(net->device[node], t, peer);
    return (struct weft__port_peer){
        .node = node,
        .inbox = weft__engine_inbox_of(&net->engine, node),
        .port = (uint16_t)(peer - t->node[node].port0),
        .cut_through = reaction.cut_through,
        .processing_ps = reaction.processing_ps,
        .pause_reaction_ps = reaction.pause_ps,
    };
}
