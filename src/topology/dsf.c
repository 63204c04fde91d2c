// SPDX-License-Identifier: Apache-2.0
// Builds disaggregated scheduled fabrics. An FDSW or SDSW consists of several nodes, its virtual devices: "fdsw-3.1" is
// the second of the fourth FDSW ("fdsw-3" if boxes have one). Numbers run over the whole network. Node order: an RDSW
// and its hosts side by side, FDSWs spread over their zone, SDSWs over their building and superspines over their
// region. Ports: an RDSW has its hosts first, an EDSW its superspines; then lanes by FDSW and virtual device. An FDSW
// has its RDSWs or EDSWs first, then the SDSWs; an SDSW the FDSWs, those of the edge last. Parallel links are
// neighbours.
#include "topology/dsf.h"

#include <math.h>
#include <stdio.h>

#include "base/units.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_TOPOLOGY;

enum { TIER_INTERFACE = 1, TIER_EDGE_FDSW = 4, TIER_EDSW, TIER_SUPERSPINE };

weft_rate_bps weft__dsf_link_rate(const struct weft__dsf_conf *c) {
    return (weft_rate_bps)llround((double)c->lane_rate_bps * c->lane_coding);
}

static const char *check_multiple(const char *key, uint64_t value, const char *of_key, uint64_t of, const char *why,
                                  char *text, size_t size) {
    if (value % of == 0) return NULL;
    return WEFT_SAY(text, size, "%s %llu is not a multiple of %s %llu; expected so: %s", key, (unsigned long long)value,
                    of_key, (unsigned long long)of, why);
}

const char *weft__dsf_check(const void *conf, char *text, size_t size) {
    const struct weft__dsf_conf *c = conf;
    weft_rate_bps link = weft__dsf_link_rate(c);
    if (link < WEFT__RATE_MIN) {
        char found[32];
        weft_format_rate(link, found, sizeof found);
        return WEFT_SAY(text, size, "lane_rate x lane_coding is %s; expected 10Mbps or more", found);
    }
    const char *bad =
        check_multiple("rdsws", c->rdsws, "rails", c->rails, "a scaling unit has one RDSW a rail", text, size);
    if (bad || !c->superspine_groups) return bad;
    bad = check_multiple("superspine_links", c->superspine_parallel, "hyperport", c->hyperport,
                         "all Hyperports have as many members", text, size);
    if (bad) return bad;
    return check_multiple("edsws", c->edsws, "superspine_groups", c->superspine_groups,
                          "each group has the same share of a PoD's EDSWs", text, size);
}

/// Adds the next virtual device of a layer.
static uint32_t add_fabric(const struct weft__dsf_conf *c, struct weft_topology_builder *b, const char *layer,
                           uint8_t tier, uint32_t pod, uint8_t level, uint32_t cluster, uint64_t number) {
    char name[64];
    int length = snprintf(name, sizeof name, "%s-%llu", layer, (unsigned long long)(number / c->virtual_devices));
    if (c->virtual_devices > 1)
        snprintf(name + length, sizeof name - (size_t)length, ".%llu",
                 (unsigned long long)(number % c->virtual_devices));
    uint32_t node = weft_topology_add_node(b, WEFT_NODE_SWITCH, layer, tier, pod, name);
    weft_topology_set_box(b, WEFT_BOX_DSF_FABRIC, level, cluster);
    return node;
}

/// After an interface node: adds the SDSWs that are due.
static void add_sdsws(struct weft__dsf_plan *p, uint64_t building, struct weft_topology_builder *b) {
    const struct weft__dsf_conf *c = p->conf;
    uint64_t due = weft__due(p->building_sdsws, ++p->interfaces_placed, c->zones * c->rdsws + c->edsws);
    for (due += building * p->building_sdsws; p->sdsws_placed < due; p->sdsws_placed++)
        p->sdsw[p->sdsws_placed] = add_fabric(c, b, "sdsw", 3, WEFT_NONE, 2, WEFT_NONE, p->sdsws_placed);
}

static void add_zone(struct weft__dsf_plan *p, uint64_t zone, struct weft_topology_builder *b) {
    const struct weft__dsf_conf *c = p->conf;
    uint32_t pod = (uint32_t)zone, cluster = (uint32_t)(zone % c->zones);
    uint64_t fdsw = zone * p->zone_fdsws;
    for (uint64_t r = 0; r < c->rdsws; r++) {
        p->rdsw[p->rdsws_placed] =
            weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "rdsw", TIER_INTERFACE, pod, p->rdsws_placed);
        p->rdsws_placed++;
        weft_topology_set_box(b, WEFT_BOX_DSF_INTERFACE, 0, cluster);
        for (uint64_t h = 0; h < p->nics[zone].hosts; h++)
            weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, pod, p->hosts_placed++);
        for (; fdsw < zone * p->zone_fdsws + weft__due(p->zone_fdsws, r + 1, c->rdsws); fdsw++)
            p->fdsw[fdsw] = add_fabric(c, b, "fdsw", 2, pod, 1, cluster, fdsw);
        add_sdsws(p, zone / c->zones, b);
    }
}

static void add_edge(struct weft__dsf_plan *p, uint64_t building, struct weft_topology_builder *b) {
    const struct weft__dsf_conf *c = p->conf;
    uint32_t pod = (uint32_t)(p->zones + building);
    uint64_t fdsw = building * p->edge_fdsws;
    for (uint64_t e = 0; e < c->edsws; e++) {
        uint64_t edsw = building * c->edsws + e;
        p->edsw[edsw] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "edsw", TIER_EDSW, pod, edsw);
        weft_topology_set_box(b, WEFT_BOX_DSF_INTERFACE, 0, WEFT_CLUSTER_EDGE);
        for (; fdsw < building * p->edge_fdsws + weft__due(p->edge_fdsws, e + 1, c->edsws); fdsw++)
            p->edge_fdsw[fdsw] = add_fabric(c, b, "edge-fdsw", TIER_EDGE_FDSW, pod, 1, WEFT_CLUSTER_EDGE, fdsw);
        add_sdsws(p, building, b);
    }
}

static void add_nodes(struct weft__dsf_plan *p, struct weft_topology_builder *b) {
    const struct weft__dsf_conf *c = p->conf;
    for (uint64_t building = 0; building < p->buildings; building++) {
        p->interfaces_placed = 0;
        for (uint64_t zone = 0; zone < c->zones; zone++)
            add_zone(p, building * c->zones + zone, b);
        if (c->edsws) add_edge(p, building, b);
        for (; p->superspines_placed < weft__due(c->regions * p->superspines, building + 1, p->buildings);
             p->superspines_placed++)
            p->superspine[p->superspines_placed] = weft__topology_add_numbered(
                b, WEFT_NODE_SWITCH, "superspine", TIER_SUPERSPINE, WEFT_NONE, p->superspines_placed);
    }
}

/// Checks the numbers of nodes and links of all planes, with this many hosts in each, before anything is allocated.
static enum weft_status check_size(const struct weft__dsf_plan *p, const struct weft_topology_builder *b,
                                   uint64_t hosts, struct weft_error *ret_error) {
    const struct weft__dsf_conf *c = p->conf;
    uint64_t rdsws = weft__times(p->zones, c->rdsws), edsws = weft__times(p->buildings, c->edsws);
    uint64_t fdsws = weft__times(p->zones, p->zone_fdsws), edge_fdsws = weft__times(p->buildings, p->edge_fdsws);
    uint64_t sdsws = weft__times(p->buildings, p->building_sdsws),
             superspines = weft__times(c->regions, p->superspines);
    uint64_t nodes = weft__plus(weft__plus(weft__plus(hosts, rdsws), weft__plus(edsws, fdsws)),
                                weft__plus(weft__plus(edge_fdsws, sdsws), superspines));
    uint64_t lanes = weft__plus(weft__times(rdsws, p->zone_fdsws), weft__times(edsws, p->edge_fdsws));
    uint64_t spine_lanes = weft__times(weft__times(weft__plus(fdsws, edge_fdsws), c->sdsws), c->sdsw_parallel);
    uint64_t up = weft__times(weft__times(edsws, c->edsw_superspines), c->superspine_parallel);
    uint64_t far = weft__times(weft__times(c->regions - 1, p->superspines), c->region_parallel);
    uint64_t links = weft__plus(weft__plus(hosts, weft__times(lanes, c->rdsw_parallel)),
                                weft__plus(spine_lanes, weft__plus(up, far)));
    return weft__topology_check_size(b, weft__times(c->planes, nodes), weft__times(c->planes, links), ret_error);
}

/// Treats absent stages as one with nothing in it.
static struct weft__dsf_conf complete_conf(const struct weft__dsf_conf *conf) {
    struct weft__dsf_conf c = *conf;
    if (!c.zones) c.zones = 1;
    if (!c.l2_zones) c.l2_zones = 1;
    if (!c.regions) c.regions = 1;
    return c;
}

static enum weft_status build_planes(struct weft__dsf_plan *p, const struct weft_tree *tree,
                                     struct weft_topology_builder *b, struct weft_error *ret_error) {
    enum weft_status status = weft__dsf_read_nics(p->conf, tree, p->nics, p->zones, b->arena, ret_error);
    uint64_t hosts = 0;
    for (uint64_t z = 0; z < p->zones; z++)
        hosts = weft__plus(hosts, weft__times(p->conf->rdsws, p->nics[z].hosts));
    if (!status) status = check_size(p, b, hosts, ret_error);
    if (status) return status;
    for (uint64_t plane = 0; plane < p->conf->planes; plane++) {
        if (p->conf->planes > 1)
            weft_topology_add_network(b, weft_arena_format(b->arena, "plane-%llu", (unsigned long long)plane));
        p->rdsws_placed = p->sdsws_placed = p->superspines_placed = p->hosts_placed = 0;
        add_nodes(p, b);
        weft__dsf_connect(p, b);
    }
    return WEFT_OK;
}

enum weft_status weft__dsf_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                 struct weft_error *ret_error) {
    struct weft__dsf_conf c = complete_conf(conf);
    struct weft__dsf_plan p = {
        .conf = &c,
        .buildings = weft__times(c.regions, c.l2_zones),
        .zones = weft__times(weft__times(c.regions, c.l2_zones), c.zones),
        .zone_fdsws = weft__times(c.fdsws, c.virtual_devices),
        .building_sdsws = weft__times(c.sdsws, c.virtual_devices),
        .edge_fdsws = weft__times(c.edge_fdsws, c.virtual_devices),
        .superspines = weft__times(c.superspine_groups, c.edsw_superspines),
    };
    enum weft_status status = check_size(&p, b, weft__times(p.zones, c.rdsws), ret_error); // at least one host per RDSW
    if (status) return status;
    uint64_t count[] = {p.zones * c.rdsws,     p.zones * p.zone_fdsws,     p.buildings * p.building_sdsws,
                        p.buildings * c.edsws, p.buildings * p.edge_fdsws, c.regions * p.superspines};
    uint32_t **number[] = {&p.rdsw, &p.fdsw, &p.sdsw, &p.edsw, &p.edge_fdsw, &p.superspine};
    for (unsigned i = 0; i < sizeof count / sizeof *count; i++)
        *number[i] = weft_memory_new(KIND, count[i], sizeof **number[i]);
    p.nics = weft_memory_new(KIND, p.zones, sizeof *p.nics);
    status = build_planes(&p, tree, b, ret_error);
    for (unsigned i = 0; i < sizeof count / sizeof *count; i++)
        weft_memory_free(KIND, *number[i], count[i] * sizeof **number[i]);
    weft_memory_free(KIND, p.nics, p.zones * sizeof *p.nics);
    return status;
}

const char *weft__dsf_wiring(const void *conf, struct weft_arena *arena) {
    const struct weft__dsf_conf *c = conf;
    const char *rails = c->rails > 1 ? weft_arena_format(arena, "GPU k of a server on the k-th of %llu RDSWs (assumed)",
                                                         (unsigned long long)c->rails)
                                     : "the GPUs of a server on one RDSW";
    const char *spine = "", *edge = "", *far = "", *devices = c->virtual_devices > 1 ? "every virtual device of " : "";
    if (c->sdsws)
        spine = weft_arena_format(arena, "; each FDSW to every SDSW by %llu%s", (unsigned long long)c->sdsw_parallel,
                                  c->virtual_devices > 1 ? " a virtual device, to that of its number (assumed)" : "");
    if (c->edsws)
        edge = weft_arena_format(
            arena, "; %llu EDSWs of each L2 zone to the %llu superspines of their group by %llu each (groups assumed)",
            (unsigned long long)(c->edsws / c->superspine_groups), (unsigned long long)c->edsw_superspines,
            (unsigned long long)c->superspine_parallel);
    if (c->regions > 1)
        far = weft_arena_format(arena,
                                "; each superspine to that of its number in the other region by %llu, %g km "
                                "(assumed)",
                                (unsigned long long)c->region_parallel, c->distance_km);
    const char *planes = c->planes > 1
                             ? weft_arena_format(arena, "%llu planes, a NIC port of GPU g is host g of each; ",
                                                 (unsigned long long)c->planes)
                             : "";
    return weft_arena_format(arena, "%s%s; each RDSW to %severy FDSW of its zone by %llu lane%s%s%s%s", planes, rails,
                             devices, (unsigned long long)c->rdsw_parallel, c->rdsw_parallel > 1 ? "s" : "", spine,
                             edge, far);
}
