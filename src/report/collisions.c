// SPDX-License-Identifier: Apache-2.0
// Flows that share a link: balls in bins, if each takes one of the links at random. For example, with 16 flows over 16
// links the fullest has 3.08 on average, and (1 - 1/16)^16 = 36% have none.
#include <math.h>
#include <string.h>

#include "layers.h"

struct tally {
    uint32_t links, flows_most, shared, empty;
    uint64_t flows;
};

/// Of one switch, by pair of layers.
static void count_switch(const struct weft__layers *layers, const struct weft_outcome *o,
                         const struct weft_node_info *node, struct tally *tally) {
    memset(tally, 0, layers->n * sizeof *tally);
    for (uint32_t port = node->port0; port < node->port0 + node->ports; port++) {
        if (layers->of_port[port] == WEFT_NONE) continue;
        struct tally *t = &tally[layers->of_port[port]];
        uint32_t flows = o->port_flows[port];
        t->links++;
        t->flows += flows;
        t->shared += flows > 1;
        t->empty += !flows;
        if (flows > t->flows_most) t->flows_most = flows;
    }
}

static void add_switch(struct weft_collisions *c, const struct tally *t) {
    if (!t->flows) return;
    c->switches++;
    c->links += t->links;
    c->flows += t->flows;
    c->shared += t->shared;
    c->empty += t->empty;
    c->clear += !t->shared;
    c->switch_most += t->flows_most;
    if (t->flows_most > c->most) c->most = t->flows_most;
}

/// How many links of switches with a choice have 0, 1, 2 ... flows.
static void count_links(const struct weft__layers *layers, const struct weft_run *run, struct tally *tally,
                        struct weft_collisions *c, struct weft_arena *arena) {
    const struct weft_topology *t = run->topology;
    for (uint32_t i = 0; i < layers->n; i++)
        c[i].with = weft_arena_alloc(arena, c[i].most + 1, sizeof *c[i].with);
    for (uint32_t sw = 0; run->outcome->port_flows && sw < t->switches; sw++) {
        const struct weft_node_info *node = &t->node[t->switch_node[sw]];
        count_switch(layers, run->outcome, node, tally);
        for (uint32_t port = node->port0; port < node->port0 + node->ports; port++) {
            uint32_t i = layers->of_port[port];
            if (i != WEFT_NONE && tally[i].flows) c[i].with[run->outcome->port_flows[port]]++;
        }
    }
}

struct weft_collisions *weft_report_collisions(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n) {
    const struct weft_topology *t = run->topology;
    struct weft__layers layers = weft__report_layers(t, arena);
    struct weft_collisions *c = weft_arena_alloc(arena, layers.n, sizeof *c);
    struct tally *tally = weft_arena_alloc(arena, layers.n, sizeof *tally);
    for (uint32_t i = 0; i < layers.n; i++) {
        const struct weft__layer_pair *pair = &layers.pair[i];
        c[i] = (struct weft_collisions){
            .key = pair->key, .from = pair->from, .to = pair->to, .direction = pair->direction};
    }
    for (uint32_t sw = 0; run->outcome->port_flows && sw < t->switches; sw++) {
        count_switch(&layers, run->outcome, &t->node[t->switch_node[sw]], tally);
        for (uint32_t i = 0; i < layers.n; i++)
            add_switch(&c[i], &tally[i]);
    }
    for (uint32_t i = 0; i < layers.n; i++)
        c[i].switch_most = c[i].switches ? c[i].switch_most / c[i].switches : NAN;
    count_links(&layers, run, tally, c, arena);
    *ret_n = layers.n;
    return c;
}
