// SPDX-License-Identifier: Apache-2.0
// Dragonflies and their tables for tests.
#pragma once

#include "topologies.h"
#include "weft/gnet_routes.h"

struct tables {
    struct built b;
    const struct weft_dragonfly *f;
    struct weft_gnet_conf conf;
    struct weft_gnet_routes *r;
};

/// `keys` of topology dragonfly and of struct weft_gnet_conf. `break_links` (or NULL) marks links that are down.
static inline struct tables tables_new(const char *keys, const char *gnet_keys,
                                       void (*break_links)(const struct weft_topology *t, void *context, bool *down),
                                       void *context) {
    char text[512];
    snprintf(text, sizeof text, "topology: {kind: dragonfly%s%s}", *keys ? ", " : "", keys);
    struct tables x = {.b = build_text(text)};
    if (!x.b.t) fail_msg("%s: %s", keys, x.b.error.text);
    struct weft_tree *tree = NULL;
    snprintf(text, sizeof text, "{%s}", gnet_keys);
    if (*gnet_keys && weft_tree_parse("gnet", text, strlen(text), x.b.arena, &tree, &x.b.error))
        fail_msg("%s", x.b.error.text);
    if (weft_params_load(&weft_gnet_table, tree, &x.conf, x.b.arena, &x.b.error)) fail_msg("%s", x.b.error.text);
    x.f = &weft_dragonflies_new(x.b.t, x.b.arena)->fabric[0];
    bool *down = weft_arena_alloc(x.b.arena, x.b.t->links, sizeof *down);
    if (break_links) break_links(x.b.t, context, down);
    x.r = weft_gnet_routes_new(x.b.t, x.f, &x.conf, down);
    return x;
}

static inline void tables_free(struct tables *x) {
    weft_gnet_routes_free(x->r);
    built_free(&x->b);
}
