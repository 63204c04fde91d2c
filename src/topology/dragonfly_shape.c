// SPDX-License-Identifier: Apache-2.0
// The Cliques of a topology: which TiNs GNet connects, numbered pod by pod.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "weft/dragonfly.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

enum weft_tin_port_class weft_tin_port_class(const struct weft_topology *t, uint32_t node, uint32_t k) {
    const struct weft_node_info *from = &t->node[node],
                                *to = &t->node[t->port[weft_topology_port(t, node, k)->peer].node];
    if (to->role == WEFT_NODE_HOST) return WEFT_TIN_HOST;
    if (to->box != WEFT_BOX_TIN) return WEFT_TIN_ETHERNET;
    return to->cluster == from->cluster ? WEFT_TIN_LOCAL : WEFT_TIN_GLOBAL;
}

static bool is_gnet(enum weft_tin_port_class class) {
    return class == WEFT_TIN_LOCAL || class == WEFT_TIN_GLOBAL;
}

/// Marks the TiNs that GNet connects to `first`, and lists them.
static uint32_t gather_tins(const struct weft_topology *t, struct weft_dragonflies *d, uint32_t first, uint32_t *list) {
    uint32_t n = 1;
    list[0] = first;
    d->fabric_of_node[first] = d->n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < t->node[list[i]].ports; k++) {
            uint32_t to = t->port[weft_topology_port(t, list[i], k)->peer].node;
            if (t->node[to].box != WEFT_BOX_TIN || d->fabric_of_node[to] != WEFT_NONE) continue;
            d->fabric_of_node[to] = d->n;
            list[n++] = to;
        }
    return n;
}

struct key {
    uint32_t cluster, node;
};

WEFT__ORDER(by_cluster_and_node, struct key, WEFT__UP(cluster) ?: WEFT__UP(node))

/// Sorts pod by pod.
static void sort_by_pod(const struct weft_topology *t, uint32_t *list, uint32_t n) {
    WEFT_FREED struct key *key = weft_memory_new(KIND, n, sizeof *key);
    for (uint32_t i = 0; i < n; i++)
        key[i] = (struct key){t->node[list[i]].cluster, list[i]};
    qsort(key, n, sizeof *key, by_cluster_and_node);
    for (uint32_t i = 0; i < n; i++)
        list[i] = key[i].node;
}

static void fill_tin(const struct weft_topology *t, const struct weft_dragonflies *d, struct weft_tin *tin) {
    memset(tin->peer, 0xff, sizeof tin->peer);
    for (uint32_t k = 0; k < t->node[tin->node].ports; k++) {
        enum weft_tin_port_class class = weft_tin_port_class(t, tin->node, k);
        uint32_t peer = t->port[weft_topology_port(t, tin->node, k)->peer].node;
        if (weft_node_is_processor(&t->node[peer])) continue; // not a host that counts
        if (!is_gnet(class)) {
            ++*(class == WEFT_TIN_HOST ? &tin->hosts : &tin->ethernets);
            continue;
        }
        assert(k < WEFT_GNET_PORTS_MAX);
        tin->gnet_ports++;
        tin->peer[k] = d->tin_of_node[peer];
        *(class == WEFT_TIN_LOCAL ? &tin->local : &tin->global) |= UINT64_C(1) << k;
    }
}

/// What peers, known by now, say about a cell that arrives by each port.
static void fill_inputs(const struct weft_dragonfly *f, struct weft_tin *tin) {
    for (uint32_t k = 0; k < WEFT_GNET_PORTS_MAX; k++) {
        if (tin->peer[k] == WEFT_TIN_NONE) continue;
        const struct weft_tin *peer = &f->tin[tin->peer[k]];
        tin->input[k] = peer->pod == tin->pod
                            ? (uint8_t)(WEFT_GNET_INTRA_POD + (uint32_t)weft_gnet_hop(peer->place, tin->place))
                            : WEFT_GNET_INTER_POD;
        for (uint32_t l = 0; l < WEFT_GNET_PORTS_MAX && peer->pod == tin->pod; l++)
            if (tin->peer[l] == tin->peer[k]) tin->back[k] |= UINT64_C(1) << l;
    }
}

static void fill_dragonfly(const struct weft_topology *t, struct weft_dragonflies *d, struct weft_dragonfly *f,
                           const uint32_t *list, struct weft_arena *arena) {
    f->tin = weft_arena_alloc(arena, f->tins, sizeof *f->tin);
    f->pod_first = weft_arena_alloc(arena, f->tins + 1, sizeof *f->pod_first);
    for (uint32_t i = 0; i < f->tins; i++) {
        if (!i || t->node[list[i]].cluster != t->node[list[i - 1]].cluster) f->pod_first[f->pods++] = i;
        f->tin[i] = (struct weft_tin){
            .node = list[i], .pod = (uint16_t)(f->pods - 1), .place = (uint16_t)(i - f->pod_first[f->pods - 1])};
        d->tin_of_node[list[i]] = (uint16_t)i;
    }
    f->pod_first[f->pods] = f->tins;
    for (uint32_t i = 0; i < f->tins; i++)
        fill_tin(t, d, &f->tin[i]);
    for (uint32_t i = 0; i < f->tins; i++)
        fill_inputs(f, &f->tin[i]);
}

struct weft_dragonflies *weft_dragonflies_new(const struct weft_topology *t, struct weft_arena *arena) {
    struct weft_dragonflies *d = weft_arena_alloc(arena, 1, sizeof *d);
    uint32_t *list = weft_memory_new(KIND, t->nodes, sizeof *list), tins = 0;
    d->fabric_of_node = weft_arena_alloc(arena, t->nodes, sizeof *d->fabric_of_node);
    d->tin_of_node = weft_arena_alloc(arena, t->nodes, sizeof *d->tin_of_node);
    memset(d->fabric_of_node, 0xff, t->nodes * sizeof *d->fabric_of_node);
    memset(d->tin_of_node, 0xff, t->nodes * sizeof *d->tin_of_node);
    for (uint32_t n = 0; n < t->nodes; n++)
        tins += t->node[n].box == WEFT_BOX_TIN;
    d->fabric = weft_arena_alloc(arena, tins + 1, sizeof *d->fabric); // an upper bound
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (t->node[n].box != WEFT_BOX_TIN || d->fabric_of_node[n] != WEFT_NONE) continue;
        struct weft_dragonfly *f = &d->fabric[d->n];
        f->tins = gather_tins(t, d, n, list);
        sort_by_pod(t, list, f->tins);
        fill_dragonfly(t, d, f, list, arena);
        d->n++;
    }
    weft_memory_free(KIND, list, t->nodes * sizeof *list);
    return d;
}
