// SPDX-License-Identifier: Apache-2.0
// The Ethernet switch: ports, routes and one model of each kind. See switch.c for the life of a packet in it.
#pragma once

#include "box/forwarding.h"
#include "box/mechanism.h"
#include "box/switch/te.h"
#include "link/ether.h"
#include "link/pipe.h"
#include "link/sfc.h"
#include "transport/qp.h"
#include "weft/arbiter.h"
#include "weft/queueing.h"
#include "weft/route.h"
#include "weft/routes.h"

struct weft__switch {
    // line 1: what determines the next hop of a packet
    struct weft__port *port; ///< [ports]
    const uint32_t *edge_of_host;
    const uint16_t *port_of_host, *set_of, *set_ports;
    const struct weft_route_set *set;
    weft_time_ps routes_until_ps; ///< 0: flows name paths, so every packet must be checked
    uint32_t edge;                ///< this switch's number among edges, or WEFT_NONE
    uint32_t hash_seed;
    // line 2: used by every packet
    const struct weft_switch_conf *conf;
    struct weft_packet_pool *pool;
    weft_bytes aqm_ask_bytes;       ///< from this depth on a port asks the AQM about a packet that arrives
    struct weft_buffer_fixed fixed; ///< of a plain switch; all 0: its buffer has no fixed thresholds
    uint32_t ports;
    uint8_t fetched_priority; ///< prefetch the queues of this priority before it is known which will be served: a guess
    uint8_t lossless;         ///< lossless priorities of a plain switch
    bool counts_hops;         ///< of packets, because frames are captured
    weft_bytes leave_ask_bytes; ///< with aqm_leaving: from this depth on, of what stays behind the packet
    bool arbitrated, has_cut_through, aqm_leaving;
    bool by_tuple;  ///< the route model uses weft_route_hash
    uint32_t edges; ///< that set_of covers
    const struct weft_scheduler_ops *scheduler;
    // line 3
    const struct weft_queueing_ops *queueing; ///< of an arbitrated switch
    const struct weft_buffer_ops *buffer;
    const struct weft_aqm_ops *aqm;
    const struct weft_route_ops *route;
    void *queueing_state, *buffer_state;
    uint32_t index;                     ///< among switches
    const void **aqm_conf;              ///< [ports]
    struct weft__trace *trace;          ///< NULL: not recorded
    uint32_t *brought[WEFT_PRIORITIES]; ///< [input][output] bytes that wait, for the record; NULL: not counted
    uint32_t brought_last; ///< bytes of the packet counted last, which is not in its queue yet when a group pauses
    void *route_state;     ///< NULL: routes are decided in advance, by the packet alone
    const struct weft_qp_numbers *qp_numbers;
    const struct weft_flow_path *path; ///< the workload's; NULL: no flow names a path
    const bool *severed;               ///< [paths], in this epoch
    weft_time_ps epoch_until_ps;
    struct weft__ether ether;   ///< duplicates some fields above
    weft_bytes sfc_watch_bytes; ///< source flow control checks packets that find more than this
    // input-queued architectures
    const struct weft_arbiter_ops *arbiter;
    void *arbiter_state;
    uint32_t words;
    bool arbitrate;                 ///< due at the end of the current time
    bool unmatched;                 ///< some output got nothing in the last arbitration although an input was free
    uint32_t *queued;               ///< [ports]: packets that arrived there
    uint64_t *waiting;              ///< [words]: outputs with something queued
    uint64_t *asleep;               ///< [words]: outputs that are sending, and are woken when they have finished
    uint64_t *requesting;           ///< [words]: outputs that request in this arbitration
    uint64_t *requests;             ///< [ports * words]
    uint64_t *busy_inputs;          ///< [words]: inputs with a frame crossing the fabric, if others wait there
    weft_time_ps *input_until_ps;   ///< [ports]: until when it crosses
    uint16_t *match;                ///< [ports]
    uint8_t *chosen;                ///< [ports]: priority
    uint16_t *passed;               ///< [output * ports + input]: frames; NULL: no patience is configured
    uint64_t *inputs;               ///< [words]
    uint64_t *insisting, *insisted; ///< [words]: outputs that have passed over some input too often; those inputs
    // rarely used
    struct weft__pipe *pipe; ///< [conf->pipes]; NULL: no limit on packets a second
    struct weft__turn turn;  ///< of a packet in a pipe
    struct weft__sfc sfc;
    const struct weft__hosts *hosts;
    struct weft_packet
        *deferred; ///< [ports]: frame being received whole by a cut-through switch; its `node`: the output
    const struct weft__epoch *epoch;
    uint32_t epochs_left;
    const bool *sampled; ///< [ports] or NULL
    struct weft__sampling sampling;
    const struct weft__te_agent *te; ///< NULL: no controller
};

/// Timer keys of a port after those of its Ethernet side; those of the switch follow.
enum { WEFT__SWITCH_KEY_INPUT = WEFT__ETHER_KEY_OWN, WEFT__SWITCH_KEY_DEFERRED };

static inline uint32_t weft__switch_key_sample(const struct weft__switch *sw) {
    return WEFT__ETHER_KEYS_A_PORT * sw->ports;
}
static inline uint32_t weft__switch_key_te(const struct weft__switch *sw) {
    return WEFT__ETHER_KEYS_A_PORT * sw->ports + 1;
}

/// The next routes take effect.
void weft__switch_next_epoch(struct weft__switch *sw);

struct weft__switch_setup {
    const struct weft__port_rows *rows;
    const struct weft_switch_conf *conf;
    const struct weft__hosts *hosts;
    uint32_t index, ports;
    uint64_t seed;
    const struct weft__epoch *epoch;
    uint32_t epochs;
    struct weft_packet_pool *pool;
    void *route_state;                   ///< initialised; NULL: the route model has no state
    const struct weft_buffer_port *link; ///< [ports]; NULL: neither buffer nor AQM uses them
    bool lldp;                           ///< each of its ports will have LLDP
    const bool *sampled;
    struct weft__sampling sampling;
    const struct weft__te_agent *te; ///< NULL: no controller
    uint32_t node, port0;            ///< numbers among all nodes and ports
    bool captured;                   ///< the run captures frames somewhere
    uint32_t events_max;             ///< most events to record; 0: none
    struct weft_arena *arena;
};

extern const struct weft__node_ops weft__switch_ops;
/// Whether it has only what most switches have, and so runs by these operations. `lldp`: its ports have LLDP.
bool weft__switch_is_plain(const struct weft__switch *sw, bool lldp);
const struct weft__node_ops *weft__switch_plain_ops(const struct weft__switch *sw);
extern const struct weft__ether_ops weft__switch_ether_ops;

/// switch_trim.c. Trims the packet if possible. False: its header found no room and is dropped.
bool weft__switch_trim(struct weft__switch *sw, struct weft__worker *w, struct weft_packet *p, uint32_t out);

/// For the record (switch_trace.c): a packet is in a queue, which has `bytes` with it; one has left its queue.
void weft__switch_trace_entered(struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p, uint32_t out,
                                weft_bytes bytes, bool mark);
void weft__switch_trace_left(struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p, uint32_t out);
static inline uint32_t *weft__switch_brought(const struct weft__switch *sw, uint32_t priority, uint32_t in) {
    return &sw->brought[priority][(size_t)in * sw->ports];
}
/// For the record: a group is above XOFF or at XON because of a packet for `out`; a packet is dropped.
void weft__switch_trace_pause(struct weft__switch *sw, weft_time_ps now, uint32_t port, uint32_t priority, uint32_t out,
                              bool xoff);
void weft__switch_trace_drop(struct weft__switch *sw, weft_time_ps now, const struct weft_packet *p, uint32_t port,
                             uint32_t out, enum weft_drop reason);

/// Calls on_packet for every waiting packet.
void weft__switch_each(const struct weft__switch *sw,
                       void (*on_packet)(void *context, const struct weft_packet *, uint32_t out), void *context);

/// The state, in the setup's arena; the caller fills port[] with weft__port_init. Initialises the node's timers.
struct weft__switch *weft__switch_new(const struct weft__switch_setup *setup, struct weft__node *node);
/// At the end of a run: adds maxima and ongoing pauses to the counters.
void weft__switch_finish(struct weft__switch *sw, weft_time_ps now);
/// Sends a packet that the switch itself makes, as if it had arrived at packet->port.
void weft__switch_emit(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                       struct weft_packet *packet);
/// Source flow control: a packet has joined a queue that may be deep enough to notify its source.
void weft__switch_judge_source(struct weft__node *node, struct weft__switch *sw, struct weft__worker *w,
                               const struct weft_packet *p, uint32_t out);
/// A message for the host at `out`. True: consumed on the host's behalf; the port has a pause frame to send.
bool weft__switch_intercept(struct weft__switch *sw, struct weft__worker *w, const struct weft_packet *p, uint32_t out);

/// Frees what is not in the arena.
void weft__switch_deinit(void *state);
/// Bytes waiting in queues, or being received by a cut-through switch that needs the whole frame first.
weft_bytes weft__switch_held(const void *state);

/// The box's operation `fingerprint` (box/box.h); see switch_fingerprint.c.
struct weft__fingerprint;
struct weft__network;
const char *weft__switch_fingerprint(const struct weft__network *net, uint32_t node, struct weft__fingerprint *ret);

/// For the box's operation `check_state`; see switch_check_state.c.
struct weft__check;
void weft__switch_check_state(const struct weft__network *net, uint32_t node, weft_time_ps until,
                              struct weft__check *c);

extern const struct weft__mechanisms weft__switch_mechanisms; ///< switch_mechanisms.c
