// SPDX-License-Identifier: Apache-2.0
// A network for each rail, the k-th GPU of every server, and none between rails but the servers' own (NVLink):
// rail-only, with one leaf of each rail, or a plane per NIC, with a Clos of two layers for each. What is within servers
// is theirs, and not in the bill.

#include "fabric/fabric.h"
#include "weft/param.h"

#define LLU(x) (unsigned long long)(x)

struct conf {
    struct weft_blueprint_conf common;
    uint64_t server_gpus, switches, links;
    weft_rate_bps link_bps, memory_bps;
};
static const char *rails_check(const void *conf, char *text, size_t size) {
    const struct conf *c = conf;
    if (c->links >= c->switches) return NULL;
    return WEFT_SAY(text, size, "links is %llu and switches %llu; expected a link to each switch at least",
                    LLU(c->links), LLU(c->switches));
}
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "rails", struct conf, WEFT_PARAM_AND(.check = rails_check, .lists = weft__fabric_lists),
    WEFT_FABRIC_ROWS(struct conf),
    WEFT_UINT(struct conf, server_gpus, "server_gpus", "8", "2", "1024", "GPUs per server, each with a rail"),
    WEFT_UINT(struct conf, switches, "switches", "4", "1", "1024", "switches per server (NVSwitches)"),
    WEFT_UINT(struct conf, links, "links", "18", "1", "1024", "links of a GPU to these"),
    WEFT_RATE(struct conf, link_bps, "link_rate", "200Gbps", "10Mbps", "100Tbps", "rate of such a link, each way"),
    WEFT_RATE(struct conf, memory_bps, "memory_rate", "0bps", "0bps", "100Tbps",
              "rate at which a GPU reads and writes what its links carry; 0bps: that of its links"));

static void say_rails(const struct conf *own, uint64_t servers, uint64_t leaves, uint64_t spines, uint64_t parallel,
                      struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    plan->topology[0] = 0;
    weft__fabric_say(plan,
                     "{kind: scale_up, servers: %llu, gpus: %llu, switches: %llu, links: %llu, rate: %llubps, "
                     "memory_rate: %llubps, nic_rate: %llubps, nic_delay: %llups, leaves: %llu, spines: %llu, "
                     "spine_links: %llu, spine_delay: %llups}",
                     LLU(servers), LLU(own->server_gpus), LLU(own->switches), LLU(own->links), LLU(own->link_bps),
                     LLU(own->memory_bps), LLU(c->rate_bps), LLU(weft__fabric_delay(c, c->host_m)), LLU(leaves),
                     LLU(spines), LLU(parallel), LLU(weft__fabric_delay(c, c->leaf_m)));
}

static void rails_solve(const void *conf, struct weft_fabric_plan *plan) {
    const struct conf *own = conf;
    struct weft_blueprint_conf rail = own->common;
    rail.hosts = weft__up(own->common.hosts, own->server_gpus);
    uint64_t servers = rail.hosts, leaves = 1, spines = 0, parallel = 1;
    const struct weft_fabric_part *spine = weft__fabric_part(&rail.spine, &rail.leaf);
    uint64_t leaf_radix = weft__fabric_radix(&rail, &rail.leaf), spine_radix = weft__fabric_radix(&rail, spine);
    if (servers > leaf_radix || (rail.per_leaf && servers > rail.per_leaf)) {
        uint64_t down = weft__fabric_down_links(&rail, leaf_radix, rail.per_leaf ? rail.per_leaf : leaf_radix, plan);
        if (!down) return;
        leaves = weft__up(servers, down);
        down = weft__up(servers, leaves);
        uint64_t up = weft__fabric_up_links(down, rail.oversubscription);
        spines = weft__fabric_above(leaves, up, leaf_radix - down, spine_radix, rail.spines_min, &parallel);
        if (!spines) {
            weft__fabric_fail(plan, "%llu servers: a rail of two layers ends at %llu leaves, the ports of a spine",
                              LLU(servers), LLU(spine_radix));
            return;
        }
        servers = leaves * down; // a leaf has as many servers as any other
    }
    uint64_t rails = own->server_gpus, down = servers / leaves, up = spines * parallel;
    plan->host_ports = servers * rails;
    plan->inner_links = plan->host_ports * (own->links + 1);
    weft__fabric_layer(plan, "leaf", weft__fabric_chip(plan, &own->common.leaf), rails * leaves, down + up, leaf_radix,
                       rail.rate_bps);
    weft__fabric_cable(plan, "NIC to leaf", plan->host_ports, 1, rail.rate_bps, rail.host_m);
    if (spines) {
        spine = weft__fabric_part(&own->common.spine, &own->common.leaf);
        weft__fabric_layer(plan, "spine", weft__fabric_chip(plan, spine), rails * spines, leaves * parallel,
                           spine_radix, rail.rate_bps);
        weft__fabric_cable(plan, "leaf to spine", rails * leaves * up, 2, rail.rate_bps, rail.leaf_m);
    }
    plan->links = spines ? 8 : 6;
    plan->switches = spines ? 7 : 5;
    plan->way_ps =
        2 * weft__fabric_delay(&rail, rail.host_m) + (spines ? 2 * weft__fabric_delay(&rail, rail.leaf_m) : 0);
    say_rails(own, servers, leaves, spines, parallel, plan);
}

const struct weft_model weft__fabric_rails = WEFT_MODEL_OF(
    FABRIC, "rails", "a network for each rail, and between rails only those of the servers: rail-only, a plane per NIC",
    "Wang et al., Rail-only, arXiv 2307.12169; Zhao et al., ISCA 2025 (multi-plane fat tree)", &table,
    &(const struct weft_fabric_ops){.solve = rails_solve});
