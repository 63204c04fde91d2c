// SPDX-License-Identifier: Apache-2.0
// Small Cliques for tests of their control plane. Include after cmocka and weft/memory.h.
#pragma once

#include "topologies.h"
#include "weft/clique.h"
#include "weft/gnet_routes.h"
#include "weft/memory.h"

/// TiNs in a row, each in a separate pod.
static inline struct weft_clique *clique_chain(uint32_t tins, weft_time_ps delay_ps, struct weft_arena *a) {
    struct weft_clique_tin *tin = weft_arena_alloc(a, tins, sizeof *tin);
    struct weft_clique_link *link = weft_arena_alloc(a, tins, sizeof *link);
    for (uint32_t i = 0; i < tins; i++) {
        tin[i] = (struct weft_clique_tin){.name = "tin", .node = WEFT_NONE, .pod = i};
        if (i) link[i - 1] = (struct weft_clique_link){.tin = {i - 1, i}, .port = {1, 0}, .delay_ps = delay_ps};
    }
    return weft_clique_new(tin, tins, link, tins - 1, a);
}

struct clique {
    struct built built;
    struct weft_dragonfly *fabric;
    struct weft_clique *c;
    struct weft_gnet_conf gnet;
};
/// Of a dragonfly with these keys, to be freed by built_free(&built).
static inline struct clique clique_build(const char *keys) {
    char text[512];
    snprintf(text, sizeof text, "topology: {kind: dragonfly, %s}", keys);
    struct clique ret = {.built = build_text(text)};
    if (!ret.built.t) fail_msg("%s: %s", keys, ret.built.error.text);
    ret.fabric = &weft_dragonflies_new(ret.built.t, ret.built.arena)->fabric[0];
    ret.c = weft_clique_of(ret.built.t, ret.fabric, ret.built.arena);
    if (weft_params_load(&weft_gnet_table, NULL, &ret.gnet, ret.built.arena, NULL)) fail_msg("gnet");
    return ret;
}
