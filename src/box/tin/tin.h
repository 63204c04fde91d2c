// SPDX-License-Identifier: Apache-2.0
// The ToR-in-NIC chip (TiN): a cell switch (gnet_switch.h), an Ethernet side (ether.h), and the endpoint that turns
// packets into cells and back (tin_ip.c, tin_egress.c). See tin.c for the life of a packet in it.
#pragma once

#include "box/tin/gnet_switch.h"
#include "box/tin/tin_nic.h"
#include "box/tin/tin_rma.h"
#include "link/ether.h"
#include "transport/qp.h"

/// A list of slots of an array, oldest first. A slot is in one list.
struct weft__tin_list {
    uint32_t first, last; ///< WEFT_NONE: empty
};
struct weft__tin_link {
    uint32_t before, after;
};
/// `links`: of the array's first slot; that of each next slot is `stride` bytes further.
static inline struct weft__tin_link *weft__tin_link(struct weft__tin_link *links, size_t stride, uint32_t slot) {
    return (struct weft__tin_link *)((char *)links + slot * stride);
}
void weft__tin_append(struct weft__tin_list *list, struct weft__tin_link *links, size_t stride, uint32_t slot);
void weft__tin_remove(struct weft__tin_list *list, struct weft__tin_link *links, size_t stride, uint32_t slot);

/// A packet in the ingress buffer, announced to its egress. packet.port: the Ethernet port by which it arrived.
struct weft__tin_packet {
    struct weft_packet packet;
    weft_time_ps complete_ps;   ///< when its last bit arrives
    weft_time_ps since_ps;      ///< announced
    struct weft__tin_link link; ///< in the list of packets, or of free slots
    uint32_t to;                ///< TiN
    uint16_t use, fetch;        ///< fetch: the slot in the egress buffer that awaits it
    bool used, is_announced, is_asked_for;
};

/// How cells name a packet being fetched: its slot, and how often that has been used.
enum { WEFT__TIN_FETCH_BITS = WEFT__GNET_FETCH_BITS, WEFT__TIN_FETCH_USES = 1 << (16 - WEFT__TIN_FETCH_BITS) };
static inline uint32_t weft__tin_fetch_slot(const struct weft_packet *cell) {
    return weft__gnet_from(cell) & ((1u << WEFT__TIN_FETCH_BITS) - 1);
}

/// A packet being fetched, at its egress.
struct weft__tin_fetch {
    struct weft_packet packet;  ///< bytes: of its cells that have arrived
    weft_time_ps since_ps;      ///< asked for
    weft_time_ps joined_ps;     ///< its RTS joined the queue of RTSs
    struct weft__tin_link link; ///< in the list of incomplete ones, or of free slots
    uint32_t next;              ///< next fetch of its flow
    uint16_t bytes, port;       ///< bytes: of the frame
    uint8_t priority, flow;
    bool used, begun, whole;
    uint8_t use; ///< how often the slot has been used, which identifies cells of packets given up earlier
    // input of the last cell to finish crossing, among cells taken when they started to cross
    uint8_t last_in;
    uint16_t last_bytes;
    weft_time_ps last_ps;
};

enum { WEFT__TIN_FLOWS = 256 }; // flows of a port and priority are told apart by a hash; order holds within each

/// What waits to leave by a port.
struct weft__tin_port {
    struct weft__fifo rts[WEFT_PRIORITIES];
    weft_bytes rts_bytes[WEFT_PRIORITIES];
    uint8_t ready;                         ///< priorities with RTSs
    enum weft__gnet_endpoint endpoint;     ///< the kind of endpoint by which cells of its packets leave
    weft_bytes fetching_bytes;             ///< requested and not yet complete
    weft_bytes egress_bytes;               ///< requested and not yet sent
    struct weft_scheduler_state scheduler; ///< of CTSs
    uint32_t incoming;                     ///< slot of a frame whose last bit has not arrived; WEFT_NONE
    uint32_t head[WEFT__TIN_FLOWS], tail[WEFT__TIN_FLOWS]; ///< fetches of a flow in the order of their CTSs
};

/// The TiNs whose Ethernet link is the exit from the Clique on a shortest path to a host outside it.
struct weft__tin_exits {
    const uint16_t *tin;
    uint32_t n;
};

/// Where hosts are.
struct weft__tin_places {
    const uint16_t *tin_of_host;         ///< WEFT_TIN_NONE: not in this Clique
    const uint16_t *port_of_host;        ///< among the Ethernet ports of its TiN
    const uint16_t *port_out;            ///< [tins]: the Ethernet port that leads out; WEFT_TIN_NONE: there is none
    const uint32_t *class_of_host;       ///< for hosts outside the Clique: those of one switch are equivalent
    const struct weft__tin_exits *exits; ///< [state * classes + class]; states: of the links, in their order
    uint32_t classes;
};
/// From when on a TiN knows the exits of a state of the links; the first from the beginning.
struct weft__tin_egress {
    weft_time_ps from_ps;
    uint32_t state;
};

struct weft__tin {
    struct weft__gnet gnet;
    struct weft__ether ether;
    const uint16_t *slot; ///< of a port of the node: WEFT__TIN_ETHERNET + number of an Ethernet port, else a GNet port
    const struct weft_tin_conf *conf;
    const struct weft__hosts *hosts;
    const struct weft__tin_places *places;
    const struct weft__tin_egress *egress; ///< [egresses] still to come
    uint32_t egresses, exit_state;
    const struct weft_clique_absence *absence; ///< [absences] of the control processor of this TiN or another
    uint32_t absences;
    weft_time_ps punts_until_ps; ///< until when the control processor works on what it has
    struct weft__tin_port *port; ///< [ether.ports]
    struct weft_packet_pool *pool;
    // the ingress buffer
    struct weft__tin_packet *packet;
    uint32_t packets, packet_capacity;
    struct weft__tin_list announced, packet_free;
    weft_bytes ingress_bytes;
    // the egress buffer
    struct weft__tin_fetch *fetch;
    uint32_t fetches, fetch_capacity;
    struct weft__tin_list fetching, fetch_free;
    struct weft__tin_rma *rma;   ///< NULL: no 1RMA
    struct weft__tin_nics *nics; ///< NULL: no hosts share any
    // rarely used
    struct weft__trace *trace;
    uint32_t node_ports, port0;
    const bool *sampled;             ///< [node_ports] or NULL
    struct weft_gnet_depths *depths; ///< shared by the TiNs of a worker; NULL likewise
    struct weft__sampling sampling;
};

/// Notes that a followed data packet enters a stage. `psn`: its own, or what stands for it.
static inline void weft__tin_follow_stage(const struct weft__tin *tin, weft_time_ps now, const struct weft_packet *p,
                                          uint32_t psn, enum weft_packet_stage stage) {
    if (p->kind == WEFT_PACKET_DATA && weft__follow_has_qp(tin->gnet.follow_log, p->qp))
        weft__follow_note(tin->gnet.follow_log, now, WEFT_FOLLOWED_STAGE, stage, p->qp, psn);
}

enum { WEFT__TIN_ETHERNET = 0x8000, WEFT__TIN_L2_BYTES = 18 }; ///< Ethernet header and FCS, which are not carried

/// Timer keys: of an Ethernet port, then of the box, then of the cell switch.
enum { WEFT__TIN_KEY_COMPLETE = WEFT__ETHER_KEY_OWN, WEFT__TIN_KEY_NIC };
enum { WEFT__TIN_KEY_ANNOUNCED, WEFT__TIN_KEY_FETCHING, WEFT__TIN_KEY_SAMPLE, WEFT__TIN_KEYS };

static inline uint32_t weft__tin_key(const struct weft__tin *tin, uint32_t what) {
    return tin->ether.ports * WEFT__ETHER_KEYS_A_PORT + what;
}

struct weft__tin_setup {
    const struct weft__port_rows *rows;
    const struct weft_tin_conf *conf;
    const struct weft_switch_conf *ethernet;
    const struct weft__hosts *hosts;
    const struct weft__tin_places *places;
    const struct weft__tin_egress *egress;
    uint32_t egresses;
    const struct weft_clique_absence *absence;
    uint32_t absences;
    const struct weft_tin *topology;
    const struct weft__gnet_tables *tables;
    const struct weft__gnet_times *const *times; ///< [WEFT__GNET_RATES]
    uint8_t endpoint_rate;
    uint32_t self, who, node_ports;
    bool traces;            ///< cells are traced in its Clique
    const bool *hosts_port; ///< [node_ports]: it leads to a host; NULL: all ports do except those of GNet
    const bool *sampled;
    struct weft_gnet_depths *depths;
    struct weft_tin_histograms *seen; ///< of its worker
    struct weft__sampling sampling;
    uint64_t seed;
    struct weft_packet_pool *pool;
    bool lldp;
    uint32_t node, port0, events_max;
    const struct weft__tin_rma_setup *rma; ///< its clients and hosts; NULL: no 1RMA
    struct weft__tin_nics *nics;           ///< NULL: no hosts share any
    struct weft_arena *arena;
};
/// The caller connects ports and links. Initialises the node's timers.
struct weft__tin *weft__tin_new(const struct weft__tin_setup *setup, struct weft__node *node);
/// Fills in the counters of its ports, and adds its counts to the sum; to its transitions from `transition0`.
void weft__tin_finish(struct weft__tin *tin, weft_time_ps now, struct weft_tin_outcome *sum, uint32_t transition0);
void weft__tin_deinit(void *state);
weft_bytes weft__tin_held(const void *state);

static inline void weft__tin_count_ns(struct weft_histogram *h, weft_time_ps time) {
    weft_histogram_add(h, time / WEFT_PS_PER_NS);
}

/// "Low latency" or "bulk".
static inline uint32_t weft__tin_level(const struct weft__tin *tin, uint32_t priority) {
    return tin->conf->low_latency >> priority & 1 ? 0 : 1;
}

// tin_ip.c: packets that enter
/// A frame for the control processor; returns whether it takes the frame.
bool weft__tin_punt(struct weft__tin *tin, weft_time_ps now);
/// A frame's header arrived at p->time_ps; p->port: its number among the Ethernet ports.
void weft__tin_on_frame(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, struct weft_packet *p);
/// The last bit of the frame at Ethernet port `k` has arrived.
void weft__tin_on_complete(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t k);
/// A CTS or CTD arrived.
void weft__tin_on_clear(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                        const struct weft_packet *cell);
void weft__tin_forget(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w);

// tin_egress.c: packets that leave
void weft__tin_on_rts(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                      const struct weft_packet *cell);
/// A cell starts to cross to an endpoint; see weft__gnet.on_crossing.
uint32_t weft__tin_on_crossing(struct weft__tin *tin, const struct weft_packet *cell, uint32_t in, weft_time_ps end);
/// A packet leaves for the wire.
bool weft__tin_on_leaving(struct weft__node *node, struct weft__worker *w, uint32_t k, struct weft_packet *p);
void weft__tin_on_data(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w,
                       const struct weft_packet *cell);
/// Sends CTSs, as far as windows and pauses allow.
void weft__tin_grant(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w, uint32_t k);
void weft__tin_give_up(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w);
