// SPDX-License-Identifier: Apache-2.0
// Link-level flow control of fabric links, an option: a FIFO that grows beyond a threshold stops the lanes that its
// cells come from, and restarts them when it has shrunk. A lane that can be stopped must be a queue, unlike those of
// dsf.h, whose cells are in flight as soon as they join. So boxes of a fabric with flow control have these queues in
// front of their lanes, and boxes of other fabrics have none.
//
// The signal takes the time of a control cell, the link's delay and the processing at the far end; it uses no room on
// the lane and is never lost, because links repeat the state continuously. Control cells are not stopped; they overtake
// data, so what waits in a fabric never waits for a credit that is queued behind it.
#pragma once

#include "base/fifo.h"
#include "box/dsf/dsf.h"

struct weft__lane_queue {
    struct weft__fifo fifo;
    uint32_t cells; ///< in it
    bool stopped;   ///< by the far end
    uint32_t event; ///< that stopped it; 0: not recorded
    weft_time_ps since_ps;
};

/// The queues of a box.
struct weft__lane_queues {
    struct weft__lane_queue *queue; ///< [lanes->n]
    struct weft__lanes *lanes;
    struct weft_packet_pool *pool;
    uint32_t key0; ///< the timer of the first lane
    weft_time_ps stopped_ps;
};

void weft__lane_queues_init(struct weft__lane_queues *q, struct weft__lanes *lanes, uint32_t key0,
                            struct weft_packet_pool *pool, struct weft_arena *arena);
/// A data cell joins a lane.
void weft__lane_queue_send(struct weft__lane_queues *q, struct weft__node *node, struct weft__worker *w, uint32_t lane,
                           const struct weft_packet *cell);
/// Sends what may be sent, when the lane's timer fires.
void weft__lane_queue_serve(struct weft__lane_queues *q, struct weft__node *node, struct weft__worker *w,
                            uint32_t lane);
/// The far end signals stop or go.
void weft__lane_queue_on_signal(struct weft__lane_queues *q, struct weft__node *node, struct weft__worker *w,
                                uint32_t lane, const struct weft_packet *signal);
/// Tells the far end of a lane to stop sending to us, or to continue.
void weft__lane_signal(const struct weft__lanes *lanes, uint32_t lane, struct weft__worker *w, bool stop);
weft_bytes weft__lane_queues_held(const struct weft__lane_queues *q);
/// A sample of a lane, whose port this is among all; `q` may be NULL: its lanes are not queues. A fabric link has no
/// priorities: everything counts as priority 0.
void weft__lane_sample(struct weft__lanes *lanes, const struct weft__lane_queues *q, uint32_t lane,
                       struct weft__worker *w, uint32_t port);
/// At the end of a run: counts ongoing stops up to now.
void weft__lane_queues_finish(struct weft__lane_queues *q, weft_time_ps now);
