// SPDX-License-Identifier: Apache-2.0
// The interface nodes of a topology, sorted by the properties that their sizes depend on. The distance from a node of a
// sort to the farthest other node is computed from the first of the sort.
#include <math.h>
#include <string.h>

#include "weft/memory.h"
#include "weft/plan_dsf.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

/// Adds the ports of different rates, as a number of ports of the fastest rate with the same total.
static void add_ports(const struct weft_topology *t, const struct weft_node_info *node, bool fabric,
                      uint64_t *ret_ports, weft_rate_bps *ret_rate, weft_time_ps *ret_delay) {
    weft_rate_bps sum = 0;
    *ret_rate = *ret_delay = 0;
    for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
        const struct weft_link_info *l = &t->link[t->port[p].link];
        if (weft_topology_link_is_fabric(t, t->port[p].link) != fabric) continue;
        sum += l->rate_bps;
        if (l->rate_bps > *ret_rate) *ret_rate = l->rate_bps;
        if (l->delay_ps > *ret_delay) *ret_delay = l->delay_ps;
    }
    *ret_ports = *ret_rate ? (sum + *ret_rate - 1) / *ret_rate : 0;
}

static struct weft_plan_dsf_sort sort_of(const struct weft_topology *t, const struct weft_node_info *node,
                                         const struct weft_plan_dsf_conf *base) {
    struct weft_plan_dsf_sort s = {.layer = node->layer, .example = node->name, .conf = *base};
    weft_time_ps lane_delay;
    weft_rate_bps lane;
    add_ports(t, node, false, &s.conf.ports, &s.conf.rate_bps, &s.conf.host_delay_ps);
    add_ports(t, node, true, &s.conf.lanes, &lane, &lane_delay);
    s.conf.lane_rate_bps = (weft_rate_bps)llround((double)lane / base->lane_coding);
    return s;
}

static bool is_alike(const struct weft_plan_dsf_sort *a, const struct weft_plan_dsf_sort *b) {
    const struct weft_plan_dsf_conf *x = &a->conf, *y = &b->conf;
    return !strcmp(a->layer, b->layer) && x->ports == y->ports && x->rate_bps == y->rate_bps && x->lanes == y->lanes &&
           x->lane_rate_bps == y->lane_rate_bps && x->host_delay_ps == y->host_delay_ps;
}

/// Breadth first over the fabric: delay and number of nodes to the farthest interface node, and the number of interface
/// nodes.
static void find_farthest(const struct weft_topology *t, uint32_t from, struct weft_plan_dsf_conf *c) {
    struct reach {
        uint32_t hops;
        weft_time_ps delay;
    } *reach = weft_memory_new(KIND, t->nodes, sizeof *reach);
    uint32_t *queue = weft_memory_new(KIND, t->nodes, sizeof *queue), filled = 1;
    queue[0] = from;
    c->delay_ps = c->nodes = c->interfaces = 0;
    for (uint32_t i = 0; i < filled; i++) {
        const struct weft_node_info *node = &t->node[queue[i]];
        const struct reach *here = &reach[queue[i]];
        bool interface = node->box == WEFT_BOX_DSF_INTERFACE;
        c->interfaces += interface;
        if (interface && i && here->delay > c->delay_ps) c->delay_ps = here->delay;
        if (interface && i && here->hops > c->nodes + 1) c->nodes = here->hops - 1;
        for (uint32_t p = node->port0; p < node->port0 + node->ports && !(interface && i); p++) {
            const struct weft_link_info *l = &t->link[t->port[p].link];
            uint32_t to = t->port[t->port[p].peer].node;
            if (to == from || !weft_topology_link_is_fabric(t, t->port[p].link)) continue;
            struct reach *there = &reach[to];
            if (!there->hops) {
                there->hops = here->hops + 1;
                queue[filled++] = to;
            }
            if (there->hops == here->hops + 1 && here->delay + l->delay_ps > there->delay)
                there->delay = here->delay + l->delay_ps;
        }
    }
    weft_memory_free(KIND, reach, t->nodes * sizeof *reach);
    weft_memory_free(KIND, queue, t->nodes * sizeof *queue);
}

struct weft_plan_dsf_sort *weft_plan_topology_dsf(const struct weft_topology *t, const struct weft_plan_dsf_conf *base,
                                                  struct weft_arena *arena, uint32_t *ret_sorts) {
    enum { SORTS_MAX = 64 }; // a user with more of them by hand sees the first ones
    struct weft_plan_dsf_sort *sort = weft_arena_alloc(arena, SORTS_MAX, sizeof *sort);
    *ret_sorts = 0;
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (t->node[n].box != WEFT_BOX_DSF_INTERFACE) continue;
        struct weft_plan_dsf_sort s = sort_of(t, &t->node[n], base);
        uint32_t i = 0;
        while (i < *ret_sorts && !is_alike(&sort[i], &s))
            i++;
        if (i == SORTS_MAX || !s.conf.ports || !s.conf.lanes) continue;
        if (i == *ret_sorts) {
            find_farthest(t, n, &s.conf);
            sort[(*ret_sorts)++] = s;
        }
        sort[i].nodes++;
    }
    return sort;
}
