// SPDX-License-Identifier: Apache-2.0
// Networks for tests, from the user's own text or from a list of links.
#pragma once

#include <stdio.h>
#include <string.h>

#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/topology.h"

struct built {
    struct weft_arena *arena;
    struct weft_topology *t; ///< NULL: `error` says why
    struct weft_error error;
};

/// `text`: a file "t.yaml" with a `topology:` and perhaps an `events:` section.
static inline struct built build_text(const char *text) {
    struct sections {
        struct weft_model_conf topology;
        const char *events;
    };
    static const char *const lists[] = {"events", NULL};
    static const struct weft_param rows[] = {
        WEFT_MODEL_PARAM(struct sections, topology, "topology", WEFT_KIND_TOPOLOGY, NULL, "the network"),
    };
    static const struct weft_param_table table = {
        .name = "test", .rows = rows, .n = 1, .conf_size = sizeof(struct sections), .lists = lists};
    struct built b = {.arena = weft_arena_new(WEFT_MEMORY_SCENARIO)};
    struct weft_tree *root;
    struct sections sections;
    if (weft_tree_parse("t.yaml", text, strlen(text), b.arena, &root, &b.error) ||
        weft_params_load(&table, root, &sections, b.arena, &b.error) ||
        weft_topology_new(&sections.topology, weft_tree_find(root, "topology"), weft_tree_find(root, "events"), b.arena,
                          &b.t, &b.error))
        b.t = NULL;
    return b;
}

/// A network of `switches` switches "s0".., each with one host "h0".., and the given links between them.
struct wire {
    uint32_t from, to;
    weft_rate_bps rate_bps;
};
struct wires {
    uint32_t switches, wires;
    const struct wire *wire;
    bool hostless; ///< odd switches have no host
};

static inline enum weft_status build_wires(const void *conf, const struct weft_tree *tree,
                                           struct weft_topology_builder *b, struct weft_error *ret_error) {
    (void)tree, (void)ret_error;
    const struct wires *w = conf;
    uint32_t sw[64], host[64];
    char name[16];
    for (uint32_t s = 0; s < w->switches; s++) {
        snprintf(name, sizeof name, "s%u", s);
        sw[s] = weft_topology_add_node(b, WEFT_NODE_SWITCH, "switch", 1, WEFT_NONE, name);
        snprintf(name, sizeof name, "h%u", s);
        if (!(w->hostless && s % 2)) host[s] = weft_topology_add_node(b, WEFT_NODE_HOST, "host", 0, WEFT_NONE, name);
    }
    for (uint32_t i = 0; i < w->wires; i++)
        weft_topology_add_link(b, sw[w->wire[i].from], sw[w->wire[i].to], w->wire[i].rate_bps, 1000, 0);
    for (uint32_t s = 0; s < w->switches; s++)
        if (!(w->hostless && s % 2)) weft_topology_add_link(b, host[s], sw[s], UINT64_C(3200000000000), 1000, 0);
    return WEFT_OK;
}

static inline struct built build_from_wires(const struct wires *wires) {
    static const struct weft_topology_ops ops = {.build = build_wires};
    static const struct weft_param_table params = {.name = "wires", .conf_size = sizeof(struct wires)};
    static const struct weft_model model = {
        .kind = WEFT_KIND_TOPOLOGY, .name = "wires", .params = &params, .ops = &ops};
    struct built b = {.arena = weft_arena_new(WEFT_MEMORY_SCENARIO)};
    struct weft_model_conf conf = {.model = &model, .conf = (void *)(uintptr_t)wires};
    if (weft_topology_new(&conf, NULL, NULL, b.arena, &b.t, &b.error)) b.t = NULL;
    return b;
}

static inline void built_free(struct built *b) {
    weft_arena_free(b->arena);
}
