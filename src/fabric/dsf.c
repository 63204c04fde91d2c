// SPDX-License-Identifier: Apache-2.0
// A disaggregated scheduled fabric: RDSWs with lanes to every virtual device of the FDSWs; in two stages, zones of
// these under SDSWs; as a region, several buildings of two stages, joined by edge PoDs and superspines. The number of
// lanes follows from the speed-up; the boxes above are the fewest possible, with as many lanes as that takes.
#include "fabric/fabric.h"

#include <math.h>

#include "weft/param.h"

#define LLU(x) (unsigned long long)(x)

struct conf {
    struct weft_blueprint_conf common;
    uint32_t stages;
    uint64_t rails, zone_hosts, zones_min, building_hosts, buildings_min;
    uint64_t leaf_lanes, devices, device_lanes;
    weft_rate_bps lane_bps, superspine_bps;
    double coding, speedup, building_oversubscription;
};
enum { L1, L2, REGION };
static const char *const stage_names[] = {"l1", "l2", "region", NULL};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "dsf", struct conf, .lists = weft__fabric_lists, WEFT_FABRIC_ROWS(struct conf),
    WEFT_CHOICE(struct conf, stages, "stages", "l1", stage_names,
                "RDSWs under FDSWs; zones of these under SDSWs; buildings of these, joined by superspines"),
    WEFT_UINT(struct conf, rails, "rails", "8", "1", "64",
              "GPU k of a server is at the k-th of this many RDSWs; 1: each server is at one RDSW (assumed)"),
    WEFT_UINT(struct conf, zone_hosts, "zone_hosts", "4608", "2", "1048576", "most hosts per zone"),
    WEFT_UINT(struct conf, zones_min, "zones_min", "2", "1", "199", "fewest zones per building, with stages l2"),
    WEFT_UINT(struct conf, building_hosts, "building_hosts", "18432", "2", "1048576", "most hosts per building"),
    WEFT_UINT(struct conf, buildings_min, "buildings_min", "2", "2", "64", "fewest buildings, with stages region"),
    WEFT_UINT(struct conf, leaf_lanes, "leaf_lanes", "160", "1", "4096", "fabric lanes of an RDSW or EDSW"),
    WEFT_UINT(struct conf, devices, "devices", "4", "1", "64", "virtual devices per FDSW or SDSW"),
    WEFT_UINT(struct conf, device_lanes, "device_lanes", "256", "2", "4096", "lanes per virtual device"),
    WEFT_RATE(struct conf, lane_bps, "lane_rate", "106.25Gbps", "10Mbps", "100Tbps", "signalling rate of a lane"),
    WEFT_REAL(struct conf, coding, "lane_coding", "16/17", "0.1", "1", "share of it left for cells"),
    WEFT_REAL(struct conf, speedup, "speedup", "10/9", "1", "4",
              "least ratio of an RDSW's lanes, after coding, to its hosts, by rate"),
    WEFT_RATE(struct conf, superspine_bps, "superspine_rate", "800Gbps", "10Mbps", "100Tbps",
              "rate of links between buildings"),
    WEFT_REAL(struct conf, building_oversubscription, "building_oversubscription", "4.5", "0.1", "64",
              "largest ratio of a building's hosts to its links to others, by rate"));

struct size {
    uint64_t buildings, zones, rdsws, down; ///< zones per building, RDSWs per zone, hosts per RDSW
    uint64_t fdsws, lanes;                  ///< per zone; lanes from an RDSW to a virtual device
    uint64_t sdsws, sdsw_lanes;             ///< per building; lanes from a device to a device of an SDSW
    uint64_t edsws, edge_fdsws, superspines, links;
};

static double lane_bps(const struct conf *own) {
    return (double)own->lane_bps * own->coding;
}

static uint64_t lanes_for(const struct conf *own, double bps) {
    return (uint64_t)ceil(bps * own->speedup / lane_bps(own) - 1e-9);
}

static bool calc_rdsws(const struct conf *own, struct size *s, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    uint64_t radix = weft__fabric_radix(c, &c->leaf), most = c->per_leaf && c->per_leaf < radix ? c->per_leaf : radix;
    if (most > c->hosts) most = c->hosts;
    s->buildings = s->zones = 1;
    if (own->stages == REGION) {
        s->buildings = weft__up(c->hosts, own->building_hosts);
        if (s->buildings < own->buildings_min) s->buildings = own->buildings_min;
    }
    if (own->stages != L1) {
        s->zones = weft__up(weft__up(c->hosts, s->buildings), own->zone_hosts);
        if (own->stages == L2 && s->zones < own->zones_min) s->zones = own->zones_min;
    }
    uint64_t hosts = weft__up(c->hosts, s->buildings * s->zones);
    for (s->down = most; s->down && lanes_for(own, (double)(s->down * c->rate_bps)) > own->leaf_lanes;)
        s->down--;
    if (!s->down) {
        weft__fabric_fail(plan, "an RDSW has no port, or too few lanes, for a host of this rate");
        return false;
    }
    if (s->zones > 199) {
        weft__fabric_fail(plan, "a building ends at 199 zones of %llu hosts", LLU(own->zone_hosts));
        return false;
    }
    s->rdsws = weft__up(hosts, s->down * own->rails) * own->rails;
    s->down = weft__up(hosts, s->rdsws);
    return true;
}

/// `room`: lanes of a device that can go to RDSWs.
static bool calc_fdsws(const struct conf *own, uint64_t room, struct size *s) {
    uint64_t need = lanes_for(own, (double)(s->down * own->common.rate_bps));
    for (s->fdsws = own->common.spines_min; s->fdsws <= own->leaf_lanes; s->fdsws++) {
        s->lanes = weft__up(need, s->fdsws * own->devices);
        if (s->rdsws * s->lanes <= room && s->fdsws * own->devices * s->lanes <= own->leaf_lanes) return true;
    }
    return false;
}

static bool calc_sdsws(const struct conf *own, struct size *s) {
    uint64_t down = s->rdsws * s->lanes, need = weft__fabric_up_links(down, own->common.oversubscription);
    uint64_t fdsws = s->zones * s->fdsws + s->edge_fdsws;
    s->sdsws = weft__fabric_above(fdsws, need, own->device_lanes - down, own->device_lanes, own->common.spines_min,
                                  &s->sdsw_lanes);
    return s->sdsws;
}

/// EDSWs, superspines, and the lanes from EDSWs to an edge PoD.
static bool calc_edge(const struct conf *own, struct size *s) {
    const struct weft_blueprint_conf *c = &own->common;
    double bps = (double)(s->zones * s->rdsws * s->down * c->rate_bps) / own->building_oversubscription;
    uint64_t ports = (uint64_t)ceil(bps / (double)own->superspine_bps - 1e-9);
    uint64_t radix = weft__fabric_part(&c->edge, &c->leaf)->rate_bps / own->superspine_bps;
    uint64_t superspine_radix = weft__fabric_part(&c->core, &c->spine)->rate_bps / own->superspine_bps;
    for (s->edsws = 2; radix && s->edsws <= 512; s->edsws++) {
        uint64_t up = weft__up(ports, s->edsws);
        s->superspines =
            weft__fabric_above(s->buildings * s->edsws, up, radix, superspine_radix, c->spines_min, &s->links);
        if (!s->superspines) continue;
        uint64_t lanes = lanes_for(own, (double)(s->superspines * s->links * own->superspine_bps));
        s->edge_fdsws = weft__up(lanes, own->devices * s->lanes);
        if (s->edge_fdsws < c->spines_min) s->edge_fdsws = c->spines_min;
        if (s->edge_fdsws * own->devices * s->lanes <= own->leaf_lanes && s->edsws * s->lanes <= own->device_lanes)
            return true;
    }
    return false;
}

static bool calc_all(const struct conf *own, struct size *s, struct weft_fabric_plan *plan) {
    uint64_t room = own->stages == L1 ? own->device_lanes : own->device_lanes / 2;
    if (!calc_rdsws(own, s, plan)) return false;
    if (!calc_fdsws(own, room, s)) {
        weft__fabric_fail(plan, "%llu RDSWs of %llu hosts: no number of FDSWs has a lane for each, of %llu a device",
                          LLU(s->rdsws), LLU(s->down), LLU(room));
        return false;
    }
    if (own->stages == REGION && !calc_edge(own, s)) {
        weft__fabric_fail(plan, "no number of EDSWs and superspines joins %llu buildings of %llu hosts",
                          LLU(s->buildings), LLU(s->zones * s->rdsws * s->down));
        return false;
    }
    if (own->stages != L1 && !calc_sdsws(own, s)) {
        weft__fabric_fail(plan, "%llu zones of %llu FDSWs: no number of SDSWs has a lane for each, of %llu a device",
                          LLU(s->zones), LLU(s->fdsws), LLU(own->device_lanes));
        return false;
    }
    return true;
}

static void list_region(const struct conf *own, const struct size *s, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    uint64_t b = s->buildings, ports = s->superspines * s->links;
    weft_rate_bps lane = (weft_rate_bps)lane_bps(own);
    const struct weft_fabric_part *edge = weft__fabric_part(&c->edge, &c->leaf);
    const struct weft_fabric_part *core = weft__fabric_part(&c->core, &c->spine);
    weft__fabric_layer(plan, "edge-fdsw", &c->spine, b * s->edge_fdsws,
                       own->devices * (s->edsws * s->lanes + s->sdsws * s->sdsw_lanes),
                       own->devices * own->device_lanes, lane);
    weft__fabric_layer(plan, "edsw", edge, b * s->edsws, s->edge_fdsws * own->devices * s->lanes + ports,
                       own->leaf_lanes + edge->rate_bps / own->superspine_bps, lane);
    weft__fabric_layer(plan, "superspine", core, s->superspines, b * s->edsws * s->links,
                       core->rate_bps / own->superspine_bps, own->superspine_bps);
    weft__fabric_cable(plan, "EDSW to edge FDSW", b * s->edsws * s->edge_fdsws * own->devices * s->lanes, 2, lane,
                       c->leaf_m);
    weft__fabric_cable(plan, "edge FDSW to SDSW", b * s->edge_fdsws * own->devices * s->sdsws * s->sdsw_lanes, 2, lane,
                       c->spine_m);
    weft__fabric_cable(plan, "EDSW to superspine", b * s->edsws * ports, 2, own->superspine_bps, c->spine_m);
}

static void dsf_parts(const struct conf *own, const struct size *s, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    weft_rate_bps lane = (weft_rate_bps)lane_bps(own);
    uint64_t zones = s->buildings * s->zones, v = own->devices, up = s->sdsws * s->sdsw_lanes;
    uint64_t rdsws = zones * s->rdsws, per_rdsw = s->fdsws * v * s->lanes;
    uint64_t radix = weft__fabric_radix(c, &c->leaf);
    plan->host_ports = rdsws * s->down;
    weft__fabric_layer(plan, "rdsw", weft__fabric_chip(plan, &c->leaf), rdsws, s->down + per_rdsw,
                       radix == UINT32_MAX ? radix : radix + own->leaf_lanes, c->rate_bps);
    weft__fabric_layer(plan, "fdsw", &c->spine, zones * s->fdsws, v * (s->rdsws * s->lanes + up), v * own->device_lanes,
                       lane);
    weft__fabric_cable(plan, "host to RDSW", plan->host_ports, 1, c->rate_bps, c->host_m);
    weft__fabric_cable(plan, "RDSW to FDSW", rdsws * per_rdsw, 2, lane, c->leaf_m);
    if (own->stages == L1) return;
    weft__fabric_layer(plan, "sdsw", &c->spine, s->buildings * s->sdsws,
                       v * s->sdsw_lanes * (s->zones * s->fdsws + s->edge_fdsws), v * own->device_lanes, lane);
    weft__fabric_cable(plan, "FDSW to SDSW", zones * s->fdsws * v * up, 2, lane, c->spine_m);
    if (own->stages == REGION) list_region(own, s, plan);
}

static void say_dsf(const struct conf *own, const struct size *s, struct weft_fabric_plan *plan) {
    static const char *const kinds[] = {"dsf_l1_zone", "dsf_l2_zone", "dsf_region"};
    const struct weft_blueprint_conf *c = &own->common;
    weft_time_ps host = weft__fabric_delay(c, c->host_m), up = weft__fabric_delay(c, c->leaf_m);
    weft_time_ps top = weft__fabric_delay(c, c->spine_m);
    plan->links = own->stages == L1 ? 4 : own->stages == L2 ? 6 : 12;
    plan->switches = own->stages == L1 ? 3 : own->stages == L2 ? 5 : 11;
    plan->way_ps = 2 * (host + up + (own->stages == L1 ? 0 : top) + (own->stages == REGION ? 2 * top + up : 0));
    weft__fabric_say(
        plan,
        "{kind: %s, rails: %llu, rdsws: %llu, hosts_per_rdsw: %llu, fdsws: %llu, virtual_devices: %llu, "
        "rdsw_lanes: %llu, lane_rate: %llubps, lane_coding: %.17g, host_rate: %llubps, host_delay: %llups, "
        "fdsw_delay: %llups",
        kinds[own->stages], LLU(own->rails), LLU(s->rdsws), LLU(s->down), LLU(s->fdsws), LLU(own->devices),
        LLU(s->lanes), LLU(own->lane_bps), own->coding, LLU(c->rate_bps), LLU(host), LLU(up));
    if (own->stages != L1)
        weft__fabric_say(plan, ", zones: %llu, sdsws: %llu, sdsw_lanes: %llu, sdsw_delay: %llups", LLU(s->zones),
                         LLU(s->sdsws), LLU(s->sdsw_lanes), LLU(top));
    if (own->stages == REGION)
        weft__fabric_say(plan,
                         ", l2_zones: %llu, edsws: %llu, edge_fdsws: %llu, edsw_superspines: %llu, superspine_links: "
                         "%llu, superspine_groups: 1, superspine_rate: %llubps, superspine_delay: %llups",
                         LLU(s->buildings), LLU(s->edsws), LLU(s->edge_fdsws), LLU(s->superspines), LLU(s->links),
                         LLU(own->superspine_bps), LLU(top));
    weft__fabric_say(plan, "}");
}

static void dsf_solve(const void *conf, struct weft_fabric_plan *plan) {
    const struct conf *own = conf;
    struct size s = {0};
    if (!calc_all(own, &s, plan)) return;
    dsf_parts(own, &s, plan);
    say_dsf(own, &s, plan);
}

const struct weft_model weft__fabric_dsf =
    WEFT_MODEL_OF(FABRIC, "dsf", "a disaggregated scheduled fabric of one stage, of two, or of several buildings",
                  "Meta, Disaggregated Scheduled Fabric, 2025; lanes and devices from FBOSS; rails are assumed", &table,
                  &(const struct weft_fabric_ops){.solve = dsf_solve});
