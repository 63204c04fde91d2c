// SPDX-License-Identifier: Apache-2.0
// The Ethernet switch as a box.
#include "box/box.h"
#include "box/switch/switch.h"
#include "box/switch/te_controller.h"

static void switch_make(struct weft__network *net, uint32_t node) {
    const struct weft_topology *t = net->topology;
    const struct weft_node_info *info = &t->node[node];
    const struct weft_run_conf *run = &net->scenario->run;
    const struct weft_switch_conf *conf = &net->device[node]->sw;
    struct weft__switch_setup setup = {
        .rows = &net->port_rows,
        .conf = conf,
        .hosts = &net->hosts,
        .index = info->index,
        .ports = info->ports,
        .seed = run->seed,
        .epoch = net->epoch,
        .epochs = net->epochs,
        .pool = weft__network_pool(net, node),
        .route_state = weft__route_state_new(t, node, conf, net->epoch[0].routes->edges, run->seed, net->arena_switch),
        .link = weft__ethernet_links(conf, t, node, net->host_rate_bps, net->arena_switch),
        .lldp = net->device[node]->dcbx.enabled,
        .sampled = weft__network_sampled(net, node, net->arena_switch),
        .sampling = net->sampling,
        .te = weft__te_agent(net->shared[WEFT_BOX_ETHERNET_SWITCH], info->index),
        .node = node,
        .port0 = info->port0,
        .captured = *net->scenario->capture.ports,
        .events_max = net->events_max,
        .arena = net->arena_switch,
    };
    weft__switch_new(&setup, &net->engine.node[node]);
}

static struct weft__port *switch_port(void *state, uint32_t k) {
    return &((struct weft__switch *)state)->port[k];
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
    weft__switch_each(sw, on_packet, context);
    for (uint32_t port = 0; sw->deferred && port < sw->ports; port++)
        if (sw->deferred[port].bytes) on_packet(context, &sw->deferred[port], sw->deferred[port].node);
}

static const void *switch_route_state(const void *state) {
    return ((const struct weft__switch *)state)->route_state;
}

static weft_time_ps switch_crossing(const struct weft_device_conf *conf) {
    return conf->sw.processing_ps;
}

const struct weft_model weft__box_switch =
    WEFT_MODEL_OF(BOX, "switch", "the Ethernet switch",
                  "IEEE 802.1Q (priorities, PFC, ECN by RFC 3168); queues, arbiter and buffer are models of their own",
                  &weft_switch_table,
                  &(const struct weft__box){
                      .fluid = true,
                      .make = switch_make,
                      .port = switch_port,
                      .reaction = weft__ethernet_reaction,
                      .pfc = weft__ethernet_pfc,
                      .trace = switch_trace,
                      .held = weft__switch_held,
                      .fingerprint = weft__switch_fingerprint,
                      .finish = switch_finish,
                      .deinit = weft__switch_deinit,
                      .each_waiting = switch_each_waiting,
                      .check_state = weft__switch_check_state,
                      .add_credit = weft__ethernet_add_credit,
                      .route_state = switch_route_state,
                      .check = weft__ethernet_check,
                      .crossing = switch_crossing,
                      .shared = &weft__te_shared,
                      .mechanisms = &weft__switch_mechanisms,
                      .takes_routes = true,
                      .port_weight = 2,
                  });
