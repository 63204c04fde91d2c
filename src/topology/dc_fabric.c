// SPDX-License-Identifier: Apache-2.0
// The data-centre fabric that connects a training cluster's frontend: racks with a switch each (RSW), pods of racks
// under fabric switches (FSW), and above several pods the spine planes, made of spine switches (SSW), one plane for
// each FSW of a pod. Andreyev, "Introducing data center fabric, the next-generation Facebook data center network",
// engineering.fb.com, 2014: pods of up to 48 racks and 4 FSWs, every RSW to every FSW of its pod by one link, FSW j of
// every pod to all SSWs of plane j; up to 48 SSWs per plane, 12 of them at first according to other descriptions. The
// successor of 2019 ("F16") has 16 planes of 100G links. ASSUMED: 16 hosts per rack, 100G everywhere, 50 m and 200 m of
// fibre.

#include "topology/builder.h"
#include "weft/param.h"

struct dc_fabric_conf {
    uint64_t pods, rsws, hosts_per_rsw, fsws, parallel, ssws, ssw_parallel;
    weft_rate_bps rate_bps, host_rate_bps, fsw_rate_bps, ssw_rate_bps;
    weft_time_ps host_delay_ps, fsw_delay_ps, ssw_delay_ps;
    double bit_error_rate;
};

#define T struct dc_fabric_conf

static const char *dc_fabric_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    const char *bad = weft__check_own_rate("host_rate", c->host_rate_bps, text, size);
    if (!bad) bad = weft__check_own_rate("fsw_rate", c->fsw_rate_bps, text, size);
    return bad ? bad : weft__check_own_rate("ssw_rate", c->ssw_rate_bps, text, size);
}

static const struct weft_param_table dc_fabric_params = WEFT_PARAM_TABLE_OF(
    "dc_fabric", T, WEFT_PARAM_AND(.check = dc_fabric_check, .lists = weft__topology_lists),
    WEFT_UINT(T, pods, "pods", "1", "1", "65535", "number of pods; several have spine planes above them"),
    WEFT_UINT(T, rsws, "rsws", "48", "1", "65535", "racks per pod, each with an RSW"),
    WEFT_UINT(T, hosts_per_rsw, "hosts_per_rsw", "16", "1", "65535", "links from an RSW down to hosts (assumed)"),
    WEFT_UINT(T, fsws, "fsws", "4", "1", "65535", "FSWs per pod, and spine planes: 4, or 16 in the later F16"),
    WEFT_UINT(T, parallel, "parallel", "1", "1", "4096", "links between an RSW and an FSW"),
    WEFT_UINT(T, ssws, "ssws", "12", "1", "65535",
              "SSWs per plane, at most 48 in the source; fewer than rsws oversubscribe; only with several pods"),
    WEFT_UINT(T, ssw_parallel, "ssw_parallel", "1", "1", "4096", "links between an FSW and an SSW of its plane"),
    WEFT_RATE(T, rate_bps, "rate", "100Gbps", "10Mbps", "100Tbps", "rate of every link (assumed)"),
    WEFT_RATE(T, host_rate_bps, "host_rate", "0bps", "0bps", "100Tbps", "rate of links to hosts; 0bps: as rate"),
    WEFT_RATE(T, fsw_rate_bps, "fsw_rate", "0bps", "0bps", "100Tbps",
              "rate of links between RSW and FSW; 0bps: as rate"),
    WEFT_RATE(T, ssw_rate_bps, "ssw_rate", "0bps", "0bps", "100Tbps",
              "rate of links between FSW and SSW; 0bps: as rate"),
    WEFT_TIME(T, host_delay_ps, "host_delay", "100ns", "1ps", "1s", "delay of links to hosts, one way (assumed)"),
    WEFT_TIME(T, fsw_delay_ps, "fsw_delay", "350ns", "1ps", "1s",
              "delay of links between RSW and FSW, one way (assumed)"),
    WEFT_TIME(T, ssw_delay_ps, "ssw_delay", "1100ns", "1ps", "1s",
              "delay of links between FSW and SSW, one way (assumed)"),
    WEFT_REAL(T, bit_error_rate, "bit_error_rate", "0", "0", "0.1", "bit error rate of every link, after FEC"));

static enum weft_status dc_fabric_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                        struct weft_error *ret_error) {
    const T *c = conf;
    struct weft__line common = {c->rate_bps, 0, c->bit_error_rate};
    struct weft__tiers tiers = {
        .pods = c->pods,
        .access = c->rsws,
        .aggregation = c->fsws,
        .core = c->pods > 1 ? c->fsws * c->ssws : 0, // both are at most 65535
        .hosts = c->hosts_per_rsw,
        .access_parallel = c->parallel,
        .core_parallel = c->ssw_parallel,
        .planes = true,
        .access_layer = "rsw",
        .aggregation_layer = "fsw",
        .core_layer = "ssw",
        .host_line = weft__line_or(c->host_rate_bps, c->host_delay_ps, common),
        .access_line = weft__line_or(c->fsw_rate_bps, c->fsw_delay_ps, common),
        .core_line = weft__line_or(c->ssw_rate_bps, c->ssw_delay_ps, common),
    };
    return weft__tiers_build(&tiers, b, ret_error);
}

static const char *dc_fabric_wiring(const void *conf, struct weft_arena *arena) {
    const T *c = conf;
    if (c->pods == 1)
        return weft_arena_format(arena, "one pod: each RSW to all %llu FSWs by %llu", (unsigned long long)c->fsws,
                                 (unsigned long long)c->parallel);
    return weft_arena_format(arena,
                             "each RSW to all %llu FSWs of its pod by %llu; FSW j of every pod to the %llu SSWs of "
                             "plane j by %llu",
                             (unsigned long long)c->fsws, (unsigned long long)c->parallel, (unsigned long long)c->ssws,
                             (unsigned long long)c->ssw_parallel);
}

const struct weft_model weft__topology_dc_fabric = WEFT_MODEL_OF(
    TOPOLOGY, "dc_fabric",
    "a data centre's rack, fabric and spine switches (RSW, FSW, SSW): a training cluster's frontend",
    "Andreyev, engineering.fb.com, 2014-11-14; counts from there, hosts of a rack, rates and delays assumed",
    &dc_fabric_params, &(const struct weft_topology_ops){.build = dc_fabric_build, .wiring = dc_fabric_wiring});
