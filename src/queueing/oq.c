// SPDX-License-Identifier: Apache-2.0
// Output queueing: a packet goes at once to the FIFO of its output and priority, whatever the other inputs do. The
// fabric would have to run N times as fast as a port; an ideal, and, with buffers accounted at the ingress, the way a
// shared-memory switch behaves. Source: IEEE 802.1 dw-chen-sfc (queueing architectures); Karol, Hluchyj, Morgan 1987.
#include "base/fifo.h"
#include "weft/queueing.h"

struct oq_conf {
    uint8_t unused;
};
static const struct weft_param_table oq_params = {.name = "oq", .conf_size = sizeof(struct oq_conf)};

struct oq_output {
    struct weft__fifo fifo[WEFT_PRIORITIES];
};

struct oq {
    struct weft_packet_pool *pool;
    uint32_t ports;
    uint8_t *ready; ///< [ports]
    struct oq_output output[];
};

static size_t oq_state_size(const void *conf, uint32_t ports) {
    return sizeof(struct oq) + ports * (sizeof(struct oq_output) + 1);
}

static void oq_init(void *state, const void *conf, uint32_t ports, struct weft_packet_pool *pool) {
    struct oq *q = state;
    q->pool = pool;
    q->ports = ports;
    q->ready = (uint8_t *)&q->output[ports];
}

static void oq_push(void *state, const struct weft_packet *packet, uint32_t out) {
    struct oq *q = state;
    weft__fifo_push(&q->output[out].fifo[packet->priority], q->pool, packet);
    q->ready[out] |= (uint8_t)(1u << packet->priority);
}

static void oq_pop(void *state, uint32_t in, uint32_t out, uint32_t priority, struct weft_packet *ret_packet) {
    struct oq *q = state;
    struct weft__fifo *f = &q->output[out].fifo[priority];
    weft__fifo_pop(f, q->pool, ret_packet);
    if (!f->n) q->ready[out] &= (uint8_t) ~(1u << priority);
}

static uint8_t oq_ready(const void *state, uint32_t out) {
    return ((const struct oq *)state)->ready[out];
}

static void oq_fetch(const void *state, uint32_t in, uint32_t out, uint32_t priority) {
    const struct oq *q = state;
    __builtin_prefetch(&q->output[out].fifo[priority]);
}

static void oq_fetch_heads(const void *state, uint32_t out) {
    const struct oq *q = state;
    for (uint32_t ready = q->ready[out]; ready; ready &= ready - 1)
        weft__fifo_fetch(&q->output[out].fifo[__builtin_ctz(ready)]);
}

static void oq_each(const void *state, void (*on_packet)(void *, const struct weft_packet *, uint32_t), void *context) {
    const struct oq *q = state;
    for (uint32_t out = 0; out < q->ports; out++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            struct weft__fifo_cursor c = weft__fifo_begin(&q->output[out].fifo[p]);
            for (const struct weft_packet *packet; (packet = weft__fifo_next(&c));)
                on_packet(context, packet, out);
        }
}

static const struct weft_queueing_ops oq_ops = {
    .state_size = oq_state_size,
    .init = oq_init,
    .push = oq_push,
    .pop = oq_pop,
    .ready = oq_ready,
    .fetch = oq_fetch,
    .fetch_heads = oq_fetch_heads,
    .each = oq_each,
};

const struct weft_model weft__queueing_oq = {
    .kind = WEFT_KIND_QUEUEING,
    .name = "oq",
    .summary = "output queues: one FIFO per output and priority; no input ever blocks another",
    .source = "Karol, Hluchyj, Morgan 1987; IEEE 802.1 dw-chen-sfc",
    .params = &oq_params,
    .ops = &oq_ops,
};
