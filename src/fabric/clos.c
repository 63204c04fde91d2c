// SPDX-License-Identifier: Apache-2.0
// A folded Clos of one kind of Ethernet switch: a single leaf while it takes all hosts, two layers while a spine has a
// port for every leaf, then three. It uses the fewest spines possible, with as many links to each leaf as that takes,
// but at least spines_min.
#include "fabric/fabric.h"
#include "weft/param.h"

#define LLU(x) (unsigned long long)(x)

struct conf {
    struct weft_blueprint_conf common;
    uint64_t layers_max;
};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_OF("clos", struct conf, .lists = weft__fabric_lists, WEFT_FABRIC_ROWS(struct conf),
                        WEFT_UINT(struct conf, layers_max, "layers_max", "3", "2", "3", "most layers of switches"));

/// The unknowns: hosts per leaf, its uplinks, leaves.
struct size {
    uint64_t down, up, leaves;
    uint64_t leaf_radix, spine_radix;
};

static bool calc_leaf(const struct weft_blueprint_conf *c, struct weft_fabric_plan *plan, struct size *s) {
    uint64_t most = c->per_leaf && c->per_leaf < c->hosts ? c->per_leaf : c->hosts;
    s->down = weft__fabric_down_links(c, s->leaf_radix, most, plan);
    if (!s->down) return false;
    s->leaves = weft__up(c->hosts, s->down);
    s->down = weft__up(c->hosts, s->leaves);
    s->up = weft__fabric_up_links(s->down, c->oversubscription);
    return true;
}

/// All hosts at one leaf: nothing above it would carry a packet.
static void one_leaf(const struct weft_blueprint_conf *c, const struct size *s, struct weft_fabric_plan *plan) {
    weft_time_ps host = weft__fabric_delay(c, c->host_m);
    plan->host_ports = s->down;
    weft__fabric_layer(plan, "leaf", weft__fabric_chip(plan, &c->leaf), 1, s->down, s->leaf_radix, c->rate_bps);
    weft__fabric_cable(plan, "host to leaf", plan->host_ports, 1, c->rate_bps, c->host_m);
    plan->links = 2;
    plan->switches = 1;
    plan->way_ps = 2 * host;
    weft__fabric_say(plan,
                     "{kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: %llu, rate: %llubps, delay: %llups}",
                     LLU(s->down), LLU(c->rate_bps), LLU(host));
}

static bool two_layers(const struct weft_blueprint_conf *c, const struct size *s, struct weft_fabric_plan *plan) {
    uint64_t parallel;
    uint64_t spines =
        weft__fabric_above(s->leaves, s->up, s->leaf_radix - s->down, s->spine_radix, c->spines_min, &parallel);
    if (!spines) return false;
    const struct weft_fabric_part *spine = weft__fabric_part(&c->spine, &c->leaf);
    plan->host_ports = s->leaves * s->down;
    weft__fabric_layer(plan, "leaf", weft__fabric_chip(plan, &c->leaf), s->leaves, s->down + spines * parallel,
                       s->leaf_radix, c->rate_bps);
    weft__fabric_layer(plan, "spine", weft__fabric_chip(plan, spine), spines, s->leaves * parallel, s->spine_radix,
                       c->rate_bps);
    weft__fabric_cable(plan, "host to leaf", plan->host_ports, 1, c->rate_bps, c->host_m);
    weft__fabric_cable(plan, "leaf to spine", s->leaves * spines * parallel, 2, c->rate_bps, c->leaf_m);
    weft_time_ps host = weft__fabric_delay(c, c->host_m), up = weft__fabric_delay(c, c->leaf_m);
    plan->links = 4;
    plan->switches = 3;
    plan->way_ps = 2 * host + 2 * up;
    weft__fabric_say(plan,
                     "{kind: leaf_spine, leaves: %llu, spines: %llu, hosts_per_leaf: %llu, parallel: %llu, rate: "
                     "%llubps, delay: %llups, host_delay: %llups}",
                     LLU(s->leaves), LLU(spines), LLU(s->down), LLU(parallel), LLU(c->rate_bps), LLU(up), LLU(host));
    return true;
}

/// A pod has as many leaves as half the ports of a spine can take. The j-th spine of each pod leads to the j-th part of
/// the cores.
static bool three_layers(const struct weft_blueprint_conf *c, struct size *s, struct weft_fabric_plan *plan) {
    uint64_t half = s->spine_radix / 2, parallel, core_parallel;
    if (!half) return false;
    uint64_t pods = weft__up(s->leaves, half);
    uint64_t access = weft__up(s->leaves, pods);
    s->down = weft__up(c->hosts, pods * access);
    s->up = weft__fabric_up_links(s->down, c->oversubscription);
    uint64_t spines = weft__fabric_above(access, s->up, s->leaf_radix - s->down, half, c->spines_min, &parallel);
    if (!spines) return false;
    uint64_t cores = weft__fabric_above(pods, access * parallel, s->spine_radix - access * parallel, s->spine_radix, 1,
                                        &core_parallel);
    if (!cores) return false;
    const struct weft_fabric_part *spine = weft__fabric_part(&c->spine, &c->leaf);
    const struct weft_fabric_part *core = weft__fabric_part(&c->core, spine);
    uint64_t core_radix = weft__fabric_radix(c, core), leaves = pods * access;
    if (pods * core_parallel > core_radix) return false;
    plan->host_ports = leaves * s->down;
    weft__fabric_layer(plan, "access", weft__fabric_chip(plan, &c->leaf), leaves, s->down + spines * parallel,
                       s->leaf_radix, c->rate_bps);
    weft__fabric_layer(plan, "aggregation", weft__fabric_chip(plan, spine), pods * spines,
                       access * parallel + cores * core_parallel, s->spine_radix, c->rate_bps);
    weft__fabric_layer(plan, "core", weft__fabric_chip(plan, core), spines * cores, pods * core_parallel, core_radix,
                       c->rate_bps);
    weft__fabric_cable(plan, "host to leaf", plan->host_ports, 1, c->rate_bps, c->host_m);
    weft__fabric_cable(plan, "leaf to spine", leaves * spines * parallel, 2, c->rate_bps, c->leaf_m);
    weft__fabric_cable(plan, "spine to core", pods * spines * cores * core_parallel, 2, c->rate_bps, c->spine_m);
    weft_time_ps host = weft__fabric_delay(c, c->host_m), up = weft__fabric_delay(c, c->leaf_m);
    weft_time_ps top = weft__fabric_delay(c, c->spine_m);
    plan->links = 6;
    plan->switches = 5;
    plan->way_ps = 2 * (host + up + top);
    weft__fabric_say(plan,
                     "{kind: clos3, pods: %llu, access_per_pod: %llu, aggregation_per_pod: %llu, core: %llu, "
                     "hosts_per_access: %llu, access_parallel: %llu, core_parallel: %llu, core_wiring: plane, rate: "
                     "%llubps, delay: %llups, host_delay: %llups, core_delay: %llups}",
                     LLU(pods), LLU(access), LLU(spines), LLU(spines * cores), LLU(s->down), LLU(parallel),
                     LLU(core_parallel), LLU(c->rate_bps), LLU(up), LLU(host), LLU(top));
    return true;
}

void weft__clos_solve(const struct weft_blueprint_conf *c, uint64_t layers_max, struct weft_fabric_plan *plan) {
    const struct weft_fabric_part *spine = weft__fabric_part(&c->spine, &c->leaf);
    struct size s = {.leaf_radix = weft__fabric_radix(c, &c->leaf), .spine_radix = weft__fabric_radix(c, spine)};
    if (!calc_leaf(c, plan, &s)) return;
    if (s.leaves == 1) {
        one_leaf(c, &s, plan);
        return;
    }
    if (two_layers(c, &s, plan) || (layers_max > 2 && three_layers(c, &s, plan))) return;
    if (layers_max == 2)
        weft__fabric_fail(plan, "%llu leaves of %llu hosts: two layers end at %llu, the ports of a spine",
                          LLU(s.leaves), LLU(s.down), LLU(s.spine_radix));
    else
        weft__fabric_fail(plan, "%llu leaves of %llu hosts are more than three layers of %llu-port switches join",
                          LLU(s.leaves), LLU(s.down), LLU(s.spine_radix));
}

static void clos_solve(const void *conf, struct weft_fabric_plan *plan) {
    const struct conf *own = conf;
    weft__clos_solve(&own->common, own->layers_max, plan);
}

const struct weft_model weft__fabric_clos =
    WEFT_MODEL_OF(FABRIC, "clos", "a folded Clos of Ethernet switches, of two layers or three",
                  "Clos, Bell System Technical Journal 1953; Al-Fares et al., SIGCOMM 2008", &table,
                  &(const struct weft_fabric_ops){.solve = clos_solve});
