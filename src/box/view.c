// SPDX-License-Identifier: Apache-2.0
#include "box/view.h"

#include <inttypes.h>

#include "box/box.h"

static const struct weft__box_view *view_of(uint32_t kind) {
    return weft__box_of_kind(kind)->view;
}

/// The view of this kind, unless an earlier kind has the same; NULL: none.
static const struct weft__box_view *own_view_of(uint32_t kind) {
    for (uint32_t before = 0; before < kind; before++)
        if (view_of(before) == view_of(kind)) return NULL;
    return view_of(kind);
}

void weft_boxes_describe(FILE *file, const struct weft_topology *t, const struct weft_topology_summary *network) {
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        const struct weft__box_view *view = own_view_of(kind);
        if (view) view->describe(file, t, network);
    }
}

struct weft_topology_summary *weft_boxes_summarise(const struct weft_scenario *scenario, const struct weft_topology *t,
                                                   struct weft_arena *arena) {
    const struct weft_device_conf **device = weft_device_confs(scenario, t, arena);
    weft_time_ps *processing_ps = weft_arena_alloc(arena, t->switches, sizeof *processing_ps);
    const struct weft_cell_costs *costs = NULL;
    for (uint32_t sw = 0; sw < t->switches; sw++) {
        const struct weft__box *box = weft__box_of(&t->node[t->switch_node[sw]]);
        if (box->crossing) processing_ps[sw] = box->crossing(device[t->switch_node[sw]]);
    }
    for (uint32_t kind = 0; kind < WEFT_BOXES && !costs; kind++) {
        const struct weft__box_view *view = own_view_of(kind);
        if (view && view->costs) costs = view->costs(t, device, processing_ps, arena);
    }
    struct weft_topology_summary *summary = weft_topology_summarise(t, processing_ps, costs, arena);
    for (uint32_t i = 0; i < t->networks; i++) {
        struct weft_dsf_summary *dsf = weft_arena_alloc(arena, 1, sizeof *dsf);
        struct weft_clique_summary *clique = weft_arena_alloc(arena, 1, sizeof *clique);
        *dsf = weft_topology_summarise_dsf(t, &t->network[i]);
        *clique = weft_topology_summarise_cliques(t, &t->network[i]);
        if (dsf->layers) summary[i].dsf = dsf;
        if (clique->cliques) summary[i].clique = clique;
    }
    return summary;
}

const char *weft__view_range(uint32_t min, uint32_t max, char *text, size_t size) {
    if (min == max)
        snprintf(text, size, "%" PRIu32, min);
    else
        snprintf(text, size, "%" PRIu32 " to %" PRIu32, min, max);
    return text;
}
