// SPDX-License-Identifier: Apache-2.0
// A host as seen by programs, messages and remote memory access. The NIC is one (box/nic/nic.h).
#pragma once

#include "engine/engine.h"
#include "transport/qp.h"

struct weft__at; // transport/program.h

struct weft__endpoint {
    const struct weft__hosts *hosts;
    struct weft_packet_pool *pool;
    struct weft__gpu *gpu;       ///< NULL: the host has no job
    struct weft__rma_host *rma;  ///< NULL: no remote memory access by software
    struct weft__driven *driven; ///< NULL: no program drives the host
    struct weft__raw_host *raw;  ///< NULL: the host is not attached
    uint32_t host;
};

/// Its operations.
struct weft__endpoint_ops {
    /// A work request: there are so many more bytes of data, up to psn.
    void (*post)(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp, uint32_t psn,
                 weft_bytes bytes);
    /// For queue pairs that carry messages. A message has been taken out of the buffer; `last`: it is the last one.
    /// `qp`: the first of the connection.
    void (*consumed)(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                     bool last);
    /// Sends a clear-to-send for messages below `granted` (0: none). Checks again after the timeout, doubled that many
    /// times.
    void (*grant)(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp,
                  uint32_t granted, uint32_t priority, uint32_t doublings);
    /// Starts a queue pair that waited for a trigger at `time`; for READ, at its receiver.
    void (*start)(struct weft__node *node, struct weft__endpoint *end, uint32_t qp, weft_time_ps time);
    /// The timer that starts a queue pair at its time.
    uint32_t (*start_key)(uint32_t qp, const struct weft__hosts *hosts);
    /// For a driven host (driven.h). It sends one more queue pair, starting at `start`. Returns the queue pair's number
    /// among those that it sends.
    uint32_t (*open)(struct weft__node *node, struct weft__endpoint *end, uint32_t qp, weft_time_ps start);
    /// Of an attached host (raw.h): frames in the queues of its port.
    uint32_t (*waiting)(const struct weft__endpoint *end);
    /// Sends nothing more of the queue pair's data. Does nothing if all of it has been acknowledged.
    void (*cancel)(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);

    // For hosts that no engine runs (estimate/).
    /// Takes a packet of weft__endpoint_send to its node. NULL: the engine does.
    void (*carry)(struct weft__worker *w, uint32_t node, weft_time_ps time, const struct weft_packet *p);
    /// Optional: takes a rank's part of an operation of a communicator as a whole, and calls weft__stream_end when that
    /// is over. False: its lanes run.
    bool (*take)(struct weft__at *at, uint32_t stream);
};

/// Sends what does not go over the network, to a port of another host's node.
static inline void weft__endpoint_send(const struct weft__hosts *hosts, struct weft__worker *w, uint32_t node,
                                       uint16_t port, weft_time_ps time, const struct weft_packet *p) {
    if (hosts->ops->carry)
        hosts->ops->carry(w, node, time, p);
    else
        weft__send(w, (struct weft__to){weft__engine_inbox_of(w->engine, node), node, port}, time, p);
}
