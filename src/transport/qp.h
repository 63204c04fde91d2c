// SPDX-License-Identifier: Apache-2.0
// Queue pairs: what both ends know of one, its state at either end, and what all hosts of a run share of them.
#ifndef WEFT_TRANSPORT_QP_H
#define WEFT_TRANSPORT_QP_H

#include "weft/outcome.h"
#include "weft/transport.h"
#include "weft/workload.h"

/// At the data's sender, told to pause by source flow control; apart from the pace.
struct weft__qp_hold {
    weft_time_ps from_ps, until_ps;
};

/// What all hosts of a run share.
struct weft__hosts {
    const struct weft_qp_conf *qp;
    const struct weft_qp_numbers *qp_numbers;
    uint32_t framing_bytes;     ///< weft_host_framing_bytes of all
    uint32_t data_header_bytes; ///< host.data_header of all; 0: those of RoCE
    struct weft_qp_sender *sender;
    struct weft_qp_sample *sample;
    struct weft_qp_receiver *receiver;
    const struct weft__programs *programs; ///< NULL: there is no job
    struct weft__carrier *carrier;         ///< of a queue pair that carries messages; NULL: there is no job
    const struct weft__rmas *rmas;         ///< NULL: no remote memory access
    const struct weft__triggers *triggers; ///< NULL: no flow waits for another one
    const struct weft_flow_path *path;     ///< of the workload; NULL: no flow names one
    struct weft__qp_hold *hold;            ///< NULL unless a switch has source flow control
    void **sender_state, **receiver_state; ///< the transport's own; NULL: none has any
    const struct weft_flow *flow;
    struct weft_flow_outcome *outcome; ///< of flows
    uint32_t *qps_left, *qps_unacked;  ///< of a flow
    const struct weft__endpoint_ops *ops;
    bool trimming; ///< switches trim packets: one with its spare bit set has lost its payload
};

/// Everything below it is acknowledged.
static inline uint32_t weft__qp_acked(const struct weft__hosts *hosts, uint32_t qp) {
    const struct weft_qp_sender *s = &hosts->sender[qp];
    return __builtin_expect(s->counts, 0) ? hosts->sample[qp].below : s->una;
}

/// Payload of a packet, and the bytes of its frame.
static inline uint32_t weft__qp_payload(const struct weft_qp_conf *qp, uint32_t psn) {
    return psn + 1 < qp->packets ? qp->mtu : (uint32_t)(qp->bytes - (weft_bytes)(qp->packets - 1) * qp->mtu);
}
/// Of a packet of a message: to the word, for a packet does not say how much of its last one is padding.
static inline uint32_t weft__message_payload(const struct weft_packet *p, uint32_t framing_bytes,
                                             uint32_t data_header_bytes) {
    if (__builtin_expect(data_header_bytes, 0)) return p->bytes - framing_bytes - data_header_bytes;
    return p->bytes - framing_bytes - WEFT_FRAME_DATA - (p->flags & WEFT_PACKET_FIRST ? WEFT_FRAME_RETH : 0u);
}
/// The bytes of the frame of a packet of RoCE with so much payload, but for what the first and the last have besides.
static inline uint32_t weft__qp_frame_least(uint32_t payload) {
    return WEFT_FRAME_DATA + ((payload + 3) & ~3u); // BTH PadCnt: payload in words
}
/// `data_header_bytes`: of host.data_header; with them there is no padding.
uint32_t weft__qp_frame_bytes(const struct weft_qp_conf *qp, uint32_t psn, uint32_t data_header_bytes);

#endif
