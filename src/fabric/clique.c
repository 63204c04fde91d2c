// SPDX-License-Identifier: Apache-2.0
// An Aquila Clique: pods of ToR-in-NIC chips, connected all-to-all, with as many links between two pods as the ports
// allow. The paper's chip gives two hosts 100 Gbit/s together over lanes of 28 Gbit/s. For other rates its rates are
// multiplied while ports and cells stay the same; no such chip exists.
#include "base/order.h"
#include "fabric/fabric.h"

#include <math.h>

#include "weft/param.h"

#define LLU(x) (unsigned long long)(x)

struct conf {
    struct weft_blueprint_conf common;
    uint64_t tins, hosts_per_tin, pods_max, local_ports, global_ports, gateway_spine_ports;
    weft_rate_bps nic_bps, lane_bps, gateway_bps;
    double gateways, backplane_m;
};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "clique", struct conf, .lists = weft__fabric_lists, WEFT_FABRIC_ROWS(struct conf),
    WEFT_UINT(struct conf, tins, "tins", "12", "2", "64", "TiNs per pod"),
    WEFT_UINT(struct conf, hosts_per_tin, "hosts_per_tin", "2", "1", "16", "hosts per TiN"),
    WEFT_UINT(struct conf, pods_max, "pods_max", "48", "1", "4096", "most pods"),
    WEFT_UINT(struct conf, local_ports, "local_ports", "24", "1", "64", "ports of a TiN for links within its pod"),
    WEFT_UINT(struct conf, global_ports, "global_ports", "8", "1", "64", "ports of a TiN for links to other pods"),
    WEFT_RATE(struct conf, nic_bps, "nic_rate", "100Gbps", "10Mbps", "100Tbps",
              "rate of a TiN's NIC in the paper, shared by its hosts"),
    WEFT_RATE(struct conf, lane_bps, "lane_rate", "27.15Gbps", "10Mbps", "100Tbps", "rate of a lane in the paper"),
    WEFT_RATE(struct conf, gateway_bps, "gateway_rate", "100Gbps", "10Mbps", "100Tbps",
              "rate of an Ethernet port in the paper"),
    WEFT_REAL(struct conf, gateways, "gateways", "8/9", "0", "1", "share of TiNs whose Ethernet port leads to a spine"),
    WEFT_UINT(struct conf, gateway_spine_ports, "gateway_spine_ports", "32", "1", "4096",
              "gateways per Ethernet spine"),
    WEFT_REAL(struct conf, backplane_m, "backplane", "0.4", "0", "100", "metres between two TiNs of a pod (assumed)"));

struct size {
    uint64_t pods, tins, local, global, gateways, spines;
    double scale; ///< of all rates, relative to the paper's
};

static bool calc_clique(const struct conf *own, struct size *s, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    uint64_t pod_hosts = own->tins * own->hosts_per_tin;
    s->pods = weft__up(c->hosts, pod_hosts);
    s->tins = own->tins;
    if (s->pods == 1) s->tins = weft__up(c->hosts, own->hosts_per_tin);
    if (s->tins < 2) s->tins = 2;
    s->scale = (double)c->rate_bps * (double)own->hosts_per_tin / (double)own->nic_bps;
    s->local = weft__lesser(own->local_ports / (s->tins - 1), 16);
    s->global = s->pods > 1 ? weft__lesser(s->tins * own->global_ports / (s->pods - 1), 64) : 1;
    s->gateways = (uint64_t)((double)(s->pods * s->tins) * own->gateways);
    s->spines = weft__up(s->gateways, own->gateway_spine_ports);
    if (s->pods > own->pods_max)
        weft__fabric_fail(plan, "a Clique ends at %llu hosts: %llu pods of %llu", LLU(own->pods_max * pod_hosts),
                          LLU(own->pods_max), LLU(pod_hosts));
    else if (!s->local || !s->global)
        weft__fabric_fail(plan, "%s of a TiN are too few for a link to each",
                          s->local ? "ports to other pods" : "ports within the pod");
    return !*plan->reason;
}

static weft_rate_bps scaled_rate(const struct size *s, weft_rate_bps rate) {
    return (weft_rate_bps)llround((double)rate * s->scale);
}

static void clique_parts(const struct conf *own, const struct size *s, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    uint64_t tins = s->pods * s->tins, local = (s->tins - 1) * s->local;
    uint64_t pairs = s->pods * (s->pods - 1) / 2 * s->global, global = weft__up(2 * pairs, tins);
    weft_rate_bps lane = scaled_rate(s, own->lane_bps), ethernet = scaled_rate(s, own->gateway_bps);
    plan->host_ports = tins * own->hosts_per_tin;
    weft__fabric_layer(plan, "tin", &c->leaf, tins, own->hosts_per_tin + local + global + (s->gateways ? 1 : 0),
                       own->hosts_per_tin + own->local_ports + own->global_ports + 1, lane);
    weft__fabric_cable(plan, "host to TiN", plan->host_ports, 1, c->rate_bps, c->host_m);
    weft__fabric_cable(plan, "within pods", tins * local / 2, 2, lane, own->backplane_m);
    if (pairs) weft__fabric_cable(plan, "between pods", pairs, 2, lane, c->leaf_m);
    if (!s->gateways) return;
    double capacity = (double)own->gateway_spine_ports * (double)ethernet;
    const struct weft_fabric_part *spine = &c->spine;
    if (spine->rate_bps) spine = weft__fabric_multiplied(plan, spine, fmax(1, capacity / (double)spine->rate_bps));
    weft__fabric_layer(plan, "spine", spine, s->spines, weft__up(s->gateways, s->spines), own->gateway_spine_ports,
                       ethernet);
    weft__fabric_cable(plan, "gateway to spine", s->gateways, 2, ethernet, c->spine_m);
}

static void say_clique(const struct conf *own, const struct size *s, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = &own->common;
    weft_time_ps host = weft__fabric_delay(c, c->host_m), global = weft__fabric_delay(c, c->leaf_m);
    plan->links = s->pods > 1 ? 5 : 3;
    plan->switches = s->pods > 1 ? 4 : 2;
    plan->way_ps = 2 * host + (s->pods > 1 ? global : 0);
    weft__fabric_say(plan,
                     "{kind: dragonfly, pods: %llu, tins: %llu, hosts_per_tin: %llu, local_parallel: %llu, "
                     "global_parallel: %llu, local_ports: %llu, global_ports: %llu, local_rate: %llubps, global_rate: "
                     "%llubps, host_rate: %llubps, host_delay: %llups, gateways: %llu, spines: %llu, ethernet_rate: "
                     "%llubps, ethernet_delay: %llups}",
                     LLU(s->pods), LLU(s->tins), LLU(own->hosts_per_tin), LLU(s->local), LLU(s->global),
                     LLU(own->local_ports), LLU(own->global_ports), LLU(scaled_rate(s, own->lane_bps)),
                     LLU(scaled_rate(s, own->lane_bps)), LLU(c->rate_bps), LLU(host), LLU(s->gateways), LLU(s->spines),
                     LLU(scaled_rate(s, own->gateway_bps)), LLU(weft__fabric_delay(c, c->spine_m)));
}

static void clique_solve(const void *conf, struct weft_fabric_plan *plan) {
    const struct conf *own = conf;
    struct size s = {0};
    if (!calc_clique(own, &s, plan)) return;
    clique_parts(own, &s, plan);
    say_clique(own, &s, plan);
}

const struct weft_model weft__fabric_clique =
    WEFT_MODEL_OF(FABRIC, "clique", "an Aquila Clique with gateways, its rates multiplied to those of the hosts",
                  "Gibson et al., NSDI 2022; a chip with other rates than the paper's is assumed", &table,
                  &(const struct weft_fabric_ops){.solve = clique_solve});
