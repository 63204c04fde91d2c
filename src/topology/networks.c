// SPDX-License-Identifier: Apache-2.0
// Several networks side by side, each with its own kind and without links between them:
//   topology:
//     kind: networks
//     networks:
//       backend: {kind: ai_zone, racks: 4}
//       frontend: {kind: leaf_spine, leaves: 2}
// Their nodes are backend-host-0, backend-rtsw-0, frontend-leaf-0 and so on. "frontend: backend" is another name for
// the same network: two networks then become one shared network.

#include "base/param.h"
#include "topology/builder.h"
#include "weft/param.h"

enum { NETWORKS_MAX = 64 };

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

struct networks_conf {
    char none;
};
static const char *const lists[] = {"machines", "override", "routes", NULL};
static const char *const models[] = {"networks", NULL};
static const struct weft_param_table networks_params = {
    .name = "networks", .conf_size = sizeof(struct networks_conf), .lists = lists, .models = models};

/// "frontend: backend": the network of that name, unless a kind of topology has that name.
static const char *alias_of(const struct weft_tree *map, const struct weft_tree *tree) {
    const struct weft_tree *kind = tree->type == WEFT_TREE_MAP && tree->n == 1 ? weft_tree_find(tree, "kind") : tree;
    if (!kind || kind->type != WEFT_TREE_TEXT || weft_model_find(WEFT_KIND_TOPOLOGY, kind->text)) return NULL;
    const struct weft_tree *other = weft_tree_find(map, kind->text);
    return other && other != tree ? other->key : NULL;
}

static enum weft_status add_alias(const struct weft_tree *map, const struct weft_tree *tree, const char *of,
                                  struct weft_topology_builder *b, struct weft_error *ret_error) {
    const char *further = alias_of(map, weft_tree_find(map, of));
    if (further)
        return BAD(tree->place, "%s is %s, which is itself another name, of %s; expected '%s: %s'", tree->key, of,
                   further, tree->key, further);
    struct weft__alias *alias = weft_arena_alloc(b->arena, 1, sizeof *alias);
    *alias = (struct weft__alias){b->alias, tree->key, of};
    b->alias = alias;
    return WEFT_OK;
}

enum weft_status weft__topology_build_network(const struct weft_tree *tree, const char *path, const char *name,
                                              bool bare, struct weft_topology_builder *b,
                                              struct weft_error *ret_error) {
    struct weft_model_conf model;
    WEFT_TRY(weft__model_load_at(WEFT_KIND_TOPOLOGY, NULL, tree, path, &model, b->arena, ret_error));
    for (const char *const *key = weft__topology_lists; *key; key++) {
        const struct weft_tree *list = weft_tree_find(tree, *key);
        if (list)
            return BAD(list->key_place, "%s.%s: expected it in the section topology itself, with full names such as %s",
                       path, *key, bare ? "host-0" : weft_arena_format(b->arena, "%s-host-0", name));
    }
    if (model.model->params->models)
        return BAD(tree->place, "%s: networks within networks; expected them side by side", path);
    const struct weft_topology_ops *ops = model.model->ops;
    b->place = tree->place;
    uint32_t first = b->nodes, networks = b->networks;
    weft_topology_add_network(b, name);
    if (bare) b->network->prefix = NULL;
    b->scope = name; // the networks of a kind that makes several are named backend-plane-0 and so on
    enum weft_status status = ops->build(model.conf, tree->type == WEFT_TREE_MAP ? tree : NULL, b, ret_error);
    b->scope = NULL;
    if (!status && bare && b->networks > networks + 1)
        return BAD(tree->place, "%s: %s makes several networks; expected one", path, model.model->name);
    const char *wiring = ops->wiring && !status ? ops->wiring(model.conf, b->arena) : NULL;
    for (struct weft__network *n = b->network; n && n->node0 >= first; n = n->next)
        n->wiring = wiring;
    return status;
}

static enum weft_status networks_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                       struct weft_error *ret_error) {
    const struct weft_tree *map = weft_tree_find(tree, "networks");
    if (!map || map->type != WEFT_TREE_MAP || !map->n || map->n > NETWORKS_MAX)
        return BAD(map ? map->place : b->place,
                   "topology kind networks needs a map 'networks' of 1 to %d names, each a topology, such as {backend: "
                   "{kind: ai_zone}, frontend: {kind: leaf_spine}}",
                   NETWORKS_MAX);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < map->n && !status; i++) {
        const struct weft_tree *child = map->child[i];
        const char *of = alias_of(map, child);
        if (!weft__topology_name_is_good(child->key))
            return BAD(
                child->key_place,
                "bad name of a network '%s'; expected up to 31 letters, digits, _ and -, beginning with a letter",
                child->key);
        if (weft_model_find(WEFT_KIND_TOPOLOGY, child->key))
            return BAD(child->key_place, "a network named like a kind of topology, '%s'; expected another name",
                       child->key);
        char path[WEFT__PATH_MAX];
        weft__path_join(path, sizeof path, "topology.networks", child->key);
        status = of ? add_alias(map, child, of, b, ret_error)
                    : weft__topology_build_network(child, path, child->key, false, b, ret_error);
    }
    return status ? status : weft__topology_read_machines(tree, b, ret_error);
}

const struct weft_model weft__topology_networks =
    WEFT_MODEL_OF(TOPOLOGY, "networks", "several networks side by side, of any kinds",
                  "backend and frontend of a training cluster: Meta, SIGCOMM 2024", &networks_params,
                  &(const struct weft_topology_ops){.build = networks_build});
