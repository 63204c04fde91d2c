// SPDX-License-Identifier: Apache-2.0
// Builds disaggregated scheduled fabrics. An FDSW or SDSW is several nodes, its virtual devices: "fdsw-3.1" is the
// second of the fourth FDSW ("fdsw-3" if boxes have one). Numbers run through the whole network. Node order: an RDSW
// and its hosts side by side, FDSWs spread over their zone and SDSWs over everything. Ports: an RDSW has its hosts
// first, then its lanes by FDSW and virtual device; an FDSW its RDSWs, then the SDSWs; an SDSW the FDSWs. Parallel
// lanes are neighbours.
#include "topology/dsf.h"

#include <math.h>
#include <stdio.h>

struct numbers {
    uint32_t *rdsw, *fdsw, *sdsw; ///< node numbers; of virtual devices: box by box
    uint64_t placed, sdsws, hosts;
};

uint64_t weft__dsf_rdsw_lanes(const struct weft__dsf_conf *c) {
    return c->fdsws * c->virtual_devices * c->rdsw_parallel;
}

weft_rate_bps weft__dsf_link_rate(const struct weft__dsf_conf *c) {
    return (weft_rate_bps)llround((double)c->lane_rate_bps * c->lane_coding);
}

const char *weft__dsf_check(const void *conf, char *text, size_t size) {
    const struct weft__dsf_conf *c = conf;
    weft_rate_bps link = weft__dsf_link_rate(c);
    if (link < WEFT__RATE_MIN) {
        char found[32];
        weft_format_rate(link, found, sizeof found);
        snprintf(text, size, "lane_rate x lane_coding is %s; expected 1Gbps or more", found);
        return text;
    }
    if (c->rdsws % c->rails == 0) return NULL;
    snprintf(text, size, "rdsws %llu is not a multiple of rails %llu; expected so: a scaling unit has one RDSW a rail",
             (unsigned long long)c->rdsws, (unsigned long long)c->rails);
    return text;
}

static void add_interface(struct weft_topology_builder *b, const char *layer, uint8_t tier, uint32_t pod,
                          uint32_t cluster, uint64_t number) {
    weft__topology_add_numbered(b, WEFT_NODE_SWITCH, layer, tier, pod, number);
    weft_topology_set_box(b, WEFT_BOX_DSF_INTERFACE, 0, cluster);
}

static uint32_t add_fabric(const struct weft__dsf_conf *c, struct weft_topology_builder *b, const char *layer,
                           uint8_t level, uint32_t pod, uint64_t number) {
    char name[64];
    int length = snprintf(name, sizeof name, "%s-%llu", layer, (unsigned long long)(number / c->virtual_devices));
    if (c->virtual_devices > 1)
        snprintf(name + length, sizeof name - (size_t)length, ".%llu",
                 (unsigned long long)(number % c->virtual_devices));
    uint32_t node = weft_topology_add_node(b, WEFT_NODE_SWITCH, layer, (uint8_t)(1 + level), pod, name);
    weft_topology_set_box(b, WEFT_BOX_DSF_FABRIC, level, pod);
    return node;
}

static void add_zone(const struct weft__dsf_conf *c, uint64_t zone, struct weft_topology_builder *b,
                     struct numbers *n) {
    uint64_t fabric = c->fdsws * c->virtual_devices, fdsws = 0, spine = c->sdsws * c->virtual_devices;
    for (uint64_t r = 0; r < c->rdsws; r++) {
        n->rdsw[n->placed] = b->nodes;
        add_interface(b, "rdsw", 1, (uint32_t)zone, (uint32_t)zone, n->placed++);
        for (uint64_t h = 0; h < c->hosts; h++)
            weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, (uint32_t)zone, n->hosts++);
        for (; fdsws < weft__due(fabric, r + 1, c->rdsws); fdsws++)
            n->fdsw[zone * fabric + fdsws] = add_fabric(c, b, "fdsw", 1, (uint32_t)zone, zone * fabric + fdsws);
        for (; n->sdsws < weft__due(spine, n->placed, c->zones * c->rdsws); n->sdsws++)
            n->sdsw[n->sdsws] = add_fabric(c, b, "sdsw", 2, WEFT_NONE, n->sdsws);
    }
}

static void connect_zone(const struct weft__dsf_conf *c, uint64_t zone, struct weft_topology_builder *b,
                         const struct numbers *n) {
    uint64_t fabric = c->fdsws * c->virtual_devices;
    const uint32_t *rdsw = &n->rdsw[zone * c->rdsws], *fdsw = &n->fdsw[zone * fabric];
    struct weft__line host = {c->host_rate_bps, c->host_delay_ps, c->bit_error_rate};
    struct weft__line lane = {weft__dsf_link_rate(c), c->fdsw_delay_ps, c->bit_error_rate};
    for (uint64_t r = 0; r < c->rdsws; r++) {
        for (uint64_t h = 0; h < c->hosts; h++) {
            uint64_t at = weft__rail_host(c->rails, c->hosts, r, h);
            weft__topology_connect(b, rdsw[r], rdsw[at / c->hosts] + 1 + (uint32_t)(at % c->hosts), host);
        }
        for (uint64_t f = 0; f < fabric; f++)
            weft__topology_connect_times(b, rdsw[r], fdsw[f], c->rdsw_parallel, lane);
    }
    lane.delay_ps = c->sdsw_delay_ps;
    for (uint64_t f = 0; f < fabric; f++)
        for (uint64_t s = f % c->virtual_devices; s < c->sdsws * c->virtual_devices; s += c->virtual_devices)
            weft__topology_connect_times(b, fdsw[f], n->sdsw[s], c->sdsw_parallel, lane);
}

enum weft_status weft__dsf_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                 struct weft_error *ret_error) {
    (void)tree;
    const struct weft__dsf_conf *c = conf;
    uint64_t rdsws = weft__times(c->zones, c->rdsws), hosts = weft__times(rdsws, c->hosts);
    uint64_t fabric = weft__times(weft__times(c->zones, c->fdsws), c->virtual_devices);
    uint64_t spine = weft__times(c->sdsws, c->virtual_devices);
    uint64_t lanes = weft__times(rdsws, weft__dsf_rdsw_lanes(c));
    uint64_t spine_lanes = weft__times(weft__times(fabric, c->sdsws), c->sdsw_parallel);
    enum weft_status status =
        weft__topology_check_size(b, weft__plus(weft__plus(rdsws, hosts), weft__plus(fabric, spine)),
                                  weft__plus(hosts, weft__plus(lanes, spine_lanes)), ret_error);
    if (status) return status;
    size_t numbers = rdsws + fabric + spine;
    struct numbers n = {.rdsw = weft_memory_new(WEFT_MEMORY_TOPOLOGY, numbers, sizeof *n.rdsw)};
    n.fdsw = n.rdsw + rdsws;
    n.sdsw = n.fdsw + fabric;
    for (uint64_t zone = 0; zone < c->zones; zone++)
        add_zone(c, zone, b, &n);
    for (uint64_t zone = 0; zone < c->zones; zone++)
        connect_zone(c, zone, b, &n);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, n.rdsw, numbers * sizeof *n.rdsw);
    return WEFT_OK;
}

const char *weft__dsf_wiring(const void *conf, struct weft_arena *arena) {
    const struct weft__dsf_conf *c = conf;
    const char *rails = c->rails > 1 ? weft_arena_format(arena, "GPU k of a server on the k-th of %llu RDSWs (assumed)",
                                                         (unsigned long long)c->rails)
                                     : "the GPUs of a server on one RDSW";
    const char *spine = "", *devices = c->virtual_devices > 1 ? "every virtual device of " : "";
    if (c->sdsws)
        spine = weft_arena_format(arena, "; each FDSW to every SDSW by %llu%s", (unsigned long long)c->sdsw_parallel,
                                  c->virtual_devices > 1 ? " a virtual device, to that of its number (assumed)" : "");
    return weft_arena_format(arena, "%s; each RDSW to %severy FDSW of its zone by %llu lane%s%s", rails, devices,
                             (unsigned long long)c->rdsw_parallel, c->rdsw_parallel > 1 ? "s" : "", spine);
}
