// SPDX-License-Identifier: Apache-2.0
// A collective whose steps are a table, because tokens go where chance sends them: 16 bytes a step. A step sends one
// message or receives one.
#include "moe.h"

#include "base/grow.h"
#include "weft/memory.h"

static const struct weft__moe_step *steps_of(const struct weft__moe_table *t, uint32_t rank, uint32_t lane,
                                             uint64_t *ret_n) {
    size_t k = (size_t)rank * t->lanes + lane;
    *ret_n = t->first[k + 1] - t->first[k];
    return &t->step[t->first[k]];
}

static uint32_t lanes_of(const void *conf, const struct weft_collective_shape *shape) {
    return ((const struct weft__moe_table *)conf)->lanes;
}

static uint64_t lane_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    uint64_t n;
    steps_of(conf, rank, lane, &n);
    return n;
}

static void step_at(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                    uint64_t index, struct weft_step *ret_step) {
    uint64_t n;
    const struct weft__moe_step *s = &steps_of(conf, rank, lane, &n)[index];
    bool sends = s->peer_sends & 1;
    *ret_step = (struct weft_step){.channel = s->channel,
                                   .bytes = s->bytes,
                                   .own = sends,
                                   .keep = !sends,
                                   .wait_lane = s->wait_lane,
                                   .wait_steps = s->waits};
    for (uint32_t k = 0; k < WEFT_STEP_PEERS; k++)
        ret_step->recv[k] = ret_step->send[k] = WEFT_NONE;
    (sends ? ret_step->send : ret_step->recv)[0] = s->peer_sends >> 1;
}

static uint32_t sends_of(const void *conf, const struct weft_collective_shape *shape, uint32_t rank) {
    const struct weft__moe_table *t = conf;
    return t->sent0[rank + 1] - t->sent0[rank];
}

static void send_at(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t index,
                    struct weft_sent *ret_sent) {
    const struct weft__moe_table *t = conf;
    *ret_sent = t->sent[t->sent0[rank] + index];
}

static uint32_t channels_of(const void *conf, const struct weft_collective_shape *shape) {
    return (uint32_t)((const struct weft__moe_table *)conf)->common.channels;
}

/// Parts differ, and a rank may pass on what others send: nothing that a schedule of collectives has.
static weft_bytes part_of(const void *conf, const struct weft_collective_shape *shape, uint32_t src, uint32_t dst) {
    const struct weft__moe_table *t = conf;
    weft_bytes bytes = 0;
    for (uint32_t k = t->sent0[src]; k < t->sent0[src + 1]; k++)
        bytes += t->sent[k].peer == dst ? t->sent[k].bytes : 0;
    return bytes;
}

const struct weft_collective_ops weft__moe_ops = {.goal = WEFT_GOAL_OTHER,
                                                  .lanes = lanes_of,
                                                  .steps = lane_steps,
                                                  .step = step_at,
                                                  .sends = sends_of,
                                                  .send = send_at,
                                                  .channels = channels_of,
                                                  .part = part_of};

// --- making one ---------------------------------------------------------------------------------------------------

static void add_step(struct weft__moe_maker *m, uint32_t rank, uint32_t lane, struct weft__moe_step step) {
    uint64_t i = m->at[(size_t)rank * m->table->lanes + lane]++;
    if (m->fills) m->table->step[i] = step;
}

void weft__moe_add(struct weft__moe_maker *m, const struct weft__moe_message *x) {
    struct weft__moe_step step = {.bytes = x->bytes, .channel = (uint16_t)x->channel};
    step.peer_sends = x->src << 1;
    add_step(m, x->dst, x->dst_lane, step);
    step.peer_sends = x->dst << 1 | 1;
    step.waits = x->waits;
    step.wait_lane = (uint16_t)x->wait_lane;
    add_step(m, x->src, x->src_lane, step);
}

/// A connection belongs to one lane, so that it is enough to look among those of the lane.
static void add_sent(struct weft__moe_table *t, uint32_t from, uint32_t *n, const struct weft__moe_step *s,
                     struct weft_arena *arena) {
    uint32_t k = *n, peer = s->peer_sends >> 1;
    while (k > from && (t->sent[k - 1].peer != peer || t->sent[k - 1].channel != s->channel))
        k--;
    if (k == from) {
        WEFT__ADD(arena, t->sent, *n) = (struct weft_sent){.peer = peer, .channel = s->channel};
        k = *n;
    }
    struct weft_sent *sent = &t->sent[k - 1];
    sent->bytes += s->bytes;
    sent->messages++;
    if (s->bytes > sent->message_bytes_max) sent->message_bytes_max = s->bytes;
}

static void find_sent(struct weft__moe_table *t, struct weft_arena *arena) {
    uint32_t n = 0;
    t->sent0 = weft_arena_alloc(arena, t->ranks + 1, sizeof *t->sent0);
    for (uint32_t r = 0; r < t->ranks; r++) {
        for (uint32_t lane = 0; lane < t->lanes; lane++) {
            uint64_t steps;
            const struct weft__moe_step *step = steps_of(t, r, lane, &steps);
            uint32_t from = n;
            for (uint64_t k = 0; k < steps; k++)
                if (step[k].peer_sends & 1) add_sent(t, from, &n, &step[k], arena);
        }
        t->sent0[r + 1] = n;
    }
}

void weft__moe_table_make(struct weft__moe_table *t, void (*add)(struct weft__moe_maker *m, const void *context),
                          const void *context, struct weft_arena *arena) {
    size_t lanes = (size_t)t->ranks * t->lanes;
    struct weft__moe_maker m = {.table = t, .at = weft_memory_new(WEFT_MEMORY_SCENARIO, lanes, sizeof *m.at)};
    t->first = weft_arena_alloc(arena, lanes + 1, sizeof *t->first);
    add(&m, context);
    for (size_t k = 0; k < lanes; k++) {
        t->first[k + 1] = t->first[k] + m.at[k];
        m.at[k] = t->first[k];
    }
    t->step = weft_arena_alloc(arena, t->first[lanes], sizeof *t->step);
    m.fills = true;
    add(&m, context);
    weft_memory_free(WEFT_MEMORY_SCENARIO, m.at, lanes * sizeof *m.at);
    find_sent(t, arena);
}
