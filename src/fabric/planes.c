// SPDX-License-Identifier: Apache-2.0
// Several equal folded Clos networks, the planes, with a port of each host's NIC in each: two (dual-ToR, dual-plane),
// or eight. A port has the host's rate divided by the planes, so a chip has that many times more ports, and two layers
// reach further. `radix` counts ports of this rate.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "fabric/fabric.h"
#include "weft/param.h"

#define LLU(x) (unsigned long long)(x)

struct conf {
    struct weft_blueprint_conf common;
    uint64_t planes, layers_max;
};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "planes", struct conf, .lists = weft__fabric_lists, WEFT_FABRIC_ROWS(struct conf),
    WEFT_UINT(struct conf, planes, "planes", "2", "2", "32", "equal networks, with a port of each host in each"),
    WEFT_UINT(struct conf, layers_max, "layers_max", "3", "2", "3", "most layers of switches"));

static void planes_solve(const void *conf, struct weft_fabric_plan *plan) {
    const struct conf *own = conf;
    struct weft_blueprint_conf plane = own->common;
    if (plane.rate_bps % own->planes || plane.rate_bps / own->planes < 10000000) {
        weft__fabric_fail(plan, "%llu planes: a port would have less than 10Mbps, or no whole bits per second",
                          LLU(own->planes));
        return;
    }
    plane.rate_bps /= own->planes;
    plan->conf = &plane;
    weft__clos_solve(&plane, own->layers_max, plan);
    plan->conf = &own->common;
    for (uint32_t i = 0; i < plan->layers; i++) { // parts of the copy are those of the original
        plan->layer[i].chips *= own->planes;
        const struct weft_fabric_part *part = plan->layer[i].part;
        if (part == &plane.leaf) plan->layer[i].part = &own->common.leaf;
        if (part == &plane.spine) plan->layer[i].part = &own->common.spine;
        if (part == &plane.core) plan->layer[i].part = &own->common.core;
    }
    for (uint32_t i = 0; i < plan->cables; i++)
        plan->cable[i].links *= own->planes;
    plan->planes = (uint32_t)own->planes;
    char text[sizeof plan->topology];
    int used = snprintf(text, sizeof text, "{kind: planes, planes: %llu, plane: %s}", LLU(own->planes), plan->topology);
    assert(used > 0 && (size_t)used < sizeof text);
    memcpy(plan->topology, text, (size_t)used + 1);
}

const struct weft_model weft__fabric_planes =
    WEFT_MODEL_OF(FABRIC, "planes", "several folded Clos networks side by side, with a port of each host in each",
                  "Qian et al., Alibaba HPN, SIGCOMM 2024; OCP MRC; Zhao et al., ISCA 2025", &table,
                  &(const struct weft_fabric_ops){.solve = planes_solve});
