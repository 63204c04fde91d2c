// SPDX-License-Identifier: Apache-2.0
// Three layers of switches. The defaults have the counts of the 1024-GPU fabric simulated for IEEE P802.1Qdw (Chen,
// Congdon, Lv, Sivakolundu, "SFC simulation", part 4): 8 core, 32 aggregation and 128 access switches, 1024 GPUs, 200G,
// 150 ns a link. Its wiring is in a picture that we do not have, so the wiring is ASSUMED: the simplest that fits the
// counts with single links. 4 pods of 32 access and 8 aggregation switches; 8 hosts under an access switch; every
// access switch to every aggregation switch of its pod (8 up for 8 down: 1:1); every aggregation switch to every core
// switch (8 up for 32 down: 4:1 between pods, 8 x 8 x 8 shortest paths between hosts of different pods). Other readings
// of the counts are parameters: core_wiring plane (aggregation switch j to the j-th share of the cores, 32:1 with these
// counts), core_parallel 4 (1:1 everywhere), another number of pods.

#include "topology/builder.h"
#include "weft/param.h"

enum wiring { WIRING_ALL, WIRING_PLANE };
static const char *const wiring_names[] = {"all", "plane", NULL};

struct clos3_conf {
    uint64_t pods, access_per_pod, aggregation_per_pod, core, hosts_per_access;
    uint64_t access_parallel, core_parallel;
    uint32_t core_wiring;
    weft_rate_bps rate_bps, host_rate_bps, access_rate_bps, core_rate_bps;
    weft_time_ps delay_ps, host_delay_ps, access_delay_ps, core_delay_ps;
    double bit_error_rate;
};

#define T struct clos3_conf

static const char *clos3_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    if (c->core_wiring == WIRING_PLANE && c->core % c->aggregation_per_pod)
        return WEFT_SAY(
            text, size,
            "core %llu is not a multiple of aggregation_per_pod %llu; expected so with core_wiring plane, which "
            "gives every aggregation switch of a pod the same share of the cores",
            (unsigned long long)c->core, (unsigned long long)c->aggregation_per_pod);
    const char *bad = weft__check_own_rate("host_rate", c->host_rate_bps, text, size);
    if (!bad) bad = weft__check_own_rate("access_rate", c->access_rate_bps, text, size);
    return bad ? bad : weft__check_own_rate("core_rate", c->core_rate_bps, text, size);
}

static const struct weft_param_table clos3_params = WEFT_PARAM_TABLE_OF(
    "clos3", T, WEFT_PARAM_AND(.check = clos3_check, .lists = weft__topology_lists),
    WEFT_UINT(T, pods, "pods", "4", "1", "65535", "number of pods (assumed; the source gives only totals)"),
    WEFT_UINT(T, access_per_pod, "access_per_pod", "32", "1", "65535", "access switches per pod (128 in all)"),
    WEFT_UINT(T, aggregation_per_pod, "aggregation_per_pod", "8", "1", "65535",
              "aggregation switches per pod (32 in all)"),
    WEFT_UINT(T, core, "core", "8", "1", "65535", "core switches in all"),
    WEFT_UINT(T, hosts_per_access, "hosts_per_access", "8", "1", "65535", "hosts per access switch"),
    WEFT_UINT(T, access_parallel, "access_parallel", "1", "1", "4096",
              "links between an access and an aggregation switch (assumed)"),
    WEFT_UINT(T, core_parallel, "core_parallel", "1", "1", "4096",
              "links between an aggregation and a core switch that are wired (assumed)"),
    WEFT_CHOICE(T, core_wiring, "core_wiring", "all", wiring_names,
                "all: every aggregation switch to every core switch; plane: the j-th of each pod to the j-th share of "
                "the cores (assumed)"),
    WEFT__COMMON_LINE_ROWS(T), WEFT__LINE_ROWS(T, host, "host links"),
    WEFT__LINE_ROWS(T, access, "links between access and aggregation"),
    WEFT__LINE_ROWS(T, core, "links between aggregation and core"));

static enum weft_status clos3_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                    struct weft_error *ret_error) {
    const T *c = conf;
    struct weft__line common = {c->rate_bps, c->delay_ps, c->bit_error_rate};
    struct weft__tiers tiers = {
        .pods = c->pods,
        .access = c->access_per_pod,
        .aggregation = c->aggregation_per_pod,
        .core = c->core,
        .hosts = c->hosts_per_access,
        .access_parallel = c->access_parallel,
        .core_parallel = c->core_parallel,
        .planes = c->core_wiring == WIRING_PLANE,
        .access_layer = "access",
        .aggregation_layer = "aggregation",
        .core_layer = "core",
        .host_line = weft__line_or(c->host_rate_bps, c->host_delay_ps, common),
        .access_line = weft__line_or(c->access_rate_bps, c->access_delay_ps, common),
        .core_line = weft__line_or(c->core_rate_bps, c->core_delay_ps, common),
    };
    return weft__tiers_build(&tiers, b, ret_error);
}

static const char *clos3_wiring(const void *conf, struct weft_arena *arena) {
    const T *c = conf;
    return weft_arena_format(
        arena,
        "assumed: %llu pods of %llu access and %llu aggregation switches, %llu hosts an access switch; each access "
        "switch to all aggregation switches of its pod by %llu link%s; each aggregation switch to %s by %llu link%s",
        (unsigned long long)c->pods, (unsigned long long)c->access_per_pod, (unsigned long long)c->aggregation_per_pod,
        (unsigned long long)c->hosts_per_access, (unsigned long long)c->access_parallel,
        c->access_parallel > 1 ? "s" : "",
        c->core_wiring == WIRING_ALL ? "all core switches" : "the core switches of its plane",
        (unsigned long long)c->core_parallel, c->core_parallel > 1 ? "s" : "");
}

const struct weft_model weft__topology_clos3 = WEFT_MODEL_OF(
    TOPOLOGY, "clos3", "three layers: access, aggregation, core; by default 1024 hosts at 200G",
    "counts, rate and delay of the IEEE P802.1Qdw SFC simulation, part 4; its wiring is not known and assumed: "
    "4 pods, every aggregation switch to every core switch, 4:1 between pods",
    &clos3_params, &(const struct weft_topology_ops){.build = clos3_build, .wiring = clos3_wiring});
