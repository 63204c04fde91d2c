// SPDX-License-Identifier: Apache-2.0
// The RDMA NIC as a box: a host, or the control processor of a TiN.
#include "box/box.h"
#include "box/nic/nic.h"
#include "transport/raw.h"
#include "transport/rma.h"
#include "weft/credit.h"
#include "weft/transport.h"

/// What the box at the far end of its link grants it.
static struct weft__host_terms find_terms(const struct weft__network *net, uint32_t far) {
    const struct weft__box *box = weft__box_at(net->topology, far);
    struct weft__host_terms terms = {.room_bytes = INT64_MAX};
    if (box->host_terms) box->host_terms(net, far, &terms);
    return terms;
}

/// The times at which the port's link is known to be down.
static uint32_t find_downs(struct weft__network *net, uint32_t port, struct weft__down **ret_down) {
    struct weft__port_faults *faults = weft__network_faults(net, port, net->arena_host);
    uint32_t n = faults ? faults->downs : 0;
    for (uint32_t i = 0; i < n; i++) {
        faults->down[i].from_ps = weft_time_plus(faults->down[i].from_ps, net->scenario->run.detection_ps);
        faults->down[i].to_ps = weft_time_plus(faults->down[i].to_ps, net->scenario->run.detection_ps);
    }
    *ret_down = n ? faults->down : NULL;
    return n;
}

static void nic_make(struct weft__network *net, uint32_t node) {
    const struct weft_topology *t = net->topology;
    const struct weft_node_info *info = &t->node[node];
    const struct weft__qp_lists *qps = &net->qp_lists;
    uint32_t planes = weft__planes(t, net->device), hosts = planes > 1 ? t->network[0].hosts : t->hosts;
    uint32_t h = info->index % hosts, first = t->host[h];
    struct weft__host_terms terms = find_terms(net, t->port[info->port0].peer);
    struct weft__down *down;
    if (planes > 1) {
        terms.downs = find_downs(net, info->port0, &down);
        terms.down = down;
    }
    const bool *sampled = weft__network_sampled(net, node, net->arena_host);
    struct weft__nic_setup setup = {
        .rows = &net->port_rows,
        .planes = planes,
        .plane = info->index / hosts,
        .plane_hosts = hosts,
        .first = node == first ? NULL : weft__network_state(net, first),
        .first_node = &net->engine.node[first],
        .conf = &net->device[node]->host,
        .hosts = &net->hosts,
        .host = h,
        .line_rate_bps = t->link[weft_topology_port(t, node, 0)->link].rate_bps,
        .room_bytes = terms.room_bytes,
        .sends = qps->send_first[h + 1] - qps->send_first[h],
        .receives = qps->receive_first[h + 1] - qps->receive_first[h],
        .send_qp = &qps->send[qps->send_first[h]],
        .receive_qp = &qps->receive[qps->receive_first[h]],
        .pool = weft__network_pool(net, first),
        .gpu = net->gpu ? net->gpu[h] : NULL,
        .rma = net->rma ? net->rma->host[h] : NULL,
        .raw = net->raw ? net->raw->host[h] : NULL,
        .driven = net->driver ? &net->driver->host[h] : NULL,
        .round_trips = net->round_trips ? net->round_trips[weft__engine_worker_of(&net->engine, first)] : NULL,
        .lldp = net->device[node]->dcbx.enabled,
        .down = terms.down,
        .downs = terms.downs,
        .down_drop = terms.down_drop,
        .sampled = sampled && sampled[0],
        .sampling = net->sampling,
        .draw_seed = weft_random_seed_of(net->scenario->run.seed, info->name),
        .node = node,
        .port0 = info->port0,
        .events_max = net->events_max,
        .arena = net->arena_host,
    };
    weft__nic_new(&setup, &net->engine.node[node]);
}

static struct weft__port *nic_port(void *state, uint32_t k) {
    return &((struct weft__nic *)state)->port;
}

static struct weft__box_reaction nic_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                              uint32_t port) {
    return (struct weft__box_reaction){
        .processing_ps = conf->host.processing_ps,
        .pause_ps = weft__pause_reaction(&conf->host.pfc, t, port),
        .frame_least_ps = weft__frame_least_ps(t, port),
    };
}

/// A host as fast as its link takes everything that arrives.
static bool nic_is_quiet(const struct weft_device_conf *conf) {
    bool grants = weft_credit_grants(&conf->host.credit);
    return !conf->host.drain_rate_bps && !conf->dcbx.enabled && !grants;
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

static weft_time_ps nic_patience(const struct weft_device_conf *conf) {
    const struct weft_transport_ops *transport = conf->host.transport.model->ops;
    return transport->patience(conf->host.transport.conf);
}

/// Packets of a NIC wait in the host's memory, where no watchdog can discard them.
static enum weft_status check_watchdog(const struct weft_device_conf *device, const char *name,
                                       struct weft_error *ret_error) {
    const struct weft_pfc_conf *pfc = &device->host.pfc;
    if (pfc->watchdog_ps == WEFT_TIME_NEVER || pfc->watchdog_action != WEFT_PFC_WATCHDOG_DROP) return WEFT_OK;
    return WEFT_REFUSE(ret_error, weft_device_place(device, "host.pfc.watchdog_action"),
                       "host.pfc.watchdog_action of %s: drop, and packets of a NIC wait in its host's memory, where "
                       "none is dropped; expected alert or forward",
                       name);
}

/// Hosts that are ports of one NIC must be in equal networks, include all hosts, and have no settings for a single
/// port.
static enum weft_status nic_check(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error) {
    const struct weft_topology *t = plan->topology;
    const struct weft_device_conf *device = plan->device[node], *other = plan->device[t->host[0]];
    struct weft_place place = weft_device_place(device, "host.planes");
    WEFT_TRY(check_watchdog(device, t->node[node].name, ret_error));
    if (device->host.planes != other->host.planes)
        return WEFT_REFUSE(ret_error, place, "host.planes of %s and %s differ; expected the same for all hosts",
                           t->node[node].name, t->node[t->host[0]].name);
    if (device->host.planes == WEFT_PLANES_SEPARATE) return WEFT_OK;
    const char *mode = device->host.planes == WEFT_PLANES_PACKET ? "packet" : "queue_pair";
    bool equal = t->networks > 1 && t->networks <= WEFT__NIC_PLANES_MAX && !weft_node_is_processor(&t->node[node]);
    for (uint32_t i = 1; i < t->networks; i++)
        equal &= t->network[i].hosts == t->network[0].hosts;
    if (!equal)
        return WEFT_REFUSE(ret_error, place,
                           "host.planes: %s, and topology %s is no 2 to %d networks of as many hosts; "
                           "expected some, as of topology.planes",
                           mode, t->kind, WEFT__NIC_PLANES_MAX);
    if (device->host.drain_rate_bps || device->dcbx.enabled)
        return WEFT_REFUSE(ret_error, place, "host.planes: %s, and %s of %s; expected it off", mode,
                           device->dcbx.enabled ? "dcbx" : "host.drain_rate", t->node[node].name);
    return WEFT_OK;
}

const struct weft_model weft__box_host =
    WEFT_MODEL_OF(BOX, "host", "the host's RDMA NIC",
                  "IBTA vol. 1 (RC transport), annex 17 (RoCEv2); IEEE 802.1Q clause 36 (PFC)", &weft_host_table,
                  &(const struct weft__box){
                      .fluid = true,
                      .make = nic_make,
                      .port = nic_port,
                      .reaction = nic_reaction,
                      .pfc = nic_pfc,
                      .check = nic_check,
                      .is_quiet = nic_is_quiet,
                      .trace = nic_trace,
                      .held = weft__nic_held,
                      .check_state = weft__nic_check_state,
                      .add_credit = weft__ethernet_add_credit,
                      .fingerprint = weft__nic_fingerprint,
                      .pass_looks = weft__nic_pass_looks,
                      .finish = nic_finish,
                      .patience = nic_patience,
                      .endpoint = &weft__nic_endpoint_ops,
                      .coast = &weft__nic_coast,
                      .mechanisms = &weft__nic_mechanisms,
                      .orders = true,
                      .weight = 3,
                  });
