// SPDX-License-Identifier: Apache-2.0
// The k-ary fat tree of Al-Fares, Loukissas and Vahdat, "A scalable, commodity data center network architecture",
// SIGCOMM 2008: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts, every switch with
// k ports. Core switch c has one link to every pod, to its aggregation switch c / (k/2). Between hosts of different
// pods there are (k/2)^2 shortest paths. Routing differs: ECMP by hash instead of the paper's two-level suffix tables.

#include "topology/builder.h"
#include "weft/param.h"

struct fat_tree_conf {
    uint64_t k;
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double bit_error_rate;
};

#define T struct fat_tree_conf

static const char *fat_tree_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    if (c->k % 2 == 0) return NULL;
    return WEFT_SAY(text, size, "k is %llu; expected an even number", (unsigned long long)c->k);
}

static const struct weft_param_table fat_tree_params = WEFT_PARAM_TABLE_OF(
    "fat_tree", T, WEFT_PARAM_AND(.check = fat_tree_check, .lists = weft__topology_lists),
    WEFT_UINT(T, k, "k", "4", "2", "256", "ports per switch, even; k^3/4 hosts"), WEFT__COMMON_LINE_ROWS(T));

static enum weft_status fat_tree_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                       struct weft_error *ret_error) {
    const T *c = conf;
    struct weft__line line = {c->rate_bps, c->delay_ps, c->bit_error_rate};
    uint64_t half = c->k / 2;
    struct weft__tiers tiers = {
        .pods = c->k,
        .access = half,
        .aggregation = half,
        .core = half * half,
        .hosts = half,
        .access_parallel = 1,
        .core_parallel = 1,
        .planes = true,
        .access_layer = "edge",
        .aggregation_layer = "aggregation",
        .core_layer = "core",
        .host_line = line,
        .access_line = line,
        .core_line = line,
    };
    return weft__tiers_build(&tiers, b, ret_error);
}

const struct weft_model weft__topology_fat_tree =
    WEFT_MODEL_OF(TOPOLOGY, "fat_tree", "k-ary fat tree: k^3/4 hosts, full bisection",
                  "Al-Fares, Loukissas, Vahdat, SIGCOMM 2008; routing is ECMP rather than two-level tables",
                  &fat_tree_params, &(const struct weft_topology_ops){.build = fat_tree_build});
