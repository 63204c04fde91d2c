// SPDX-License-Identifier: Apache-2.0
// A disaggregated scheduled fabric in figures, computed from its nodes: boxes, lanes up and down, and how much of the
// rate of its NIC ports can leave it.
#include <string.h>

#include "weft/summary.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

/// "fdsw-3.1" and "fdsw-3.2" are virtual devices of one box; the devices of a box are adjacent, or it has only one.
static size_t box_length(const struct weft_node_info *node) {
    const char *dot = strrchr(node->name, '.');
    if (node->box != WEFT_BOX_DSF_FABRIC || !dot || !dot[1] || strspn(dot + 1, "0123456789") != strlen(dot + 1))
        return strlen(node->name);
    return (size_t)(dot - node->name);
}

static struct weft_dsf_layer *layer_of(struct weft_dsf_summary *s, const struct weft_node_info *node) {
    for (uint32_t i = 0; i < s->layers; i++)
        if (!strcmp(s->layer[i].name, node->layer)) return &s->layer[i];
    if (s->layers == WEFT_DSF_LAYERS_MAX) return NULL;
    s->layer[s->layers] = (struct weft_dsf_layer){
        .name = node->layer, .box = node->box, .tier = node->tier, .down_min = UINT32_MAX, .up_min = UINT32_MAX};
    return &s->layer[s->layers++];
}

static void widen_range(uint32_t value, uint32_t *min, uint32_t *max) {
    if (value < *min) *min = value;
    if (value > *max) *max = value;
}

/// A box is counted at its first virtual device, the one that follows no device of the same box.
static bool is_first_of_box(const struct weft_topology *t, const struct weft_node_info *node) {
    char name[128];
    size_t length = box_length(node);
    if (!node->name[length] || length + sizeof ".0" > sizeof name) return true;
    memcpy(name, node->name, length);
    memcpy(name + length, ".0", sizeof ".0");
    uint32_t first = weft_topology_find_node(t, name);
    return first == WEFT_NONE || &t->node[first] == node;
}

static void add_node(struct weft_dsf_summary *s, const struct weft_topology *t, const struct weft_node_info *node) {
    struct weft_dsf_layer *layer = layer_of(s, node);
    if (!layer) return;
    uint32_t down = 0, up = 0;
    for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
        if (!weft_topology_link_is_fabric(t, t->port[p].link)) continue;
        ++*(t->node[t->port[t->port[p].peer].node].tier < node->tier ? &down : &up);
    }
    layer->nodes++;
    layer->boxes += is_first_of_box(t, node);
    widen_range(down, &layer->down_min, &layer->down_max);
    widen_range(up, &layer->up_min, &layer->up_max);
}

/// What leaves the nodes of a fabric by Ethernet.
struct sides {
    uint32_t interfaces, hosts, links;
    weft_rate_bps host_bps, link_bps;
};

static void add_sides(const struct weft_topology *t, const struct weft_node_info *node, struct sides *sides) {
    if (node->box != WEFT_BOX_DSF_INTERFACE) return;
    sides->interfaces++;
    for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
        const struct weft_link_info *l = &t->link[t->port[p].link];
        if (weft_topology_link_is_fabric(t, t->port[p].link)) continue;
        bool host = t->node[t->port[t->port[p].peer].node].role == WEFT_NODE_HOST;
        ++*(host ? &sides->hosts : &sides->links);
        *(host ? &sides->host_bps : &sides->link_bps) += l->rate_bps;
    }
}

/// Visits every node that cells can reach from `first` once.
static struct sides fabric_of(const struct weft_topology *t, uint32_t first, bool *seen, uint32_t *queue) {
    struct sides sides = {0};
    uint32_t filled = 1;
    queue[0] = first;
    seen[first] = true;
    for (uint32_t i = 0; i < filled; i++) {
        const struct weft_node_info *node = &t->node[queue[i]];
        add_sides(t, node, &sides);
        for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
            uint32_t to = t->port[t->port[p].peer].node;
            if (seen[to] || !weft_topology_link_is_fabric(t, t->port[p].link)) continue;
            seen[to] = true;
            queue[filled++] = to;
        }
    }
    return sides;
}

static void add_fabric(struct weft_dsf_summary *s, const struct sides *sides) {
    if (!s->fabrics++) {
        s->interfaces = sides->interfaces;
        s->hosts = sides->hosts;
        s->host_bps = sides->host_bps;
        s->links = sides->links;
        s->link_bps = sides->link_bps;
    }
    s->alike += sides->interfaces == s->interfaces && sides->hosts == s->hosts && sides->host_bps == s->host_bps &&
                sides->links == s->links && sides->link_bps == s->link_bps;
}

struct weft_dsf_summary weft_topology_summarise_dsf(const struct weft_topology *t,
                                                    const struct weft_network_info *network) {
    struct weft_dsf_summary s = {0};
    WEFT_FREED bool *seen = weft_memory_new(KIND, t->nodes, sizeof *seen);
    WEFT_FREED uint32_t *queue = weft_memory_new(KIND, t->nodes, sizeof *queue);
    for (uint32_t n = network->node0; n < network->node0 + network->nodes; n++) {
        const struct weft_node_info *node = &t->node[n];
        if (node->box != WEFT_BOX_DSF_INTERFACE && node->box != WEFT_BOX_DSF_FABRIC) continue;
        add_node(&s, t, node);
        if (seen[n]) continue;
        struct sides sides = fabric_of(t, n, seen, queue);
        add_fabric(&s, &sides);
    }
    return s;
}
