// SPDX-License-Identifier: Apache-2.0
// Input queueing: one FIFO per input and priority. Only its head can be served; a head that waits for a busy or paused
// output blocks everything behind it (head-of-line blocking), which is what limits uniform traffic to 2 - sqrt(2) of
// the line rate for many ports. Source: Karol, Hluchyj, Morgan 1987; IEEE 802.1 dw-chen-sfc (queueing architectures).
#include "base/bits.h"
#include "base/fifo.h"
#include "weft/queueing.h"

/// A packet's output is in its `node` field while it waits: the node is this one.
struct iq_input {
    struct weft__fifo fifo[WEFT_PRIORITIES];
    weft_bytes bytes[WEFT_PRIORITIES];
};

struct iq {
    struct weft_packet_pool *pool;
    uint32_t ports, words;
    struct iq_input *input; ///< [ports]
    uint64_t *heads;        ///< [(out * 8 + priority) * words]: inputs whose head goes there
    uint8_t *ready;         ///< [ports]
};

static size_t iq_state_size(const void *conf, uint32_t ports) {
    size_t words = weft__bits_words(ports);
    return sizeof(struct iq) + ports * (sizeof(struct iq_input) + WEFT_PRIORITIES * words * sizeof(uint64_t) + 1);
}

static void iq_init(void *state, const void *conf, uint32_t ports, struct weft_packet_pool *pool) {
    struct iq *q = state;
    q->pool = pool;
    q->ports = ports;
    q->words = weft__bits_words(ports);
    q->input = (struct iq_input *)(q + 1);
    q->heads = (uint64_t *)(q->input + ports);
    q->ready = (uint8_t *)(q->heads + (size_t)ports * WEFT_PRIORITIES * q->words);
}

static uint64_t *heads_of(const struct iq *q, uint32_t out, uint32_t priority) {
    return &q->heads[(size_t)(out * WEFT_PRIORITIES + priority) * q->words];
}

static void show_head(struct iq *q, uint32_t in, uint32_t out, uint32_t priority) {
    weft__bits_set(heads_of(q, out, priority), in);
    q->ready[out] |= (uint8_t)(1u << priority);
}

static void hide_head(struct iq *q, uint32_t in, uint32_t out, uint32_t priority) {
    uint64_t *heads = heads_of(q, out, priority);
    weft__bits_clear(heads, in);
    if (!weft__bits_any(heads, q->words)) q->ready[out] &= (uint8_t) ~(1u << priority);
}

static void iq_push(void *state, const struct weft_packet *packet, uint32_t out) {
    struct iq *q = state;
    struct weft__fifo *f = &q->input[packet->port].fifo[packet->priority];
    struct weft_packet waiting = *packet;
    weft_packet_set_node(&waiting, out);
    weft__fifo_push(f, q->pool, &waiting);
    q->input[packet->port].bytes[packet->priority] += packet->bytes;
    if (f->n == 1) show_head(q, packet->port, out, packet->priority);
}

static void iq_pop(void *state, uint32_t in, uint32_t out, uint32_t priority, struct weft_packet *ret_packet) {
    struct iq *q = state;
    struct weft__fifo *f = &q->input[in].fifo[priority];
    weft__fifo_pop(f, q->pool, ret_packet);
    q->input[in].bytes[priority] -= ret_packet->bytes;
    assert(ret_packet->node == out);
    hide_head(q, in, out, priority);
    if (f->n) show_head(q, in, weft__fifo_head(f)->node, priority);
}

static uint8_t iq_ready(const void *state, uint32_t out) {
    return ((const struct iq *)state)->ready[out];
}

static const uint64_t *iq_inputs(const void *state, uint32_t out, uint32_t priority) {
    return heads_of(state, out, priority);
}

static weft_bytes iq_depth(const void *state, uint32_t in, uint32_t out, uint32_t priority, uint32_t *ret_queue) {
    const struct iq *q = state;
    *ret_queue = in;
    return q->input[in].bytes[priority];
}

static void iq_each(const void *state, void (*on_packet)(void *, const struct weft_packet *, uint32_t), void *context) {
    const struct iq *q = state;
    for (uint32_t in = 0; in < q->ports; in++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            struct weft__fifo_cursor c = weft__fifo_begin(&q->input[in].fifo[p]);
            for (const struct weft_packet *packet; (packet = weft__fifo_next(&c));)
                on_packet(context, packet, packet->node);
        }
}

const struct weft_model weft__queueing_iq =
    WEFT_MODEL_OF(QUEUEING, "iq", "input queues: one FIFO per input and priority; the head blocks what is behind it",
                  "Karol, Hluchyj, Morgan 1987; IEEE 802.1 dw-chen-sfc", &weft_no_params,
                  &(const struct weft_queueing_ops){
                      .state_size = iq_state_size,
                      .init = iq_init,
                      .push = iq_push,
                      .pop = iq_pop,
                      .ready = iq_ready,
                      .inputs = iq_inputs,
                      .depth = iq_depth,
                      .each = iq_each,
                      .blocks = true,
                  });
