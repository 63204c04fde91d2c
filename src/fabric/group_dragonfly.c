// SPDX-License-Identifier: Apache-2.0
// A dragonfly of Ethernet switches, balanced as Kim et al. have it: a = 2p = 2h, for ports p + h + a - 1 of a switch.
// The fewest groups of full switches; all ports to other groups are wired, so that with few groups several links lead
// from one to another. Without `radix` a switch has the ports that this takes, and its bill is in proportion.
#include "fabric/fabric.h"
#include "weft/param.h"

#define LLU(x) (unsigned long long)(x)

struct conf {
    struct weft_blueprint_conf common;
    uint64_t groups;
};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "group_dragonfly", struct conf, .lists = weft__fabric_lists, WEFT_FABRIC_ROWS(struct conf),
    WEFT_UINT(struct conf, groups, "groups", "0", "0", "65535", "groups; 0: as few as have a port for every host"));

/// p of the smallest balanced group that suffices: with 2p switches of p hosts, up to 2p * p + 1 groups.
static uint64_t smallest_group(uint64_t hosts, uint64_t p_max) {
    for (uint64_t p = 1; p <= p_max; p++)
        if (2 * p * p * (2 * p * p + 1) >= hosts) return p;
    return 0;
}

static void dragonfly_solve(const void *conf, struct weft_fabric_plan *plan) {
    const struct conf *own = conf;
    const struct weft_blueprint_conf *c = &own->common;
    uint64_t radix = weft__fabric_radix(c, &c->leaf), most = (radix + 1) / 4;
    uint64_t p = smallest_group(c->hosts, c->per_leaf ? c->per_leaf : most > 1024 ? 1024 : most);
    if (c->per_leaf && c->per_leaf <= most) p = c->per_leaf;
    if (!p || p > most) {
        weft__fabric_fail(plan, "a dragonfly of %llu-port switches ends at %llu hosts", LLU(radix),
                          LLU(2 * most * most * (2 * most * most + 1)));
        return;
    }
    uint64_t a = 2 * p, ports = a * p, groups = own->groups ? own->groups : weft__up(c->hosts, a * p);
    if (groups < 2) groups = 2;
    if (groups > ports + 1 || groups * ports < c->hosts) {
        weft__fabric_fail(plan,
                          "%llu groups of %llu switches with %llu hosts each; expected up to %llu, with a port for %s",
                          LLU(groups), LLU(a), LLU(p), LLU(ports + 1), "each host");
        return;
    }
    uint64_t used = 2 * p + a - 1;
    const struct weft_fabric_part *chip = weft__fabric_chip(plan, &c->leaf);
    if (!c->radix && c->leaf.rate_bps)
        chip = weft__fabric_multiplied(plan, &c->leaf, (double)used * (double)c->rate_bps / (double)c->leaf.rate_bps);
    plan->host_ports = groups * ports;
    weft__fabric_layer(plan, "switch", chip, groups * a, used, c->radix ? radix : used, c->rate_bps);
    weft__fabric_cable(plan, "host to switch", plan->host_ports, 1, c->rate_bps, c->host_m);
    weft__fabric_cable(plan, "within groups", groups * (a * (a - 1) / 2), 2, c->rate_bps, c->leaf_m);
    weft__fabric_cable(plan, "between groups", groups * (ports / 2), 2, c->rate_bps, c->spine_m);
    weft_time_ps host = weft__fabric_delay(c, c->host_m), local = weft__fabric_delay(c, c->leaf_m);
    weft_time_ps global = weft__fabric_delay(c, c->spine_m);
    plan->links = 5;
    plan->switches = 4;
    plan->way_ps = 2 * (host + local) + global;
    weft__fabric_say(plan,
                     "{kind: group_dragonfly, groups: %llu, switches: %llu, hosts: %llu, global: %llu, rate: %llubps, "
                     "delay: %llups, host_delay: %llups, global_delay: %llups}",
                     LLU(groups), LLU(a), LLU(p), LLU(p), LLU(c->rate_bps), LLU(local), LLU(host), LLU(global));
}

const struct weft_model weft__fabric_group_dragonfly =
    WEFT_MODEL_OF(FABRIC, "group_dragonfly", "a balanced dragonfly of Ethernet switches",
                  "Kim, Dally, Scott, Abts, Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008", &table,
                  &(const struct weft_fabric_ops){.solve = dragonfly_solve});
