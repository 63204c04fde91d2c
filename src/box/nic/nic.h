// SPDX-License-Identifier: Apache-2.0
// The RDMA NIC: queue pairs over one port. See nic.c.
#pragma once

#include "box/mechanism.h"
#include "link/ether.h"
#include "transport/endpoint.h"
#include "weft/cc.h"
#include "weft/device.h"
#include "weft/histogram.h"
#include "weft/poster.h"
#include "weft/random.h"
#include "weft/telemetry.h"

struct weft__nic;

/// Optional data of a queue pair's packet beside its 32 bytes.
struct weft__nic_record {
    union {
        struct weft_telemetry telemetry; ///< must be first, where ports note it
        struct weft_sack sack;           ///< without telemetry; must be first, where captures note it
    };
    uint32_t sack_psn;           ///< for data that asks: the credit wanted, see nic_pull.c
    bool collected, sacks, asks; ///< which of telemetry, selective acknowledgement and request are valid
};
_Static_assert(sizeof(struct weft__nic_record) <= WEFT__SIDE_BYTES, "a record holds it");

/// A NIC with ports in several networks; shared by its ports. See nic_planes.c.
struct weft__nic_planes {
    uint32_t n;
    uint32_t key0;      ///< timers of its ports, from the second port on
    uint8_t *sending;   ///< [queue pairs it sends]: the plane
    uint8_t *answering; ///< [queue pairs it receives]: the plane by which data last arrived
    uint32_t granting;  ///< with planes: packet, for the next clear-to-send or READ request
    struct weft__nic *nic[];
};

/// Why a sender gets credit: it asked for more than it has, or no sender asks.
enum weft__nic_pull_why { WEFT__NIC_PULL_ASKED, WEFT__NIC_PULL_AHEAD };
/// Credit that the NIC grants to those that send to it. See nic_pull.c.
struct weft__nic_pull {
    struct weft_cc_pull conf;
    uint32_t key;         ///< timer
    weft_time_ps free_ps; ///< when the next grant may be sent
    struct weft__nic_pull_list {
        uint32_t first, last;
    } list[2]; ///< enum weft__nic_pull_why
    struct weft__nic_pulled {
        uint32_t target, granted; ///< since the start, in quanta
        uint32_t next[2];         ///< next in each list
        bool waits[2];
    } of[]; ///< [receives]
};

/// What the NIC does later, a queue per latency. ARRIVALS, COMPLETIONS: notices for the host. FETCHES: responses to
/// READs.
enum weft__nic_later {
    WEFT__NIC_POSTS,
    WEFT__NIC_ARRIVALS,
    WEFT__NIC_COMPLETIONS,
    WEFT__NIC_FETCHES,
    WEFT__NIC_LATERS
};
/// FINISHED: a flow by the packet `psn`. ARRIVED: messages. COMPLETED: everything below `psn`. In the packet's flags.
enum weft__nic_notice { WEFT__NIC_FINISHED, WEFT__NIC_ARRIVED, WEFT__NIC_COMPLETED };

struct weft__nic {
    // lines 1 and 2
    struct weft__endpoint end; ///< first: the NIC is one
    const struct weft_host_conf *conf;
    const struct weft_cc_ops *cc;
    const struct weft_scheduler_ops *scheduler;
    const struct weft_transport_ops *transport;
    weft_rate_bps line_rate_bps;
    int64_t room_bytes; ///< room at the neighbour (WEFT_PACKET_ROOM); the NIC may send while it is positive
    uint8_t control_mask, ready_mask;
    uint16_t ready_qps;         ///< how many are in the lists of those that may send, modulo 2^16
    bool sampled, is_down;      ///< is_down: the host takes nothing, and nothing leaves
    bool collects;              ///< its data packets collect telemetry
    uint8_t data_ecn;           ///< enum weft_ecn of its data packets
    uint16_t ack_bytes;         ///< frame of its ACKs
    bool idles;                 ///< its data may come late, so that the line is idle
    weft_time_ps hold_until_ps; ///< the latest of any queue pair
    // lines 3 to 5: the packets to be sent, by priority
    _Alignas(64) struct weft__nic_backlog {
        struct weft__fifo control;  ///< ACK, NAK, CNP, READ requests
        uint32_t ready, ready_last; ///< list of queue pairs that may send, WEFT_NONE: empty
    } backlog[WEFT_PRIORITIES];
    struct weft__port port;
    // fields of the slow path
    struct weft__nic_planes *planes; ///< NULL: the NIC has only this port
    struct weft__nic_pull *pull;     ///< NULL: senders need no credit
    uint32_t plane;
    struct weft_histogram *round_trips; ///< [priorities], of its worker; NULL: not measured
    struct weft__trace *trace;          ///< NULL: not recorded
    uint32_t sends, receives;           ///< queue pairs
    const uint32_t *send_qp, *receive_qp;
    uint32_t key_read0;                ///< timer of the first queue pair that it receives
    uint32_t port_number, peer_offset; ///< port_number: for keys of its port. peer_offset: from a host of the first
                                       ///< network to the same host in its plane
    const struct weft_telemetry *telemetry; ///< of the packet being handled; NULL: it has none
    const struct weft_sack *sack;           ///< of the packet being handled; NULL: it has none
    // receive buffer of a host that is slower than its link
    struct weft__fifo received;
    weft_bytes received_bytes[WEFT_PRIORITIES], received_bytes_max[WEFT_PRIORITIES];
    struct weft__nic_slow {
        weft_time_ps phase_ps;  ///< of its periods
        uint64_t period;        ///< the last one that was looked at
        weft_time_ps looked_ps; ///< when
        weft_bytes tx_bytes;    ///< that the port had sent then
        bool skips;             ///< its slow phase is left out
    } slow;                     ///< see nic_drain.c
    uint64_t draw_seed;         ///< of the NIC's own draws
    struct weft_random idle;    ///< draws of when the line is idle (host.idle), and for how long
    int64_t until_idle_ps;      ///< the line's time with data until the next such stall
    uint8_t discards;           ///< priorities whose frames are discarded until rx_resume
    struct weft__sampling sampling;
    struct weft__fifo later[WEFT__NIC_LATERS]; ///< in order of time; see nic_work.c
    struct weft__poster poster;
    bool posts_later;              ///< a work request takes time
    weft_time_ps fetched_ps;       ///< when the last payload of a READ's responses is there
    bool gaps;                     ///< frames may have to follow one another more slowly than the line allows
    const struct weft__down *down; ///< [downs], in any order
    uint32_t downs;
    enum weft_drop down_drop; ///< how packets that arrive then are dropped
};
_Static_assert(offsetof(struct weft__nic, end) == 0, "an endpoint is its NIC");
_Static_assert(offsetof(struct weft__nic, backlog) == 128, "what every packet needs is in two lines");

/// Timer keys: those of an Ethernet port, some of the NIC, then three per queue pair that it sends and one per queue
/// pair that it receives.
enum {
    WEFT__KEY_DRAIN = WEFT__ETHER_KEY_OWN,
    WEFT__KEY_SAMPLE,
    WEFT__KEY_DOWN,
    WEFT__KEY_LATER = WEFT__ETHER_KEYS_A_PORT, ///< enum weft__nic_later
    WEFT__KEY_QPS = WEFT__KEY_LATER + WEFT__NIC_LATERS
};
_Static_assert((int)WEFT__KEY_DOWN < (int)WEFT__ETHER_KEYS_A_PORT, "keys of the NIC's one port");

/// Ports for packets that arrive in a plane other than the first: from UINT16_MAX downwards.
enum { WEFT__NIC_PLANES_MAX = 32, WEFT__NIC_PORT_MIN = UINT16_MAX - WEFT__NIC_PLANES_MAX };

/// The timers of a queue pair, indexed by its number among those that the NIC sends or receives.
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
    return nic->key_read0 + at_dst;
}

/// Whether nothing may leave: the neighbour has no room, or the host is down.
static inline bool weft__nic_is_held(const struct weft__nic *nic) {
    return __builtin_expect((nic->room_bytes <= 0) | nic->is_down, 0);
}

/// Whether a queue pair that has begun may send.
static inline bool weft__nic_may_send(const struct weft_qp_conf *conf, const struct weft_qp_sender *s) {
    if (s->done | s->blocked || s->next >= s->posted) return false;
    return (weft_bytes)(s->next - s->una) * conf->mtu < s->window_bytes;
}

/// Whether all queue pairs at the heads of the lists may send and none is paused, so that none must be skipped.
static inline bool weft__nic_heads_may_send(const struct weft__nic *nic, weft_time_ps now) {
    bool may = nic->hold_until_ps <= now;
    for (uint32_t bits = nic->ready_mask; bits; bits &= bits - 1) {
        uint32_t qp = nic->backlog[__builtin_ctz(bits)].ready;
        may &= weft__nic_may_send(&nic->end.hosts->qp[qp], &nic->end.hosts->sender[qp]);
    }
    return may;
}

/// After the packet just sent: when the next one may go at the queue pair's rate.
static inline void weft__nic_pace(const struct weft__nic *nic, struct weft_qp_sender *s, weft_time_ps now,
                                  uint32_t wire_bytes) {
    if (s->rate_bps >= nic->line_rate_bps)
        s->next_send_ps = now;
    else
        s->next_send_ps = now + weft_wire_round(&nic->conf->wire, weft_time_of_bytes(wire_bytes, s->rate_bps));
}

/// Priorities with something to send.
static inline uint8_t weft__nic_backlog(const struct weft__nic *nic) {
    return nic->control_mask | nic->ready_mask;
}

struct weft__nic_setup {
    const struct weft__port_rows *rows;
    uint32_t planes, plane, plane_hosts;
    struct weft__nic *first;       ///< the NIC if this is one of its ports in another plane; else NULL
    struct weft__node *first_node; ///< likewise; the NIC's own node
    const struct weft_host_conf *conf;
    const struct weft__hosts *hosts;
    uint32_t host;
    weft_rate_bps line_rate_bps;
    int64_t room_bytes; ///< initial room at the neighbour; INT64_MAX: unlimited
    uint32_t sends, receives;
    const uint32_t *send_qp, *receive_qp;
    struct weft_packet_pool *pool;
    bool lldp;                     ///< its port will have LLDP
    const struct weft__down *down; ///< [downs], in any order
    uint32_t downs;
    enum weft_drop down_drop;
    struct weft__gpu *gpu;
    struct weft__rma_host *rma;
    struct weft__driven *driven; ///< NULL: no program drives the host
    struct weft__raw_host *raw;  ///< NULL: the host is not attached
    struct weft_histogram *round_trips;
    bool sampled;
    struct weft__sampling sampling;
    uint64_t draw_seed;   ///< depends on the run's seed and the node's name
    uint32_t node, port0; ///< numbers among all nodes and ports
    uint32_t events_max;  ///< most events to record; 0: none
    struct weft_arena *arena;
};

/// For the box's operation `check_state`; see nic_check_state.c.
struct weft__check;
struct weft__network;
void weft__nic_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until, struct weft__check *c);

/// The caller fills nic->port with weft__port_init. Initialises the node's timers, starts of flows included.
struct weft__nic *weft__nic_new(const struct weft__nic_setup *setup, struct weft__node *node);
extern const struct weft__node_ops weft__nic_ops, weft__nic_driven_ops, weft__nic_plain_ops, weft__nic_raw_ops;
/// It may have weft__nic_plain_ops; nic_plain.c.
bool weft__nic_is_plain(const struct weft__nic *nic);
/// Any packet, any timer.
void weft__nic_on_packet(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, struct weft_packet *p);
void weft__nic_on_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t key);
/// Bytes of the frame of a control packet.
uint32_t weft__nic_control_bytes(const struct weft__nic *nic, uint32_t kind);
extern const struct weft__endpoint_ops weft__nic_endpoint_ops;
extern const struct weft__box_coast weft__nic_coast;
void weft__nic_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n, weft_time_ps end);
void weft__nic_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end);
/// Tells congestion control how much the queue pair has sent.
void weft__nic_tell_sent(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                         uint32_t bytes);
/// The host goes down or comes back.
void weft__nic_on_down(struct weft__node *node, struct weft__nic *nic, weft_time_ps now);
void weft__nic_finish(struct weft__nic *nic, weft_time_ps now);
/// Bytes of received frames that wait for the host. (Packets waiting to be sent have not been injected.)
weft_bytes weft__nic_held(const void *state);

/// A frame of data has left now; the line may be idle after it, as the next data comes late. The other draws when that
/// happens next.
void weft__nic_may_idle(struct weft__nic *nic, weft_time_ps now);
void weft__nic_draw_idle(struct weft__nic *nic);

/// Counts a frame that leaves.
static inline void weft__nic_count_sent(struct weft__worker *w, struct weft__port_queue *queue, uint32_t bytes) {
    w->tally.injected_bytes += bytes;
    weft__port_count_sent(queue, bytes);
}
/// Counts a frame with new payload of the queue pair.
static inline void weft__nic_count_payload(struct weft__worker *w, struct weft_qp_receiver *r,
                                           const struct weft_packet *p, uint32_t payload) {
    w->tally.delivered_bytes += p->bytes;
    weft__count(w, WEFT__COUNT_PAYLOAD_BYTES, payload);
    r->delivered_bytes += payload;
    w->tally.progress_ps = w->now_ps;
}
/// A frame leaves. Frames lost on the link take no room at the neighbour.
static inline void weft__nic_put(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p) {
    weft__nic_count_sent(w, weft__port_queue_of(&nic->port, p->priority), p->bytes);
    if (weft__port_transmit(&nic->port, w, p, nic->port.delay_data_ps)) nic->room_bytes -= p->bytes;
}
/// Key of a timer of its port.
static inline uint32_t weft__nic_key(const struct weft__nic *nic, uint32_t what) {
    return weft__ether_key(what, nic->port_number);
}

/// Ports in several networks; see nic_planes.c. The first prepares the NIC's first port and adds timers to *keys; the
/// second makes another port.
void weft__nic_planes_init(struct weft__nic *nic, uint32_t planes, uint32_t *keys, struct weft_arena *arena);
void weft__nic_planes_join(struct weft__nic *nic, struct weft__nic *first, uint32_t plane, uint32_t hosts);
/// The port for a queue pair's data: this one, or another while its link is down. Then the port for a clear-to-send.
struct weft__nic *weft__nic_plane_of(const struct weft__nic *nic, uint32_t qp, weft_time_ps now);
struct weft__nic *weft__nic_plane_up(const struct weft__nic *nic);
struct weft__nic *weft__nic_plane_granting(const struct weft__nic *nic, uint32_t qp, bool again);
static inline struct weft__nic *weft__nic_of_sender(struct weft__nic *nic, uint32_t qp, weft_time_ps now) {
    return __builtin_expect(nic->planes != NULL, 0) ? weft__nic_plane_of(nic, qp, now) : nic;
}
/// The ports that the packets of a queue pair may use.
static inline uint8_t weft__nic_planes_of_qp(const struct weft__nic *nic) {
    return nic->conf->planes == WEFT_PLANES_PACKET ? (uint8_t)nic->planes->n : 1;
}
/// The queue pair has just sent a packet by this port. Returns the port for the next one.
struct weft__nic *weft__nic_plane_next(struct weft__nic *nic, uint32_t qp, weft_time_ps now);
/// A queue pair has had a timeout and may move to another plane. Returns the port that it uses now.
struct weft__nic *weft__nic_plane_migrate(struct weft__nic *nic, uint32_t qp);
/// The link of this port has gone down or come up.
void weft__nic_plane_changed(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w);
/// Removes a queue pair from the lists of those that may send; lets all choose their port again (nic_send.c).
void weft__nic_unready(struct weft__nic *nic, uint32_t qp);
void weft__nic_reschedule(struct weft__node *node, struct weft__nic *nic, weft_time_ps now);

/// Its sender has finished: clears its timers.
void weft__nic_stop_sender(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp);
/// An attached host: sets the timer of its next frame; see nic_raw.c.
void weft__nic_raw_look(struct weft__node *node, struct weft__nic *nic);
uint32_t weft__nic_raw_waiting(const struct weft__endpoint *end);
/// For a driven host: a timer that it has for that purpose; see nic_driven.c.
void weft__nic_on_driven_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t key);
uint32_t weft__nic_open(struct weft__node *node, struct weft__endpoint *end, uint32_t qp, weft_time_ps start);
void weft__nic_cancel(struct weft__node *node, struct weft__endpoint *end, struct weft__worker *w, uint32_t qp);
void weft__nic_on_notice_due(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                             enum weft__nic_later queue);
/// Sends what may be sent now, and schedules the rest.
void weft__nic_look(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w);
/// The same. Usually the port is busy, and its turn comes as soon as it is free.
static inline void weft__nic_kick(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w) {
    if (nic->port.busy_until_ps <= w->now_ps || nic->port.turn_ps != nic->port.busy_until_ps)
        weft__nic_look(node, nic, w);
}
/// A packet has reached the host.
void weft__nic_take(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                    const struct weft_packet *p);
/// Sends a control packet of a queue pair, opposite to its data: at once, or when its turn comes.
void weft__nic_send_control(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                            const struct weft_transport_reply *reply);
void weft__nic_discard(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p,
                       enum weft_drop reason);

/// Queue pairs that the host sends; see nic_send.c. Those that may no longer send leave the lists when their turn
/// comes: weft__nic_send_data never finds one of them at the head.
void weft__nic_skip_idle(struct weft__node *node, struct weft__nic *nic, weft_time_ps now);
void weft__nic_schedule(struct weft__node *node, struct weft__nic *nic, uint32_t qp, weft_time_ps free_ps);
/// The queue pair whose turn it was at a priority has sent, until the port is free again: another one's turn may come.
void weft__nic_pass_turn(struct weft__node *node, struct weft__nic *nic, uint32_t priority);
void weft__nic_send_data(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t priority);
void weft__nic_on_control(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                          const struct weft_packet *p);
void weft__nic_on_sender_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                               uint32_t k);
/// A work request: there are so many more bytes of data, up to psn. Then: it has been processed.
void weft__nic_post(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp, uint32_t psn,
                    weft_bytes bytes);
void weft__nic_on_posted(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w);
/// The payload of responses to a READ has been fetched.
void weft__nic_on_fetched(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w);

/// Queue pairs that the host receives; see nic_receive.c.
void weft__nic_on_data(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                       const struct weft_packet *p);
void weft__nic_on_asked(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                        const struct weft_packet *p);
void weft__nic_on_trimmed(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                          const struct weft_packet *p);
void weft__nic_on_receiver_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp);

static inline struct weft_event *weft__nic_trace_qp(struct weft__nic *nic, weft_time_ps now, enum weft_event_kind kind,
                                                    uint32_t qp) {
    return weft__trace_qp(nic->trace, now, kind, nic->end.hosts->qp[qp].flow, qp);
}
/// For the record: a flow starts, if this is its first queue pair.
void weft__nic_trace_start(struct weft__nic *nic, weft_time_ps now, uint32_t qp);

/// A host slower than its link, and the pauses that it sends; see nic_drain.c.
void weft__nic_receive_slowly(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                              const struct weft_packet *p);
void weft__nic_on_drain(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w);
/// DCBX has agreed on a different set of lossless priorities; the timer of LLDP.
void weft__nic_set_lossless(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w);
void weft__nic_on_lldp_timer(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w);

/// Source flow control: a message arrived; at the end of a run, adds the pauses to the outcome.
void weft__nic_on_sfcm(struct weft__nic *nic, struct weft__worker *w, const struct weft_packet *p);
void weft__nic_finish_holds(const struct weft__nic *nic, weft_time_ps now);

/// Credit of receivers; see nic_pull.c. Adds a timer to *keys.
void weft__nic_pull_init(struct weft__nic *nic, uint32_t *keys, struct weft_arena *arena);
/// A packet says up to which total its sender wants credit.
void weft__nic_pull_wanted(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                           uint32_t target);
void weft__nic_pull_again(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                          uint32_t psn); ///< the trimmed packet
void weft__nic_on_pull(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w);
uint32_t weft__nic_pull_quanta(weft_bytes target);
weft_bytes weft__nic_pull_bytes(uint32_t quanta);

/// When the request of a READ that starts then leaves.
weft_time_ps weft__nic_read_time(const struct weft__nic *nic, uint32_t qp, weft_time_ps start);

/// See nic_work.c. Adds something to do at p->time_ps, in order; takes the first one, whose timer has fired.
void weft__nic_later(struct weft__node *node, struct weft__nic *nic, enum weft__nic_later what,
                     const struct weft_packet *p);
struct weft_packet weft__nic_take_due(struct weft__node *node, struct weft__nic *nic, enum weft__nic_later what);
/// A work request is posted: for so many bytes of data up to a PSN, or for a control packet without payload.
void weft__nic_request(struct weft__node *node, struct weft__nic *nic, weft_time_ps now, struct weft_packet request,
                       weft_bytes bytes);
/// The host is to see something (enum weft__nic_notice), which a frame with notice.bytes has brought; then: it sees it.
void weft__nic_tell(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, struct weft_packet notice);
void weft__nic_on_notice(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w,
                         const struct weft_packet *notice);
/// The host sees that everything of a queue pair below psn has completed (nic_send.c).
void weft__nic_on_completed(struct weft__node *node, struct weft__nic *nic, struct weft__worker *w, uint32_t qp,
                            uint32_t psn);

/// The box's operation `fingerprint` (box/box.h); see nic_fingerprint.c.
struct weft__fingerprint;
struct weft__network;
const char *weft__nic_fingerprint(const struct weft__network *net, uint32_t node, struct weft__fingerprint *ret);
void weft__nic_pass_looks(struct weft__network *net, uint32_t node, weft_time_ps time);

extern const struct weft__mechanisms weft__nic_mechanisms; ///< nic_mechanisms.c
