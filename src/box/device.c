// SPDX-License-Identifier: Apache-2.0
// The configuration of the nodes of a scenario, and where it is written.
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "base/tree.h"
#include "weft/memory.h"
#include "weft/scenario.h"

const struct weft_device_conf *weft_scenario_device(const struct weft_scenario *scenario, const char *node) {
    for (uint32_t d = scenario->devices - 1; d > 0; d--)
        if (weft_glob_match(scenario->device[d].match, node)) return &scenario->device[d];
    return &scenario->device[0];
}

const struct weft_device_conf **weft_device_confs(const struct weft_scenario *scenario, const struct weft_topology *t,
                                                  struct weft_arena *arena) {
    const struct weft_device_conf **device = weft_arena_alloc(arena, t->nodes, sizeof *device);
    for (uint32_t i = 0; i < t->nodes; i++)
        device[i] = weft_scenario_device(scenario, t->node[i].name);
    return device;
}

/// What is at that path, or the innermost section around it; *ret_depth: how many of its keys exist.
static const struct weft_tree *innermost_section(const struct weft_tree *tree, const char *path, uint32_t *ret_depth) {
    *ret_depth = 0;
    for (const char *key = path, *end; *key; key = *end ? end + 1 : end) {
        char name[WEFT__PATH_MAX];
        end = key + strcspn(key, ".");
        snprintf(name, sizeof name, "%.*s", (int)(end - key), key);
        const struct weft_tree *child = weft_tree_find(tree, name);
        if (!child || child->type == WEFT_TREE_NULL || !child->place.file) break; // or nobody wrote it
        tree = child;
        ++*ret_depth;
    }
    return tree;
}

bool weft_device_says(const struct weft_device_conf *device, const char *section, const char *key) {
    return weft__tree_section(weft__tree_section(device->tree, section), key) ||
           weft__tree_section(weft__tree_section(device->defaults, section), key);
}

struct weft_place weft_device_place(const struct weft_device_conf *device, const char *path) {
    uint32_t own_depth, depth;
    const struct weft_tree *own = innermost_section(device->tree, path, &own_depth);
    const struct weft_tree *other = innermost_section(device->defaults, path, &depth);
    return depth > own_depth ? other->place : own->place;
}
