// SPDX-License-Identifier: Apache-2.0
// Racks under cluster switches, and zones of these under aggregators. With `cabling: rail` the GPUs of a server are at
// different leaves: the k-th GPU of each server at the k-th leaf.
#include "fabric/fabric.h"
#include "weft/param.h"

#define LLU(x) (unsigned long long)(x)

struct conf {
    struct weft_blueprint_conf common;
    uint64_t zone_hosts, zones_min, server_gpus;
    double zone_oversubscription;
    uint32_t cabling;
};
enum { RACK, RAIL };
static const char *const cablings[] = {"rack", "rail", NULL};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "ai_zone", struct conf, .lists = weft__fabric_lists, WEFT_FABRIC_ROWS(struct conf),
    WEFT_UINT(struct conf, zone_hosts, "zone_hosts", "4096", "2", "1048576", "most hosts per zone"),
    WEFT_UINT(struct conf, zones_min, "zones_min", "1", "1", "4096",
              "fewest zones, so that a small network has aggregators too"),
    WEFT_REAL(struct conf, zone_oversubscription, "zone_oversubscription", "64/9", "0.1", "64",
              "largest ratio of a cluster switch's links down to its links up to aggregators, by rate"),
    WEFT_CHOICE(struct conf, cabling, "cabling", "rack", cablings,
                "all GPUs of a server at one leaf, or the k-th at the k-th of a group of leaves"),
    WEFT_UINT(struct conf, server_gpus, "server_gpus", "8", "1", "72", "GPUs per server, for cabling rail"));

struct size {
    uint64_t zones, racks, down, up, ctsws, parallel, ctsw_up, atsws, ctsw_parallel;
    uint64_t leaf_radix, spine_radix, core_radix;
};

/// The racks of a zone and the hosts of a rack.
static bool calc_racks(const struct conf *own, struct size *s, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    uint64_t most = c->per_leaf ? c->per_leaf : s->leaf_radix;
    s->zones = weft__up(c->hosts, own->zone_hosts);
    if (s->zones < own->zones_min) s->zones = own->zones_min;
    uint64_t hosts = weft__up(c->hosts, s->zones), group = own->cabling == RAIL ? own->server_gpus : 1;
    s->down = weft__fabric_down_links(c, s->leaf_radix, most, plan);
    if (!s->down) return false;
    s->racks = weft__up(hosts, s->down * group) * group;
    s->down = weft__up(hosts, s->racks);
    s->up = weft__fabric_up_links(s->down, c->oversubscription);
    return true;
}

/// The fewest cluster switches with ports for the racks and the uplinks.
static bool calc_ctsws(const struct conf *own, struct size *s) {
    const struct weft_blueprint_conf *c = &own->common;
    for (uint64_t n = c->spines_min < s->up ? c->spines_min : s->up; n <= s->up; n++) {
        s->ctsws = n;
        s->parallel = weft__up(s->up, n);
        if (n * s->parallel + s->down > s->leaf_radix || s->racks * s->parallel > s->spine_radix) continue;
        if (s->zones == 1) return true;
        s->ctsw_up = weft__fabric_up_links(s->racks * s->parallel, own->zone_oversubscription);
        if (s->racks * s->parallel + s->ctsw_up > s->spine_radix) continue;
        s->atsws = weft__fabric_above(s->zones * n, s->ctsw_up, s->spine_radix - s->racks * s->parallel, s->core_radix,
                                      c->spines_min, &s->ctsw_parallel);
        s->ctsw_up = s->atsws * s->ctsw_parallel;
        if (s->atsws) return true;
    }
    return false;
}

static void ai_zone_parts(const struct conf *own, const struct size *s, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    const struct weft_fabric_part *spine = weft__fabric_part(&c->spine, &c->leaf);
    uint64_t racks = s->zones * s->racks;
    plan->host_ports = racks * s->down;
    weft__fabric_layer(plan, "rtsw", weft__fabric_chip(plan, &c->leaf), racks, s->down + s->ctsws * s->parallel,
                       s->leaf_radix, c->rate_bps);
    weft__fabric_layer(plan, "ctsw", weft__fabric_chip(plan, spine), s->zones * s->ctsws,
                       s->racks * s->parallel + s->ctsw_up, s->spine_radix, c->rate_bps);
    weft__fabric_cable(plan, "host to RTSW", plan->host_ports, 1, c->rate_bps, c->host_m);
    weft__fabric_cable(plan, "RTSW to CTSW", racks * s->ctsws * s->parallel, 2, c->rate_bps, c->leaf_m);
    if (s->zones == 1) return;
    weft__fabric_layer(plan, "atsw", weft__fabric_chip(plan, weft__fabric_part(&c->core, spine)), s->atsws,
                       s->zones * s->ctsws * s->ctsw_parallel, s->core_radix, c->rate_bps);
    weft__fabric_cable(plan, "CTSW to ATSW", s->zones * s->ctsws * s->ctsw_up, 2, c->rate_bps, c->spine_m);
}

static void say_ai_zone(const struct conf *own, const struct size *s, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    weft_time_ps host = weft__fabric_delay(c, c->host_m), up = weft__fabric_delay(c, c->leaf_m);
    weft_time_ps top = weft__fabric_delay(c, c->spine_m);
    bool several = s->zones > 1;
    plan->links = several ? 6 : 4;
    plan->switches = several ? 5 : 3;
    plan->way_ps = 2 * (host + up + (several ? top : 0));
    weft__fabric_say(plan,
                     "{kind: ai_zone, zones: %llu, racks: %llu, gpus_per_rack: %llu, uplinks: %llu, parallel: %llu, "
                     "cabling: %s, rate: %llubps, host_delay: %llups, ctsw_delay: %llups",
                     LLU(s->zones), LLU(s->racks), LLU(s->down), LLU(s->ctsws * s->parallel), LLU(s->parallel),
                     cablings[own->cabling], LLU(c->rate_bps), LLU(host), LLU(up));
    if (own->cabling == RAIL) weft__fabric_say(plan, ", server_gpus: %llu", LLU(own->server_gpus));
    if (several)
        weft__fabric_say(plan, ", ctsw_uplinks: %llu, ctsw_parallel: %llu, atsw_delay: %llups", LLU(s->ctsw_up),
                         LLU(s->ctsw_parallel), LLU(top));
    weft__fabric_say(plan, "}");
}

static void ai_zone_solve(const void *conf, struct weft_fabric_plan *plan) {
    const struct conf *own = conf;
    const struct weft_blueprint_conf *c = &own->common;
    const struct weft_fabric_part *spine = weft__fabric_part(&c->spine, &c->leaf);
    struct size s = {.leaf_radix = weft__fabric_radix(c, &c->leaf),
                     .spine_radix = weft__fabric_radix(c, spine),
                     .core_radix = weft__fabric_radix(c, weft__fabric_part(&c->core, spine))};
    if (!calc_racks(own, &s, plan)) return;
    if (!calc_ctsws(own, &s)) {
        weft__fabric_fail(
            plan,
            "%llu zones of %llu racks with %llu links up each: no number of cluster switches of %llu ports "
            "and aggregators of %llu joins them",
            LLU(s.zones), LLU(s.racks), LLU(s.up), LLU(s.spine_radix), LLU(s.core_radix));
        return;
    }
    ai_zone_parts(own, &s, plan);
    say_ai_zone(own, &s, plan);
}

const struct weft_model weft__fabric_ai_zone =
    WEFT_MODEL_OF(FABRIC, "ai_zone", "racks under cluster switches, zones under aggregators; or rails",
                  "Gangidi et al., SIGCOMM 2024 (zones and their sizes); wiring is assumed", &table,
                  &(const struct weft_fabric_ops){.solve = ai_zone_solve});
