// SPDX-License-Identifier: Apache-2.0
// Tokens that go straight to the ranks of their experts. Low latency: DeepEP's kernels of that name
// (deepseek-ai/DeepEP, commit dd758caf, csrc/kernels/legacy/internode_ll.cu): a message for each token and expert on
// the queue pair of the expert's number in its rank, in the order of tokens, then the number of tokens for each expert;
// back, a message for each, then a flag. Ranks of the same node use NVLink. Receivers have room for all. Difference:
// the number and the flag are writes of 4 B, not atomics. All-to-all: a token goes once to each rank with an expert for
// it, as ncclSend and ncclRecv in a group do it: peers nearest first, divided among channels.
#include "moe.h"

#include "weft/memory.h"

enum { NUMBER_BYTES = 4 };

// Lane 0 sends; lanes that receive, by peer and queue pair, follow.
static uint32_t lane_from(const struct weft__moe_phase *p, uint32_t src, uint32_t number) {
    return 1 + src * p->queue_pairs + number;
}

uint32_t weft__moe_low_latency_lanes(const struct weft__moe_phase *p) {
    return 1 + p->routing->ranks * p->queue_pairs;
}

/// For an expert, or back from it.
static void add_direct(struct weft__moe_maker *m, const struct weft__moe_phase *p, uint32_t rank, uint32_t expert,
                       weft_bytes bytes) {
    uint32_t at = expert / p->routing->per_rank, number = expert % p->routing->per_rank % p->queue_pairs;
    uint32_t src = p->combines ? at : rank, dst = p->combines ? rank : at;
    if (src == dst) return;
    weft__moe_add(m, &(struct weft__moe_message){.src = src,
                                                 .dst = dst,
                                                 .dst_lane = lane_from(p, src, number),
                                                 .channel = number,
                                                 .bytes = (uint32_t)bytes});
}

/// Kernels send to all ranks side by side: in the order of tokens, those of all ranks in turn.
void weft__moe_low_latency(struct weft__moe_maker *m, const void *phase) {
    const struct weft__moe_phase *p = phase;
    const struct weft__routing *r = p->routing;
    bool more = true;
    for (uint64_t i = 0; more; i++) {
        more = false;
        for (uint32_t rank = 0; rank < r->ranks; rank++) {
            uint64_t t = r->first[rank] + i;
            if (t >= r->first[rank + 1]) continue;
            more = true;
            for (uint32_t k = 0; k < r->top_k && weft__routing_of(r, t)[k] != WEFT__NO_EXPERT; k++)
                add_direct(m, p, rank, weft__routing_of(r, t)[k], p->token_bytes);
        }
    }
    for (uint32_t e = 0; e < r->experts; e++)
        for (uint32_t rank = 0; rank < r->ranks; rank++)
            add_direct(m, p, rank, e, NUMBER_BYTES);
}

// --- all-to-all ---------------------------------------------------------------------------------------------------

uint32_t weft__moe_all_to_all_lanes(const struct weft__moe_phase *p) {
    return 2 * p->channels;
}

/// Tokens from each rank to each: [src * ranks + dst].
static uint32_t *count_pairs(const struct weft__routing *r) {
    uint32_t *pair = weft_memory_new(WEFT_MEMORY_SCENARIO, (size_t)r->ranks * r->ranks, sizeof *pair);
    for (uint32_t rank = 0; rank < r->ranks; rank++)
        for (uint64_t t = r->first[rank]; t < r->first[rank + 1]; t++) {
            uint32_t to[WEFT__MOE_TOP_K_MAX], n = weft__routing_ranks(r, t, to);
            for (uint32_t i = 0; i < n; i++)
                pair[(size_t)rank * r->ranks + to[i]]++;
        }
    return pair;
}

void weft__moe_all_to_all(struct weft__moe_maker *m, const void *phase) {
    const struct weft__moe_phase *p = phase;
    uint32_t n = p->routing->ranks, *pair = count_pairs(p->routing);
    for (uint32_t distance = 1; distance < n; distance++)
        for (uint32_t src = 0; src < n; src++) {
            uint32_t dst = (src + distance) % n, channel = (distance - 1) % p->channels;
            size_t k = p->combines ? (size_t)dst * n + src : (size_t)src * n + dst;
            weft_bytes left = pair[k] * p->token_bytes;
            for (weft_bytes some; left; left -= some) {
                some = left < p->chunk_bytes ? left : p->chunk_bytes;
                weft__moe_add(m, &(struct weft__moe_message){.src = src,
                                                             .src_lane = channel,
                                                             .dst = dst,
                                                             .dst_lane = p->channels + channel,
                                                             .channel = channel,
                                                             .bytes = (uint32_t)some});
            }
        }
    weft_memory_free(WEFT_MEMORY_SCENARIO, pair, (size_t)n * n * sizeof *pair);
}
