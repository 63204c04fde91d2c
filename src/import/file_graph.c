// SPDX-License-Identifier: Apache-2.0
#include "import/file_graph.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"

uint32_t weft__file_graph_hosts(const struct weft__file_graph *g) {
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < g->nodes; i++)
        hosts += g->node[i].host;
    return hosts;
}

uint32_t weft__file_graph_parts(const struct weft__file_graph *g, struct weft_arena *arena, uint32_t **ret_part) {
    uint32_t *parent = weft_arena_alloc(arena, g->nodes, sizeof *parent), parts = 0;
    *ret_part = weft_arena_alloc(arena, g->nodes, sizeof **ret_part);
    for (uint32_t i = 0; i < g->nodes; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < g->links; i++) { // the root of a part is its first node
        uint32_t a = weft__root_of(parent, g->link[i].end[0]), b = weft__root_of(parent, g->link[i].end[1]);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    for (uint32_t i = 0; i < g->nodes; i++) {
        uint32_t root = weft__root_of(parent, i);
        (*ret_part)[i] = root == i ? parts++ : (*ret_part)[root];
    }
    return parts;
}

static void add_node(const struct weft__file_node *n, struct weft_topology_builder *b, uint32_t *ret_node) {
    b->place = n->place;
    *ret_node = weft_topology_add_node(b, n->host ? WEFT_NODE_HOST : WEFT_NODE_SWITCH, n->layer,
                                       n->host ? 0 : WEFT__TIER_BY_DISTANCE, WEFT_NONE, n->name);
}

/// `networks`: how many have a part of its rate.
static void add_link(const struct weft__file_link *l, uint32_t networks, const uint32_t *node,
                     struct weft_topology_builder *b) {
    b->place = l->place;
    weft_topology_add_link(b, node[l->end[0]], node[l->end[1]], l->rate_bps / networks, l->delay_ps, 0);
    for (uint32_t end = 0; end < 2; end++)
        if (l->port[end]) weft_topology_name_port(b, end, l->port[end]);
}

/// `ret_wrong`: what keeps hosts with several links from being in planes; NULL: nothing.
static struct weft__planes find_planes(const struct weft__file_graph *g, struct weft_arena *arena,
                                       const char **ret_wrong, uint32_t *ret_host) {
    bool *host = weft_arena_alloc(arena, g->nodes, sizeof *host);
    uint32_t(*end)[2] = weft_arena_alloc(arena, g->links, sizeof *end);
    for (uint32_t n = 0; n < g->nodes; n++)
        host[n] = g->node[n].host;
    for (uint32_t i = 0; i < g->links; i++) {
        end[i][0] = g->link[i].end[0];
        end[i][1] = g->link[i].end[1];
    }
    struct weft__planes planes = {.nodes = g->nodes, .links = g->links, .host = host, .end = (const uint32_t(*)[2])end};
    *ret_wrong = weft__planes_find(&planes, arena, ret_host);
    if (*ret_wrong) planes.n = 1; // the topology is refused as such
    return planes;
}

struct weft__planes weft__file_graph_planes(const struct weft__file_graph *g, struct weft_arena *arena) {
    const char *wrong;
    uint32_t host;
    return find_planes(g, arena, &wrong, &host);
}

/// The links of a host, which has at least one of them.
static uint32_t links_of(const struct weft__file_graph *g, uint32_t host) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->links; i++)
        n += g->link[i].end[0] == host || g->link[i].end[1] == host;
    return n;
}

/// Hosts of a graph may have several links, if all have as many.
static enum weft_status refuse_uneven(const struct weft__file_graph *g, uint32_t host, struct weft_error *ret_error) {
    uint32_t first = 0, links = links_of(g, host);
    while (!g->node[first].host)
        first++;
    uint32_t other = links_of(g, first);
    if (links == other || !links || !other) return WEFT_OK;
    return WEFT_REFUSE(ret_error, g->node[host].place,
                       "host %s has %s, and host %s has %" PRIu32 "; expected as many each, to be ports of one NIC in "
                       "as many networks (planes)",
                       g->node[host].name, weft__counted(links, "link").text, g->node[first].name, other);
}

static void add_planes(const struct weft__file_graph *g, const struct weft__planes *planes,
                       struct weft_topology_builder *b) {
    uint32_t *node = weft_arena_alloc(b->arena, g->nodes, sizeof *node);
    for (uint32_t p = 0; p < planes->n; p++) {
        char name[24];
        snprintf(name, sizeof name, "plane-%" PRIu32, p);
        weft_topology_add_network(b, name);
        for (uint32_t i = 0; i < g->nodes; i++)
            if (weft__planes_has(planes, planes->node, i, p)) add_node(&g->node[i], b, &node[i]);
        for (uint32_t i = 0; i < g->links; i++)
            if (weft__planes_has(planes, planes->link, i, p))
                add_link(&g->link[i], weft__planes_parts(planes, i), node, b);
    }
}

/// `order`: of the nodes, which were added from `first` on; NULL: their own.
static void add_devices(const struct weft__file_graph *g, const uint32_t *order, uint32_t first,
                        struct weft_topology_builder *b) {
    const char **device = weft_arena_alloc(b->arena, g->nodes, sizeof *device);
    for (uint32_t i = 0; i < g->nodes; i++)
        device[i] = g->node[order ? order[i] : i].device;
    weft__topology_add_devices(b, first, device);
}

static void add_links(const struct weft__file_graph *g, const uint32_t *node, struct weft_topology_builder *b) {
    for (uint32_t i = 0; i < g->links; i++)
        add_link(&g->link[i], 1, node, b);
}

static enum weft_status build_one(const struct weft__file_graph *g, struct weft_topology_builder *b,
                                  struct weft_error *ret_error) {
    WEFT_TRY(weft__topology_check_size(b, g->nodes, g->links, ret_error));
    uint32_t *node = weft_arena_alloc(b->arena, g->nodes, sizeof *node), first = b->nodes;
    for (uint32_t i = 0; i < g->nodes; i++)
        add_node(&g->node[i], b, &node[i]);
    add_links(g, node, b);
    add_devices(g, NULL, first, b);
    return WEFT_OK;
}

enum weft_status weft__file_graph_build(const struct weft__file_graph *g, struct weft_topology_builder *b,
                                        struct weft_error *ret_error) {
    const char *wrong;
    uint32_t host;
    const struct weft__planes planes = find_planes(g, b->arena, &wrong, &host);
    if (wrong) WEFT_TRY(refuse_uneven(g, host, ret_error));
    if (planes.n == 1) return build_one(g, b, ret_error);
    enum weft_status status = weft__topology_check_size(b, g->nodes, g->links, ret_error);
    if (!status) add_planes(g, &planes, b);
    return status;
}

/// Indices of the nodes, part by part.
static const uint32_t *order_by_part(const struct weft__file_graph *g, const uint32_t *part, uint32_t parts,
                                     struct weft_arena *arena) {
    uint32_t *order = weft_arena_alloc(arena, g->nodes, sizeof *order);
    uint32_t *first = weft_arena_alloc(arena, parts + 1, sizeof *first);
    for (uint32_t i = 0; i < g->nodes; i++)
        first[part[i] + 1]++;
    for (uint32_t p = 0; p < parts; p++)
        first[p + 1] += first[p];
    for (uint32_t i = 0; i < g->nodes; i++)
        order[first[part[i]]++] = i;
    return order;
}

enum weft_status weft__file_graph_build_parts(const struct weft__file_graph *g, struct weft_topology_builder *b,
                                              struct weft_error *ret_error) {
    uint32_t *part, parts = weft__file_graph_parts(g, b->arena, &part), named = 0;
    if (parts < 2) return weft__file_graph_build(g, b, ret_error);
    WEFT_TRY(weft__topology_check_size(b, g->nodes, g->links, ret_error));
    const uint32_t *order = order_by_part(g, part, parts, b->arena);
    uint32_t *node = weft_arena_alloc(b->arena, g->nodes, sizeof *node), first = b->nodes;
    for (uint32_t i = 0; i < g->nodes; i++) {
        char name[32];
        if (part[order[i]] == named) {
            snprintf(name, sizeof name, "part-%" PRIu32, named++);
            weft_topology_add_network(b, name);
        }
        add_node(&g->node[order[i]], b, &node[order[i]]);
    }
    add_links(g, node, b);
    add_devices(g, order, first, b);
    return WEFT_OK;
}

// --- a topology that nobody keeps ---------------------------------------------------------------------------------

struct check_conf {
    const struct weft__file_graph *graph;
    bool parts;
};

static enum weft_status check_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                    struct weft_error *ret_error) {
    const struct check_conf *c = conf;
    return (c->parts ? weft__file_graph_build_parts : weft__file_graph_build)(c->graph, b, ret_error);
}

enum weft_status weft__file_graph_check(const struct weft__file_graph *g, bool parts, struct weft_place place,
                                        struct weft_arena *arena, struct weft_error *ret_error) {
    static const struct weft_topology_ops ops = {.build = check_build};
    static const struct weft_model model = {.kind = WEFT_KIND_TOPOLOGY, .name = "file", .ops = &ops};
    struct check_conf conf = {g, parts};
    struct weft_model_conf chosen = {.model = &model, .conf = &conf, .place = place};
    struct weft_topology *t = NULL;
    return weft_topology_new(&chosen, NULL, NULL, arena, &t, ret_error);
}
