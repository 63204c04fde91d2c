// SPDX-License-Identifier: Apache-2.0
// Meta's training network: "RDMA over Ethernet for Distributed AI Training at Meta Scale", SIGCOMM 2024. A zone is two
// layers: rack switches (RTSW) with 16 links down to the GPUs of the rack and 18 up, and deep-buffered cluster switches
// (CTSW); 4,096 GPUs with full bisection. Up to 8 zones are connected by aggregators (ATSW), oversubscribed on purpose.
// The counts are as others quote them. ASSUMED, because they do not describe the wiring: every RTSW has `parallel`
// links to every CTSW of its zone, so a zone has uplinks / parallel CTSWs; every CTSW is connected to every ATSW in the
// same manner. 36 uplinks of each CTSW for 256 downlinks give the 1:7 between pods reported for the Llama 3 cluster
// (arXiv 2407.21783). Delays are assumed: 100 ns a link for FEC and PHYs, and 5 ns a metre for 50 m and 200 m. The star
// of the first generation is the kind `single`.

#include "topology/builder.h"
#include "weft/param.h"

enum cabling { CABLING_RACK, CABLING_RAIL };
static const char *const cabling_names[] = {"rack", "rail", NULL};

struct ai_zone_conf {
    uint64_t zones, racks, gpus_per_rack, uplinks, parallel, ctsw_uplinks, ctsw_parallel, server_gpus;
    uint32_t cabling;
    weft_rate_bps rate_bps, host_rate_bps, ctsw_rate_bps, atsw_rate_bps;
    weft_time_ps host_delay_ps, ctsw_delay_ps, atsw_delay_ps;
    double bit_error_rate;
};

#define T struct ai_zone_conf

static const char *check_multiple(const char *key, uint64_t value, const char *of_key, uint64_t of, char *text,
                                  size_t size) {
    if (value % of == 0) return NULL;
    return WEFT_SAY(text, size, "%s %llu is not a multiple of %s %llu; expected so", key, (unsigned long long)value,
                    of_key, (unsigned long long)of);
}

static const char *ai_zone_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    const char *bad = check_multiple("uplinks", c->uplinks, "parallel", c->parallel, text, size);
    if (!bad && c->zones > 1)
        bad = check_multiple("ctsw_uplinks", c->ctsw_uplinks, "ctsw_parallel", c->ctsw_parallel, text, size);
    if (!bad && c->cabling == CABLING_RAIL)
        bad = check_multiple("racks", c->racks, "server_gpus", c->server_gpus, text, size);
    if (!bad) bad = weft__check_own_rate("host_rate", c->host_rate_bps, text, size);
    if (!bad) bad = weft__check_own_rate("ctsw_rate", c->ctsw_rate_bps, text, size);
    return bad ? bad : weft__check_own_rate("atsw_rate", c->atsw_rate_bps, text, size);
}

static const struct weft_param_table ai_zone_params = WEFT_PARAM_TABLE_OF(
    "ai_zone", T, WEFT_PARAM_AND(.check = ai_zone_check, .lists = weft__topology_lists),
    WEFT_UINT(T, zones, "zones", "1", "1", "65535", "number of zones; several have a layer of ATSWs above them"),
    WEFT_UINT(T, racks, "racks", "256", "1", "65535", "racks per zone, each with an RTSW"),
    WEFT_UINT(T, gpus_per_rack, "gpus_per_rack", "16", "1", "65535", "links from an RTSW down to GPUs"),
    WEFT_UINT(T, uplinks, "uplinks", "18", "1", "65535",
              "links from an RTSW up to CTSWs; 32 for 16 GPUs is 1:2 under-subscribed"),
    WEFT_UINT(T, parallel, "parallel", "1", "1", "4096",
              "parallel links between an RTSW and one CTSW (assumed); a zone has uplinks / parallel CTSWs"),
    WEFT_UINT(T, ctsw_uplinks, "ctsw_uplinks", "36", "1", "65535",
              "links from a CTSW up to ATSWs (assumed: a seventh of its 256 downlinks); only with several zones"),
    WEFT_UINT(T, ctsw_parallel, "ctsw_parallel", "1", "1", "4096",
              "parallel links between a CTSW and one ATSW (assumed); there are ctsw_uplinks / ctsw_parallel ATSWs"),
    WEFT_CHOICE(T, cabling, "cabling", "rack", cabling_names,
                "rack: all GPUs of a server on one RTSW; rail: GPU k of a server on the k-th RTSW of a group of "
                "server_gpus"),
    WEFT_UINT(T, server_gpus, "server_gpus", "8", "1", "72", "GPUs per server, for cabling rail"),
    WEFT_RATE(T, rate_bps, "rate", "400Gbps", "10Mbps", "100Tbps", "rate of every link"),
    WEFT_RATE(T, host_rate_bps, "host_rate", "0bps", "0bps", "100Tbps", "rate of links to GPUs; 0bps: as rate"),
    WEFT_RATE(T, ctsw_rate_bps, "ctsw_rate", "0bps", "0bps", "100Tbps",
              "rate of links between RTSW and CTSW; 0bps: as rate"),
    WEFT_RATE(T, atsw_rate_bps, "atsw_rate", "0bps", "0bps", "100Tbps",
              "rate of links between CTSW and ATSW; 0bps: as rate"),
    WEFT_TIME(T, host_delay_ps, "host_delay", "100ns", "1ps", "1s", "delay of links to GPUs, one way (assumed)"),
    WEFT_TIME(T, ctsw_delay_ps, "ctsw_delay", "350ns", "1ps", "1s",
              "delay of links between RTSW and CTSW, one way (assumed)"),
    WEFT_TIME(T, atsw_delay_ps, "atsw_delay", "1100ns", "1ps", "1s",
              "delay of links between CTSW and ATSW, one way (assumed)"),
    WEFT_REAL(T, bit_error_rate, "bit_error_rate", "0", "0", "0.1", "bit error rate of every link, after FEC"));

static enum weft_status ai_zone_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                      struct weft_error *ret_error) {
    const T *c = conf;
    struct weft__line common = {c->rate_bps, 0, c->bit_error_rate};
    struct weft__tiers tiers = {
        .pods = c->zones,
        .access = c->racks,
        .aggregation = c->uplinks / c->parallel,
        .core = c->zones > 1 ? c->ctsw_uplinks / c->ctsw_parallel : 0,
        .hosts = c->gpus_per_rack,
        .rails = c->cabling == CABLING_RAIL ? c->server_gpus : 1,
        .access_parallel = c->parallel,
        .core_parallel = c->ctsw_parallel,
        .access_layer = "rtsw",
        .aggregation_layer = "ctsw",
        .core_layer = "atsw",
        .host_line = weft__line_or(c->host_rate_bps, c->host_delay_ps, common),
        .access_line = weft__line_or(c->ctsw_rate_bps, c->ctsw_delay_ps, common),
        .core_line = weft__line_or(c->atsw_rate_bps, c->atsw_delay_ps, common),
    };
    return weft__tiers_build(&tiers, b, ret_error);
}

static const char *ai_zone_wiring(const void *conf, struct weft_arena *arena) {
    const T *c = conf;
    const char *cabling = "the GPUs of a rack on its RTSW";
    if (c->cabling == CABLING_RAIL)
        cabling = weft_arena_format(arena, "GPU k of a server of %llu on the k-th RTSW of its group",
                                    (unsigned long long)c->server_gpus);
    const char *above = "";
    if (c->zones > 1)
        above = weft_arena_format(arena, "; each CTSW to all %llu ATSWs by %llu",
                                  (unsigned long long)(c->ctsw_uplinks / c->ctsw_parallel),
                                  (unsigned long long)c->ctsw_parallel);
    return weft_arena_format(arena, "assumed: %s; each RTSW to all %llu CTSWs of its zone by %llu link%s%s", cabling,
                             (unsigned long long)(c->uplinks / c->parallel), (unsigned long long)c->parallel,
                             c->parallel > 1 ? "s" : "", above);
}

const struct weft_model weft__topology_ai_zone = WEFT_MODEL_OF(
    TOPOLOGY, "ai_zone",
    "rack switches under deep-buffered cluster switches, zones of these under aggregators; by default one "
    "zone of 4096 GPUs at 400G",
    "counts quoted from Meta, SIGCOMM 2024; wiring, delays and the ATSW layer's size are assumed", &ai_zone_params,
    &(const struct weft_topology_ops){.build = ai_zone_build, .wiring = ai_zone_wiring});
