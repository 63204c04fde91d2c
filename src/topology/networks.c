// SPDX-License-Identifier: Apache-2.0
// Several networks side by side, each of a kind of its own, with no link between them:
//   topology:
//     kind: networks
//     networks:
//       backend: {kind: ai_zone, racks: 4}
//       frontend: {kind: leaf_spine, leaves: 2}
// Their nodes are backend-host-0, backend-rtsw-0, frontend-leaf-0 and so on.
#include <string.h>

#include "base/param.h"
#include "topology/builder.h"

enum { NAME_MAX = 31, NETWORKS_MAX = 64 };

#define BAD(place, ...) weft_error_set(ret_error, WEFT_ERROR_INPUT, place, __VA_ARGS__)

struct networks_conf {
    char none;
};
static const char *const lists[] = {"networks", "override", NULL};
static const struct weft_param_table networks_params = {
    .name = "networks", .conf_size = sizeof(struct networks_conf), .lists = lists};

/// A name stands before a dash in names of nodes, so it ends with neither dash nor dot.
static bool name_is_good(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strlen(name);
    if (!n || n > NAME_MAX || !strchr(letters, name[0]) || strstr(name, "--") || name[n - 1] == '-') return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == n;
}

static enum weft_status build_network(const struct weft_tree *tree, struct weft_topology_builder *b,
                                      struct weft_error *ret_error) {
    struct weft_model_conf model;
    char path[WEFT__PATH_MAX];
    if (!name_is_good(tree->key))
        return BAD(tree->key_place,
                   "bad name of a network '%s'; expected up to %d letters, digits, _ and -, beginning with a letter",
                   tree->key, NAME_MAX);
    weft__path_join(path, sizeof path, "topology.networks", tree->key);
    enum weft_status status = weft__model_load_at(WEFT_KIND_TOPOLOGY, NULL, tree, path, &model, b->arena, ret_error);
    if (status) return status;
    const struct weft_tree *override = weft_tree_find(tree, "override");
    if (override)
        return BAD(override->key_place, "%s.override: expected it beside networks, with full names such as %s-host-0/0",
                   path, tree->key);
    const struct weft_topology_ops *ops = model.model->ops;
    b->place = tree->place;
    weft_topology_add_network(b, tree->key);
    b->scope = tree->key; // a kind that makes several networks has them called backend-plane-0 and so on
    status = ops->build(model.conf, tree->type == WEFT_TREE_MAP ? tree : NULL, b, ret_error);
    b->scope = NULL;
    return status;
}

static enum weft_status networks_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                       struct weft_error *ret_error) {
    (void)conf;
    const struct weft_tree *map = weft_tree_find(tree, "networks");
    if (!map || map->type != WEFT_TREE_MAP || !map->n || map->n > NETWORKS_MAX)
        return BAD(map ? map->place : b->place,
                   "topology kind networks needs a map 'networks' of 1 to %d names, each a topology, such as {backend: "
                   "{kind: ai_zone}, frontend: {kind: leaf_spine}}",
                   NETWORKS_MAX);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < map->n && !status; i++)
        status = build_network(map->child[i], b, ret_error);
    return status;
}

static const struct weft_topology_ops networks_ops = {.build = networks_build};

const struct weft_model weft__topology_networks = {
    .kind = WEFT_KIND_TOPOLOGY,
    .name = "networks",
    .summary = "several networks side by side, of any kinds",
    .source = "backend and frontend of a training cluster: Meta, SIGCOMM 2024",
    .params = &networks_params,
    .ops = &networks_ops,
};
