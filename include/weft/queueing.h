// SPDX-License-Identifier: Apache-2.0
// Queueing architecture of a switch: where packets wait. OQ: one FIFO per output and priority. IQ: one FIFO per input
// and priority, so that the head blocks what is behind it. VOQ: one FIFO per input, output and priority.
#pragma once

#include "weft/model.h"
#include "weft/packet.h"

struct weft_packet_pool; // base/fifo.h: chunks of packets, one pool a worker

/// All functions NULL: OQ, whose FIFOs the switch keeps itself, in its ports.
struct weft_queueing_ops {
    size_t (*state_size)(const void *conf, uint32_t ports);                                     ///< required
    void (*init)(void *state, const void *conf, uint32_t ports, struct weft_packet_pool *pool); ///< required
    /// Required, hot. packet->port is the input.
    void (*push)(void *state, const struct weft_packet *packet, uint32_t out);
    /// Required, hot. Removes the head of the queue of `in` for (out, priority), which must exist.
    void (*pop)(void *state, uint32_t in, uint32_t out, uint32_t priority, struct weft_packet *ret_packet);
    /// Required, hot. Priorities that have a head for `out`, as a mask.
    uint8_t (*ready)(const void *state, uint32_t out);
    /// Required, hot. The set of inputs with a head for (out, priority), as ceil(ports / 64) words. The words belong to
    /// the model and change with the next push or pop.
    const uint64_t *(*inputs)(const void *state, uint32_t out, uint32_t priority);
    /// Required. Bytes in the queue that packets from `in` to `out` join, and which of them it is, a number below ports
    /// * ports. (The depth of OQ is the queue of an output over all inputs, which the switch counts.)
    weft_bytes (*depth)(const void *state, uint32_t in, uint32_t out, uint32_t priority, uint32_t *ret_queue);
    /// Optional, hot: (in, out, priority) will be pushed to soon, or `out` popped: bring its queues into the cache.
    void (*fetch)(const void *state, uint32_t in, uint32_t out, uint32_t priority);
    /// Required: calls on_packet for every waiting packet, for accounting and diagnosis.
    void (*each)(const void *state, void (*on_packet)(void *context, const struct weft_packet *packet, uint32_t out),
                 void *context);
    weft_model_fingerprint *fingerprint; ///< optional
    bool blocks; ///< a packet may wait behind one that goes to another output: there is no estimate of that
};
