// SPDX-License-Identifier: Apache-2.0
// A host as programs, messages and remote memory access see it. The NIC is one (box/nic/nic.h).
#ifndef WEFT_TRANSPORT_ENDPOINT_H
#define WEFT_TRANSPORT_ENDPOINT_H

#include "engine/engine.h"
#include "transport/qp.h"

struct weft__endpoint {
    const struct weft__hosts *hosts;
    struct weft_packet_pool *pool;
    struct weft__gpu *gpu;       ///< NULL: of no job
    struct weft__rma_host *rma;  ///< NULL: no remote memory access by software
    struct weft__driven *driven; ///< NULL: no program drives it
    uint32_t host;
};

/// What can be asked of it.
struct weft__endpoint_ops {
    /// A work request: there is data up to psn.
    void (*post)(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                 uint32_t psn);
    /// For queue pairs that carry messages. One has been taken out of the buffer; `last`: there will be no other. `qp`:
    /// the first of the connection.
    void (*consumed)(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                     bool last);
    /// Sends a clear-to-send for messages below `granted` (0: none), and looks again after the timeout, doubled so
    /// often.
    void (*grant)(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                  uint32_t granted, uint32_t priority, uint32_t doublings);
    /// A queue pair that waited for a trigger starts at `time`; of READ at its receiver.
    void (*start)(struct weft__node *node, struct weft__endpoint *end, uint32_t qp, weft_time_ps time);
    /// The timer by which a queue pair starts at its time.
    uint32_t (*start_key)(uint32_t qp, const struct weft__hosts *hosts);
    /// Of a driven host (driven.h). It sends one more queue pair, from `start` on: its number among those that it
    /// sends.
    uint32_t (*open)(struct weft__node *node, struct weft__endpoint *end, uint32_t qp, weft_time_ps start);
    /// Nothing more of what the queue pair carries is sent. Nothing happens if all of it has been acknowledged.
    void (*cancel)(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);
};

#endif
