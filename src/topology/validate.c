// SPDX-License-Identifier: Apache-2.0
// The conditions that a network must satisfy before anything is simulated on it.
#include "base/units.h"
#include "topology/builder.h"
#include "weft/dragonfly.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

/// A fabric node understands cells only, which only DSF nodes send.
static enum weft_status check_fabric(const struct weft_node_info *fabric, const struct weft_node_info *peer,
                                     struct weft_place place, struct weft_error *ret_error) {
    if (fabric->box != WEFT_BOX_DSF_FABRIC || peer->box == WEFT_BOX_DSF_FABRIC) return WEFT_OK;
    if (peer->box != WEFT_BOX_DSF_INTERFACE)
        return BAD(place, "%s is a DSF fabric node and %s is not of a DSF fabric; expected an interface or fabric node",
                   fabric->name, peer->name);
    if (fabric->fabric_level != 1)
        return BAD(place, "%s is a DSF fabric node of level %u and %s an interface node; expected level 1",
                   fabric->name, fabric->fabric_level, peer->name);
    return WEFT_OK;
}

static enum weft_status check_link(const struct weft_topology_builder *b, const struct weft__link *l,
                                   struct weft_error *ret_error) {
    const struct weft_node_info *from = &b->node[l->node[0]], *to = &b->node[l->node[1]];
    char rate[32];
    if (from == to) return BAD(l->place, "link from %s to itself; expected two different nodes", from->name);
    if (from->role == WEFT_NODE_HOST && to->role == WEFT_NODE_HOST)
        return BAD(l->place, "hosts %s and %s are linked directly; expected a switch at one end", from->name, to->name);
    enum weft_status status = check_fabric(from, to, l->place, ret_error);
    if (!status) status = check_fabric(to, from, l->place, ret_error);
    if (status) return status;
    if (l->rate_bps < WEFT__RATE_MIN || l->rate_bps > WEFT__RATE_MAX) {
        weft_format_rate(l->rate_bps, rate, sizeof rate);
        return BAD(l->place, "link %s to %s has rate %s; expected 10Mbps to 100Tbps", from->name, to->name, rate);
    }
    if (!(l->bit_error_rate >= 0 && l->bit_error_rate < 1))
        return BAD(l->place, "link %s to %s has bit error rate %g; expected 0 or more and less than 1", from->name,
                   to->name, l->bit_error_rate);
    if (l->delay_ps < 1 || l->delay_ps > WEFT_PS_PER_S)
        return BAD(l->place, "link %s to %s has a delay of %llu ps; expected 1ps to 1s", from->name, to->name,
                   (unsigned long long)l->delay_ps);
    return WEFT_OK;
}

static enum weft_status check_node(const struct weft_topology_builder *b, uint32_t n, uint32_t degree,
                                   struct weft_error *ret_error) {
    const struct weft_node_info *node = &b->node[n];
    if (!degree)
        return BAD(b->node_place[n], "%s %s has no link; expected %s", node->layer, node->name,
                   node->role == WEFT_NODE_HOST ? "exactly one" : "at least one");
    if (node->role == WEFT_NODE_HOST && degree != 1)
        return BAD(b->node_place[n], "host %s has %u links; expected exactly one (a host is one NIC port)", node->name,
                   degree);
    if (degree > WEFT__PORTS_MAX)
        return BAD(b->node_place[n], "switch %s has %u ports; at most %u are supported", node->name, degree,
                   WEFT__PORTS_MAX);
    return WEFT_OK;
}

/// The nodes of [first, end) must be connected, have hosts, and have no link to others.
static enum weft_status check_network(const struct weft_topology_builder *b, uint32_t *parent, uint32_t first,
                                      uint32_t end, const char *name, struct weft_error *ret_error) {
    uint32_t hosts = 0;
    for (uint32_t n = first; n < end; n++)
        hosts += b->node[n].role == WEFT_NODE_HOST;
    struct weft_place place = first < end ? b->node_place[first] : b->place;
    if (hosts < 2)
        return BAD(place, "the network%s%s has %u host(s); expected at least two", *name ? " " : "", name, hosts);
    for (uint32_t n = first; n < end; n++)
        if (weft__root_of(parent, n) != weft__root_of(parent, first))
            return BAD(b->node_place[n], "the network%s%s is in parts: no path from %s to %s", *name ? " " : "", name,
                       b->node[first].name, b->node[n].name);
    return WEFT_OK;
}

static enum weft_status check_networks(const struct weft_topology_builder *b, struct weft_error *ret_error) {
    WEFT_FREED uint32_t *parent = weft_memory_new(WEFT_MEMORY_TOPOLOGY, b->nodes, sizeof *parent);
    for (uint32_t n = 0; n < b->nodes; n++)
        parent[n] = n;
    for (uint32_t i = 0; i < b->links; i++)
        parent[weft__root_of(parent, b->link[i].node[0])] = weft__root_of(parent, b->link[i].node[1]);
    enum weft_status status = b->network ? WEFT_OK : check_network(b, parent, 0, b->nodes, "", ret_error);
    uint32_t end = b->nodes;
    for (const struct weft__network *n = b->network; n && !status; end = n->node0, n = n->next)
        status = check_network(b, parent, n->node0, end, n->name, ret_error);
    return status;
}

/// Checks counts that later stages rely on; the sum of rates must fit in 64 bits wherever capacities are added up.
static enum weft_status check_totals(const struct weft_topology_builder *b, struct weft_error *ret_error) {
    uint32_t edges = 0;
    uint64_t rate_bps = 0;
    WEFT_FREED bool *edge = weft_memory_new(WEFT_MEMORY_TOPOLOGY, b->nodes, sizeof *edge);
    for (uint32_t i = 0; i < b->links; i++) {
        const uint32_t *node = b->link[i].node;
        for (unsigned end = 0; end < 2; end++)
            if (b->node[node[end]].role == WEFT_NODE_HOST && !edge[node[!end]]) {
                edge[node[!end]] = true;
                edges++;
            }
        if (rate_bps <= INT64_MAX) rate_bps += b->link[i].rate_bps;
    }
    if (edges > WEFT__EDGES_MAX)
        return BAD(b->place, "the network has %u switches with hosts; at most %u are supported", edges,
                   WEFT__EDGES_MAX);
    if (rate_bps > INT64_MAX) return BAD(b->place, "the links add up to more than 9.2 million Tbps");
    return WEFT_OK;
}

/// Sets of a TiN's GNet ports are bit masks, and the number of a TiN has 16 bits.
static enum weft_status check_tins(const struct weft_topology_builder *b, struct weft_error *ret_error) {
    uint32_t tins = 0, l = 0;
    for (uint32_t n = 0; n < b->nodes; n++)
        if (b->node[n].box == WEFT_BOX_TIN && ++tins > WEFT_GNET_TINS_MAX)
            return BAD(b->node_place[n], "more than %d TiNs; expected no more in a topology", WEFT_GNET_TINS_MAX);
    if (!tins) return WEFT_OK;
    WEFT_FREED uint32_t *ports = weft_memory_new(WEFT_MEMORY_TOPOLOGY, b->nodes, sizeof *ports);
    for (; l < b->links; l++) {
        uint32_t from = b->link[l].node[0], to = b->link[l].node[1], used = ports[from]++, there = ports[to]++;
        if (b->node[from].box == WEFT_BOX_TIN && b->node[to].box == WEFT_BOX_TIN &&
            (used >= WEFT_GNET_PORTS_MAX || there >= WEFT_GNET_PORTS_MAX))
            break;
    }
    if (l == b->links) return WEFT_OK;
    return BAD(b->link[l].place, "link %s to %s is after the first %d of a TiN; expected links between TiNs first",
               b->node[b->link[l].node[0]].name, b->node[b->link[l].node[1]].name, WEFT_GNET_PORTS_MAX);
}

enum weft_status weft__topology_validate(const struct weft_topology_builder *b, const uint32_t *degree,
                                         struct weft_error *ret_error) {
    for (uint32_t i = 0; i < b->links; i++) {
        WEFT_TRY(check_link(b, &b->link[i], ret_error));
    }
    for (uint32_t n = 0; n < b->nodes; n++) {
        WEFT_TRY(check_node(b, n, degree[n], ret_error));
    }
    enum weft_status status = check_tins(b, ret_error);
    if (!status) status = check_totals(b, ret_error);
    return status ? status : check_networks(b, ret_error);
}
