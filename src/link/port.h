// SPDX-License-Identifier: Apache-2.0
// One end of a link, the same at switches and NICs: serialisation, pause received, pause sent, faults.
//
// Times: a frame of n bytes that starts at t occupies the port until t + (n + 20) byte times (preamble 8, gap 12). Its
// last bit is at the peer at t + (n + 8) byte times + link delay. A store-and-forward peer acts on it after a fixed
// processing delay, and a MAC acts on a pause frame after its reaction delay; the sender adds both, so a hop is one
// event. A cut-through switch acts a processing delay after the first 64 bytes.
#pragma once

#include "base/fifo.h"
#include "base/spool.h"
#include "engine/engine.h"
#include "link/follow.h"
#include "link/measure.h"
#include "link/trace.h"
#include "weft/buffer.h"
#include "weft/device.h"
#include "weft/retry.h"
#include "weft/scheduler.h"
#include "weft/sim.h"
#include "weft/transport.h"

/// The link retransmits frames that bit errors destroy.
struct weft__port_retry {
    const struct weft_retry_ops *ops;
    const void *conf;
    weft_rate_bps rate_bps;
};

struct weft__port_faults {
    weft_time_ps link_delay_ps;
    double bit_error_rate;
    struct weft__port_retry retry; ///< ops NULL: destroyed frames are lost
    struct weft_random random;
    uint32_t downs;
    struct weft__down {
        weft_time_ps from_ps, to_ps;
    } down[];
};

/// Where a worker notes frames on captured ports.
struct weft__tap_log {
    struct weft__spool *spool;   ///< holds struct weft__tapped
    uint64_t limit, left_out;    ///< most frames to note; frames not noted
    weft_time_ps from_ps, to_ps; ///< notes frames that are complete from from_ps to before to_ps
    weft_time_ps last_ps;        ///< latest frame noted, up to the limit
    uint64_t noted;
};

/// A frame or cell. Its packet's time_ps is the time at which it is complete at the interface `node`; its port holds
/// the direction and loss (enum weft__tap_mark).
struct weft__tapped {
    struct weft_packet packet;
    struct weft_sack sack; ///< of an answer that has one; else zero
};

/// Where a frame is sent, both directions of captured ports are noted: one record per interface and frame.
struct weft__port_tap {
    struct weft__tap_log *log;
    uint32_t sent_on, received_on; ///< interface of this port and of its peer; WEFT_NONE: not captured
    weft_time_ps link_delay_ps;
};
/// The last bit of a frame or cell leaves. `loss`: why the link loses it, or WEFT_DROPS.
void weft__tap_note(const struct weft__port_tap *tap, const struct weft__tapped *frame, weft_time_ps last_bit,
                    enum weft_drop loss);
/// 0: received. WEFT__TAP_SENT: sent, plus 1 + enum weft_drop if the link lost the frame.
enum weft__tap_mark { WEFT__TAP_RECEIVED = 0, WEFT__TAP_SENT = 256 };

/// The ports that make up a Hyperport. The port's own speed and busy_until_ps describe all of them together: it
/// is free when one of them is. See hyperport.c.
struct weft__members {
    uint32_t n;
    weft_time_ps released_ps; ///< when the last frame is released
    weft_time_ps until_ps[];  ///< [n]
};

/// What a hop needs of a port and priority, in one cache line: the egress queue, and the bytes that arrived there and
/// are still held.
struct weft__port_queue {
    weft_bytes bytes, bytes_max; ///< depth over all inputs, and its maximum
    uint64_t tx_packets, tx_bytes;
    struct weft__fifo fifo;         ///< the waiting packets, where packets wait at outputs
    struct weft_buffer_group group; ///< of an ingress buffer that counts each port and priority separately
};
_Static_assert(sizeof(struct weft__port_queue) == 64, "a cache line");

/// A pause from the peer, of a priority.
struct weft__port_pause {
    weft_time_ps until_ps, since_ps;
    weft_time_ps last_ps; ///< when it was last told to pause; in a storm, when it was last found
};

/// What the ports of a network have for each priority, in a row each. Where a priority is not used nobody writes, so
/// that in a large network its row takes no memory.
struct weft__port_rows {
    struct weft__port_queue *queue;
    struct weft__port_pause *pause;
    uint32_t ports; ///< of a row
};
void weft__port_rows_init(struct weft__port_rows *rows, uint32_t ports, struct weft_arena *arena);

enum { WEFT__PENDING_PFC = 0xff, WEFT__PENDING_LLDP = 0x100 };

/// A byte takes byte_num / byte_den ps: in lowest terms, or in units of 2^-WEFT__CLOCK_BITS ps where a clock is off.
struct weft__speed {
    uint64_t byte_num, byte_den;
};
/// Units of less than 0.02 ppm at 1.6 Tbit/s, in which the bytes of any frame at 1 Mbit/s fit 64 bits.
enum { WEFT__CLOCK_BITS = 24, WEFT__CLOCK_PPM_MAX = 100 };
struct weft__speed weft__speed_of(weft_rate_bps rate);
/// Of a port whose clock is that much too fast (negative: too slow).
struct weft__speed weft__speed_by_clock(weft_rate_bps rate, double ppm);
/// Whether a clock is off, so that times are not whole.
static inline bool weft__speed_is_off(struct weft__speed speed) {
    return speed.byte_den == UINT64_C(1) << WEFT__CLOCK_BITS;
}

/// The time for `bytes`, rounded down, without the carried remainder.
static inline weft_time_ps weft__speed_time(struct weft__speed speed, uint64_t bytes) {
    if (speed.byte_den == 1) return bytes * speed.byte_num;
    unsigned __int128 num = (unsigned __int128)bytes * speed.byte_num;
    return (weft_time_ps)(weft__speed_is_off(speed) ? num >> WEFT__CLOCK_BITS : num / speed.byte_den);
}
/// By more than clocks may differ: ports bridge that much with their FIFOs.
static inline bool weft__speed_is_faster(struct weft__speed a, struct weft__speed b) {
    enum { MILLION = 1000000 };
    if (weft__speed_is_off(a) && weft__speed_is_off(b)) // the same, as both count the same units
        return a.byte_num + a.byte_num / (MILLION / 2 / WEFT__CLOCK_PPM_MAX) < b.byte_num;
    uint64_t ours = MILLION + (weft__speed_is_off(a) || weft__speed_is_off(b) ? 2 * WEFT__CLOCK_PPM_MAX : 0);
    return (unsigned __int128)a.byte_num * b.byte_den * ours < (unsigned __int128)b.byte_num * a.byte_den * MILLION;
}

enum weft__port_special {
    WEFT__PORT_PLAIN,
    WEFT__PORT_SPECIAL,  ///< has faults, a tap, members or its own wire, counts flows, adds telemetry or follows every
                         ///< frame
    WEFT__PORT_FOLLOWED, ///< follows data, and is otherwise plain
};

struct weft__port {
    // line 1: used by every frame
    weft_time_ps busy_until_ps;
    weft_time_ps turn_ps;           ///< its timer WEFT__ETHER_KEY_TX; WEFT_TIME_NEVER: it is not set
    weft_time_ps delay_data_ps;     ///< from the last bit sent to the peer's action
    struct weft__port_queue *queue; ///< of priority 0, in its row
    uint32_t row_bytes;             ///< to that of the next priority
    uint32_t byte_ps;               ///< time that a byte takes; 0: no whole number, as `speed` has it
    uint32_t gap_ps;                ///< between packets
    uint32_t peer_node;
    /// If all of these are 0, a frame that finds the port free may leave at once, on the fast path.
    union {
        struct {
            uint16_t pending; ///< priorities for which the peer must be told, and WEFT__PENDING_LLDP
            uint8_t paused;   ///< priorities under a pause from the peer
            uint8_t ready;    ///< priorities whose FIFO is not empty
            uint8_t storm;    ///< priorities in a PFC storm, according to the watchdog
            uint8_t special;  ///< enum weft__port_special
            uint16_t none;
        };
        uint64_t hindrances;
    };
    uint16_t peer_port;
    uint8_t peer_inbox;
    uint8_t lossless; ///< priorities at which we may pause the peer
    uint32_t part_ps; ///< time of that part of a frame which a cut-through peer waits for; 0: it waits for all
    // fields of the slow path
    _Alignas(64) weft_time_ps delay_pause_ps; ///< as delay_data_ps, of a pause frame
    uint8_t pfc_xoff;                         ///< priorities that we want paused
    struct weft__speed speed;
    uint8_t pfc_told;            ///< priorities that the peer was last told to pause
    uint32_t waiting;            ///< packets for this port that wait at inputs of a switch
    uint32_t id;                 ///< its number among all ports
    struct weft__follow *follow; ///< NULL: not followed
    struct weft_scheduler_state scheduler;
    uint64_t byte_rem;                ///< carried remainder of back-to-back frames
    struct weft__port_faults *faults; ///< NULL: a perfect link
    struct weft__port_tap *tap;       ///< NULL: not captured
    struct weft__port_credit *credit; ///< NULL: neither end uses credit
    struct weft__lldp *lldp;          ///< NULL: sends no LLDP
    struct weft__members *members;    ///< NULL: not a Hyperport
    struct weft__port_wire *wire;     ///< NULL: the wire of IEEE 802.3
    bool telemetry;                   ///< adds telemetry to packets that collect it
    bool until_resume;                ///< a received pause lasts until it is ended explicitly
    uint8_t obeyed;                   ///< priorities that the peer may pause
    struct weft_counters *counters;   ///< of priority 0, in its row; what is not in the queues
    struct weft__port_pause *pause;   ///< of priority 0, in its row
    /// [WEFT_PRIORITIES]: pauses in the name of source flow control, until when; NULL: the peer is told itself.
    weft_time_ps *proxy_until_ps;
    struct weft__trace *trace;      ///< of its node; NULL: not recorded
    struct weft__port_flows *flows; ///< NULL: not counted
};
/// An odd number of cache lines: with an even one, the same field of all ports would map to few sets of a cache.
_Static_assert(sizeof(struct weft__port) / 64 % 2, "ports are spread over a cache's sets");

_Static_assert(offsetof(struct weft__port, delay_pause_ps) == 64, "what every frame needs is in one line");

/// The link's other end and its timing. `peer`: the node that acts, with its delays.
struct weft__port_peer {
    uint32_t node, inbox;
    uint16_t port;
    bool cut_through;
    weft_time_ps processing_ps, pause_reaction_ps;
};
/// Before all else: the place of a port in the rows.
void weft__port_place(struct weft__port *port, const struct weft__port_rows *rows, uint32_t place);
void weft__port_init(struct weft__port *port, uint32_t id, const struct weft_link_info *link,
                     const struct weft__port_peer *peer, const struct weft_outcome *outcome,
                     struct weft__port_faults *faults, struct weft__port_tap *tap);
/// The queue of a priority, of a port whose queue of priority 0 is known.
static inline __attribute__((always_inline)) struct weft__port_queue *
weft__port_queue_in(const struct weft__port_queue *first, uint32_t row_bytes, uint32_t priority) {
    return (struct weft__port_queue *)((uintptr_t)first + (uint64_t)priority * row_bytes);
}
static inline struct weft__port_queue *weft__port_queue_of(const struct weft__port *port, uint32_t priority) {
    return weft__port_queue_in(port->queue, port->row_bytes, priority);
}
/// Ports of a row.
static inline uint32_t weft__port_row(const struct weft__port *port) {
    return port->row_bytes / (uint32_t)sizeof(struct weft__port_queue);
}
static inline struct weft_counters *weft__port_counters(const struct weft__port *port, uint32_t priority) {
    return &port->counters[(size_t)priority * weft__port_row(port)];
}
static inline struct weft__port_pause *weft__port_pause_of(const struct weft__port *port, uint32_t priority) {
    return &port->pause[(size_t)priority * weft__port_row(port)];
}

/// Sets the speed. Call it before the first frame.
void weft__port_set_speed(struct weft__port *port, struct weft__speed speed);

/// Allocates from an arena on a cache line boundary.
static inline void *weft__arena_lines(struct weft_arena *arena, size_t count, size_t size) {
    uintptr_t memory = (uintptr_t)weft_arena_alloc(arena, count * size + 64, 1);
    return (void *)((memory + 63) & ~(uintptr_t)63);
}

/// The time for `bytes`, rounded down, without the carried remainder.
static inline weft_time_ps weft__port_time(const struct weft__port *port, uint64_t bytes) {
    return weft__speed_time(port->speed, bytes);
}

/// The same, and the comparison of two ports, in line 1 for the usual rates.
static inline weft_time_ps weft__port_time_fast(const struct weft__port *port, uint64_t bytes) {
    return __builtin_expect(port->byte_ps != 0, 1) ? bytes * port->byte_ps : weft__port_time(port, bytes);
}
static inline bool weft__port_is_faster(const struct weft__port *a, const struct weft__port *b) {
    if (__builtin_expect(a->byte_ps && b->byte_ps, 1)) return a->byte_ps < b->byte_ps;
    return weft__speed_is_faster(a->speed, b->speed);
}

/// Why the link loses what is sent from `now` to `last_bit`; WEFT_DROPS: it does not. The loss happens now, or at
/// `ret_at` if that is later.
enum weft_drop weft__faults_loss(struct weft__port_faults *f, uint32_t bytes, weft_time_ps now, weft_time_ps last_bit,
                                 weft_time_ps *ret_at);
weft_time_ps weft__port_time_carried(struct weft__port *port, weft_time_ps now, uint64_t bytes);
/// The same of a port whose clock is off, without a division.
static inline weft_time_ps weft__port_time_off(struct weft__port *port, weft_time_ps now, uint64_t bytes) {
    uint64_t num = bytes * port->speed.byte_num + (now == port->busy_until_ps ? port->byte_rem : 0);
    port->byte_rem = num & ((UINT64_C(1) << WEFT__CLOCK_BITS) - 1);
    return num >> WEFT__CLOCK_BITS;
}

/// Makes it a Hyperport of `n` members. Call it before the first frame.
void weft__port_set_members(struct weft__port *port, uint32_t n, struct weft_arena *arena);
/// Sends a frame, which takes `time` on all members together, over the member that is free first. Returns when the far
/// end releases it, without the link's delay; sets busy_until_ps.
weft_time_ps weft__members_take(struct weft__port *port, weft_time_ps now, const struct weft_packet *packet,
                                weft_time_ps time);

/// A wire on which frames take other times than on IEEE 802.3.
struct weft__port_wire {
    const struct weft_wire_conf *conf;
    weft_time_ps until_ps; ///< when the last frame ends
    uint64_t byte_rem;
};
/// Call it before the first frame, on a port without members whose peer stores and forwards.
void weft__port_set_wire(struct weft__port *port, const struct weft_wire_conf *conf, struct weft_arena *arena);
/// A frame is sent now. Returns when its last bit leaves; sets busy_until_ps.
weft_time_ps weft__wire_take(struct weft__port *port, weft_time_ps now, uint32_t bytes);

enum { WEFT__PREAMBLE = 8, WEFT__GAP = 12, WEFT__HEADER = 64 };

/// The same on any port as weft__port_transmit, which has taken the line for `time`.
bool weft__port_transmit_special(struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet,
                                 weft_time_ps time, weft_time_ps delay);

static inline struct weft__to weft__port_peer_of(const struct weft__port *port) {
    return (struct weft__to){port->peer_inbox, port->peer_node, port->peer_port};
}

/// When the part that a cut-through peer waits for has left, of a frame that starts at `now`, or the last bit. `often`:
/// peers cut through, in a hot loop.
weft_time_ps weft__port_part_rare(const struct weft__port *port, weft_time_ps now, uint32_t bytes,
                                  weft_time_ps last_bit);
static inline __attribute__((always_inline)) weft_time_ps weft__port_part_sent(const struct weft__port *port,
                                                                               weft_time_ps now, uint32_t bytes,
                                                                               weft_time_ps last_bit, bool often) {
    if (often) return port->part_ps && bytes > WEFT__HEADER ? now + port->part_ps : last_bit;
    return __builtin_expect(!port->part_ps, 1) ? last_bit : weft__port_part_rare(port, now, bytes, last_bit);
}

/// The same of any frame: frames for the neighbour itself count when they are complete.
static inline __attribute__((always_inline)) weft_time_ps weft__port_sent(const struct weft__port *port,
                                                                          weft_time_ps now,
                                                                          const struct weft_packet *packet,
                                                                          weft_time_ps last_bit, bool often) {
    return weft_packet_is_local(packet) ? last_bit : weft__port_part_sent(port, now, packet->bytes, last_bit, often);
}

/// A packet joins the FIFO of its priority; the next one of a priority leaves it, with or without a copy.
static inline void weft__port_push(struct weft__port *port, struct weft_packet_pool *pool, uint32_t priority,
                                   const struct weft_packet *packet) {
    weft__fifo_push(&weft__port_queue_of(port, priority)->fifo, pool, packet);
    port->ready |= (uint8_t)(1u << priority);
}
static inline void weft__port_drop_head(struct weft__port *port, struct weft_packet_pool *pool, uint32_t priority) {
    struct weft__fifo *fifo = &weft__port_queue_of(port, priority)->fifo;
    weft__fifo_drop(fifo, pool);
    if (!fifo->n) port->ready &= (uint8_t) ~(1u << priority);
}
static inline void weft__port_pop(struct weft__port *port, struct weft_packet_pool *pool, uint32_t priority,
                                  struct weft_packet *ret_packet) {
    *ret_packet = *weft__fifo_head(&weft__port_queue_of(port, priority)->fifo);
    weft__port_drop_head(port, pool, priority);
}
/// Calls on_packet for each packet in its FIFOs.
void weft__port_each(const struct weft__port *port, uint32_t number,
                     void (*on_packet)(void *context, const struct weft_packet *, uint32_t number), void *context);

/// Takes the line for a frame of this size from now on. Returns for how long. `off`: clocks are, in a hot loop.
static inline __attribute__((always_inline)) weft_time_ps
weft__port_take_as(struct weft__port *port, struct weft__worker *w, uint32_t bytes, bool off) {
    weft_time_ps now = w->now_ps, time;
    assert(port->busy_until_ps <= now);
    uint64_t wire = bytes + WEFT_WIRE_OVERHEAD;
    if (off && weft__speed_is_off(port->speed))
        time = weft__port_time_off(port, now, wire);
    else
        time = port->byte_ps ? wire * port->byte_ps : weft__port_time_carried(port, now, wire);
    port->busy_until_ps = now + time;
    weft__count(w, WEFT__COUNT_PACKET_HOPS, 1);
    return time;
}
static inline weft_time_ps weft__port_take(struct weft__port *port, struct weft__worker *w, uint32_t bytes) {
    return weft__port_take_as(port, w, bytes, false);
}

/// Takes the line of a plain port for data. Returns when the peer acts on it.
static inline __attribute__((always_inline)) weft_time_ps
weft__port_take_plain(struct weft__port *port, struct weft__worker *w, uint32_t bytes, bool off) {
    weft__port_take_as(port, w, bytes, off);
    weft_time_ps last_bit = port->busy_until_ps - port->gap_ps;
    return weft__port_part_sent(port, w->now_ps, bytes, last_bit, off) + port->delay_data_ps;
}
/// Puts data on the wire of a plain port.
static inline __attribute__((always_inline)) void
weft__port_transmit_plain(struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet, bool off) {
    weft_time_ps at = weft__port_take_plain(port, w, packet->bytes, off);
    weft__send(w, weft__port_peer_of(port), at, packet);
}

/// Puts a frame on the wire now, without counting it; the port must be free. False: the link loses it.
static inline __attribute__((always_inline)) bool weft__port_transmit_as(struct weft__port *port,
                                                                         struct weft__worker *w,
                                                                         const struct weft_packet *packet,
                                                                         weft_time_ps delay, bool off) {
    weft_time_ps time = weft__port_take_as(port, w, packet->bytes, off);
    if (__builtin_expect(port->special != WEFT__PORT_PLAIN, 0))
        return weft__port_transmit_special(port, w, packet, time, delay);
    weft_time_ps sent = weft__port_sent(port, w->now_ps, packet, port->busy_until_ps - port->gap_ps, off);
    weft__send(w, weft__port_peer_of(port), sent + delay, packet);
    return true;
}
static inline bool weft__port_transmit(struct weft__port *port, struct weft__worker *w,
                                       const struct weft_packet *packet, weft_time_ps delay) {
    return weft__port_transmit_as(port, w, packet, delay, false);
}

/// Counts a frame of the queue that is sent.
static inline void weft__port_count_sent(struct weft__port_queue *queue, uint32_t bytes) {
    queue->tx_packets++;
    queue->tx_bytes += bytes;
}
/// Counts so many bytes in the queue.
static inline void weft__port_count_depth(struct weft__port_queue *queue, weft_bytes depth) {
    if (depth > queue->bytes_max) queue->bytes_max = depth;
}

/// Sends and counts a frame of a queue.
static inline bool weft__port_send(struct weft__port *port, struct weft__worker *w, const struct weft_packet *packet) {
    weft__port_count_sent(weft__port_queue_of(port, packet->priority), packet->bytes);
    return weft__port_transmit(port, w, packet, port->delay_data_ps);
}

/// Starts a pause: nothing of that priority may be sent to the peer before its end.
void weft__port_pause_begin(struct weft__port *port, weft_time_ps now, uint32_t priority, weft_time_ps until);
void weft__port_pause_over(struct weft__port *port, weft_time_ps now, uint32_t priority);
/// A pause frame has arrived.
void weft__port_on_pause(struct weft__port *port, weft_time_ps now, const struct weft_packet *packet);
/// Ends expired pauses, and counts them as expired.
void weft__port_expire(struct weft__port *port, weft_time_ps now);
/// The priorities that may not be sent now.
static inline uint8_t weft__port_paused(struct weft__port *port, weft_time_ps now) {
    if (__builtin_expect(port->paused != 0, 0)) weft__port_expire(port, now);
    return port->paused;
}
/// When the first pause among `mask` expires.
weft_time_ps weft__port_pause_end(const struct weft__port *port, uint8_t mask);

/// Decides to pause or resume the peer's priority. True if there is a frame to send.
bool weft__port_want_pause(struct weft__port *port, uint32_t priority, bool xoff);
/// From now on these priorities are lossless in both directions; pauses of others end.
void weft__port_set_lossless(struct weft__port *port, weft_time_ps now, uint8_t priorities);
/// Decides to pause the peer's priority until the given time, whatever our own buffer says.
void weft__port_proxy_pause(struct weft__port *port, uint32_t priority, weft_time_ps until);
/// Sends the pending pause frame; the port must be free. Returns when it must be refreshed, or never.
weft_time_ps weft__port_send_pause(struct weft__port *port, struct weft__worker *w, const struct weft_pfc_conf *pfc,
                                   uint32_t host);

/// Storm watchdog, called when its timer fires and after a pause arrives. `backlog`: priorities with frames to send.
/// Returns the priorities whose storm has just begun; *ret_ended gets those whose storm has ended, and the caller
/// learns when to call again.
uint8_t weft__port_watchdog(struct weft__port *port, const struct weft_pfc_conf *pfc, weft_time_ps now, uint8_t backlog,
                            uint8_t *ret_ended, weft_time_ps *ret_next);

/// Appends one sample of the time series per priority that has sent or holds bytes.
void weft__port_sample(struct weft__port *port, struct weft__worker *w, const weft_bytes *ingress_bytes);
/// Starts counting the queue pairs whose data this port sends, those with at least `bytes_min`.
void weft__port_count_flows(struct weft__port *port, weft_bytes bytes_min);
void weft__port_note_flow(struct weft__port_flows *flows, const struct weft_packet *packet);
/// The queue pairs of a priority since the last call.
uint32_t weft__port_flows_lately(struct weft__port_flows *flows, uint32_t priority);
/// The number of queue pairs; frees the table.
uint32_t weft__port_flows_free(struct weft__port_flows *flows);

/// At the end of a run: adds everything to the counters. Ongoing pauses are counted up to now, and not recorded as
/// over.
void weft__port_finish(struct weft__port *port, weft_time_ps now);
/// At the end of a run: adds the most bytes that were in its ingress buffer.
static inline void weft__port_count_ingress(struct weft__port *port, uint32_t priority, weft_bytes bytes_max) {
    if (bytes_max) weft__port_counters(port, priority)->ingress_bytes_max = bytes_max;
}
