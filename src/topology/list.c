// SPDX-License-Identifier: Apache-2.0
// A network listed by the user. Nodes keep the order in which they are written, and so do the ports of a node (the
// order of its links). A second entry for the same two nodes is more likely a mistake than a second cable, so it is an
// error unless `parallel: true`; `count` of an entry says so for that entry alone.
//
//   topology:
//     kind: list
//     nodes: [{name: s0, role: switch, layer: leaf}, {name: h0, role: host}, {name: h1, role: host}]
//     links: [{from: h0, to: s0, rate: 200Gbps, delay: 150ns}, {from: h1, to: s0, rate: 400Gbps, delay: 5ns, count: 1}]
#include <stdlib.h>

#include "base/order.h"
#include "topology/builder.h"
#include "weft/param.h"
#include "weft/param_load.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

struct list_conf {
    bool parallel;
};
static const char *const lists[] = {"nodes", "links", "routes", NULL};
static const struct weft_param_table list_params = WEFT_PARAM_TABLE_OF(
    "list", struct list_conf, .lists = lists,
    WEFT_BOOL(struct list_conf, parallel, "parallel", "false", "several entries of links may join the same two nodes"));

struct node_conf {
    const char *name, *layer;
    uint32_t role, box;
    uint64_t fabric_level, cluster;
};
static const char *const roles[] = {"host", "switch", NULL};
static const struct weft_param_table node_table = WEFT_PARAM_TABLE_OF(
    "node", struct node_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TEXT(struct node_conf, name, "name", NULL, "unique; letters, digits and _ - . :"),
    WEFT_CHOICE(struct node_conf, role, "role", NULL, roles, "a host has exactly one link"),
    WEFT_TEXT(struct node_conf, layer, "layer", "", "for summaries and globs; empty: the role"),
    WEFT_CHOICE(struct node_conf, box, "box", "ethernet", &weft_node_box_names[WEFT_BOX_ETHERNET_SWITCH],
                "what a switch is: ethernet, a node of a DSF fabric, or a ToR-in-NIC of a dragonfly"),
    WEFT_UINT(struct node_conf, fabric_level, "fabric_level", "1", "1", "2",
              "of a dsf_fabric node: 1 next to interface nodes, 2 between clusters"),
    WEFT_UINT(
        struct node_conf, cluster, "cluster", "0", "0", "65535",
        "of a dsf_interface or a dsf_fabric node of level 1: nodes of one number make an L1 zone; 200: the edge; of a "
        "tin: its pod"));

struct link_conf {
    const char *from, *to, *port[2];
    const char *cable, *length; ///< which the scenario reads: src/scenario/link.c
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double bit_error_rate;
    uint64_t count, members;
};
static const struct weft_param_table link_table = WEFT_PARAM_TABLE_OF(
    "link", struct link_conf, WEFT_PARAM_UNCHECKED, WEFT_TEXT(struct link_conf, from, "from", NULL, "a node"),
    WEFT_TEXT(struct link_conf, to, "to", NULL, "another node"),
    WEFT_RATE(struct link_conf, rate_bps, "rate", "200Gbps", "10Mbps", "100Tbps", "rate, each direction"),
    WEFT_TIME(struct link_conf, delay_ps, "delay", WEFT_LIST_DELAY, "1ps", "1s", "propagation delay, one way"),
    WEFT_TEXT(struct link_conf, cable, "cable", "", "class of its cable, as link.cable, which gives its delay"),
    WEFT_TEXT(struct link_conf, length, "length", "", "of the cable, 2m; empty: as the section link has it"),
    WEFT_REAL(struct link_conf, bit_error_rate, "bit_error_rate", "0", "0", "0.1", "after FEC"),
    WEFT_TEXT(struct link_conf, port[0], "from_port", "", "name of the port at from (E1/24); empty: its number"),
    WEFT_TEXT(struct link_conf, port[1], "to_port", "", "name of the port at to; empty: its number"),
    WEFT_UINT(struct link_conf, count, "count", "1", "1", "65535", "so many parallel links"),
    WEFT_UINT(
        struct link_conf, members, "members", "1", "1", "64",
        "ports of this rate at each end that are one: a Hyperport, packets spread over them and released in order"));

/// Nodes by name while there is no topology yet, and the links that each pair of nodes already has.
struct index {
    struct named {
        const char *name;
        uint32_t node;
    } * named;
    struct pair {
        uint32_t low, high, entry;
    } * pair;
    uint32_t nodes, pairs;
};

WEFT__ORDER(by_name, struct named, WEFT__TEXT(name))

WEFT__ORDER(by_name_then_node, struct named, WEFT__TEXT(name) ?: WEFT__UP(node))

WEFT__ORDER(by_pair, struct pair, WEFT__UP(low) ?: WEFT__UP(high) ?: WEFT__UP(entry))

static enum weft_status section_list(const struct weft_tree *tree, const char *key, struct weft_place place,
                                     const struct weft_tree **ret_list, struct weft_error *ret_error) {
    const struct weft_tree *list = weft_tree_find(tree, key);
    if (list && list->type == WEFT_TREE_LIST && list->n) {
        *ret_list = list;
        return WEFT_OK;
    }
    return BAD(list ? list->place : place, "topology kind list needs a list '%s' with at least one entry", key);
}

/// `box` of a switch, with the keys that its kind has.
static enum weft_status set_box(const struct node_conf *conf, const struct weft_tree *entry,
                                struct weft_topology_builder *b, struct weft_error *ret_error) {
    enum weft_node_box box =
        conf->role == 0 ? WEFT_BOX_HOST : (enum weft_node_box)(WEFT_BOX_ETHERNET_SWITCH + conf->box);
    bool fabric = box == WEFT_BOX_DSF_FABRIC, upper = fabric && conf->fabric_level > 1;
    bool clustered = (fabric && !upper) || box == WEFT_BOX_DSF_INTERFACE || box == WEFT_BOX_TIN;
    const struct {
        const char *key, *expected;
        bool fits;
    } keys[] = {{"box", "a switch", box != WEFT_BOX_HOST},
                {"fabric_level", "a dsf_fabric node", fabric},
                {"cluster", "a dsf_interface node, a dsf_fabric node of level 1 or a tin", clustered}};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const struct weft_tree *given = weft_tree_find(entry, keys[k].key);
        if (given && !keys[k].fits)
            return BAD(given->place, "%s of %s; expected %s", keys[k].key, conf->name, keys[k].expected);
    }
    weft_topology_set_box(b, box, fabric ? (uint8_t)conf->fabric_level : 0,
                          clustered ? (uint32_t)conf->cluster : WEFT_NONE);
    return WEFT_OK;
}

static enum weft_status add_nodes(const struct weft_tree *list, struct weft_topology_builder *b, struct index *index,
                                  struct weft_error *ret_error) {
    for (uint32_t i = 0; i < list->n; i++) {
        struct node_conf conf;
        WEFT_TRY(weft_params_load(&node_table, list->child[i], &conf, b->arena, ret_error));
        b->place = list->child[i]->place;
        if (!weft__topology_node_name_is_good(conf.name))
            return BAD(
                weft_tree_find(list->child[i], "name")->place,
                "bad node name '%s'; expected up to 63 letters, digits and _ - . : beginning with a letter, digit "
                "or _, without '--' or '..', not ending with '-'",
                conf.name);
        bool host = conf.role == 0;
        const char *layer = *conf.layer ? conf.layer : roles[conf.role];
        uint32_t node = weft_topology_add_node(b, host ? WEFT_NODE_HOST : WEFT_NODE_SWITCH, layer,
                                               host ? 0 : WEFT__TIER_BY_DISTANCE, WEFT_NONE, conf.name);
        WEFT_TRY(set_box(&conf, list->child[i], b, ret_error));
        index->named[i] = (struct named){conf.name, node}; // as the user wrote it
    }
    qsort(index->named, index->nodes, sizeof *index->named, by_name_then_node);
    for (uint32_t i = 1; i < index->nodes; i++)
        if (!by_name(&index->named[i - 1], &index->named[i]))
            return BAD(b->node_place[index->named[i].node], "a second node named %s (the first is on line %d)",
                       index->named[i].name, b->node_place[index->named[i - 1].node].line);
    return WEFT_OK;
}

static enum weft_status find_end(const struct index *index, const struct weft_tree *entry, const char *key,
                                 const char *name, uint32_t *ret_node, struct weft_error *ret_error) {
    struct named wanted = {name, 0};
    const struct named *found = bsearch(&wanted, index->named, index->nodes, sizeof wanted, by_name);
    if (found) {
        *ret_node = found->node;
        return WEFT_OK;
    }
    WEFT_FREED const char **names = weft_memory_new(WEFT_MEMORY_TOPOLOGY, index->nodes, sizeof *names);
    for (uint32_t i = 0; i < index->nodes; i++)
        names[i] = index->named[i].name;
    const char *nearest = weft_error_nearest(name, names, index->nodes);
    return BAD(weft_tree_find(entry, key)->place, "no node '%s'; expected a name from nodes:%s%s%s", name,
               nearest ? " nearest: '" : "", nearest ? nearest : "", nearest ? "'" : "");
}

static enum weft_status add_links(const struct weft_tree *list, struct weft_topology_builder *b, struct index *index,
                                  struct weft_error *ret_error) {
    for (uint32_t i = 0; i < list->n; i++) {
        struct link_conf conf;
        uint32_t from, to;
        const struct weft_tree *entry = list->child[i];
        enum weft_status status = weft_params_load(&link_table, entry, &conf, b->arena, ret_error);
        if (!status) status = find_end(index, entry, "from", conf.from, &from, ret_error);
        if (!status) status = find_end(index, entry, "to", conf.to, &to, ret_error);
        b->place = entry->place;
        if (!status) status = weft__topology_check_size(b, 0, conf.count, ret_error);
        if (status) return status;
        if (conf.members > 1 && b->node[from].box >= WEFT_BOX_DSF_INTERFACE &&
            b->node[to].box >= WEFT_BOX_DSF_INTERFACE)
            return BAD(entry->place,
                       "members %llu of a link between %s and %s; expected 1: links of cells cannot be Hyperports",
                       (unsigned long long)conf.members, conf.from, conf.to);
        for (uint64_t n = 0; n < conf.count; n++) {
            weft_topology_add_link(b, from, to, conf.rate_bps, conf.delay_ps, conf.bit_error_rate);
            weft__topology_set_members(b, conf.members);
        }
        if (conf.count > 1 && (*conf.port[0] || *conf.port[1]))
            return BAD(entry->place, "%llu links with one port name; expected 'count: 1' or no name",
                       (unsigned long long)conf.count);
        for (uint32_t end = 0; end < 2; end++)
            if (*conf.port[end]) weft_topology_name_port(b, end, conf.port[end]);
        index->pair[i] = (struct pair){from < to ? from : to, from < to ? to : from, i};
    }
    return WEFT_OK;
}

static enum weft_status check_pairs(const struct weft_tree *list, const struct weft_topology_builder *b,
                                    struct index *index, struct weft_error *ret_error) {
    qsort(index->pair, index->pairs, sizeof *index->pair, by_pair);
    for (uint32_t i = 1; i < index->pairs; i++) {
        const struct pair *a = &index->pair[i - 1], *p = &index->pair[i];
        if (a->low == p->low && a->high == p->high)
            return BAD(
                list->child[p->entry]->place,
                "a second link between %s and %s (the first is on line %d); if it is meant, set 'parallel: true' "
                "in topology, or 'count' of the first",
                b->node[p->low].name, b->node[p->high].name, list->child[a->entry]->place.line);
    }
    return WEFT_OK;
}

static enum weft_status list_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                   struct weft_error *ret_error) {
    const struct weft_tree *nodes = NULL, *links = NULL;
    enum weft_status status = section_list(tree, "nodes", b->place, &nodes, ret_error);
    if (!status) status = section_list(tree, "links", b->place, &links, ret_error);
    if (!status) status = weft__topology_check_size(b, nodes->n, links->n, ret_error);
    if (status) return status;
    struct index index = {.nodes = nodes->n, .pairs = links->n};
    uint32_t first = b->nodes;
    index.named = weft_memory_new(WEFT_MEMORY_TOPOLOGY, index.nodes, sizeof *index.named);
    index.pair = weft_memory_new(WEFT_MEMORY_TOPOLOGY, index.pairs, sizeof *index.pair);
    status = add_nodes(nodes, b, &index, ret_error);
    if (!status) status = add_links(links, b, &index, ret_error);
    if (!status && !((const struct list_conf *)conf)->parallel) status = check_pairs(links, b, &index, ret_error);
    if (!status) weft__topology_add_devices(b, first, NULL);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, index.named, index.nodes * sizeof *index.named);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, index.pair, index.pairs * sizeof *index.pair);
    return status;
}

const struct weft_model weft__topology_list =
    WEFT_MODEL_OF(TOPOLOGY, "list", "nodes and links one by one", "none needed", &list_params,
                  &(const struct weft_topology_ops){.build = list_build});
