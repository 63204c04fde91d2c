// SPDX-License-Identifier: Apache-2.0
// A frame that crosses a Clique alone, as if its cells had links to themselves.
#include <string.h>

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

/// Whether the TiN has a link to switches outside.
static bool leaves_clique(const struct weft_topology *t, uint32_t node) {
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

/// The shortest paths from a TiN for cells of one length, by the fewest links.
enum { LINKS_MAX = 3, SEARCHES = 4 };
struct search {
    uint32_t from, wire;
    struct path *path; ///< [nodes]
    uint8_t *links;    ///< [nodes]
    uint32_t *reached; ///< nodes, those with fewer links first
    uint32_t n;
};
/// A flow needs up to three lengths of cells, and flows of one source follow one another.
struct searches {
    struct search search[SEARCHES];
    uint32_t next; ///< to be replaced
};

static void reach_node(struct search *s, uint32_t node, uint32_t links, struct path path) {
    bool first = s->links[node] > LINKS_MAX;
    if (!first && (s->links[node] < links || !is_shorter(path, s->path[node]))) return;
    if (first) s->reached[s->n++] = node;
    s->links[node] = (uint8_t)links;
    s->path[node] = path;
}

static void search_paths(const struct weft__forwarding *forwarding, struct search *s) {
    const struct weft_topology *t = forwarding->t;
    memset(s->links, UINT8_MAX, t->nodes);
    s->n = 0;
    reach_node(s, s->from, 0, (struct path){.time_ps = 0});
    for (uint32_t i = 0; i < s->n && s->links[s->reached[i]] < LINKS_MAX; i++)
        for (uint32_t node = s->reached[i], k = 0; k < t->node[node].ports; k++) {
            const struct weft_port_info *out = weft_topology_port(t, node, k);
            if (!weft_topology_link_is_fabric(t, out->link)) continue;
            reach_node(s, t->port[out->peer].node, s->links[node] + 1u,
                       both_ways(s->path[node], cross_link(forwarding, node, out, s->wire)));
        }
}

static const struct search *search_from(const struct weft__forwarding *forwarding, uint32_t from, uint32_t wire) {
    struct searches *all = forwarding->kept[WEFT_BOX_TIN];
    uint32_t nodes = forwarding->t->nodes;
    if (!all) all = forwarding->kept[WEFT_BOX_TIN] = weft_arena_alloc(forwarding->arena, 1, sizeof *all);
    for (uint32_t i = 0; i < SEARCHES; i++)
        if (all->search[i].n && all->search[i].from == from && all->search[i].wire == wire) return &all->search[i];
    struct search *s = &all->search[all->next++ % SEARCHES];
    if (!s->path) {
        s->path = weft_arena_alloc(forwarding->arena, nodes, sizeof *s->path);
        s->links = weft_arena_alloc(forwarding->arena, nodes, sizeof *s->links);
        s->reached = weft_arena_alloc(forwarding->arena, nodes, sizeof *s->reached);
    }
    s->from = from;
    s->wire = wire;
    search_paths(forwarding, s);
    return s;
}

/// The shortest path towards `dst` from *node on, whatever path its cells take; *node is then the TiN by which it
/// leaves the Clique.
static struct path find_path(const struct weft__forwarding *forwarding, uint32_t *node, uint32_t dst, uint32_t wire) {
    const struct weft_topology *t = forwarding->t;
    uint32_t home = t->port[weft_topology_port(t, t->host[dst], 0)->peer].node, from = *node, found = WEFT_NONE;
    uint32_t exit = t->node[home].box == t->node[from].box ? home : WEFT_NONE;
    const struct search *s = search_from(forwarding, from, wire);
    if (exit != WEFT_NONE && s->links[exit] <= LINKS_MAX) found = exit;
    for (uint32_t i = 0; exit == WEFT_NONE && i < s->n; i++) {
        uint32_t at = s->reached[i];
        if (found != WEFT_NONE && s->links[at] > s->links[found]) break;
        if (leaves_clique(t, at) && (found == WEFT_NONE || is_shorter(s->path[at], s->path[found]))) found = at;
    }
    *node = found != WEFT_NONE ? found : exit != WEFT_NONE ? exit : from;
    return found != WEFT_NONE ? s->path[found] : (struct path){.time_ps = 0};
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
