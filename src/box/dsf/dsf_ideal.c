// SPDX-License-Identifier: Apache-2.0
// The time of a frame that crosses a DSF alone, and the port by which it leaves.
#include "box/clock.h"
#include "box/dsf/dsf_net.h"

enum { HOPS_MAX = 64 };

/// Whether cells leave this node for a host, rather than frames.
static bool crosses_fabric(const struct weft__forwarding *forwarding, uint32_t node, uint32_t dst) {
    uint32_t n;
    const uint16_t *port = weft_routes_at(forwarding->routes, forwarding->t->node[node].index, dst, &n);
    return n && weft_topology_link_is_fabric(forwarding->t, weft_topology_port(forwarding->t, node, port[0])->link);
}

/// The time of one path for cells through the fabric of a DSF, with `wire` bytes each and `turns` of them per lane.
static weft_time_ps cross_fabric(const struct weft__forwarding *forwarding, uint32_t node, uint32_t dst, uint32_t wire,
                                 uint32_t turns, uint32_t *ret_far) {
    const struct weft_topology *t = forwarding->t;
    weft_time_ps time = 0;
    for (uint32_t hops = 0; hops < HOPS_MAX; hops++) {
        uint32_t n;
        const uint16_t *port = weft_routes_at(forwarding->routes, t->node[node].index, dst, &n);
        if (!n) break;
        const struct weft_port_info *out = weft_topology_port(t, node, port[0]);
        const struct weft_link_info *link = &t->link[out->link];
        node = t->port[out->peer].node;
        struct weft__box_reaction r = weft__box_at(t, out->peer)->reaction(forwarding->device[node], t, out->peer);
        struct weft__speed speed = weft__clock_speed(t, forwarding->device, forwarding->seed, t->port[out->peer].peer);
        time += weft__speed_time(speed, (uint64_t)wire * (hops ? 1 : turns)) + link->delay_ps + r.processing_ps;
        if (t->node[node].box == WEFT_BOX_DSF_INTERFACE) break;
    }
    *ret_far = node;
    return time;
}

/// From one interface node to the one where the frame leaves the fabric, with its cells in parallel. Credit may be left
/// over from earlier frames, so the minimum time does not include asking for it.
bool weft__dsf_cross(const struct weft__forwarding *forwarding, const struct weft__lone_frame *f,
                     struct weft__crossing *ret) {
    if (!crosses_fabric(forwarding, f->node, f->dst)) return false;
    uint32_t lanes;
    uint32_t payload = f->bytes + WEFT_CELL_PACKET, cells = (payload + WEFT_CELL_PAYLOAD - 1) / WEFT_CELL_PAYLOAD;
    weft_routes_at(forwarding->routes, forwarding->t->node[f->node].index, f->dst, &lanes);
    uint32_t wire = (cells > 1 ? WEFT_CELL_PAYLOAD : payload) + WEFT_CELL_HEADER;
    ret->time_ps = cross_fabric(forwarding, f->node, f->dst, wire, (cells + lanes - 1) / lanes, &ret->node);
    ret->whole = false;
    return true;
}

/// The loop: a request to the node where frames leave, whose port gives the first credit at once, and that credit.
void weft__dsf_credit(const struct weft__forwarding *forwarding, uint32_t node, uint32_t dst,
                      struct weft__box_credit *ret) {
    const struct weft_topology *t = forwarding->t;
    const struct weft_interface_conf *conf = weft__interface_conf(forwarding->device[node]);
    weft_rate_bps rate = t->link[weft_topology_port(t, t->host[dst], 0)->link].rate_bps;
    uint64_t inflight = weft_dsf_inflight(rate, weft_interface_fabric_delay(conf), conf->credit_bytes);
    if (conf->inflight) inflight = conf->inflight;
    struct weft_dsf_preset preset = weft_dsf_preset(conf->voq_preset, inflight, conf->credit_bytes);
    uint32_t far;
    weft_time_ps way = cross_fabric(forwarding, node, dst, WEFT_CELL_CONTROL, 1, &far);
    *ret = (struct weft__box_credit){
        .credit_bytes = conf->credit_bytes,
        .surplus_bytes = preset.surplus,
        .balance_bytes = preset.balance_max,
        .loop_ps = 2 * way,
        .age_ps = conf->balance_age_ps,
        .speedup = conf->speedup,
    };
}

/// Cells in between use all lanes, so there is no single path to name.
uint32_t weft__dsf_exit(const struct weft__network *net, uint32_t node, const struct weft_packet *p) {
    const struct weft__dsf *dsf = weft__dsf_of(net);
    if (!dsf) return WEFT_NONE;
    uint32_t self = dsf->eligible->in_of_node[node];
    struct weft__outside_exit at = {dsf->in_of_host[p->dst], dsf->port_of_host[p->dst]};
    const struct weft__outside *o = dsf->outside ? &dsf->outside[dsf->fabric_of_node[node]] : NULL;
    if (o && o->fabric_of_host[p->dst] != o->fabric && !weft__outside_exit(o, 0, p, self, &at)) return WEFT_NONE;
    if (at.in == WEFT_NONE) return WEFT_NONE;
    return weft__dsf_ethernet_port(net->topology, dsf->eligible->node_of_in[at.in], at.port);
}
