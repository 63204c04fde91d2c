// SPDX-License-Identifier: Apache-2.0
// Links of a containerlab lab: endpoints ["leaf-1:e1-1", "spine-1:e1-1"], or as maps of node and interface. Source:
// "Topology definition" of containerlab.dev, 0.60. Nodes of kind `linux` are hosts; links to what is not a node of the
// lab (type mgmt-net, macvlan, host, vxlan, dummy) are left out.
#include <string.h>

#include "base/tree.h"
#include "import/cables/cables.h"
#include "weft/tree.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

/// "node:interface", or {node: ..., interface: ...}.
static enum weft_status read_end(const struct weft_tree *tree, struct weft_arena *arena, const char **ret_node,
                                 const char **ret_port, struct weft_error *ret_error) {
    if (tree->type == WEFT_TREE_MAP) {
        *ret_node = weft__tree_text(tree, "node");
        *ret_port = weft__tree_text(tree, "interface");
        return *ret_node ? WEFT_OK : BAD(tree->place, "an endpoint without 'node'");
    }
    const char *colon = tree->type == WEFT_TREE_TEXT ? strchr(tree->text, ':') : NULL;
    if (!colon || colon == tree->text || !colon[1])
        return BAD(tree->place, "expected an endpoint such as \"leaf-1:e1-1\"");
    *ret_node = weft_arena_format(arena, "%.*s", (int)(colon - tree->text), tree->text);
    *ret_port = colon + 1;
    return WEFT_OK;
}

static enum weft_status read_link(const struct weft_tree *link, const struct weft_tree *nodes,
                                  struct weft__cable_list *list, struct weft_error *ret_error) {
    const struct weft_tree *ends = weft_tree_find(link, "endpoints");
    const char *type = weft__tree_text(link, "type");
    struct weft__cable c = {.place = link->place};
    if ((type && strcmp(type, "veth")) || weft_tree_find(link, "endpoint")) {
        list->outside++;
        return WEFT_OK;
    }
    if (!ends || ends->type != WEFT_TREE_LIST || ends->n != 2)
        return BAD(link->place, "expected two 'endpoints' in a link");
    for (uint32_t e = 0; e < 2; e++)
        WEFT_TRY(read_end(ends->child[e], list->arena, &c.device[e], &c.port[e], ret_error));
    if (!weft_tree_find(nodes, c.device[0]) || !weft_tree_find(nodes, c.device[1]))
        list->outside++;
    else
        weft__cables_add(list, &c);
    return WEFT_OK;
}

enum weft_status weft__cables_read_lab(const struct weft__cables_file *file, struct weft__cable_list *list,
                                       struct weft_error *ret_error) {
    struct weft_tree *root = NULL;
    WEFT_TRY(weft_tree_read(file->path, list->arena, &root, ret_error));
    const struct weft_tree *topology = weft_tree_find(root, "topology"), *nodes = weft_tree_find(topology, "nodes");
    const struct weft_tree *links = weft_tree_find(topology, "links"), *kinds = weft_tree_find(topology, "defaults");
    if (!nodes || nodes->type != WEFT_TREE_MAP || !links || links->type != WEFT_TREE_LIST)
        return BAD(root->place, "expected 'nodes' and a list of 'links' in 'topology', as containerlab has them");
    for (uint32_t i = 0; i < nodes->n; i++) {
        const char *kind = weft__tree_text(nodes->child[i], "kind");
        if (!kind) kind = weft__tree_text(kinds, "kind");
        if (kind && strcmp(kind, "bridge"))
            weft__cables_tell(list, nodes->child[i]->key,
                              strcmp(kind, "linux") ? WEFT__CABLE_SWITCH : WEFT__CABLE_HOST);
    }
    for (uint32_t i = 0; i < links->n; i++)
        WEFT_TRY(read_link(links->child[i], nodes, list, ret_error));
    return WEFT_OK;
}

bool weft__cables_is_lab(const char *head) {
    return strstr(head, "topology:") && strstr(head, "endpoints:") && strstr(head, "nodes:");
}
