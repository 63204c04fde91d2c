// SPDX-License-Identifier: Apache-2.0
// A frame that crosses a Clique alone, as if its cells had links to themselves.
#include "box/tin/tin_net.h"

/// How much FEC lengthens a cell of this size on a link.
static weft_time_ps calc_fec(const struct weft_link_info *link, double overhead, uint32_t bytes) {
    return weft_tin_cell_ps(bytes, link->rate_bps, overhead) - weft_tin_cell_ps(bytes, link->rate_bps, 0);
}

/// The time that the links of a path through a Clique add to successive cells.
struct path {
    weft_time_ps time_ps;             ///< of any cell
    weft_time_ps signals_ps, data_ps; ///< of RTS and CTS together, and of the packet's cells, which depends on their
                                      ///< lengths
};

/// What a link of the fabric adds. A cell of the packet has `wire` bytes.
static struct path cross_link(const struct weft__forwarding *forwarding, uint32_t node,
                              const struct weft_port_info *out, uint32_t wire) {
    const struct weft_topology *t = forwarding->t;
    const struct weft_link_info *link = &t->link[out->link];
    uint32_t far = t->port[out->peer].node;
    const struct weft_tin_conf *own = weft__tin_conf(forwarding->device[node]),
                               *other = weft__tin_conf(forwarding->device[far]);
    struct path path = {.time_ps = link->delay_ps + other->link_ps + other->fall_through_ps};
    if (t->node[node].cluster == t->node[far].cluster) return path;
    path.time_ps += own->fec_ps;
    path.signals_ps = 2 * calc_fec(link, own->fec_overhead, WEFT_GNET_CELL_MIN);
    path.data_ps = calc_fec(link, own->fec_overhead, wire);
    return path;
}

static struct path both_ways(struct path a, struct path b) {
    return (struct path){a.time_ps + b.time_ps, a.signals_ps + b.signals_ps, a.data_ps + b.data_ps};
}

/// Where the packet may leave the fabric: at one TiN (node), or by any with a link to switches outside (WEFT_NONE).
static bool is_exit(const struct weft_topology *t, uint32_t node, uint32_t exit) {
    if (exit != WEFT_NONE) return node == exit;
    for (uint32_t k = 0; k < t->node[node].ports; k++) {
        const struct weft_port_info *out = weft_topology_port(t, node, k);
        uint32_t role = t->node[t->port[out->peer].node].role;
        if (role == WEFT_NODE_SWITCH && !weft_topology_link_is_fabric(t, out->link)) return true;
    }
    return false;
}

static bool is_shorter(struct path a, struct path b) {
    return 3 * a.time_ps + a.signals_ps + a.data_ps < 3 * b.time_ps + b.signals_ps + b.data_ps;
}

/// The shortest path with at most this many links from `node` to an exit; false: there is none.
static bool find_shortest(const struct weft__forwarding *forwarding, uint32_t node, uint32_t exit, uint32_t links,
                          uint32_t wire, struct path *ret_path, uint32_t *ret_node) {
    const struct weft_topology *t = forwarding->t;
    bool found = is_exit(t, node, exit);
    *ret_path = (struct path){.time_ps = 0};
    *ret_node = node;
    if (found || !links) return found;
    for (uint32_t k = 0; k < t->node[node].ports; k++) {
        const struct weft_port_info *out = weft_topology_port(t, node, k);
        struct path rest;
        uint32_t at;
        if (!weft_topology_link_is_fabric(t, out->link)) continue;
        if (!find_shortest(forwarding, t->port[out->peer].node, exit, links - 1, wire, &rest, &at)) continue;
        rest = both_ways(cross_link(forwarding, node, out, wire), rest);
        if (found && !is_shorter(rest, *ret_path)) continue;
        found = true;
        *ret_path = rest;
        *ret_node = at;
    }
    return found;
}

/// The shortest path towards `dst` from *node on, whatever path its cells take; *node is then the TiN by which it
/// leaves the Clique.
static struct path find_path(const struct weft__forwarding *forwarding, uint32_t *node, uint32_t dst, uint32_t wire) {
    enum { LINKS_MAX = 3 };
    const struct weft_topology *t = forwarding->t;
    uint32_t home = t->port[weft_topology_port(t, t->host[dst], 0)->peer].node, from = *node;
    uint32_t exit = t->node[home].box == t->node[from].box ? home : WEFT_NONE;
    struct path path;
    for (uint32_t links = 1; links <= LINKS_MAX; links++)
        if (find_shortest(forwarding, from, exit, links, wire, &path, node)) return path;
    *node = exit == WEFT_NONE ? from : exit;
    return (struct path){.time_ps = 0};
}

/// RTS, CTS, and its cells in parallel from all endpoints. A long frame is announced as soon as its header has arrived.
bool weft__tin_cross(const struct weft__forwarding *forwarding, const struct weft__lone_frame *f,
                     struct weft__crossing *ret) {
    if (f->crossed) return false;
    const struct weft_tin_conf *conf = weft__tin_conf(forwarding->device[f->node]);
    uint32_t payload = f->bytes - WEFT__TIN_L2_BYTES, cells = (payload + WEFT_GNET_PAYLOAD - 1) / WEFT_GNET_PAYLOAD;
    uint32_t wire = cells > 1 ? (uint32_t)WEFT_GNET_CELL_MAX : payload + WEFT_GNET_DATA_HEAD_BYTES;
    uint64_t others = conf->ip_endpoints - conf->nic_endpoints; // the Ethernet port's, or all
    uint64_t endpoints = others > conf->nic_endpoints ? others : conf->nic_endpoints;
    uint64_t turns = (cells + endpoints - 1) / endpoints;
    uint32_t last = payload - (cells - 1) * WEFT_GNET_PAYLOAD + WEFT_GNET_DATA_HEAD_BYTES;
    bool alone = (cells - 1) % endpoints == 0; // the last cell, which is shorter, in the last turn
    weft_rate_bps rate = conf->endpoint_rate_bps;
    *ret = (struct weft__crossing){.node = f->node, .whole = true};
    struct path path = find_path(forwarding, &ret->node, f->dst, alone ? last : wire);
    path.time_ps += conf->processing_ps + conf->fall_through_ps;
    weft_time_ps signals = 2 * weft_tin_cell_ps(WEFT_GNET_CELL_MIN, rate, 0) + path.signals_ps + 2 * path.time_ps;
    if (f->bytes > conf->rts_early_bytes) signals = signals > f->rest_ps ? signals - f->rest_ps : 0;
    ret->time_ps = signals + path.time_ps + (turns - 1) * weft_tin_cell_ps(wire, rate, 0) +
                   weft_tin_cell_ps(alone ? last : wire, rate, 0) + path.data_ps;
    return true;
}
