// SPDX-License-Identifier: Apache-2.0
// Parameters of reliable connections. See roce_rc.c.
#pragma once

#include "transport/reorder.h"
#include "weft/transport.h"
#include "weft/workload.h"

/// What a receiver does with a packet that arrives while an earlier one is missing.
enum weft__out_of_order { WEFT__OUT_OF_ORDER_DISCARD, WEFT__OUT_OF_ORDER_ACCEPT };

/// How a receiver tells the sender of a marked packet: by a CNP, or by a flag on its ACK or NAK.
enum weft__ecn_echo { WEFT__ECN_ECHO_CNP, WEFT__ECN_ECHO_ACK };

/// What a sender retransmits: everything from the missing packet on, or only what is missing.
enum weft__retransmission { WEFT__GO_BACK_N, WEFT__SELECTIVE };

/// What a receiver does with a packet that has arrived before.
enum weft__duplicates { WEFT__DUPLICATES_ACKNOWLEDGE, WEFT__DUPLICATES_IGNORE };

struct weft__roce_rc_conf {
    uint64_t ack_every;    ///< packets
    bool ack_own_priority; ///< ACKs and NAKs use ack_priority instead of the data's priority
    uint64_t ack_priority, cnp_priority;
    weft_time_ps cnp_interval_ps; ///< minimum time between two CNPs of a queue pair
    uint64_t timeout_exponent;    ///< in place of timeout_ps: 4.096 us times 2 to this; 0: timeout_ps holds
    weft_time_ps timeout_ps;      ///< no progress for this long: go back to the first unacknowledged packet
    bool adaptive;                ///< each queue pair draws its first timeout, and doubles it
    weft_time_ps adaptive_from_ps, adaptive_to_ps;
    weft_time_ps nak_interval_ps; ///< minimum time between two NAKs of the same packet
    uint32_t ecn_echo;            ///< enum weft__ecn_echo
    uint32_t out_of_order;        ///< enum weft__out_of_order
    uint32_t retransmission;      ///< enum weft__retransmission; SELECTIVE: packets are accepted out of order
    uint32_t duplicates;          ///< enum weft__duplicates
    bool slow_restart;            ///< a NAK or a timeout is to congestion control what a CNP is
    struct weft__reorder_conf reorder;
};

extern const struct weft_model weft__transport_roce_rc;

// What happens to nearly all packets, for callers that have these steps as part of their code. Each is asked for first;
// what it is not, the transport's operations do.

/// Connections whose packets may take these steps.
static inline bool weft__roce_rc_is_plain(const struct weft__roce_rc_conf *c) {
    return c->retransmission == WEFT__GO_BACK_N && c->out_of_order == WEFT__OUT_OF_ORDER_DISCARD &&
           c->ecn_echo == WEFT__ECN_ECHO_CNP;
}

/// The sender may send, with its next packet it still may, and nothing is to be said or noted but that it was sent: it
/// is neither the first nor the last, was not sent before, and a round trip is being measured.
static inline bool weft__roce_rc_just_sends(const struct weft_qp_sender *s, const struct weft_qp_conf *qp) {
    uint32_t flight = s->next + 1 - s->una;
    bool moves = !s->done & !s->blocked & s->sampling & s->armed;
    return moves && s->next && s->next == s->highest && s->next + 1 < s->posted &&
           (weft_bytes)flight * qp->mtu < s->window_bytes && qp->plain;
}

/// Its PSN.
static inline uint32_t weft__roce_rc_send(struct weft_qp_sender *s, weft_time_ps now) {
    if (s->next == s->una) s->progress_ps = now; // nothing was outstanding
    s->highest = s->next + 1;
    return s->next++;
}

/// Packets that are under way have come, and no more is to be said.
static inline bool weft__roce_rc_just_acknowledges(const struct weft_qp_sender *s, const struct weft_qp_conf *qp,
                                                   const struct weft_qp_sample *sample, uint32_t psn) {
    return psn > s->una && psn <= s->next && psn < qp->packets && !s->done && qp->plain &&
           !(s->sampling && psn > sample->psn);
}

/// Everything below psn has come, and more than before.
static inline void weft__roce_rc_acknowledge(struct weft_qp_sender *s, weft_time_ps now, uint32_t psn) {
    s->una = psn;
    s->progress_ps = now;
    s->timeouts = 0;
}

/// The packet that is expected has come, it is not the last, and no mark is to be told of.
static inline bool weft__roce_rc_is_expected(const struct weft_qp_receiver *r, const struct weft_qp_conf *qp,
                                             const struct weft_packet *p) {
    return p->psn == r->expected && p->psn + 1 < qp->packets && p->ecn != WEFT_ECN_CE && !r->marked &&
           qp->verb != WEFT_VERB_READ;
}

/// A packet that was expected: whether an ACK is due.
static inline bool weft__roce_rc_owes_ack(struct weft_qp_receiver *r, const struct weft__roce_rc_conf *conf,
                                          const struct weft_packet *p) {
    return ++r->unacked >= conf->ack_every || p->flags & WEFT_PACKET_ACK_REQUEST;
}

/// The priority of ACKs of data of that priority.
static inline uint32_t weft__roce_rc_ack_priority(const struct weft__roce_rc_conf *conf, uint32_t data_priority) {
    return conf->ack_own_priority ? (uint32_t)conf->ack_priority : data_priority;
}
