// SPDX-License-Identifier: Apache-2.0
#include "exchange.h"

const char *const weft__pxn_names[] = {"auto", "on", "off", NULL};

bool weft__exchange_relays(const void *conf, const struct weft_collective_shape *shape) {
    const struct weft__exchange_conf *c = conf;
    uint32_t share = shape->per_nic ? shape->per_nic : 1;
    if (shape->per_server <= share || shape->ranks <= shape->per_server) return false;
    return c->pxn == WEFT__PXN_ON || (c->pxn == WEFT__PXN_AUTO && shape->pxn);
}

uint32_t weft__exchange_channels(const void *conf, const struct weft_collective_shape *shape) {
    return weft__pairs_lanes(conf, shape) / 2;
}

/// With PXN, a channel has three lanes: one sends, one receives, and one passes on what others send.
uint32_t weft__exchange_lanes(const void *conf, const struct weft_collective_shape *shape) {
    return (weft__exchange_relays(conf, shape) ? 3 : 2) * weft__exchange_channels(conf, shape);
}

uint64_t weft__exchange_steps(const struct weft__exchange_conf *conf, const struct weft_collective_shape *shape,
                              uint32_t lane, weft_bytes part_max) {
    bool relays = weft__exchange_relays(conf, shape);
    return weft__pairs_steps(&conf->common, shape, relays ? lane / 3 * 2 : lane, part_max);
}

enum role { SENDS, RECEIVES, RELAYS };

/// Path of a message: from `src` to `dst`, through `relay` unless that is WEFT_NONE.
struct route {
    uint32_t src, relay, dst;
};

/// The message at `distance` in which the rank has that role: distance / g servers and distance % g GPUs on, of which
/// there are g. Each rank is the relay of one message at each distance where there are relays.
static struct route route_of(const struct weft_collective_shape *shape, uint32_t rank, enum role role,
                             uint64_t distance) {
    uint32_t g = shape->per_server, n = shape->ranks, share = shape->per_nic ? shape->per_nic : 1;
    uint32_t servers = (uint32_t)(distance / g), gpus = (uint32_t)(distance % g), gpu = rank % g;
    uint32_t first = rank - gpu, before = (gpu + g - gpus) % g, after = (gpu + gpus) % g;
    uint32_t src_gpu = role == SENDS ? gpu : before, dst_gpu = role == SENDS ? after : gpu;
    uint32_t from = role == RECEIVES ? (uint32_t)((first + (uint64_t)n - servers * g) % n) : first;
    uint32_t to = role == RECEIVES ? first : (uint32_t)((first + (uint64_t)servers * g) % n);
    bool relayed = servers && src_gpu / share != dst_gpu / share;
    return (struct route){from + src_gpu, relayed ? from + dst_gpu : WEFT_NONE, to + dst_gpu};
}

struct weft__chunk weft__exchange_step(const struct weft__exchange_conf *conf,
                                       const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                                       uint64_t index, weft_bytes part_max, struct weft_step *ret_step) {
    if (!weft__exchange_relays(conf, shape))
        return weft__pairs_step(&conf->common, shape, rank, lane, index, part_max, ret_step);
    uint32_t channels = weft__exchange_channels(conf, shape), channel = lane / 3;
    uint64_t chunks = weft__pairs_chunks(&conf->common, part_max);
    enum role role = lane % 3;
    struct route r = route_of(shape, rank, role, 1 + channel + index / chunks * channels);
    bool relayed = r.relay != WEFT_NONE;
    weft__step_clear(ret_step, channel + (relayed ? channels : 0));
    ret_step->own = role == SENDS;
    ret_step->keep = role == RECEIVES;
    if (role != RECEIVES) ret_step->send[0] = relayed && role == SENDS ? r.relay : r.dst;
    if (role != SENDS) ret_step->recv[0] = relayed && role == RECEIVES ? r.relay : r.src;
    ret_step->bytes = role == RELAYS && !relayed ? 0 : conf->common.chunk_bytes;
    return (struct weft__chunk){r.src, r.dst, index % chunks * conf->common.chunk_bytes};
}

uint32_t weft__exchange_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    return (weft__exchange_relays(conf, shape) ? 2 : 1) * weft__pairs_sends(conf, shape, rank);
}

struct weft_sent weft__exchange_sent(const struct weft__exchange_conf *conf, const struct weft_collective_shape *shape,
                                     uint32_t rank, uint32_t index,
                                     weft_bytes (*part_for)(const void *conf, const struct weft_collective_shape *shape,
                                                            uint32_t dst)) {
    uint32_t own = shape->ranks - 1, distance = 1 + index % own;
    if (!weft__exchange_relays(conf, shape)) {
        uint32_t dst = (uint32_t)((rank + (uint64_t)distance) % shape->ranks);
        return weft__pairs_sent(&conf->common, shape, rank, distance, part_for(conf, shape, dst));
    }
    struct route r = route_of(shape, rank, index < own ? SENDS : RELAYS, distance);
    bool relayed = r.relay != WEFT_NONE;
    weft_bytes bytes = index < own || relayed ? part_for(conf, shape, r.dst) : 0;
    struct weft_sent sent = weft__pairs_sent(&conf->common, shape, rank, distance, bytes);
    sent.peer = index < own && relayed ? r.relay : r.dst;
    sent.channel += relayed ? weft__exchange_channels(conf, shape) : 0;
    return sent;
}
