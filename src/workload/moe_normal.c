// SPDX-License-Identifier: Apache-2.0
// DeepEP's normal kernels as lanes of messages. Source: deepseek-ai/DeepEP (commit dd758caf), docs/legacy.md,
// csrc/kernels/legacy/internode.cu, csrc/legacy/config.hpp.
//
// Dispatch: a channel is an equal part of a rank's tokens, in their order. A token goes once to each node with an
// expert for it: by RDMA to the GPU with the sender's number there, which passes it on by NVLink to the ranks that have
// the experts. Tokens for a node are collected to chunks of `rdma_chunk`, each a message; a channel's last chunks go
// round robin from node (channel + own node) on. What is for the own node crosses NVLink alone. A connection holds a
// ring of tokens: that is its slots, and the credit that comes back is the receiver's clear-to-send.
// Combine is the mirror: ranks send tokens to the GPU of the token's rank number in their node, which adds them up and
// sends each once to the token's rank.
//
// Differences: a chunk is a message and its tail pointer (an RDMA atomic of 8 B on the same queue pair) is not sent;
// the GPU that passes a chunk on frees its ring when it begins, not when it ends; a ring over NVLink is each source
// node's own; NVLink messages do not join tokens of several RDMA chunks; dispatch and combine have queue pairs of their
// own; what SMs take to copy is `copy_rate`.
#include "moe.h"

#include "weft/memory.h"

enum { NODE_RANKS_MAX = 72 };

/// A chunk that is being collected, of a channel and a node.
struct chunk {
    uint32_t tokens;
    uint32_t to[NODE_RANKS_MAX]; ///< of them, those for each rank of the node
};

struct filler {
    struct weft__moe_maker *m;
    const struct weft__moe_phase *p;
    uint32_t nodes, rank, channel; ///< rank: whose tokens
    struct chunk *chunk;           ///< [channels * nodes]
};

// Lanes of a rank: those of its own tokens; of what it passes on, by source node; and of what crosses NVLink to it (or
// from it, in a combine), by source node and peer. And, in a combine, of what comes back, by node.
static uint32_t own_lane(const struct filler *f) {
    return f->channel % f->p->queue_pairs;
}
static uint32_t pass_lane(const struct filler *f) {
    return f->p->queue_pairs + own_lane(f) * f->nodes + f->rank / f->p->per_node;
}
static uint32_t nvlink_lane(const struct filler *f, uint32_t peer) {
    uint32_t pass = pass_lane(f) - f->p->queue_pairs;
    return f->p->queue_pairs * (1 + f->nodes) + pass * f->p->per_node + peer % f->p->per_node;
}
static uint32_t back_lane(const struct filler *f, uint32_t node) {
    return f->p->queue_pairs * (1 + f->nodes + f->nodes * f->p->per_node) + own_lane(f) * f->nodes + node;
}
uint32_t weft__moe_normal_lanes(const struct weft__moe_phase *p) {
    uint32_t nodes = p->routing->ranks / p->per_node;
    return p->queue_pairs * (1 + nodes + nodes * p->per_node + (p->combines ? nodes : 0));
}

void weft__moe_normal_slots(struct weft__moe_table *t, const struct weft__moe_phase *p) {
    uint32_t shared = (p->channels + p->queue_pairs - 1) / p->queue_pairs;
    for (uint32_t r = 0; r < t->ranks; r++)
        for (uint32_t k = t->sent0[r]; k < t->sent0[r + 1]; k++) {
            bool inside = t->sent[k].peer / p->per_node == r / p->per_node;
            t->sent[k].slots =
                (uint16_t)(inside ? p->nvlink_ring / p->nvlink_chunk : p->rdma_ring / p->rdma_chunk * shared);
        }
}

/// What a GPU of the node passes on to a peer, or gets from it, of a chunk.
static void add_nvlink(const struct filler *f, uint32_t rail, uint32_t peer, uint32_t tokens, uint32_t waits) {
    const struct weft__moe_phase *p = f->p;
    for (uint32_t some; tokens; tokens -= some, waits = 0) {
        some = tokens < p->nvlink_chunk ? tokens : p->nvlink_chunk;
        struct weft__moe_message x = {.channel = p->queue_pairs + pass_lane(f),
                                      .bytes = (uint32_t)(some * p->token_bytes)};
        uint32_t pass = pass_lane(f);
        if (p->combines) {
            x.src = peer, x.src_lane = nvlink_lane(f, rail), x.dst = rail, x.dst_lane = pass;
        } else {
            x.src = rail, x.src_lane = pass, x.dst = peer, x.dst_lane = nvlink_lane(f, rail);
            x.waits = waits, x.wait_lane = own_lane(f);
        }
        weft__moe_add(f->m, &x);
    }
}

static void add_rdma(const struct filler *f, uint32_t rail, uint32_t node, uint32_t tokens) {
    struct weft__moe_message x = {.channel = own_lane(f), .bytes = (uint32_t)(tokens * f->p->token_bytes)};
    if (f->p->combines)
        x.src = rail, x.src_lane = pass_lane(f), x.dst = f->rank, x.dst_lane = back_lane(f, node);
    else
        x.src = f->rank, x.src_lane = own_lane(f), x.dst = rail, x.dst_lane = pass_lane(f);
    weft__moe_add(f->m, &x);
}

static void end_chunk(const struct filler *f, uint32_t node) {
    const struct weft__moe_phase *p = f->p;
    struct chunk *chunk = &f->chunk[f->channel * f->nodes + node];
    if (!chunk->tokens) return;
    uint32_t number = f->rank % p->per_node, rail = node * p->per_node + number;
    bool crosses = rail != f->rank;
    uint32_t waits = crosses ? 0 : weft__moe_steps(f->m, f->rank, own_lane(f));
    if (crosses && !p->combines) add_rdma(f, rail, node, chunk->tokens);
    for (uint32_t k = 1; k < p->per_node; k++) {
        uint32_t peer = (number + k) % p->per_node;
        add_nvlink(f, rail, node * p->per_node + peer, chunk->to[peer], waits);
    }
    if (crosses && p->combines) add_rdma(f, rail, node, chunk->tokens);
    *chunk = (struct chunk){0};
}

static void add_token(const struct filler *f, uint64_t token) {
    uint32_t rank[WEFT__MOE_TOP_K_MAX], n = weft__routing_ranks(f->p->routing, token, rank), per = f->p->per_node;
    for (uint32_t i = 0; i < n; i++) {
        struct chunk *chunk = &f->chunk[f->channel * f->nodes + rank[i] / per];
        uint32_t k = 0;
        while (rank[k] / per != rank[i] / per)
            k++;
        chunk->tokens += k == i;
        chunk->to[rank[i] % per]++;
    }
    for (uint32_t k = 0; k < f->nodes; k++) {
        uint32_t node = (f->channel + f->rank / per + k) % f->nodes;
        if (f->chunk[f->channel * f->nodes + node].tokens == f->p->rdma_chunk) end_chunk(f, node);
    }
}

/// Channels go side by side: those that share a queue pair send in turn.
static void add_rank(struct filler *f) {
    const struct weft__routing *r = f->p->routing;
    uint64_t tokens = r->first[f->rank + 1] - r->first[f->rank], each = (tokens + f->p->channels - 1) / f->p->channels;
    for (uint64_t t = 0; t < each; t++)
        for (f->channel = 0; f->channel < f->p->channels; f->channel++)
            if (f->channel * each + t < tokens) add_token(f, r->first[f->rank] + f->channel * each + t);
    for (uint32_t k = 0; k < f->nodes; k++)
        for (f->channel = 0; f->channel < f->p->channels; f->channel++)
            end_chunk(f, (f->channel + f->rank / f->p->per_node + k) % f->nodes);
}

void weft__moe_normal(struct weft__moe_maker *m, const void *phase) {
    const struct weft__moe_phase *p = phase;
    struct filler f = {.m = m, .p = p, .nodes = p->routing->ranks / p->per_node};
    size_t chunks = (size_t)p->channels * f.nodes;
    f.chunk = weft_memory_new(WEFT_MEMORY_SCENARIO, chunks, sizeof *f.chunk);
    for (f.rank = 0; f.rank < p->routing->ranks; f.rank++)
        add_rank(&f);
    weft_memory_free(WEFT_MEMORY_SCENARIO, f.chunk, chunks * sizeof *f.chunk);
}

// --- the phase before ---------------------------------------------------------------------------------------------

// Ranks meet, then tell each other how many tokens come: by RDMA to the GPU of their number in each node, which passes
// it on by NVLink. Lane 0 sends, lane 1 receives.
enum { COUNT_BYTES = 4, FLAG_BYTES = 8, NOTIFY_LANES = 2 };

uint32_t weft__moe_notify_lanes(const struct weft__moe_phase *p) {
    return NOTIFY_LANES;
}

/// From each of `n` ranks, `stride` apart from `first` on, to each other one, once they have received `waits` messages.
static void exchange_all(struct weft__moe_maker *m, uint32_t first, uint32_t stride, uint32_t n,
                         struct weft__moe_message x) {
    for (uint32_t k = 1; k < n; k++, x.waits = 0)
        for (uint32_t i = 0; i < n; i++) {
            x.src = first + i * stride;
            x.dst = first + (i + k) % n * stride;
            weft__moe_add(m, &x);
        }
}

void weft__moe_notify(struct weft__moe_maker *m, const void *phase) {
    const struct weft__moe_phase *p = phase;
    uint32_t per = p->per_node, nodes = p->routing->ranks / per, counts = per + p->routing->experts / nodes + 1;
    struct weft__moe_message x = {.dst_lane = 1, .wait_lane = 1, .bytes = FLAG_BYTES};
    for (uint32_t round = 0; round < 2; round++, x.bytes = counts * COUNT_BYTES) {
        for (uint32_t k = 0; k < per; k++)
            exchange_all(m, k, per, nodes, x);
        x.waits += nodes - 1;
        for (uint32_t k = 0; k < nodes; k++)
            exchange_all(m, k * per, 1, per, x);
        x.waits += per - 1;
    }
}
