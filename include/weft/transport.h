// SPDX-License-Identifier: Apache-2.0
// The transport of a queue pair: which packet its sender sends when it may, what its receiver does with what comes, and
// what each end tells the other. The caller (a NIC) keeps everything else: when a sender may send (its window, the pace
// of its congestion control, pauses), headers, ports, messages. A model is told facts with the time and answers with
// what to send and when it wants to be called.
//
// Both ends are cache lines that the caller keeps for each queue pair, with what it asks of them at every packet. A
// transport that needs more has a state of its own beside them, zeroed at first.
#ifndef WEFT_TRANSPORT_H
#define WEFT_TRANSPORT_H

#include "weft/model.h"
#include "weft/packet.h"

#define WEFT_QP_MESSAGES UINT32_MAX

/// What both ends know of a queue pair, fixed for the run.
struct weft_qp_conf {
    uint32_t flow;
    uint32_t src, dst; ///< hosts; data goes from src to dst
    uint32_t packets;  ///< WEFT_QP_MESSAGES: it carries messages, one after another, and has no end
    weft_bytes bytes;
    uint32_t at_src, at_dst; ///< its number among the queue pairs that the host sends, or receives
    uint16_t mtu, entropy;
    uint8_t priority, verb; ///< enum weft_verb. READ: the receiver begins, and nothing is acknowledged
    uint8_t plane;          ///< as in struct weft_flow
};

/// At the data's sender.
struct weft_qp_sender {
    // the transport's. The caller takes next - una packets for those under way, and posted - next for those to send
    uint32_t next, una, highest;           ///< PSN to send, first unacknowledged, first never sent
    uint32_t ready_next;                   ///< the caller's: in the list of queue pairs that may send
    bool started : 1, ready : 1, done : 1; ///< the caller's
    bool sampling : 1;                     ///< a round trip is being measured
    bool armed : 1;                        ///< a timer is set
    bool cc_rests : 1;                     ///< the caller's: the congestion control need not be told what is sent
    bool counts : 1;  ///< una and next are counts: of packets acknowledged in whatever order, and with those under way
    bool blocked : 1; ///< nothing may be sent, whatever the window and `posted` say
    uint8_t timeouts; ///< in a row, at most 255
    uint32_t posted; ///< the caller's: PSN that what there is to send ends at; grows if the queue pair carries messages
    // the caller's
    weft_rate_bps rate_bps;
    weft_time_ps next_send_ps;
    weft_time_ps progress_ps; ///< the transport's
    weft_bytes window_bytes;  ///< payload under way at most
    void *cc;
};
_Static_assert(sizeof(struct weft_qp_sender) == 64, "a cache line");

/// The round trip that a sender measures, one at a time: apart, for it is touched once a round trip.
struct weft_qp_sample {
    weft_time_ps sent_ps;
    uint32_t psn;    ///< its acknowledgement ends it
    uint32_t below;  ///< of a sender that counts: everything below is acknowledged
    uint32_t credit; ///< the caller's: granted since the start, in quanta
    uint32_t path;   ///< the caller's: how often the congestion control has left a path
};

/// What an ACK or NAK says beyond its PSN, if its transport acknowledges selectively.
struct weft_sack {
    uint32_t psn;  ///< the packet that it answers
    uint32_t base; ///< packet base + i came if bit i is set
    uint64_t bits;
};

/// At the data's receiver.
struct weft_qp_receiver {
    uint32_t expected;               ///< everything below has come
    uint16_t unacked;                ///< packets since the last ACK
    bool nak_sent : 1, notified : 1; ///< notified: a CNP was sent
    bool marked : 1;                 ///< a marked packet came since the last CNP
    weft_time_ps cnp_ps;
    weft_time_ps progress_ps;   ///< new data came; WEFT_TIME_NEVER: it has not begun
    weft_bytes delivered_bytes; ///< the caller's
};
_Static_assert(sizeof(struct weft_qp_receiver) == 32, "two to a cache line");

/// What an end is told whenever it is called. `now_ps` never goes back for one queue pair.
struct weft_transport_fact {
    weft_time_ps now_ps;
    const void *conf; ///< of the host at this end
    const struct weft_qp_conf *qp;
    struct weft_qp_sample *sample; ///< the sender's
    void *state;                   ///< of this end, if it has one
    const struct weft_sack *sack;  ///< on_control: of the packet; NULL: none came
    uint8_t plane, planes; ///< at a sender: the port that sends, of so many that packets of the queue pair may take
};

/// The packet that a sender sends in its turn. Filled before the call with the queue pair's entropy, the rest 0.
struct weft_transport_send {
    weft_time_ps timer_ps; ///< when it wants to be called; 0: as before
    uint32_t psn;
    uint16_t entropy; ///< chooses among equal-cost paths
    uint8_t flags;    ///< WEFT_PACKET_ACK_REQUEST or 0
    bool again;       ///< it was sent before
};

/// What came of a control packet or a timer at the sender; 0 before the call.
struct weft_transport_news {
    weft_time_ps timer_ps; ///< when it wants to be called; 0: as before
    weft_time_ps rtt_ps;   ///< 0: not measured
    weft_time_ps trim_ps;  ///< likewise of a packet that was trimmed: until its NACK came
    uint32_t acked;        ///< packets newly acknowledged
    uint32_t lost_packets; ///< of a sender that counts
    bool lost;             ///< the congestion control is to know
    bool moved;            ///< it may be able to send now
    bool marked;           ///< the caller's: the control packet has the echo of a mark
};

/// A control packet, which goes against the data; kind 0: none.
struct weft_transport_reply {
    uint32_t psn;
    uint8_t kind; ///< enum weft_packet_kind
    uint8_t priority;
    uint16_t entropy;             ///< 0: that of the queue pair
    bool credit;                  ///< of an ACK: it grants credit and acknowledges nothing; see WEFT_PACKET_GRANT
    bool asks;                    ///< of an ACK: it goes with the data and asks for one; see WEFT_PACKET_ASK
    bool echo;                    ///< of an ACK or NAK: its data was marked
    const struct weft_sack *sack; ///< of an ACK or NAK: needs transport_ops.sacks; the transport keeps it meanwhile
};

enum weft_transport_verdict {
    WEFT_TRANSPORT_DELIVERED, ///< its payload is taken, now and never again
    WEFT_TRANSPORT_DUPLICATE, ///< it came before
    WEFT_TRANSPORT_REFUSED,   ///< it comes too early: the sender is to send it again
};

/// What becomes of a data packet at the receiver, and of its timer (reply and timer alone); 0 before the call.
struct weft_transport_receipt {
    weft_time_ps timer_ps; ///< when it wants to be called; 0: as before
    enum weft_transport_verdict verdict;
    uint32_t messages;                  ///< whole now, with all before them: packets with WEFT_PACKET_LAST
    bool early;                         ///< an earlier one is missing
    struct weft_transport_reply notify; ///< congestion, sent before anything else
    struct weft_transport_reply reply;  ///< sent when the data was handed on
};

struct weft_transport_acks {
    uint32_t packets;  ///< that one acknowledges, >= 1
    uint32_t priority; ///< in which they travel
};

struct weft_transport_frames; // src/transport/frames.h

struct weft_transport_ops {
    // hot; all are required
    void (*on_turn)(struct weft_qp_sender *s, const struct weft_transport_fact *fact, struct weft_transport_send *ret);
    void (*on_data)(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                    struct weft_transport_receipt *ret);
    /// Optional, as on_data: a switch has left the header of a data packet. Without it such packets are discarded.
    void (*on_trimmed)(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                       struct weft_transport_receipt *ret);
    /// A control packet of the queue pair reached the data's sender, but no CNP and no CTS.
    void (*on_control)(struct weft_qp_sender *s, const struct weft_transport_fact *fact, const struct weft_packet *p,
                       struct weft_transport_news *ret);
    void (*on_start)(struct weft_qp_sender *s, const struct weft_transport_fact *fact);
    void (*on_sender_timer)(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                            struct weft_transport_news *ret);
    /// Optional. The sender has something to send, and its window or `blocked` holds it back: what it sends to its
    /// receiver, with `asks`, if anything.
    void (*on_held)(struct weft_qp_sender *s, const struct weft_transport_fact *fact, struct weft_transport_reply *ret);
    /// What on_held sent has come.
    void (*on_asked)(struct weft_qp_receiver *r, const struct weft_transport_fact *fact, const struct weft_packet *p,
                     struct weft_transport_reply *ret);
    /// Of a queue pair without messages; for READ also its start.
    void (*on_receiver_timer)(struct weft_qp_receiver *r, const struct weft_transport_fact *fact,
                              struct weft_transport_receipt *ret);
    size_t (*sender_size)(const void *conf);                                  ///< optional; of a sender's own state
    size_t (*receiver_size)(const void *conf, const struct weft_qp_conf *qp); ///< optional; likewise
    /// What is lost for good, such as a clear-to-send, is repeated after this long; WEFT_TIME_NEVER: it is not.
    weft_time_ps (*patience)(const void *conf);
    const struct weft_transport_frames *frames; ///< its packets on the wire, if their lengths allow it; NULL: RoCE's
    bool (*in_order)(const void *conf);         ///< optional; it delivers in order alone, and its frames say so
    bool (*echoes)(const void *conf);           ///< optional; acknowledgements say whether their data was marked
    bool (*sacks)(const void *conf); ///< optional; replies may have a weft_sack. With telemetry only its psn comes back
    /// Optional. Of those ports, a bit for each that the sender's next packet may take; 0: any. `state` is the
    /// sender's.
    uint32_t (*planes)(const void *state, const void *conf);
    /// Optional, on a state of its own that only on_start has seen: the entropy of the next packet of a sender that
    /// hears nothing. NULL: that of the queue pair.
    uint16_t (*path)(const struct weft_transport_fact *fact);
    uint8_t (*control_priority)(const void *conf); ///< optional: of grants of credit
    bool acknowledges_reads;                       ///< responses to a READ, too: they have a window
    /// Optional: the ACKs of data of a priority that arrives in order. NULL: they follow no fixed pattern, so that a
    /// sender cannot stop and go on later (run.fast_forward).
    struct weft_transport_acks (*acks)(const void *conf, uint32_t priority);
    weft_model_still *still_sender, *still_receiver; ///< optional, with a state of their own, path choice included
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

#endif
