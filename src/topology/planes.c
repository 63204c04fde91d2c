// SPDX-License-Identifier: Apache-2.0
// Equal networks side by side, in each of which every NIC has a port (host.planes):
//   topology: {kind: planes, planes: 2, plane: {kind: leaf_spine, rate: 200Gbps}}
// Without `plane` it is a leaf_spine of defaults. The nodes of the first plane have the names of its kind (host-0,
// leaf-3), those of the others begin with plane-1 and so on. Sources: K. Qian et al., "Alibaba HPN", SIGCOMM 2024 (a
// NIC with two ports, at two ToRs, in two planes); OCP MRC (an 800G NIC as eight planes of 100G); J. Duan et al. and C.
// Zhao et al., ISCA 2025 (multi-plane fat tree).
#include "topology/builder.h"
#include "weft/param.h"

struct planes_conf {
    uint64_t planes;
};
static const char *const lists[] = {"plane", "override", "routes", NULL};
static const struct weft_param_table planes_params = WEFT_PARAM_TABLE_OF(
    "planes", struct planes_conf, .lists = lists,
    WEFT_UINT(struct planes_conf, planes, "planes", "2", "2", "32", "equal networks, with a port of each NIC in each"));

static enum weft_status planes_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                     struct weft_error *ret_error) {
    const struct planes_conf *c = conf;
    const struct weft_tree plain = {.type = WEFT_TREE_TEXT, .text = "leaf_spine", .place = b->place};
    const struct weft_tree *plane = weft_tree_find(tree, "plane") ?: &plain;
    enum weft_status status = WEFT_OK;
    for (uint64_t i = 0; i < c->planes && !status; i++) {
        const char *name = weft_arena_format(b->arena, "plane-%llu", (unsigned long long)i);
        status = weft__topology_build_network(plane, "topology.plane", name, !i, b, ret_error);
    }
    return status;
}

const struct weft_model weft__topology_planes =
    WEFT_MODEL_OF(TOPOLOGY, "planes", "equal networks side by side; a NIC has a port in each (host.planes)",
                  "Qian et al., Alibaba HPN, SIGCOMM 2024; OCP MRC; Zhao et al., ISCA 2025", &planes_params,
                  &(const struct weft_topology_ops){.build = planes_build});
