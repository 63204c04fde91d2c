// SPDX-License-Identifier: Apache-2.0
// Two layers: every leaf to every spine by the same number of parallel links (a folded Clos network; Clos 1953).

#include "topology/builder.h"
#include "weft/param.h"

struct leaf_spine_conf {
    uint64_t leaves, spines, hosts_per_leaf, parallel;
    weft_rate_bps rate_bps, host_rate_bps, spine_rate_bps;
    weft_time_ps delay_ps, host_delay_ps, spine_delay_ps;
    double bit_error_rate;
};

#define T struct leaf_spine_conf

static const char *leaf_spine_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    if (!c->spines && c->leaves > 1)
        return WEFT_SAY(text, size, "spines is 0 and leaves %llu; expected spines, or a single leaf",
                        (unsigned long long)c->leaves);
    const char *bad = weft__check_own_rate("host_rate", c->host_rate_bps, text, size);
    return bad ? bad : weft__check_own_rate("spine_rate", c->spine_rate_bps, text, size);
}

static const struct weft_param_table leaf_spine_params = WEFT_PARAM_TABLE_OF(
    "leaf_spine", T, WEFT_PARAM_AND(.check = leaf_spine_check, .lists = weft__topology_lists),
    WEFT_UINT(T, leaves, "leaves", "8", "1", "65535", "leaf switches"),
    WEFT_UINT(T, spines, "spines", "8", "0", "65535", "spine switches; 0: none above a single leaf"),
    WEFT_UINT(T, hosts_per_leaf, "hosts_per_leaf", "8", "1", "65535", "hosts per leaf"),
    WEFT_UINT(T, parallel, "parallel", "1", "1", "4096", "links between a leaf and a spine"), WEFT__COMMON_LINE_ROWS(T),
    WEFT__LINE_ROWS(T, host, "host links"), WEFT__LINE_ROWS(T, spine, "links between leaf and spine"));

static enum weft_status leaf_spine_build(const void *conf, const struct weft_tree *tree,
                                         struct weft_topology_builder *b, struct weft_error *ret_error) {
    const T *c = conf;
    struct weft__line common = {c->rate_bps, c->delay_ps, c->bit_error_rate};
    struct weft__tiers tiers = {
        .pods = 1,
        .access = c->leaves,
        .aggregation = c->spines,
        .hosts = c->hosts_per_leaf,
        .access_parallel = c->parallel,
        .access_layer = "leaf",
        .aggregation_layer = "spine",
        .host_line = weft__line_or(c->host_rate_bps, c->host_delay_ps, common),
        .access_line = weft__line_or(c->spine_rate_bps, c->spine_delay_ps, common),
    };
    return weft__tiers_build(&tiers, b, ret_error);
}

const struct weft_model weft__topology_leaf_spine =
    WEFT_MODEL_OF(TOPOLOGY, "leaf_spine", "two layers: every leaf to every spine",
                  "folded Clos network (Clos, Bell System Technical Journal 1953)", &leaf_spine_params,
                  &(const struct weft_topology_ops){.build = leaf_spine_build});
