// SPDX-License-Identifier: Apache-2.0
// Queue pairs: what both ends know of one, its state at either end, and what all hosts of a run share.
#pragma once

#include "weft/outcome.h"
#include "weft/poster.h"
#include "weft/transport.h"
#include "weft/workload.h"

/// At the data's sender: a pause from source flow control, separate from the pace.
struct weft__qp_hold {
    weft_time_ps from_ps, until_ps;
};

/// What all hosts of a run share.
struct weft__hosts {
    const struct weft_qp_conf *qp;
    const struct weft_qp_numbers *qp_numbers;
    const uint16_t *laid;       ///< [flows]: so many queue pairs of each are there, the first ones; NULL: all
    uint32_t framing_bytes;     ///< weft_host_framing_bytes, the same at all hosts
    uint32_t data_header_bytes; ///< host.data_header, the same at all hosts; 0: the headers of RoCE
    struct weft_qp_sender *sender;
    struct weft_qp_sample *sample;
    struct weft_qp_receiver *receiver;
    const struct weft__programs *programs; ///< NULL: there is no job
    struct weft__carrier *carrier;         ///< [queue pairs] that carry messages; NULL: there is no job
    const struct weft__rmas *rmas;         ///< NULL: no remote memory access
    const struct weft__triggers *triggers; ///< NULL: no flow waits for another
    const struct weft_flow_path *path;     ///< the workload's; NULL: no flow names a path
    struct weft__qp_hold *hold;            ///< NULL unless a switch has source flow control
    void **sender_state, **receiver_state; ///< the transport's own; NULL: it has none
    const struct weft_flow *flow;
    struct weft_flow_outcome *outcome; ///< of flows
    uint32_t *qps_left, *qps_unacked;  ///< [flows]
    const struct weft__endpoint_ops *ops;
    bool posting;  ///< a flow posts messages in a closed loop
    bool trimming; ///< switches trim packets: a packet with its spare bit set has lost its payload
};

/// Everything below this PSN is acknowledged.
static inline uint32_t weft__qp_acked(const struct weft__hosts *hosts, uint32_t qp) {
    const struct weft_qp_sender *s = &hosts->sender[qp];
    return __builtin_expect(s->counts, 0) ? hosts->sample[qp].below : s->una;
}

/// Fills what follows from the flow: its packets, and those of its messages. `bytes`, `mtu` and `verb` are set.
void weft__qp_count_packets(struct weft_qp_conf *qp, const struct weft_flow *flow);

/// A time of a request whose median is `time`, and when a request that is posted for request->time_ps is issued: with
/// jitter and stalls (box/nic/nic_work.c). `seed`: of the host's draws. Requests do not overtake one another.
weft_time_ps weft__request_time(const struct weft_host_conf *c, uint64_t seed, const struct weft_qp_conf *qp,
                                const struct weft_packet *request, weft_time_ps time);
weft_time_ps weft__request_issue(struct weft__poster *poster, const struct weft_host_conf *c, uint64_t seed,
                                 const struct weft_qp_conf *qp, const struct weft_packet *request);

/// Payload of a packet, and the bytes of its frame.
static inline uint32_t weft__qp_payload(const struct weft_qp_conf *qp, uint32_t psn) {
    if (__builtin_expect(qp->message_packets, 0)) return (psn + 1) % qp->message_packets ? qp->mtu : qp->message_last;
    return psn + 1 < qp->packets ? qp->mtu : (uint32_t)(qp->bytes - (weft_bytes)(qp->packets - 1) * qp->mtu);
}
/// The bytes of the frame of a packet of RoCE with so much payload, but for what the first and the last have besides.
static inline uint32_t weft__qp_frame_least(uint32_t payload) {
    return WEFT_FRAME_DATA + ((payload + 3) & ~3u); // BTH PadCnt: payload in words
}
/// `data_header_bytes`: of host.data_header; with them there is no padding.
uint32_t weft__qp_frame_bytes(const struct weft_qp_conf *qp, uint32_t psn, uint32_t data_header_bytes);
/// The same of a packet of a message, on queue pairs that carry several.
static inline uint32_t weft__message_frame_bytes(uint32_t payload, bool first, uint32_t data_header_bytes) {
    if (__builtin_expect(data_header_bytes, 0)) return payload + data_header_bytes;
    return weft__qp_frame_least(payload) + (first ? WEFT_FRAME_RETH : 0u);
}
