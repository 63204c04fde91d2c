// SPDX-License-Identifier: Apache-2.0
// A frame that crosses a Clique alone, as if its cells had links to themselves.
#include "box/tin/tin_net.h"

enum { HOPS_MAX = 64 };

/// How much FEC lengthens a cell of this size on a link.
static weft_time_ps calc_fec(const struct weft_link_info *link, double overhead, uint32_t bytes) {
    return weft_tin_cell_ps(bytes, link->rate_bps, overhead) - weft_tin_cell_ps(bytes, link->rate_bps, 0);
}

/// The time that the links of a path through a Clique add to successive cells.
struct way {
    weft_time_ps time_ps;             ///< of any cell
    weft_time_ps signals_ps, data_ps; ///< of RTS and CTS together, and of the packet's cells, which depends on their
                                      ///< lengths
};

/// The path towards `dst` from *node on; *node is then the TiN by which it leaves the Clique. A cell of the packet has
/// `wire` bytes.
static struct way find_way(const struct weft__ways *ways, uint32_t *node, uint32_t dst, uint32_t wire) {
    const struct weft_topology *t = ways->t;
    struct way way = {.time_ps = 0};
    for (uint32_t hops = 0; hops < HOPS_MAX; hops++) {
        uint32_t n;
        const uint16_t *port = weft_routes_at(ways->routes, t->node[*node].index, dst, &n);
        const struct weft_port_info *out = n ? weft_topology_port(t, *node, port[0]) : NULL;
        if (!out || !weft_topology_link_is_fabric(t, out->link)) break;
        const struct weft_link_info *link = &t->link[out->link];
        uint32_t far = t->port[out->peer].node;
        const struct weft_tin_conf *own = weft__tin_conf(ways->device[*node]),
                                   *other = weft__tin_conf(ways->device[far]);
        way.time_ps += link->delay_ps + other->link_ps + other->fall_through_ps;
        if (t->node[*node].cluster != t->node[far].cluster) {
            way.time_ps += own->fec_ps;
            way.signals_ps += 2 * calc_fec(link, own->fec_overhead, WEFT_GNET_CELL_MIN);
            way.data_ps += calc_fec(link, own->fec_overhead, wire);
        }
        *node = far;
    }
    return way;
}

/// RTS, CTS, and its cells in parallel from all endpoints. A long frame is announced as soon as its header has arrived.
bool weft__tin_cross(const struct weft__ways *ways, const struct weft__lone_frame *f, struct weft__crossing *ret) {
    if (f->crossed) return false;
    const struct weft_tin_conf *conf = weft__tin_conf(ways->device[f->node]);
    uint32_t payload = f->bytes - WEFT__TIN_L2_BYTES, cells = (payload + WEFT_GNET_PAYLOAD - 1) / WEFT_GNET_PAYLOAD;
    uint32_t wire = cells > 1 ? (uint32_t)WEFT_GNET_CELL_MAX : payload + WEFT_GNET_DATA_HEAD_BYTES;
    uint64_t others = conf->ip_endpoints - conf->nic_endpoints; // the Ethernet port's, or all
    uint64_t endpoints = others > conf->nic_endpoints ? others : conf->nic_endpoints;
    uint64_t turns = (cells + endpoints - 1) / endpoints;
    weft_rate_bps rate = conf->endpoint_rate_bps;
    *ret = (struct weft__crossing){.node = f->node, .whole = true};
    struct way way = find_way(ways, &ret->node, f->dst, wire);
    way.time_ps += conf->processing_ps + conf->fall_through_ps;
    weft_time_ps signals = 2 * weft_tin_cell_ps(WEFT_GNET_CELL_MIN, rate, 0) + way.signals_ps + 2 * way.time_ps;
    if (f->bytes > conf->rts_early_bytes) signals = signals > f->rest_ps ? signals - f->rest_ps : 0;
    ret->time_ps = signals + way.time_ps + turns * weft_tin_cell_ps(wire, rate, 0) + way.data_ps;
    return true;
}
