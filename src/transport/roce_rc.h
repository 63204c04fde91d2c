// SPDX-License-Identifier: Apache-2.0
// Parameters of reliable connections. See roce_rc.c.
#ifndef WEFT_TRANSPORT_ROCE_RC_H
#define WEFT_TRANSPORT_ROCE_RC_H

#include "transport/reorder.h"

/// What a receiver does with a packet that comes while an earlier one is missing.
enum weft__out_of_order { WEFT__OUT_OF_ORDER_DISCARD, WEFT__OUT_OF_ORDER_ACCEPT };

/// How a receiver tells the sender of a marked packet: by a CNP, or by a flag on its ACK or NAK.
enum weft__ecn_echo { WEFT__ECN_ECHO_CNP, WEFT__ECN_ECHO_ACK };

/// What a sender sends again: everything from the missing packet on, or what is missing.
enum weft__retransmission { WEFT__GO_BACK_N, WEFT__SELECTIVE };

/// What a receiver does with a packet that came before.
enum weft__duplicates { WEFT__DUPLICATES_ACKNOWLEDGE, WEFT__DUPLICATES_IGNORE };

struct weft__roce_rc_conf {
    uint64_t ack_every;    ///< packets
    bool ack_own_priority; ///< ACKs and NAKs use ack_priority rather than the data's
    uint64_t ack_priority, cnp_priority;
    weft_time_ps cnp_interval_ps; ///< least time between two CNPs of a queue pair
    weft_time_ps timeout_ps;      ///< no progress for this long: go back to the first unacknowledged packet
    weft_time_ps nak_interval_ps; ///< least time between two NAKs of the same packet
    uint32_t ecn_echo;            ///< enum weft__ecn_echo
    uint32_t out_of_order;        ///< enum weft__out_of_order
    uint32_t retransmission;      ///< enum weft__retransmission; SELECTIVE: packets are accepted out of order
    uint32_t duplicates;          ///< enum weft__duplicates
    struct weft__reorder_conf reorder;
};

#endif
