// SPDX-License-Identifier: Apache-2.0
// The boxes of a disaggregated scheduled fabric.
#include <assert.h>

#include "base/param.h"
#include "box/box.h"
#include "box/clock.h"
#include "box/dsf/dsf_fn.h"
#include "box/dsf/dsf_in.h"
#include "box/dsf/dsf_net.h"
#include "weft/hardware.h"
#include "weft/param.h"

/// The far end of a fabric link.
static void connect_lane(struct weft__network *net, uint32_t port, const struct weft__port_setup *setup,
                         struct weft__lanes *lanes, uint32_t lane) {
    const struct weft_topology *t = net->topology;
    const struct weft_port_info *info = &t->port[port];
    struct weft__port_peer peer = weft__network_peer(net, port);
    struct weft__speed speed = weft__clock_speed(t, net->device, net->scenario->run.seed, port);
    bool connected = weft__lanes_connect(lanes, lane, &t->link[info->link], speed, &peer, setup->faults);
    assert(connected); // weft_simulation_check guarantees it
    lanes->follow = weft__network_follow(net, info->node);
    if (!lanes->follow) return;
    if (!lanes->follow_port)
        lanes->follow_port = weft_arena_alloc(net->arena_switch, lanes->n, sizeof *lanes->follow_port);
    lanes->follow_port[lane] = (uint16_t)(port - t->node[info->node].port0);
}

static void each_count_of_lanes(struct weft__lanes *lanes, weft__on_count *on_count, void *context) {
    on_count(context, &lanes->lost);
    for (uint32_t k = 0; k < lanes->n; k++) {
        on_count(context, &lanes->lane[k].tx_cells);
        on_count(context, &lanes->lane[k].tx_bytes);
    }
}

static weft_time_ps calc_cell_least(const struct weft_topology *t, uint32_t port) {
    return WEFT_CELL_CONTROL * 8 * WEFT_PS_PER_S / t->link[t->port[port].link].rate_bps;
}

// --- interface node -----------------------------------------------------------------------------------------------

static void in_make(struct weft__network *net, uint32_t node) {
    struct weft__dsf *dsf = weft__dsf_of(net);
    const struct weft_topology *t = net->topology;
    const struct weft_node_info *info = &t->node[node];
    struct weft_arena *arena = net->arena_switch;
    bool *fabric = weft_arena_alloc(arena, info->ports, sizeof *fabric);
    for (uint32_t k = 0; k < info->ports; k++)
        fabric[k] = weft_topology_port_is_fabric(t, info->port0 + k);
    struct weft__in_setup setup = {
        .rows = &net->port_rows,
        .conf = weft__interface_conf(net->device[node]),
        .ethernet = &net->device[node]->sw,
        .hosts = &net->hosts,
        .eligible = &dsf->eligible->box[node],
        .in_of_host = dsf->in_of_host,
        .port_of_host = dsf->port_of_host,
        .outside = dsf->outside ? &dsf->outside[dsf->fabric_of_node[node]] : NULL,
        .known = dsf->known ? &dsf->known[dsf->eligible->in_of_node[node]] : NULL,
        .self = dsf->eligible->in_of_node[node],
        .ins = dsf->eligible->ins,
        .who = info->index,
        .node_ports = info->ports,
        .is_fabric = fabric,
        .sampled = weft__network_sampled(net, node, arena),
        .sampling = net->sampling,
        .seed = net->scenario->run.seed,
        .pool = weft__network_pool(net, node),
        .lldp = net->device[node]->dcbx.enabled,
        .llfc = dsf->llfc,
        .seen = weft__dsf_seen(net, node),
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

static void in_connect(struct weft__network *net, uint32_t port, const struct weft__port_setup *setup) {
    uint32_t node = net->topology->port[port].node;
    struct weft__in *in = weft__network_state(net, node);
    connect_lane(net, port, setup, &in->lanes, in->slot[port - net->topology->node[node].port0]);
}

/// What a frame of a host takes. No class of switch chips is about this box: it has the default of switch.processing
/// where neither a key nor a preset says another.
static weft_time_ps frame_processing(const struct weft_device_conf *conf) {
    if (conf->sw.preset || weft_device_says(conf, "switch", "processing")) return conf->sw.processing_ps;
    struct weft_switch_conf dflt;
    const struct weft_param *row = weft_param_find(weft_hardware_kind_table(WEFT_HARDWARE_CHIP), "processing");
    enum weft_status status = weft__param_parse_at(row, row->dflt, WEFT_NOWHERE, row->name, &dflt, NULL, NULL);
    assert(status == WEFT_OK); // the table's own default is valid
    return status ? 0 : dflt.processing_ps;
}

/// It takes whole frames.
static struct weft__box_reaction in_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                             uint32_t port) {
    if (!weft_topology_port_is_fabric(t, port)) {
        struct weft__box_reaction reaction = weft__ethernet_reaction(conf, t, port);
        reaction.processing_ps = frame_processing(conf);
        reaction.cut_through = false;
        return reaction;
    }
    weft_time_ps processing = weft__interface_conf(conf)->processing_ps;
    return (struct weft__box_reaction){
        .processing_ps = processing, .pause_ps = processing, .frame_least_ps = calc_cell_least(t, port)};
}

static struct weft__trace *in_trace(const void *state) {
    return ((const struct weft__in *)state)->trace;
}

/// A VOQ is part of the queue of the port by which its packets leave, wherever that is: marks of all of them are shown
/// there.
static void collect_marks(struct weft__network *net, const struct weft__in *in) {
    const struct weft_eligible *eligible = weft__dsf_of(net)->eligible;
    for (uint32_t i = 0; i < in->voqs.n; i++) {
        const struct weft__voq *v = &in->voq[i];
        if (!in->voq_marked[i]) continue;
        uint32_t port = weft__dsf_ethernet_port(net->topology, eligible->node_of_in[v->to], v->port);
        weft_outcome_at(net->outcome, port, v->priority)->ecn_marked += in->voq_marked[i];
    }
}

static void in_finish(struct weft__network *net, uint32_t node, weft_time_ps now) {
    struct weft__in *in = weft__network_state(net, node);
    const struct weft_node_info *info = &net->topology->node[node];
    weft__in_finish(in, now, weft_outcome_dsf(net->outcome));
    collect_marks(net, in);
    for (uint32_t k = 0; k < info->ports; k++)
        if (!(in->slot[k] & WEFT__IN_ETHERNET))
            weft__lane_finish(&in->lanes, &in->lanes.lane[in->slot[k]],
                              weft_outcome_at(net->outcome, info->port0 + k, 0));
}

static void in_each_count(struct weft__network *net, uint32_t node, weft__on_count *on_count, void *context) {
    struct weft__in *in = weft__network_state(net, node);
#define X(field, type, help) on_count(context, &in->counts.field);
    WEFT_DSF_COUNTERS(X)
#undef X
    each_count_of_lanes(&in->lanes, on_count, context);
    if (in->queues) on_count(context, &in->queues->stopped_ps);
    for (uint32_t i = 0; i < in->voqs.n; i++)
        on_count(context, &in->voq_marked[i]);
}

/// Packets that wait without credits are discarded after the watchdog's time.
static weft_time_ps in_patience(const struct weft_device_conf *conf) {
    return weft__interface_conf(conf)->watchdog_ps;
}

static weft_time_ps in_crossing(const struct weft_device_conf *conf) {
    return weft__interface_conf(conf)->processing_ps;
}

static uint32_t in_recorded_port(const struct weft__network *net, uint64_t more) {
    return weft__dsf_ethernet_port(net->topology, weft__dsf_of(net)->eligible->node_of_in[more >> 16], more & 0xffff);
}

static const char *const in_sections[] = {"reachability", "fsdb", "bgp", NULL};

static const struct weft__box_control in_control = {
    .sections = in_sections,
    .one = "an interface node",
    .several = "interface nodes",
    .whats = 1 << WEFT_CONTROL_CRASH | 1 << WEFT_CONTROL_RESTART | 1 << WEFT_CONTROL_SHUT | 1 << WEFT_CONTROL_MOVE |
             1 << WEFT_CONTROL_DRAIN | 1 << WEFT_CONTROL_UNDRAIN | 1 << WEFT_CONTROL_ASIC_ERROR,
    .expected = "crash, restart, shut, cut, heal, move or a drain",
};

/// It has VOQs and a scheduler of credits of its own, and makes no messages to sources.
static const char *const in_unasked[] = {"forwarding",      "packet_rate",    "pipes", "queueing",  "arbiter",
                                         "fabric_patience", "fabric_speedup", "sfc",   "sfc_proxy", NULL};

const struct weft_model weft__box_interface_node =
    WEFT_MODEL_OF(BOX, "interface_node", "the DSF interface node, beyond what it has of a switch",
                  "OpenBCM 6.5.24 (Jericho 2), FBOSS; see docs/dsf.md", &weft_interface_table,
                  &(const struct weft__box){
                      .fluid = true,
                      .qp_mask = WEFT__CELL_QP,
                      .unasked = in_unasked,
                      .make = in_make,
                      .port = in_port,
                      .connect = in_connect,
                      .start = weft__in_start,
                      .reaction = in_reaction,
                      .pfc = weft__ethernet_pfc,
                      .trace = in_trace,
                      .held = weft__in_held,
                      .check_state = weft__in_check_state,
                      .each_count = in_each_count,
                      .finish = in_finish,
                      .deinit = weft__in_deinit,
                      .each_waiting = weft__in_each_waiting,
                      .check = weft__ethernet_check,
                      .patience = in_patience,
                      .crossing = in_crossing,
                      .draws = true,
                      .cross = weft__dsf_cross,
                      .credit = weft__dsf_credit,
                      .exit = weft__dsf_exit,
                      .recorded_port = in_recorded_port,
                      .shared = &weft__dsf_shared,
                      .results = &weft__dsf_results,
                      .mechanisms = &weft__interface_mechanisms,
                      .control = &in_control,
                      .view = &weft__dsf_view,
                      .orders = true,
                      .port_weight = 2,
                  });

// --- fabric node --------------------------------------------------------------------------------------------------

static void fn_make(struct weft__network *net, uint32_t node) {
    struct weft__dsf *dsf = weft__dsf_of(net);
    const struct weft_node_info *info = &net->topology->node[node];
    struct weft__fn_setup setup = {
        .conf = weft__fabric_conf(net->device[node]),
        .eligible = &dsf->eligible->box[node],
        .ports = info->ports,
        .ins = dsf->eligible->ins,
        .who = info->index,
        .seed = net->scenario->run.seed,
        .packing = dsf->packing,
        .sampled = weft__network_sampled(net, node, net->arena_switch),
        .sampling = net->sampling,
        .seen = weft__dsf_seen(net, node),
        .node = node,
        .port0 = info->port0,
        .events_max = net->events_max,
        .pool = dsf->llfc ? weft__network_pool(net, node) : NULL,
        .arena = net->arena_switch,
    };
    weft__fn_new(&setup, &net->engine.node[node]);
}

static struct weft__port *fn_port(void *state, uint32_t k) {
    return NULL;
}

static void fn_connect(struct weft__network *net, uint32_t port, const struct weft__port_setup *setup) {
    uint32_t node = net->topology->port[port].node;
    struct weft__fn *fn = weft__network_state(net, node);
    connect_lane(net, port, setup, &fn->lanes, port - net->topology->node[node].port0);
}

static struct weft__box_reaction fn_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                             uint32_t port) {
    weft_time_ps processing = weft__fabric_conf(conf)->processing_ps;
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
    weft__fn_finish(fn, now, weft_outcome_dsf(net->outcome));
    for (uint32_t k = 0; k < fn->lanes.n; k++)
        weft__lane_finish(&fn->lanes, &fn->lanes.lane[k], weft_outcome_at(net->outcome, port0 + k, 0));
}

static void fn_each_count(struct weft__network *net, uint32_t node, weft__on_count *on_count, void *context) {
    struct weft__fn *fn = weft__network_state(net, node);
    on_count(context, &fn->dropped);
    on_count(context, &fn->marked);
    on_count(context, &fn->unreachable);
    each_count_of_lanes(&fn->lanes, on_count, context);
    if (!fn->llfc) return;
    on_count(context, &fn->llfc->count);
    on_count(context, &fn->llfc->queues.stopped_ps);
}

static weft_time_ps fn_crossing(const struct weft_device_conf *conf) {
    return weft__fabric_conf(conf)->processing_ps;
}

const struct weft_model weft__box_fabric_node = WEFT_MODEL_OF(
    BOX, "fabric_node", "the DSF fabric node", "OpenBCM 6.5.24 (Ramon), FBOSS; see docs/dsf.md", &weft_fabric_table,
    &(const struct weft__box){
        .fluid = true,
        .qp_mask = WEFT__CELL_QP,
        .make = fn_make,
        .port = fn_port,
        .connect = fn_connect,
        .reaction = fn_reaction,
        .trace = fn_trace,
        .held = weft__fn_held,
        .check_state = weft__fn_check_state,
        .each_count = fn_each_count,
        .finish = fn_finish,
        .crossing = fn_crossing,
        .draws = true,
        .shared = &weft__dsf_shared,
        .results = &weft__dsf_results,
        .mechanisms = &weft__fabric_mechanisms,
        .view = &weft__dsf_view,
        .orders = true,
        .port_weight = 2,
    });
