// SPDX-License-Identifier: Apache-2.0
#include "pairs.h"

enum { CHANNELS = 8 }; // assumed if the user sets none: NCCL chooses by the hardware

struct weft__pairs weft__pairs_of(const struct weft_collective_common *common,
                                  const struct weft_collective_shape *shape, uint32_t parts, uint32_t at_once) {
    uint32_t lanes = (common->channels ? (uint32_t)common->channels : CHANNELS) * at_once;
    struct weft__pairs p = {.peers = shape->ranks - 1, .parts = parts, .lanes = lanes, .chunk = common->chunk_bytes};
    uint64_t most = (uint64_t)(p.peers ? p.peers : 1) * parts;
    if (p.lanes > most) p.lanes = (uint32_t)most;
    return p;
}

static weft_bytes largest_part(const struct weft__pairs *p, weft_bytes data_max) {
    return data_max / p->parts + (data_max % p->parts != 0);
}

uint64_t weft__pairs_steps(const struct weft__pairs *p, uint32_t lane, weft_bytes data_max) {
    uint64_t all = (uint64_t)p->peers * p->parts, rounds = lane < all ? (all - lane + p->lanes - 1) / p->lanes : 0;
    return rounds * weft__pairs_chunks(p, largest_part(p, data_max));
}

struct weft__pairs_at weft__pairs_at(const struct weft__pairs *p, uint32_t lane, uint64_t index, weft_bytes data_max) {
    uint64_t chunks = weft__pairs_chunks(p, largest_part(p, data_max)), number = lane + index / chunks * p->lanes;
    return (struct weft__pairs_at){1 + (uint32_t)(number / p->parts), (uint32_t)(number % p->parts),
                                   index % chunks * p->chunk};
}

struct weft__chunk weft__pairs_step(const struct weft__pairs *p, uint32_t rank, uint32_t lane, uint64_t index,
                                    weft_bytes data_max, struct weft_step *ret_step) {
    uint32_t n = p->peers + 1;
    struct weft__pairs_at at = weft__pairs_at(p, lane / 2, index, data_max);
    bool sends = lane % 2 == 0;
    uint32_t peer = (uint32_t)((rank + (uint64_t)(sends ? at.distance : n - at.distance)) % n);
    weft__step_clear(ret_step, lane / 2);
    *(sends ? ret_step->send : ret_step->recv) = peer;
    ret_step->own = sends;
    ret_step->keep = !sends;
    ret_step->bytes = p->chunk;
    return (struct weft__chunk){sends ? rank : peer, sends ? peer : rank, at.part, p->parts, at.start};
}

struct weft_sent weft__pairs_sent(const struct weft__pairs *p, uint32_t rank, uint32_t distance, uint32_t part,
                                  weft_bytes bytes) {
    weft_bytes own = weft__part(bytes, part + UINT64_C(1), p->parts) - weft__part(bytes, part, p->parts);
    return (struct weft_sent){
        .peer = (uint32_t)((rank + (uint64_t)distance) % (p->peers + UINT64_C(1))),
        .channel = (uint32_t)(((distance - UINT64_C(1)) * p->parts + part) % p->lanes),
        .bytes = own,
        .message_bytes_max = own < p->chunk ? own : p->chunk,
        .messages = weft__pairs_chunks(p, own),
    };
}
