// SPDX-License-Identifier: Apache-2.0
// The RDMA NIC: queue pairs over one port. See nic.c.
#ifndef WEFT_BOX_NIC_NIC_H
#define WEFT_BOX_NIC_NIC_H

#include "link/ether.h"
#include "weft/cc.h"
#include "weft/clique_timeline.h"
#include "weft/histogram.h"

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

/// At a data's receiver that accepts packets out of order; see nic_reorder.c.
struct weft__qp_reorder {
    uint64_t *came;        ///< a bit a packet, of those that may be ahead
    uint64_t *last;        ///< likewise: it ended a message; NULL: the queue pair carries none
    uint32_t ahead;        ///< how many are
    weft_time_ps since_ps; ///< when the first of them came after the last that was in order
};

struct weft__nic;

/// What all NICs of a run share.
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
};

struct weft__nic {
    // line 1
    const struct weft_host_conf *conf;
    const struct weft__hosts *hosts;
    const struct weft_cc_ops *cc;
    const struct weft_scheduler_ops *scheduler;
    struct weft_packet_pool *pool;
    weft_rate_bps line_rate_bps;
    uint32_t host;
    uint8_t control_mask, ready_mask;
    bool sampled, away;         ///< away: a control processor whose firmware starts again takes nothing, sends nothing
    weft_time_ps hold_until_ps; ///< the latest of any queue pair
    // lines 2 to 4: what waits to be sent, by priority
    _Alignas(64) struct weft__nic_backlog {
        struct weft__fifo control;  ///< ACK, NAK, CNP, READ requests
        uint32_t ready, ready_last; ///< list of queue pairs that may send, WEFT_NONE: empty
    } backlog[WEFT_PRIORITIES];
    struct weft__port port;
    // less often
    struct weft__gpu *gpu;              ///< NULL: of no job
    struct weft__rma_host *rma;         ///< NULL: no remote memory access by software
    struct weft_histogram *round_trips; ///< [priorities] of its worker; NULL: not measured
    struct weft__trace *trace;          ///< NULL: not recorded
    uint32_t sends, receives;           ///< queue pairs
    const uint32_t *send_qp, *receive_qp;
    int64_t room_bytes; ///< in the NIC that the host shares (tin_nic.c); it may send as long as there is any
    // a host slower than its link
    struct weft__fifo received;
    weft_bytes received_bytes[WEFT_PRIORITIES], received_bytes_max[WEFT_PRIORITIES];
    weft_time_ps sample_interval_ps;
    struct weft__fifo work;                    ///< work requests that it has not taken up; see nic_work.c
    const struct weft_clique_absence *absence; ///< [absences] of TiNs' control processors; 0: it is none
    uint32_t absences, tin;
};

/// Timer keys: those of an Ethernet port, some of the NIC, then three a sending and one a receiving queue pair.
enum {
    WEFT__KEY_DRAIN = WEFT__ETHER_KEY_OWN,
    WEFT__KEY_SAMPLE,
    WEFT__KEY_WORK,
    WEFT__KEY_ABSENCE,
    WEFT__KEY_QPS = WEFT__ETHER_KEYS_A_PORT
};
_Static_assert(WEFT__KEY_ABSENCE < WEFT__KEY_QPS, "keys of the NIC's one port");

/// The timers of a queue pair, by its number among those that the NIC sends, or receives.
enum { WEFT__SENDER_KEYS = 3 };

static inline uint32_t weft__key_pace(uint32_t at_src) {
    return WEFT__KEY_QPS + at_src * WEFT__SENDER_KEYS;
}
static inline uint32_t weft__key_timeout(uint32_t at_src) {
    return weft__key_pace(at_src) + 1;
}
static inline uint32_t weft__key_cc(uint32_t at_src) {
    return weft__key_pace(at_src) + 2;
}
static inline uint32_t weft__key_read(const struct weft__nic *nic, uint32_t at_dst) {
    return WEFT__KEY_QPS + nic->sends * WEFT__SENDER_KEYS + at_dst;
}

/// A shared NIC has as much of it as it lets it have.
static inline bool weft__nic_is_held(const struct weft__nic *nic) {
    return __builtin_expect(nic->room_bytes <= 0, 0);
}

/// Priorities with something to send.
static inline uint8_t weft__nic_backlog(const struct weft__nic *nic) {
    return nic->control_mask | nic->ready_mask;
}

struct weft__nic_setup {
    const struct weft_host_conf *conf;
    const struct weft__hosts *hosts;
    uint32_t host;
    weft_rate_bps line_rate_bps;
    int64_t room_bytes; ///< in a shared NIC, at first; INT64_MAX: it shares none
    uint32_t sends, receives;
    const uint32_t *send_qp, *receive_qp;
    struct weft_packet_pool *pool;
    bool lldp;                                 ///< its port will have one
    const struct weft_clique_absence *absence; ///< [absences] of control processors, if it is that of `tin`
    uint32_t absences, tin;
    struct weft__gpu *gpu;
    struct weft__rma_host *rma;
    struct weft_histogram *round_trips;
    bool sampled;
    weft_time_ps sample_interval_ps;
    uint32_t node, port0; ///< among all nodes and ports
    uint32_t events_max;  ///< to be recorded; 0: none
    struct weft_arena *arena;
};

/// The caller fills nic->port with weft__port_init. Initialises the node's timers, starts of flows included.
struct weft__nic *weft__nic_new(const struct weft__nic_setup *setup, struct weft__node *node);
extern const struct weft__node_ops weft__nic_ops;
void weft__nic_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end);
void weft__nic_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end);
/// The firmware of a control processor begins to start again, or has done so.
void weft__nic_on_absence(struct weft__node *node, struct weft__nic *nic, weft_time_ps now);
void weft__nic_finish(struct weft__nic *nic, weft_time_ps now);
/// Bytes of frames received and waiting for the host. (What waits to be sent has not been injected.)
weft_bytes weft__nic_held(const void *state);

/// Source flow control: a message came; what pauses lasted, into the outcome at the end of a run.
void weft__nic_on_sfcm(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p);
void weft__nic_finish_holds(const struct weft__nic *nic, weft_time_ps now);

/// Work requests, if they take time; nic_work.c. Adds one: data up to a PSN, or a control packet; and the one that is
/// ready when the timer says so.
void weft__nic_work_add(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                        const struct weft_packet *request);
struct weft_packet weft__nic_work_done(struct weft__node *node, struct weft__nic *nic, weft_time_ps now);

/// A work request: there is data up to psn.
void weft__nic_post(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, uint32_t psn);
/// For queue pairs that carry messages. One has been taken out of the buffer; `last`: there will be no other. `qp`: the
/// first of the connection.
void weft__nic_consumed(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, bool last);
/// Sends a clear-to-send for messages below `granted` (0: none), and looks again after the timeout, doubled so often.
void weft__nic_grant(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                     uint32_t granted, uint32_t priority, uint32_t doublings);
enum weft__reorder { WEFT__REORDER_PLACED, WEFT__REORDER_CAME_BEFORE, WEFT__REORDER_TOO_FAR };
size_t weft__reorder_words(const struct weft_host_conf *conf); ///< of weft__qp_reorder.came
/// A packet beyond `expected` came. `last`: it ends a message.
enum weft__reorder weft__reorder_put(struct weft__qp_reorder *r, const struct weft_host_conf *conf, weft_time_ps now,
                                     uint32_t expected, uint32_t psn, bool last);
/// The expected packet has been missing for long enough.
bool weft__reorder_is_overdue(const struct weft__qp_reorder *r, const struct weft_host_conf *conf, weft_time_ps now);
/// The expected packet came: the next one to expect, and how many messages ended among those that had come before.
uint32_t weft__reorder_next(struct weft__qp_reorder *r, const struct weft_host_conf *conf, weft_time_ps now,
                            uint32_t expected, uint32_t *ret_messages);

/// What the acknowledgement of what is below psn measures: from when a packet left until now. 0: nothing.
static inline weft_time_ps weft__nic_round_trip(struct weft__nic *nic, uint32_t qp, uint32_t psn, weft_time_ps now) {
    struct weft__qp_sender *s = &nic->hosts->sender[qp];
    if (!s->sampling || psn <= nic->hosts->sample[qp].psn) return 0;
    weft_time_ps time = now - nic->hosts->sample[qp].sent_ps;
    s->sampling = false;
    if (__builtin_expect(nic->round_trips != NULL, 0))
        weft_histogram_add(&nic->round_trips[nic->hosts->qp[qp].priority], time);
    return time;
}

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
