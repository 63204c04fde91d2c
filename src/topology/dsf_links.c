// SPDX-License-Identifier: Apache-2.0
// Which nodes of a disaggregated scheduled fabric are linked. A node's ports are numbered in this order.
#include <math.h>

#include "topology/dsf.h"

#define PLAN const struct weft__dsf_plan *p

static struct weft__line lane_of(PLAN, weft_time_ps delay) {
    return (struct weft__line){weft__dsf_link_rate(p->conf), delay, p->conf->bit_error_rate};
}

/// Links interface nodes to every virtual device of the FDSWs of their zone or PoD.
static void connect_interface(PLAN, uint32_t interface, const uint32_t *fdsw, uint64_t fdsws,
                              struct weft_topology_builder *b) {
    for (uint64_t f = 0; f < fdsws; f++)
        weft__topology_connect_times(b, interface, fdsw[f], p->conf->rdsw_parallel, lane_of(p, p->conf->fdsw_delay_ps));
}

/// Links virtual devices of FDSWs to those of the same number in their building's SDSWs.
static void connect_spine(PLAN, const uint32_t *fdsw, uint64_t fdsws, uint64_t building,
                          struct weft_topology_builder *b) {
    const struct weft__dsf_conf *c = p->conf;
    const uint32_t *sdsw = &p->sdsw[building * p->building_sdsws];
    for (uint64_t f = 0; f < fdsws; f++)
        for (uint64_t s = f % c->virtual_devices; s < p->building_sdsws; s += c->virtual_devices)
            weft__topology_connect_times(b, fdsw[f], sdsw[s], c->sdsw_parallel, lane_of(p, c->sdsw_delay_ps));
}

static void connect_zone(PLAN, uint64_t zone, struct weft_topology_builder *b) {
    const struct weft__dsf_conf *c = p->conf;
    const struct weft__dsf_nics *nics = &p->nics[zone];
    const uint32_t *rdsw = &p->rdsw[zone * c->rdsws], *fdsw = &p->fdsw[zone * p->zone_fdsws];
    for (uint64_t r = 0; r < c->rdsws; r++) {
        for (uint64_t h = 0; h < nics->hosts; h++) {
            uint64_t at = weft__rail_host(c->rails, nics->hosts, r, h);
            weft__topology_connect(b, rdsw[r], rdsw[at / nics->hosts] + 1 + (uint32_t)(at % nics->hosts), nics->line);
        }
        connect_interface(p, rdsw[r], fdsw, p->zone_fdsws, b);
    }
    connect_spine(p, fdsw, p->zone_fdsws, zone / c->zones, b);
}

/// An EDSW's superspines are those of its group; each group has the same share of the EDSWs of every building.
static void connect_edge(PLAN, uint64_t building, struct weft_topology_builder *b) {
    const struct weft__dsf_conf *c = p->conf;
    const uint32_t *fdsw = &p->edge_fdsw[building * p->edge_fdsws];
    const uint32_t *superspine = &p->superspine[building / c->l2_zones * p->superspines];
    struct weft__line line = {c->superspine_rate_bps, c->superspine_delay_ps, c->bit_error_rate};
    for (uint64_t e = 0; e < c->edsws; e++) {
        uint32_t edsw = p->edsw[building * c->edsws + e];
        uint64_t group = e * c->superspine_groups / c->edsws;
        for (uint64_t k = 0; k < c->edsw_superspines * c->superspine_parallel; k += c->hyperport) {
            uint64_t s = k / c->superspine_parallel;
            weft__topology_connect(b, edsw, superspine[group * c->edsw_superspines + s], line);
            weft__topology_set_members(b, c->hyperport);
        }
        connect_interface(p, edsw, fdsw, p->edge_fdsws, b);
    }
    connect_spine(p, fdsw, p->edge_fdsws, building, b);
}

/// Links superspines of the same number in two regions.
static void connect_regions(PLAN, struct weft_topology_builder *b) {
    const struct weft__dsf_conf *c = p->conf;
    weft_time_ps delay = (weft_time_ps)llround(c->distance_km * 5.0 * (double)WEFT_PS_PER_US);
    struct weft__line line = {c->region_rate_bps, delay, c->bit_error_rate};
    for (uint64_t s = 0; s < (c->regions - 1) * p->superspines; s++)
        weft__topology_connect_times(b, p->superspine[s], p->superspine[s + p->superspines], c->region_parallel, line);
}

void weft__dsf_connect(PLAN, struct weft_topology_builder *b) {
    const struct weft__dsf_conf *c = p->conf;
    for (uint64_t building = 0; building < p->buildings; building++) {
        for (uint64_t zone = 0; zone < c->zones; zone++)
            connect_zone(p, building * c->zones + zone, b);
        if (c->edsws) connect_edge(p, building, b);
    }
    connect_regions(p, b);
}
