// SPDX-License-Identifier: Apache-2.0
// Turns what a topology model asks for into arrays that the engine can use.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/units.h"
#include "topology/builder.h"

const char *const weft_node_box_names[] = {
#define WEFT_BOX(kind, name, box) name,
#include "weft/boxes.def"
    NULL};

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

void weft_topology_add_network(struct weft_topology_builder *b, const char *name) {
    assert(b->network || !b->nodes);
    if (b->network && b->network->node0 == b->nodes) { // the network is empty: its planes have replaced it
        b->network = b->network->next;
        b->networks--;
    }
    struct weft__network *network = weft_arena_alloc(b->arena, 1, sizeof *network);
    const char *full =
        b->scope ? weft_arena_format(b->arena, "%s-%s", b->scope, name) : weft_arena_text(b->arena, name);
    *network = (struct weft__network){b->network, full, NULL, full, b->nodes};
    b->network = network;
    b->networks++;
    b->layers = 0;
}

/// A generator's name for a node or a layer, as the user will see it.
static const char *full_name(const struct weft_topology_builder *b, const char *name) {
    if (!b->network || !b->network->prefix) return weft_arena_text(b->arena, name);
    return weft_arena_format(b->arena, "%s-%s", b->network->prefix, name);
}

static const char *share_layer(struct weft_topology_builder *b, const char *layer) {
    for (uint32_t i = 0; i < b->layers; i++)
        if (!strcmp(b->layer[i].name, layer)) return b->layer[i].full;
    const char *full = full_name(b, layer);
    if (b->layers < sizeof b->layer / sizeof *b->layer)
        b->layer[b->layers++] = (struct weft__layer){weft_arena_text(b->arena, layer), full};
    return full;
}

uint32_t weft_topology_add_node(struct weft_topology_builder *b, enum weft_node_role role, const char *layer,
                                uint8_t tier, uint32_t pod, const char *name) {
    assert(b->nodes < WEFT__NODES_MAX);
    uint32_t capacity = b->nodes_capacity;
    b->node = weft__memory_double(KIND, b->node, b->nodes, &b->nodes_capacity, 256, sizeof *b->node);
    b->node_place = weft__memory_double(KIND, b->node_place, b->nodes, &capacity, 256, sizeof *b->node_place);
    b->node_place[b->nodes] = b->place;
    b->node[b->nodes] =
        (struct weft_node_info){.name = full_name(b, name),
                                .layer = share_layer(b, layer),
                                .role = (uint8_t)role,
                                .tier = tier,
                                .box = role == WEFT_NODE_HOST ? WEFT_BOX_HOST : WEFT_BOX_ETHERNET_SWITCH,
                                .cluster = WEFT_NONE,
                                .card = WEFT_NONE,
                                .pod = pod};
    return b->nodes++;
}

void weft_topology_set_box(struct weft_topology_builder *b, enum weft_node_box box, uint8_t fabric_level,
                           uint32_t cluster) {
    struct weft_node_info *node = &b->node[b->nodes - 1];
    assert(box < WEFT_BOXES && (box < WEFT_BOX_ETHERNET_SWITCH) == (node->role == WEFT_NODE_HOST));
    node->box = (uint8_t)box;
    node->fabric_level = fabric_level;
    node->cluster = cluster;
}

void weft_topology_set_card(struct weft_topology_builder *b, uint32_t card) {
    b->node[b->nodes - 1].card = card;
}

void weft_topology_add_link(struct weft_topology_builder *b, uint32_t from, uint32_t to, weft_rate_bps rate,
                            weft_time_ps delay, double bit_error_rate) {
    assert(b->links < WEFT__LINKS_MAX && from < b->nodes && to < b->nodes);
    WEFT__ADD_DOUBLE(KIND, b->link, b->links, b->links_capacity, 256) =
        (struct weft__link){{from, to}, rate, delay, bit_error_rate, b->place, 1, b->preferred};
}

void weft__topology_set_members(struct weft_topology_builder *b, uint64_t members) {
    struct weft__link *link = &b->link[b->links - 1];
    link->rate_bps *= members;
    link->members = (uint16_t)members;
}

void weft__topology_connect(struct weft_topology_builder *b, uint32_t from, uint32_t to, struct weft__line line) {
    weft_topology_add_link(b, from, to, line.rate_bps, line.delay_ps, line.bit_error_rate);
}

void weft__topology_connect_times(struct weft_topology_builder *b, uint32_t from, uint32_t to, uint64_t times,
                                  struct weft__line line) {
    for (uint64_t i = 0; i < times; i++)
        weft__topology_connect(b, from, to, line);
}

uint32_t weft__topology_add_numbered(struct weft_topology_builder *b, enum weft_node_role role, const char *layer,
                                     uint8_t tier, uint32_t pod, uint64_t number) {
    char name[64];
    snprintf(name, sizeof name, "%s-%llu", layer, (unsigned long long)number);
    return weft_topology_add_node(b, role, layer, tier, pod, name);
}

const char *weft__check_own_rate(const char *key, weft_rate_bps rate, char *text, size_t size) {
    if (!rate || rate >= WEFT__RATE_MIN) return NULL;
    char found[32];
    weft_format_rate(rate, found, sizeof found);
    return WEFT_SAY(text, size, "%s is %s; expected 10Mbps to 100Tbps, or 0bps for the common rate", key, found);
}

enum weft_status weft__topology_check_size(const struct weft_topology_builder *b, uint64_t nodes, uint64_t links,
                                           struct weft_error *ret_error) {
    if (nodes > WEFT__NODES_MAX - b->nodes)
        return WEFT_REFUSE(ret_error, b->place, "the topology would have %llu nodes; at most %llu are supported",
                           (unsigned long long)weft__plus(b->nodes, nodes), (unsigned long long)WEFT__NODES_MAX);
    if (links > WEFT__LINKS_MAX - b->links)
        return WEFT_REFUSE(ret_error, b->place, "the topology would have %llu links; at most %llu are supported",
                           (unsigned long long)weft__plus(b->links, links), (unsigned long long)WEFT__LINKS_MAX);
    return WEFT_OK;
}

/// Ports of a node are numbered in the order in which its links were added.
static void lay_out_ports(struct weft_topology *t, const struct weft_topology_builder *b, uint32_t *next) {
    t->ports = 2 * t->links;
    t->port = weft_arena_alloc(t->arena, t->ports, sizeof *t->port);
    t->link = weft_arena_alloc(t->arena, t->links, sizeof *t->link);
    uint32_t first = 0;
    for (uint32_t n = 0; n < t->nodes; n++) {
        t->node[n].port0 = first;
        t->node[n].ports = next[n];
        next[n] = first;
        first += t->node[n].ports;
    }
    for (uint32_t i = 0; i < t->links; i++) {
        const struct weft__link *l = &b->link[i];
        uint32_t p = next[l->node[0]]++, q = next[l->node[1]]++;
        t->port[p] = (struct weft_port_info){l->node[0], q, i};
        t->port[q] = (struct weft_port_info){l->node[1], p, i};
        t->link[i] = (struct weft_link_info){{p, q},     l->rate_bps,  l->delay_ps, l->bit_error_rate,
                                             l->members, l->preferred, NULL};
    }
}

static void index_nodes(struct weft_topology *t) {
    for (uint32_t n = 0; n < t->nodes; n++)
        t->node[n].index = t->node[n].role == WEFT_NODE_HOST ? t->hosts++ : t->switches++;
    t->host = weft_arena_alloc(t->arena, t->hosts, sizeof *t->host);
    t->switch_node = weft_arena_alloc(t->arena, t->switches, sizeof *t->switch_node);
    for (uint32_t n = 0; n < t->nodes; n++)
        (t->node[n].role == WEFT_NODE_HOST ? t->host : t->switch_node)[t->node[n].index] = n;
}

/// Nodes added without a network form one.
static void list_networks(struct weft_topology *t, const struct weft_topology_builder *b) {
    struct weft__network whole = {.name = ""};
    t->networks = b->networks ? b->networks : 1;
    t->network = weft_arena_alloc(t->arena, t->networks, sizeof *t->network);
    uint32_t end = t->nodes, i = t->networks;
    for (const struct weft__network *n = b->network ? b->network : &whole; n; end = n->node0, n = n->next) {
        struct weft_network_info *info = &t->network[--i];
        *info = (struct weft_network_info){
            .name = n->name, .node0 = n->node0, .nodes = end - n->node0, .wiring = n->wiring};
        for (uint32_t k = n->node0; k < end; k++)
            ++*(t->node[k].role == WEFT_NODE_HOST ? &info->hosts : &info->switches);
    }
    for (i = 1; i < t->networks; i++) {
        t->network[i].host0 = t->network[i - 1].host0 + t->network[i - 1].hosts;
        t->network[i].switch0 = t->network[i - 1].switch0 + t->network[i - 1].switches;
    }
}

uint32_t weft_topology_network_of(const struct weft_topology *t, uint32_t host) {
    uint32_t i = 0; // they are few
    while (i + 1 < t->networks && host >= t->network[i + 1].host0)
        i++;
    return i;
}

static void number_downlinks(struct weft_topology *t) {
    t->downlink = weft_arena_alloc(t->arena, t->hosts, sizeof *t->downlink);
    for (uint32_t i = 0; i < t->switches; i++) {
        const struct weft_node_info *sw = &t->node[t->switch_node[i]];
        uint16_t next = 0;
        for (uint32_t k = 0; k < sw->ports; k++) {
            const struct weft_node_info *peer = &t->node[t->port[t->port[sw->port0 + k].peer].node];
            if (peer->role == WEFT_NODE_HOST) t->downlink[peer->index] = next++;
        }
    }
}

/// Finds the tiers of nodes that were added without one: breadth first from all hosts at the same time.
static void find_tiers(struct weft_topology *t) {
    uint32_t *queue = weft_memory_new(KIND, t->nodes, sizeof *queue), filled = 0;
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->node[n].tier != WEFT__TIER_BY_DISTANCE) queue[filled++] = n;
    for (uint32_t i = 0; i < filled && filled < t->nodes; i++) {
        const struct weft_node_info *node = &t->node[queue[i]];
        for (uint32_t k = 0; k < node->ports; k++) {
            uint32_t peer = t->port[t->port[node->port0 + k].peer].node;
            if (t->node[peer].tier != WEFT__TIER_BY_DISTANCE) continue;
            t->node[peer].tier = (uint8_t)(node->tier < WEFT__TIER_BY_DISTANCE - 1 ? node->tier + 1 : node->tier);
            queue[filled++] = peer;
        }
    }
    weft_memory_free(KIND, queue, t->nodes * sizeof *queue);
}

static struct weft_topology *finish_topology(const struct weft_topology_builder *b, uint32_t *degree) {
    struct weft_topology *t = weft_arena_alloc(b->arena, 1, sizeof *t);
    t->arena = b->arena;
    t->nodes = b->nodes;
    t->links = b->links;
    t->packaging = b->packaging;
    t->node = weft_arena_alloc(b->arena, b->nodes, sizeof *t->node);
    memcpy(t->node, b->node, b->nodes * sizeof *t->node);
    lay_out_ports(t, b, degree);
    index_nodes(t);
    list_networks(t, b);
    number_downlinks(t);
    weft__topology_keep_machines(t, b);
    find_tiers(t);
    return t;
}

static enum weft_status validate_and_finish(const struct weft_topology_builder *b, struct weft_topology **ret_topology,
                                            struct weft_error *ret_error) {
    WEFT_FREED uint32_t *degree = weft_memory_new(KIND, b->nodes, sizeof *degree);
    for (uint32_t i = 0; i < b->links; i++) {
        degree[b->link[i].node[0]]++;
        degree[b->link[i].node[1]]++;
    }
    WEFT_TRY(weft__topology_validate(b, degree, ret_error));
    *ret_topology = finish_topology(b, degree);
    WEFT_TRY(weft__topology_hash_names(*ret_topology, b->node_place, ret_error));
    return weft__topology_name_ports(*ret_topology, b, ret_error);
}

enum weft_status weft_topology_new(const struct weft_model_conf *model, const struct weft_tree *tree,
                                   const struct weft_tree *events, struct weft_arena *arena,
                                   struct weft_topology **ret_topology, struct weft_error *ret_error) {
    assert(model->model->kind == WEFT_KIND_TOPOLOGY);
    const struct weft_topology_ops *ops = model->model->ops;
    struct weft_topology_builder b = {.arena = arena, .place = tree ? tree->place : model->place};
    struct weft_topology *t = NULL;
    enum weft_status status = ops->build(model->conf, tree, &b, ret_error);
    b.place = tree ? tree->place : model->place;
    if (!status) status = validate_and_finish(&b, &t, ret_error);
    weft_memory_free(KIND, b.node, b.nodes_capacity * sizeof *b.node);
    weft_memory_free(KIND, b.node_place, b.nodes_capacity * sizeof *b.node_place);
    weft_memory_free(KIND, b.link, b.links_capacity * sizeof *b.link);
    if (status) return status;
    t->kind = model->model->name;
    t->place = b.place;
    t->wiring = ops->wiring ? ops->wiring(model->conf, arena) : NULL;
    status = weft__topology_override(t, tree, ret_error);
    if (!status) status = weft__topology_read_routes(t, tree, ret_error);
    if (!status) status = weft__topology_read_events(t, events, ret_error);
    if (!status) *ret_topology = t;
    return status;
}

bool weft_topology_has_hosts(const struct weft_topology *t, uint32_t node) {
    for (uint32_t k = 0; k < t->node[node].ports; k++)
        if (t->node[t->port[weft_topology_port(t, node, k)->peer].node].role == WEFT_NODE_HOST) return true;
    return false;
}
