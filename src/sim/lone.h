// SPDX-License-Identifier: Apache-2.0
// A flow alone in the empty network: what a port adds to the time of its frames, and its completion over any number of
// paths.
#pragma once

#include "box/box.h"
#include "link/pipe.h"
#include "weft/poster.h"

/// What the link behind a port adds to the time of a frame.
struct weft__lone_hop {
    struct weft__speed speed;
    weft_time_ps reach_ps;  ///< from the last bit sent to the next device's action
    uint32_t members;       ///< ports that act as one
    bool cut_through;       ///< the next device acts after the header
    struct weft__turn turn; ///< of a packet in the sender's chip
    const struct weft_wire_conf *wire;
};
/// `port`: among all ports.
struct weft__lone_hop weft__lone_hop_of(const struct weft__forwarding *forwarding, uint32_t port);

/// A flow with its queue pairs. `qp`: the first of them; `number`: its number in the run.
struct weft__lone_flow {
    const struct weft_flow *flow;
    const struct weft_qp_conf *qp;
    uint32_t number, qps;
    uint32_t planes; ///< see weft__planes
};

/// Between two hosts, and what chooses its path.
struct weft__lone_packet {
    uint32_t src, dst, qp;
    uint16_t entropy;
};
/// The time of one frame with so many bytes, alone, from its first bit until its receiver acts; WEFT_TIME_NEVER: it
/// cannot get there. Of that, `ret_sent` is until the first port is free again.
weft_time_ps weft__calc_frame_time(const struct weft__forwarding *forwarding, const struct weft__lone_packet *packet,
                                   uint32_t bytes, weft_time_ps *ret_sent);

/// What hosts add to the time of a flow: its receiver until it sees the data, and of a READ until its request leaves.
weft_time_ps weft__host_latency(const struct weft__forwarding *forwarding, const struct weft_flow *flow);

/// Ports and frames of one flow after the other.
struct weft__lone;
struct weft__lone *weft__lone_new(const struct weft__forwarding *forwarding);
void weft__lone_free(struct weft__lone *lone);
/// Its completion time; WEFT_TIME_NEVER: its destination cannot be reached. 0: the flow is too long to follow.
weft_time_ps weft__lone_fct(struct weft__lone *lone, const struct weft__lone_flow *flow);
/// Whether other traffic or failures may give its packets other paths than they have alone.
bool weft__lone_draws(const struct weft__forwarding *forwarding, const struct weft__lone_flow *flow);
