// SPDX-License-Identifier: Apache-2.0
// Virtual output queueing: packets wait at the input, one FIFO per input, output and priority, so that none blocks a
// packet for another output. Source: IEEE 802.1 dw-chen-sfc (queueing architectures); McKeown, "The iSLIP scheduling
// algorithm for input-queued switches", 1999.
#include "base/bits.h"
#include "base/fifo.h"
#include "weft/queueing.h"

struct voq_queue {
    struct weft__fifo fifo;
    weft_bytes bytes;
};

struct voq {
    struct weft_packet_pool *pool;
    uint32_t ports, words;
    struct voq_queue *queue; ///< [(priority * ports + out) * ports + in]
    uint64_t *inputs;        ///< [(out * 8 + priority) * words]
    uint8_t *ready;          ///< [ports]
};

static size_t voq_state_size(const void *conf, uint32_t ports) {
    size_t words = weft__bits_words(ports), n = ports;
    return sizeof(struct voq) + n * n * WEFT_PRIORITIES * sizeof(struct voq_queue) +
           n * WEFT_PRIORITIES * words * sizeof(uint64_t) + n;
}

static void voq_init(void *state, const void *conf, uint32_t ports, struct weft_packet_pool *pool) {
    struct voq *q = state;
    q->pool = pool;
    q->ports = ports;
    q->words = weft__bits_words(ports);
    q->queue = (struct voq_queue *)(q + 1);
    q->inputs = (uint64_t *)(q->queue + (size_t)ports * ports * WEFT_PRIORITIES);
    q->ready = (uint8_t *)(q->inputs + (size_t)ports * WEFT_PRIORITIES * q->words);
}

static struct voq_queue *queue_of(const struct voq *q, uint32_t in, uint32_t out, uint32_t priority) {
    return &q->queue[((size_t)priority * q->ports + out) * q->ports + in];
}

static uint64_t *inputs_of(const struct voq *q, uint32_t out, uint32_t priority) {
    return &q->inputs[(size_t)(out * WEFT_PRIORITIES + priority) * q->words];
}

static void voq_push(void *state, const struct weft_packet *packet, uint32_t out) {
    struct voq *q = state;
    uint32_t in = packet->port, priority = packet->priority;
    struct voq_queue *queue = queue_of(q, in, out, priority);
    weft__fifo_push(&queue->fifo, q->pool, packet);
    queue->bytes += packet->bytes;
    weft__bits_set(inputs_of(q, out, priority), in);
    q->ready[out] |= (uint8_t)(1u << priority);
}

static void voq_pop(void *state, uint32_t in, uint32_t out, uint32_t priority, struct weft_packet *ret_packet) {
    struct voq *q = state;
    struct voq_queue *queue = queue_of(q, in, out, priority);
    weft__fifo_pop(&queue->fifo, q->pool, ret_packet);
    queue->bytes -= ret_packet->bytes;
    if (queue->fifo.n) return;
    uint64_t *inputs = inputs_of(q, out, priority);
    weft__bits_clear(inputs, in);
    if (!weft__bits_any(inputs, q->words)) q->ready[out] &= (uint8_t) ~(1u << priority);
}

static uint8_t voq_ready(const void *state, uint32_t out) {
    return ((const struct voq *)state)->ready[out];
}

static const uint64_t *voq_inputs(const void *state, uint32_t out, uint32_t priority) {
    return inputs_of(state, out, priority);
}

static void voq_fetch(const void *state, uint32_t in, uint32_t out, uint32_t priority) {
    __builtin_prefetch(queue_of(state, in, out, priority));
    __builtin_prefetch(inputs_of(state, out, priority));
}

static weft_bytes voq_depth(const void *state, uint32_t in, uint32_t out, uint32_t priority, uint32_t *ret_queue) {
    const struct voq *q = state;
    *ret_queue = out * q->ports + in;
    return queue_of(q, in, out, priority)->bytes;
}

static void voq_each(const void *state, void (*on_packet)(void *, const struct weft_packet *, uint32_t),
                     void *context) {
    const struct voq *q = state;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        for (uint32_t out = 0; out < q->ports; out++) {
            if (!(q->ready[out] >> p & 1)) continue;
            for (uint32_t in = 0; in < q->ports; in++) {
                struct weft__fifo_cursor c = weft__fifo_begin(&queue_of(q, in, out, p)->fifo);
                for (const struct weft_packet *packet; (packet = weft__fifo_next(&c));)
                    on_packet(context, packet, out);
            }
        }
}

const struct weft_model weft__queueing_voq = WEFT_MODEL_OF(
    QUEUEING, "voq", "virtual output queues: one FIFO per input, output and priority; no head-of-line blocking",
    "McKeown 1999; IEEE 802.1 dw-chen-sfc", &weft_no_params,
    &(const struct weft_queueing_ops){
        .state_size = voq_state_size,
        .init = voq_init,
        .push = voq_push,
        .pop = voq_pop,
        .ready = voq_ready,
        .inputs = voq_inputs,
        .depth = voq_depth,
        .fetch = voq_fetch,
        .each = voq_each,
    });
