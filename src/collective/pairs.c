// SPDX-License-Identifier: Apache-2.0
#include "pairs.h"

enum { CHANNELS = 8 }; // assumed if the user sets none: NCCL chooses by the hardware

uint32_t weft__pairs_lanes(const void *conf, const struct weft_collective_shape *shape) {
    const struct weft_collective_common *common = conf;
    uint32_t peers = shape->ranks > 1 ? shape->ranks - 1 : 1;
    uint32_t channels = common->channels ? (uint32_t)common->channels : CHANNELS;
    return 2 * (channels < peers ? channels : peers);
}

uint64_t weft__pairs_steps(const struct weft_collective_common *common, const struct weft_collective_shape *shape,
                           uint32_t lane, weft_bytes part_max) {
    uint32_t channels = weft__pairs_lanes(common, shape) / 2, peers = shape->ranks - 1, channel = lane / 2;
    uint64_t rounds = channel < peers ? (peers - channel + channels - 1) / channels : 0;
    return rounds * weft__pairs_chunks(common, part_max);
}

struct weft__chunk weft__pairs_step(const struct weft_collective_common *common,
                                    const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                                    uint64_t index, weft_bytes part_max, struct weft_step *ret_step) {
    uint32_t n = shape->ranks, channels = weft__pairs_lanes(common, shape) / 2;
    uint64_t chunks = weft__pairs_chunks(common, part_max), distance = 1 + lane / 2 + index / chunks * channels;
    bool sends = lane % 2 == 0;
    uint32_t peer = (uint32_t)((rank + (sends ? distance : n - distance)) % n);
    weft__step_clear(ret_step, lane / 2);
    *(sends ? ret_step->send : ret_step->recv) = peer;
    ret_step->own = sends;
    ret_step->keep = !sends;
    ret_step->bytes = common->chunk_bytes;
    return (struct weft__chunk){sends ? rank : peer, sends ? peer : rank, index % chunks * common->chunk_bytes};
}

struct weft_sent weft__pairs_sent(const struct weft_collective_common *common,
                                  const struct weft_collective_shape *shape, uint32_t rank, uint32_t distance,
                                  weft_bytes bytes) {
    uint32_t channels = weft__pairs_lanes(common, shape) / 2;
    return (struct weft_sent){
        .peer = (uint32_t)((rank + (uint64_t)distance) % shape->ranks),
        .channel = (distance - 1) % channels,
        .bytes = bytes,
        .message_bytes_max = bytes < common->chunk_bytes ? bytes : common->chunk_bytes,
        .messages = weft__pairs_chunks(common, bytes),
    };
}

uint32_t weft__pairs_sends(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    return shape->ranks - 1;
}
