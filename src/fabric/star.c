// SPDX-License-Identifier: Apache-2.0
// All hosts at one switch.
#include "fabric/fabric.h"
#include "weft/param.h"

struct conf {
    struct weft_blueprint_conf common;
};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_OF("star", struct conf, .lists = weft__fabric_lists, WEFT_FABRIC_ROWS(struct conf));

static void star_solve(const void *conf, struct weft_fabric_plan *plan) {
    const struct weft_blueprint_conf *c = conf;
    uint64_t radix = weft__fabric_radix(c, &c->leaf);
    if (c->hosts > radix || c->hosts > 65535) {
        weft__fabric_fail(plan, "a star ends at %llu hosts: the ports of its one switch",
                          (unsigned long long)(radix < 65535 ? radix : 65535));
        return;
    }
    weft_time_ps delay = weft__fabric_delay(c, c->host_m);
    weft__fabric_layer(plan, "switch", weft__fabric_chip(plan, &c->leaf), 1, c->hosts, radix, c->rate_bps);
    weft__fabric_cable(plan, "host to switch", c->hosts, 1, c->rate_bps, c->host_m);
    plan->host_ports = c->hosts;
    plan->links = 2;
    plan->switches = 1;
    plan->way_ps = 2 * delay;
    weft__fabric_say(plan, "{kind: single, hosts: %llu, rate: %llubps, delay: %llups}", (unsigned long long)c->hosts,
                     (unsigned long long)c->rate_bps, (unsigned long long)delay);
}

const struct weft_model weft__fabric_star = WEFT_MODEL_OF(FABRIC, "star", "one switch with all hosts", "none needed",
                                                          &table, &(const struct weft_fabric_ops){.solve = star_solve});
