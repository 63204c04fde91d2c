// SPDX-License-Identifier: Apache-2.0
// Queue pairs: what both ends know of one, its state at either end, and what all hosts of a run share of them.
#ifndef WEFT_TRANSPORT_QP_H
#define WEFT_TRANSPORT_QP_H

#include "weft/outcome.h"
#include "weft/packet.h"
#include "weft/workload.h"

#define WEFT__MESSAGES UINT32_MAX

/// What both ends know of a queue pair, fixed for the run.
struct weft__qp_conf {
    uint32_t flow;
    uint32_t src, dst; ///< hosts; data goes from src to dst
    uint32_t packets;  ///< WEFT__MESSAGES: it carries messages, one after another (program.h)
    weft_bytes bytes;
    uint32_t at_src, at_dst; ///< its number among the queue pairs that the host sends, or receives
    uint16_t mtu, entropy;
    uint8_t priority, verb;
};

/// At the data's sender.
struct weft__qp_sender {
    uint32_t next, una, highest; ///< PSN to send, first unacknowledged, first never sent
    uint32_t ready_next;         ///< in the list of queue pairs that may send
    bool started : 1, ready : 1, done : 1;
    bool sampling : 1; ///< an RTT sample is under way
    uint8_t timeouts;  ///< in a row, at most 255
    uint32_t posted;   ///< PSN that what there is to send ends at; grows if the queue pair carries messages
    weft_rate_bps rate_bps;
    weft_time_ps next_send_ps, progress_ps;
    weft_bytes window_bytes;
    void *cc;
};
_Static_assert(sizeof(struct weft__qp_sender) == 64, "a cache line");

/// Likewise, once a round trip.
struct weft__qp_sample {
    weft_time_ps sent_ps;
    uint32_t psn; ///< its acknowledgement gives the next RTT sample
};

/// At the data's sender, told to pause by source flow control; apart from the pace.
struct weft__qp_hold {
    weft_time_ps from_ps, until_ps;
};

/// At the data's receiver.
struct weft__qp_receiver {
    uint32_t expected;
    uint16_t unacked;                ///< packets since the last ACK
    bool nak_sent : 1, notified : 1; ///< notified: a CNP was sent
    bool marked : 1;                 ///< a marked packet came since the last CNP
    weft_time_ps cnp_ps, progress_ps;
    weft_bytes delivered_bytes;
};
_Static_assert(sizeof(struct weft__qp_receiver) == 32, "two to a cache line");

/// At a data's receiver that accepts packets out of order; see reorder.c.
struct weft__qp_reorder {
    uint64_t *came;        ///< a bit a packet, of those that may be ahead
    uint64_t *last;        ///< likewise: it ended a message; NULL: the queue pair carries none
    uint32_t ahead;        ///< how many are
    weft_time_ps since_ps; ///< when the first of them came after the last that was in order
};

/// What all hosts of a run share.
struct weft__hosts {
    const struct weft__qp_conf *qp;
    const struct weft_qp_numbers *qp_numbers;
    struct weft__qp_sender *sender;
    struct weft__qp_sample *sample;
    struct weft__qp_receiver *receiver;
    const struct weft__programs *programs; ///< NULL: there is no job
    struct weft__carrier *carrier;         ///< of a queue pair that carries messages; NULL: there is no job
    const struct weft__rmas *rmas;         ///< NULL: no remote memory access
    struct weft__qp_hold *hold;            ///< NULL unless a switch has source flow control
    struct weft__qp_reorder *reorder;      ///< NULL unless a host accepts packets out of order
    const struct weft_flow *flow;
    struct weft_flow_outcome *outcome; ///< of flows
    uint32_t *qps_left, *qps_unacked;  ///< of a flow
    const struct weft__endpoint_ops *ops;
};

/// Payload of a packet, and the bytes of its frame.
static inline uint32_t weft__qp_payload(const struct weft__qp_conf *qp, uint32_t psn) {
    return psn + 1 < qp->packets ? qp->mtu : (uint32_t)(qp->bytes - (weft_bytes)(qp->packets - 1) * qp->mtu);
}
/// Of a packet of a message: to the word, for a packet does not say how much of its last one is padding.
static inline uint32_t weft__message_payload(const struct weft_packet *p) {
    return p->bytes - WEFT_FRAME_DATA - (p->flags & WEFT_PACKET_FIRST ? WEFT_FRAME_RETH : 0u);
}
uint32_t weft__qp_frame_bytes(const struct weft__qp_conf *qp, uint32_t psn);

#endif
