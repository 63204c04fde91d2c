// SPDX-License-Identifier: Apache-2.0
#include "exchange.h"

const char *const weft__pxn_names[] = {"auto", "on", "off", NULL};
const char *const weft__peers_order_names[] = {"nearest", "nccl", NULL};

bool weft__exchange_relays(const void *conf, const struct weft_collective_shape *shape) {
    const struct weft__exchange_conf *c = conf;
    uint32_t share = shape->per_nic ? shape->per_nic : 1;
    if (shape->per_server <= share || shape->ranks <= shape->per_server) return false;
    return c->pxn == WEFT__PXN_ON || (c->pxn == WEFT__PXN_AUTO && shape->pxn);
}

static struct weft__pairs pairs_of(const struct weft__exchange_conf *c, const struct weft_collective_shape *shape) {
    return weft__pairs_of(&c->common, shape, (uint32_t)c->peer_channels, (uint32_t)c->at_once);
}

uint32_t weft__exchange_channels(const void *conf, const struct weft_collective_shape *shape) {
    const struct weft__exchange_conf *c = conf;
    uint32_t lanes = pairs_of(c, shape).lanes;
    return c->common.channels && c->common.channels < lanes ? (uint32_t)c->common.channels : lanes;
}

/// With PXN, of three lanes one sends, one receives, and one passes on what others send.
uint32_t weft__exchange_lanes(const void *conf, const struct weft_collective_shape *shape) {
    return (weft__exchange_relays(conf, shape) ? 3 : 2) * pairs_of(conf, shape).lanes;
}

uint64_t weft__exchange_steps(const struct weft__exchange_conf *conf, const struct weft_collective_shape *shape,
                              uint32_t lane, weft_bytes data_max) {
    struct weft__pairs pairs = pairs_of(conf, shape);
    return weft__pairs_steps(&pairs, lane / (weft__exchange_relays(conf, shape) ? 3 : 2), data_max);
}

enum role { SENDS, RECEIVES, RELAYS };

/// Path of a message: from `src` to `dst`, through `relay` unless that is WEFT_NONE.
struct route {
    uint32_t src, relay, dst;
};

/// The k-th distance between servers: k (k + 1) / 2 modulo the next power of two, those that are too large left out.
static uint32_t server_distance(uint32_t servers, uint32_t k) {
    uint32_t power = 1, distance = 0, left = k;
    while (power < servers)
        power *= 2;
    if (power == servers) return (uint32_t)((uint64_t)k * (k + UINT64_C(1)) / 2) & (power - 1);
    for (uint32_t x = 1; left; x++) {
        distance = (distance + x) & (power - 1);
        left -= distance < servers;
    }
    return distance;
}

/// The message at `distance` in which the rank has that role: so many servers and distance % g GPUs on, of which there
/// are g. Each rank is the relay of one message at each distance where there are relays.
static struct route route_of(const struct weft__exchange_conf *c, const struct weft_collective_shape *shape,
                             uint32_t rank, enum role role, uint32_t distance) {
    uint32_t g = shape->per_server, n = shape->ranks, share = shape->per_nic ? shape->per_nic : 1;
    uint32_t servers = distance / g, gpus = distance % g, gpu = rank % g;
    if (c->order == WEFT__PEERS_NCCL) servers = server_distance(n / g, servers);
    uint32_t first = rank - gpu, before = (gpu + g - gpus) % g, after = (gpu + gpus) % g;
    uint32_t src_gpu = role == SENDS ? gpu : before, dst_gpu = role == SENDS ? after : gpu;
    uint32_t from = role == RECEIVES ? (uint32_t)((first + (uint64_t)n - servers * g) % n) : first;
    uint32_t to = role == RECEIVES ? first : (uint32_t)((first + (uint64_t)servers * g) % n);
    bool relayed = servers && src_gpu / share != dst_gpu / share && weft__exchange_relays(c, shape);
    return (struct route){from + src_gpu, relayed ? from + dst_gpu : WEFT_NONE, to + dst_gpu};
}

/// Nearest first, and straight: round the ranks, not by servers.
static bool is_plain(const struct weft__exchange_conf *c, const struct weft_collective_shape *shape) {
    return c->order == WEFT__PEERS_NEAREST && !weft__exchange_relays(c, shape);
}

struct weft__chunk weft__exchange_step(const struct weft__exchange_conf *conf,
                                       const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                                       uint64_t index, weft_bytes data_max, struct weft_step *ret_step) {
    struct weft__pairs pairs = pairs_of(conf, shape);
    if (is_plain(conf, shape)) return weft__pairs_step(&pairs, rank, lane, index, data_max, ret_step);
    uint32_t roles = weft__exchange_relays(conf, shape) ? 3 : 2, number = lane / roles;
    struct weft__pairs_at at = weft__pairs_at(&pairs, number, index, data_max);
    enum role role = lane % roles;
    struct route r = route_of(conf, shape, rank, role, at.distance);
    bool relayed = r.relay != WEFT_NONE;
    weft__step_clear(ret_step, number + (relayed ? pairs.lanes : 0));
    ret_step->own = role == SENDS;
    ret_step->keep = role == RECEIVES;
    if (role != RECEIVES) ret_step->send[0] = relayed && role == SENDS ? r.relay : r.dst;
    if (role != SENDS) ret_step->recv[0] = relayed && role == RECEIVES ? r.relay : r.src;
    ret_step->bytes = role == RELAYS && !relayed ? 0 : pairs.chunk;
    return (struct weft__chunk){r.src, r.dst, at.part, pairs.parts, at.start};
}

uint32_t weft__exchange_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    struct weft__pairs pairs = pairs_of(conf, shape);
    return (weft__exchange_relays(conf, shape) ? 2 : 1) * pairs.peers * pairs.parts;
}

struct weft_sent weft__exchange_sent(const struct weft__exchange_conf *conf, const struct weft_collective_shape *shape,
                                     uint32_t rank, uint32_t index,
                                     weft_bytes (*part_for)(const void *conf, const struct weft_collective_shape *shape,
                                                            uint32_t dst)) {
    struct weft__pairs pairs = pairs_of(conf, shape);
    uint32_t own = pairs.peers * pairs.parts, distance = 1 + index % own / pairs.parts, part = index % pairs.parts;
    if (is_plain(conf, shape)) {
        uint32_t dst = (uint32_t)((rank + (uint64_t)distance) % shape->ranks);
        return weft__pairs_sent(&pairs, rank, distance, part, part_for(conf, shape, dst));
    }
    struct route r = route_of(conf, shape, rank, index < own ? SENDS : RELAYS, distance);
    bool relayed = r.relay != WEFT_NONE;
    weft_bytes bytes = index < own || relayed ? part_for(conf, shape, r.dst) : 0;
    struct weft_sent sent = weft__pairs_sent(&pairs, rank, distance, part, bytes);
    sent.peer = index < own && relayed ? r.relay : r.dst;
    sent.channel += relayed ? pairs.lanes : 0;
    return sent;
}
