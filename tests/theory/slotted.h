// SPDX-License-Identifier: Apache-2.0
// An N x N switch in slots, as in the literature on input queueing: in each slot every input receives a packet with
// probability `load` for an output drawn uniformly, then the arbiter matches, then every matched pair moves one packet.
// A packet that leaves in the slot of its arrival has delay 0. Queues and arbiter are the real models.
#pragma once

#include "models.h"

#include "base/fifo.h"
#include "weft/arbiter.h"
#include "weft/queueing.h"
#include "weft/random.h"

enum { SLOTTED_PORTS_MAX = 64 };

struct slotted {
    uint32_t ports; ///< at most SLOTTED_PORTS_MAX
    double load;
    const char *queueing;
    const char *arbiter; ///< NULL: an output takes one of the heads for it at random (IQ only)
    const char *arbiter_yaml;
    uint32_t backlog;        ///< packets that every input has for every output at the start
    uint32_t warm_up, slots; ///< slots measured after so many
    uint64_t seed;
};

struct slotted_result {
    double throughput; ///< packets per output and slot
    double delay;      ///< mean, in slots, of packets that left
};

struct slotted_switch {
    const struct weft_queueing_ops *queueing;
    const struct weft_arbiter_ops *arbiter;
    struct weft_packet_pool pool;
    void *queues, *arbiter_state, *arbiter_conf;
    uint32_t ports;
};

/// Output queues have no functions: the switch keeps a FIFO for each. Here the same FIFOs have them, with one priority.
struct slotted_oq {
    struct weft_packet_pool *pool;
    struct weft__fifo fifo[SLOTTED_PORTS_MAX];
};

static inline size_t slotted_oq_size(const void *conf, uint32_t ports) {
    return sizeof(struct slotted_oq);
}

static inline void slotted_oq_init(void *state, const void *conf, uint32_t ports, struct weft_packet_pool *pool) {
    *(struct slotted_oq *)state = (struct slotted_oq){.pool = pool};
}

static inline void slotted_oq_push(void *state, const struct weft_packet *packet, uint32_t out) {
    struct slotted_oq *q = state;
    weft__fifo_push(&q->fifo[out], q->pool, packet);
}

static inline void slotted_oq_pop(void *state, uint32_t in, uint32_t out, uint32_t priority,
                                  struct weft_packet *ret_packet) {
    struct slotted_oq *q = state;
    weft__fifo_pop(&q->fifo[out], q->pool, ret_packet);
}

static inline uint8_t slotted_oq_ready(const void *state, uint32_t out) {
    return ((const struct slotted_oq *)state)->fifo[out].n > 0;
}

static inline const struct weft_queueing_ops *slotted_queueing(const char *name) {
    static const struct weft_queueing_ops oq = {
        .state_size = slotted_oq_size,
        .init = slotted_oq_init,
        .push = slotted_oq_push,
        .pop = slotted_oq_pop,
        .ready = slotted_oq_ready,
    };
    const struct weft_queueing_ops *ops = model_of(WEFT_KIND_QUEUEING, name)->ops;
    return ops->push ? ops : &oq;
}

static inline void slotted_init(struct slotted_switch *s, const struct slotted *conf) {
    assert_true(conf->ports <= SLOTTED_PORTS_MAX);
    s->ports = conf->ports;
    s->queueing = slotted_queueing(conf->queueing);
    s->queues = calloc(1, s->queueing->state_size(NULL, conf->ports));
    weft__pool_init(&s->pool);
    s->queueing->init(s->queues, NULL, conf->ports, &s->pool);
    s->arbiter_state = s->arbiter_conf = NULL;
    if (!conf->arbiter) return;
    const struct weft_model *arbiter = model_of(WEFT_KIND_ARBITER, conf->arbiter);
    s->arbiter = arbiter->ops;
    s->arbiter_conf = conf_of(arbiter, conf->arbiter_yaml);
    s->arbiter_state = calloc(1, s->arbiter->state_size(s->arbiter_conf, conf->ports));
    s->arbiter->init(s->arbiter_state, s->arbiter_conf, conf->ports);
}

static inline void slotted_deinit(struct slotted_switch *s) {
    free(s->queues);
    free(s->arbiter_state);
    free(s->arbiter_conf);
    weft__pool_deinit(&s->pool);
}

static inline void slotted_arrive(struct slotted_switch *s, const struct slotted *conf, uint32_t slot,
                                  struct weft_random *random) {
    // One draw an input: 32 bits say whether, 32 bits where to.
    uint64_t below = (uint64_t)(conf->load * 4294967296.0);
    for (uint32_t in = 0; in < s->ports; in++) {
        uint64_t draw = weft_random_u64(random);
        if ((draw >> 32) >= below) continue;
        struct weft_packet packet = {.time_ps = slot, .port = (uint16_t)in};
        s->queueing->push(s->queues, &packet, (uint32_t)((draw & UINT32_MAX) * s->ports >> 32));
    }
}

static inline void slotted_fill(struct slotted_switch *s, uint32_t backlog) {
    for (uint32_t pair = 0; pair < s->ports * s->ports; pair++)
        for (uint32_t k = 0; k < backlog; k++) {
            struct weft_packet packet = {.port = (uint16_t)(pair / s->ports)};
            s->queueing->push(s->queues, &packet, pair % s->ports);
        }
}

static inline uint16_t slotted_any(uint64_t inputs, struct weft_random *random) {
    uint64_t skip = weft_random_below(random, (uint64_t)__builtin_popcountll(inputs));
    while (skip--)
        inputs &= inputs - 1;
    return (uint16_t)__builtin_ctzll(inputs);
}

/// The input that each output takes from in this slot; WEFT_ARBITER_NONE: none.
static inline void slotted_match(struct slotted_switch *s, struct weft_random *random, uint16_t *ret_input) {
    uint64_t outputs = 0, requests[SLOTTED_PORTS_MAX];
    for (uint32_t out = 0; out < s->ports; out++) {
        ret_input[out] = WEFT_ARBITER_NONE;
        if (!s->queueing->ready(s->queues, out)) continue;
        if (!s->queueing->inputs) {
            ret_input[out] = 0;
            continue;
        }
        outputs |= UINT64_C(1) << out;
        requests[out] = *s->queueing->inputs(s->queues, out, 0);
        if (!s->arbiter) ret_input[out] = slotted_any(requests[out], random);
    }
    if (outputs && s->arbiter)
        s->arbiter->match(s->arbiter_state, s->arbiter_conf, s->ports, &outputs, requests, ret_input);
}

static inline struct slotted_result slotted_run(const struct slotted *conf) {
    struct slotted_switch s = {0};
    slotted_init(&s, conf);
    struct weft_random random = weft_random_stream(conf->seed, conf->ports, WEFT_RANDOM_TEST);
    uint64_t left = 0, delay = 0;
    slotted_fill(&s, conf->backlog);
    for (uint32_t slot = 0; slot < conf->warm_up + conf->slots; slot++) {
        uint16_t input[SLOTTED_PORTS_MAX];
        slotted_arrive(&s, conf, slot, &random);
        slotted_match(&s, &random, input);
        for (uint32_t out = 0; out < s.ports; out++) {
            struct weft_packet packet;
            if (input[out] == WEFT_ARBITER_NONE) continue;
            s.queueing->pop(s.queues, input[out], out, 0, &packet);
            if (slot < conf->warm_up) continue;
            left++;
            delay += slot - packet.time_ps;
        }
    }
    slotted_deinit(&s);
    return (struct slotted_result){(double)left / conf->slots / conf->ports, (double)delay / (double)left};
}
