// SPDX-License-Identifier: Apache-2.0
// A route model in one switch: its first `ups` ports lead up, each to a different switch, the others to hosts.
#pragma once

#include "models.h"
#include "weft/route.h"

enum { ROUTER_PORTS_MAX = 512, ROUTER_HOSTS = 10000, ROUTER_HOSTS_OF_LEAF = 16, ROUTER_EDGES = 100 };
enum { ROUTER_QPS = 100000 };
static uint16_t router_downlink[ROUTER_HOSTS];
static struct weft_qp_numbers router_qp[ROUTER_QPS]; ///< as if each NIC had 64

struct router {
    const struct weft_route_ops *ops;
    void *conf, *state;
    uint32_t hash_seed, ports;
    weft_bytes depth[ROUTER_PORTS_MAX];
    uint16_t all[ROUTER_PORTS_MAX]; ///< 0, 1, 2 ...
};

static inline weft_bytes router_depth(const void *context, uint32_t port, uint32_t priority) {
    return ((const struct router *)context)->depth[port];
}

static inline struct router router_new(const struct weft_model *model, const char *yaml, uint64_t seed, uint32_t sw,
                                       uint32_t ups, uint32_t downs) {
    struct router r = {.ops = model->ops, .conf = conf_of(model, yaml), .ports = ups + downs};
    struct weft_route_port port[ROUTER_PORTS_MAX];
    assert_true(r.ports <= ROUTER_PORTS_MAX);
    for (uint32_t i = 0; i < r.ports; i++) {
        r.all[i] = (uint16_t)i;
        port[i] =
            (struct weft_route_port){100 + i, WEFT_NONE, i < ups ? WEFT_ROUTE_UP : WEFT_ROUTE_DOWN, i >= ups, 100 + i};
    }
    r.hash_seed = r.ops->hash_seed(r.conf, seed, sw);
    if (!r.ops->choose) return r;
    if (!router_downlink[1])
        for (uint32_t h = 0; h < ROUTER_HOSTS; h++)
            router_downlink[h] = (uint16_t)(h % ROUTER_HOSTS_OF_LEAF);
    struct weft_route_setup setup = {
        .seed = seed, .sw = sw, .ports = r.ports, .edges = ROUTER_EDGES, .port = port, .downlink = router_downlink};
    r.state = calloc(1, r.ops->state_size(r.conf, &setup));
    r.ops->init(r.state, r.conf, &setup);
    return r;
}

static inline void router_free(struct router *r) {
    free(r->conf);
    free(r->state);
}

/// The port for a packet, of `n` candidates.
static inline uint32_t router_port(struct router *r, const struct weft_packet *packet, const uint16_t *port,
                                   uint32_t n) {
    assert_true(packet->qp < ROUTER_QPS);
    router_qp[packet->qp] = (struct weft_qp_numbers){.at_src = packet->qp % 64, .at_dst = packet->qp * 7 % 64};
    struct weft_route_query query = {packet, r->hash_seed, n, port, packet->dst % ROUTER_EDGES, router_qp};
    struct weft_route_queues queues = {router_depth, r};
    uint32_t index = r->state ? r->ops->choose(r->state, r->conf, &query, &queues) : r->ops->select(r->conf, &query);
    assert_true(index < n);
    return port[index];
}
