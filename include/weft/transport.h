// SPDX-License-Identifier: Apache-2.0
// The transport of a queue pair: which packet its sender sends next, what its receiver does with an arriving packet,
// and which control packets the two ends exchange. The caller (a NIC) does everything else: it decides when a sender
// may send (window, pace of congestion control, pauses) and handles headers, ports and messages. Each function gets the
// facts, with the time, and returns what to send and when the caller must call again.
//
// The caller keeps a cache line for each end of a queue pair, with the fields that it needs for every packet. A
// transport that needs more has a state of its own for each end, zeroed at first.
#pragma once

#include "weft/model.h"
#include "weft/packet.h"

#define WEFT_QP_MESSAGES UINT32_MAX

/// Facts about a queue pair that both ends know, fixed for the run.
struct weft_qp_conf {
    uint32_t flow;
    uint32_t src, dst; ///< hosts; data goes from src to dst
    uint32_t packets;  ///< WEFT_QP_MESSAGES: it carries messages, one after another, and has no end
    weft_bytes bytes;
    uint32_t at_src, at_dst; ///< its number among the queue pairs that the host sends, or receives
    uint16_t mtu, entropy;
    uint8_t priority, verb;   ///< enum weft_verb. READ: the receiver begins, and nothing is acknowledged
    uint8_t plane;            ///< as in struct weft_flow
    bool plain;               ///< a WRITE or SEND that is one message
    uint32_t message_packets; ///< of a flow that posts messages: packets of each; 0: it does not
    uint16_t message_last;    ///< payload of the last of these
};

/// Whether its packets say where a message begins and ends.
static inline bool weft_qp_has_messages(const struct weft_qp_conf *qp) {
    return qp->packets == WEFT_QP_MESSAGES || qp->message_packets;
}

/// At the data's sender.
struct weft_qp_sender {
    // Written by the transport. The caller reads next - una as packets in flight and posted - next as packets to send.
    uint32_t next, una, highest;           ///< PSN to send, first unacknowledged, first never sent
    uint32_t ready_next;                   ///< the caller's: in the list of queue pairs that may send
    bool started : 1, ready : 1, done : 1; ///< the caller's
    bool sampling : 1;                     ///< a round trip is being measured
    bool armed : 1;                        ///< a timer is set
    bool cc_rests : 1;                     ///< the caller's: the congestion control needs no call per packet sent
    bool counts : 1;  ///< una counts packets acknowledged in any order, next these and the packets in flight; not PSNs
    bool blocked : 1; ///< nothing may be sent, even if the window and `posted` allow it
    uint8_t timeouts; ///< in a row, at most 255
    uint32_t posted;  ///< the caller's: one past the last PSN to send; grows if the queue pair carries messages
    // the caller's
    weft_rate_bps rate_bps;
    weft_time_ps next_send_ps;
    weft_time_ps progress_ps; ///< the transport's
    weft_bytes window_bytes;  ///< most payload in flight
    void *cc;
};
_Static_assert(sizeof(struct weft_qp_sender) == 64, "a cache line");

/// The round trip that a sender measures, one at a time. Kept apart because it is used once per round trip.
struct weft_qp_sample {
    weft_time_ps sent_ps;
    uint32_t psn;    ///< the acknowledgement of this packet ends the measurement
    uint32_t below;  ///< if the sender counts: all packets below this PSN are acknowledged
    uint32_t credit; ///< the caller's: granted since the start, in quanta
    uint32_t path;   ///< the caller's: how often the congestion control has left a path
    uint32_t issued; ///< the caller's: one past the last PSN that was posted, whether the NIC knows of it or not
    uint32_t seen;   ///< the caller's: everything below this PSN has completed, and the host knows
    weft_time_ps timeout_ps; ///< of a transport that draws it
};

/// Contents of a selective ACK or NAK beyond its PSN.
struct weft_sack {
    uint32_t psn;  ///< PSN of the data packet that it answers
    uint32_t base; ///< bit i: packet base + i has arrived
    uint64_t bits;
};

/// At the data's receiver.
struct weft_qp_receiver {
    uint32_t expected;               ///< all packets below this PSN have arrived
    uint16_t unacked;                ///< packets since the last ACK
    bool nak_sent : 1, notified : 1; ///< notified: a CNP was sent
    bool marked : 1;                 ///< a marked packet came since the last CNP
    weft_time_ps cnp_ps;
    weft_time_ps progress_ps;   ///< new data came; WEFT_TIME_NEVER: it has not begun
    weft_bytes delivered_bytes; ///< the caller's
};
_Static_assert(sizeof(struct weft_qp_receiver) == 32, "two to a cache line");

/// The facts that each function gets. `now_ps` never decreases for one queue pair.
struct weft_transport_fact {
    weft_time_ps now_ps;
    const void *conf; ///< of the host at this end
    const struct weft_qp_conf *qp;
    struct weft_qp_sample *sample; ///< the sender's
    void *state;                   ///< of this end, if it has one
    const struct weft_sack *sack;  ///< on_control: of the packet; NULL: none came
    uint64_t draw;                 ///< on_start of a transport that draws: a random number of this queue pair's own
    uint8_t plane, planes; ///< at a sender: the number of the NIC's port that sends, and how many the packets may use
};

/// The packet that a sender sends in its turn. Before the call the caller sets the queue pair's entropy and zeroes the
/// other fields.
struct weft_transport_send {
    weft_time_ps timer_ps; ///< when to call on_sender_timer, in absolute time; 0: the timer stays as it is
    uint32_t psn;
    uint16_t entropy; ///< chooses among equal-cost paths
    uint8_t flags;    ///< WEFT_PACKET_ACK_REQUEST or 0
    bool again;       ///< it was sent before
};

/// The effect of a control packet or a timer at the sender; all fields are 0 before the call.
struct weft_transport_news {
    weft_time_ps timer_ps; ///< when to call on_sender_timer, in absolute time; 0: the timer stays as it is
    weft_time_ps rtt_ps;   ///< round trip of an acknowledged packet; 0: not measured
    weft_time_ps trim_ps;  ///< from the departure of a trimmed packet to its NACK; 0: no NACK came
    uint32_t acked;        ///< packets newly acknowledged
    uint32_t lost_packets; ///< of a sender that counts
    bool lost;             ///< the caller must report a loss to the congestion control
    bool notified;         ///< the caller must report a CNP to the congestion control
    bool moved;            ///< the sender may be able to send now
    bool marked;           ///< the caller's: the control packet has the echo of a mark
};

/// A control packet, sent from the data's receiver to its sender unless `asks` is set; kind 0: none.
struct weft_transport_reply {
    uint32_t psn;
    uint8_t kind; ///< enum weft_packet_kind
    uint8_t priority;
    uint16_t entropy;             ///< 0: that of the queue pair
    bool credit;                  ///< of an ACK: it grants credit and acknowledges nothing; see WEFT_PACKET_GRANT
    bool asks;                    ///< of an ACK: it goes with the data and asks for one; see WEFT_PACKET_ASK
    bool echo;                    ///< of an ACK or NAK: its data was marked
    const struct weft_sack *sack; ///< of an ACK or NAK of a transport with `sacks`; valid until the next call
};

enum weft_transport_verdict {
    WEFT_TRANSPORT_DELIVERED, ///< the payload is new and is delivered
    WEFT_TRANSPORT_DUPLICATE, ///< the packet has arrived before
    WEFT_TRANSPORT_REFUSED,   ///< an earlier packet is missing: the sender must send this one again
};

/// The effect of a data packet at the receiver; of a timer there, which sets only reply and timer_ps. All fields are 0
/// before the call.
struct weft_transport_receipt {
    weft_time_ps timer_ps; ///< when to call on_receiver_timer, in absolute time; 0: the timer stays as it is
    enum weft_transport_verdict verdict;
    uint32_t messages;                  ///< messages completed in order by this packet (their WEFT_PACKET_LAST)
    bool early;                         ///< an earlier packet is missing
    struct weft_transport_reply notify; ///< congestion, sent before anything else
    struct weft_transport_reply reply;  ///< sent when the data was handed on
};

struct weft_transport_acks {
    uint32_t packets;  ///< data packets per ACK, >= 1
    uint32_t priority; ///< priority of the ACKs
};

struct weft_transport_frames; // src/transport/frames.h

struct weft_transport_ops {
    // hot; all are required
    void (*on_turn)(struct weft_qp_sender *s, const struct weft_transport_fact *fact, struct weft_transport_send *ret);
    void (*on_data)(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                    struct weft_transport_receipt *ret);
    /// Optional. Like on_data, for a data packet whose payload a switch has cut off. Without this function the caller
    /// discards such packets.
    void (*on_trimmed)(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                       struct weft_transport_receipt *ret);
    /// A control packet of the queue pair reached the data's sender, but no CNP and no CTS.
    void (*on_control)(struct weft_qp_sender *s, const struct weft_transport_fact *fact, const struct weft_packet *p,
                       struct weft_transport_news *ret);
    void (*on_start)(struct weft_qp_sender *s, const struct weft_transport_fact *fact);
    void (*on_sender_timer)(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                            struct weft_transport_news *ret);
    /// Optional. The sender has data, but its window or `blocked` stops it. Sets the control packet that it sends to
    /// its receiver instead, with `asks`, if any.
    void (*on_held)(struct weft_qp_sender *s, const struct weft_transport_fact *fact, struct weft_transport_reply *ret);
    /// At the receiver: a control packet that on_held has made has arrived. Optional, with on_held.
    void (*on_asked)(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                     struct weft_transport_reply *ret);
    /// Of a queue pair without messages; for READ also its start.
    void (*on_receiver_timer)(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                              struct weft_transport_receipt *ret);
    size_t (*sender_size)(const void *conf); ///< optional; bytes of a sender's own state
    size_t (*receiver_size)(const void *conf, const struct weft_qp_conf *qp); ///< optional; of a receiver's own state
    /// Time after which a message that nothing else would repeat, such as a clear-to-send, is sent again;
    /// WEFT_TIME_NEVER: it is not sent again.
    weft_time_ps (*patience)(const void *conf);
    bool (*draws)(const void *conf);            ///< optional; on_start needs fact.draw
    const struct weft_transport_frames *frames; ///< its packets on the wire, if their lengths allow it; NULL: RoCE's
    bool (*in_order)(const void *conf);         ///< optional; it delivers in order alone, and its frames say so
    bool (*discards)(const void *conf);         ///< optional; it discards packets that overtake others
    bool (*echoes)(const void *conf);           ///< optional; acknowledgements say whether their data was marked
    bool (*sacks)(const void *conf); ///< optional; replies may have a weft_sack. With telemetry only its psn comes back
    /// Optional. A mask of the NIC's ports (fact.planes) that the sender's next packet may use; 0: all. `state` is the
    /// sender's.
    uint32_t (*planes)(const void *state, const void *conf);
    /// Optional. The entropy of the next packet of a sender that never gets an answer, for a state on which only
    /// on_start has been called. NULL: each packet has the queue pair's.
    uint16_t (*path)(const struct weft_transport_fact *fact);
    bool (*spreads)(const void *conf); ///< optional, with path: packets of a queue pair have several entropies
    uint8_t (*control_priority)(const void *conf); ///< optional: of grants of credit
    bool acknowledges_reads;                       ///< responses to a READ, too: they have a window
    /// Optional: the ACKs of data of a priority that arrives in order. NULL: they follow no fixed pattern, so that a
    /// sender cannot stop and go on later (run.fast_forward).
    struct weft_transport_acks (*acks)(const void *conf, uint32_t priority);
    weft_bytes (*ack_payload)(const void *conf); ///< optional, for weft estimate: bytes of data per ACK; NULL: a packet
    weft_model_fingerprint *fingerprint_sender,
        *fingerprint_receiver; ///< optional, with a state of their own, path choice included
    /// NULL, or which invariant of an end is broken.
    const char *(*check_sender)(const struct weft_qp_sender *s, const struct weft_transport_fact *fact);
    const char *(*check_receiver)(const struct weft_qp_receiver *r, const struct weft_transport_fact *fact);
};

/// What a model keeps of a connection: both ends' lines, the transport's state with its path choice, and that of the
/// congestion control (NULL: without). `messages`: it carries messages.
struct weft_connection_bytes {
    weft_bytes sender, receiver;
};
struct weft_connection_bytes weft_connection_bytes(const struct weft_model_conf *transport,
                                                   const struct weft_model_conf *cc, bool messages);
