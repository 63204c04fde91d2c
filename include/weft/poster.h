// SPDX-License-Identifier: Apache-2.0
// When a work request that a host posts may put its first bit on the wire. See nic_work.c.
#pragma once

#include "weft/device.h"
#include "weft/packet.h"

/// The two stages that take requests one after another.
struct weft__poster {
    weft_time_ps host_free_ps; ///< the host's thread
    weft_time_ps nic_free_ps;  ///< the NIC
    weft_time_ps last_ps;      ///< the answer for the request before: requests do not overtake one another
    weft_time_ps issued_ps;    ///< of the latest request, if issues are drawn
};

/// Whether a request takes any time.
static inline bool weft__posting_takes_time(const struct weft_host_conf *c) {
    return c->post_cost_ps || c->work_request_ps || c->send_latency_ps || c->pcie_rate_bps || c->stall_ps;
}

/// The time in which payload of one packet crosses PCIe.
static inline weft_time_ps weft__fetch_time(const struct weft_host_conf *c, weft_bytes bytes) {
    if (!c->pcie_rate_bps) return 0;
    return weft_time_of_bytes(bytes < c->mtu_bytes ? bytes : c->mtu_bytes, c->pcie_rate_bps);
}

/// A request for so many bytes of payload is posted now.
static inline weft_time_ps weft__poster_take(struct weft__poster *p, const struct weft_host_conf *c, weft_time_ps now,
                                             weft_bytes bytes) {
    p->host_free_ps = (p->host_free_ps > now ? p->host_free_ps : now) + c->post_cost_ps;
    weft_time_ps start = p->nic_free_ps > p->host_free_ps ? p->nic_free_ps : p->host_free_ps;
    p->nic_free_ps = start + c->work_request_ps;
    weft_time_ps time = p->nic_free_ps + c->send_latency_ps + weft__fetch_time(c, bytes);
    if (p->last_ps < time) p->last_ps = time;
    return p->last_ps;
}

/// From the NIC's reaction to a frame until the host sees its completion or its data.
static inline weft_time_ps weft__notice_latency(const struct weft_host_conf *c, bool completion) {
    weft_time_ps latency = completion ? c->completion_latency_ps : c->receive_latency_ps;
    return latency > c->processing_ps ? latency - c->processing_ps : 0;
}

/// The least time from the start of a data frame with so many bytes to that of the next one; most often less than the
/// frame takes on the line.
static inline weft_time_ps weft__frame_gap(const struct weft_host_conf *c, uint32_t frame_bytes) {
    weft_time_ps fetch = weft__fetch_time(c, frame_bytes > WEFT_FRAME_DATA ? frame_bytes - WEFT_FRAME_DATA : 0);
    weft_time_ps packet = c->packet_rate ? (WEFT_PS_PER_S + c->packet_rate - 1) / c->packet_rate : 0;
    return fetch > packet ? fetch : packet;
}
/// The time that a frame takes a receiver with host.drain_rate.
static inline weft_time_ps weft__drain_time(const struct weft_host_conf *c, uint32_t frame_bytes) {
    weft_time_ps drain = weft_time_of_bytes(frame_bytes, c->drain_rate_bps), packet = weft__frame_gap(c, 0);
    return drain > packet ? drain : packet;
}
/// Whether the gap of frames with so many bytes is longer than their time on a line of that rate.
static inline bool weft__frames_have_gaps(const struct weft_host_conf *c, uint32_t frame_bytes, weft_rate_bps line) {
    return weft__frame_gap(c, frame_bytes) > weft_time_of_bytes(frame_bytes + WEFT_WIRE_OVERHEAD, line);
}
/// Likewise for any frame, and for full ones.
static inline bool weft__any_frames_have_gaps(const struct weft_host_conf *c, weft_rate_bps line) {
    return (c->pcie_rate_bps && c->pcie_rate_bps < line) || weft__frames_have_gaps(c, WEFT_FRAME_MIN, line);
}
static inline bool weft__full_frames_have_gaps(const struct weft_host_conf *c, weft_rate_bps line) {
    return weft__frames_have_gaps(c, WEFT_FRAME_DATA + (uint32_t)c->mtu_bytes, line);
}

/// What the host at a node was configured with, for those who explain a run (src/sim/follow.c).
struct weft_scenario;
struct weft_topology;
const struct weft_device_conf *weft__followed_device(const struct weft_scenario *scenario,
                                                     const struct weft_topology *t, uint32_t node);
