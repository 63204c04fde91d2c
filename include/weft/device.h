// SPDX-License-Identifier: Apache-2.0
// Configuration of the boxes: the Ethernet switch and the RDMA NIC.
#pragma once

#include "weft/cc.h"
#include "weft/packet.h"

/// Priority-based flow control, IEEE 802.1Q clause 36 and 802.1Qbb; the same at switches and NICs.
struct weft_pfc_conf {
    uint8_t priorities;       ///< lossless priorities; 0 turns PFC off
    uint64_t quanta;          ///< in a pause frame; a quantum is 512 bit times of the link
    uint32_t lasts;           ///< enum weft_pfc_lasts, of a pause received
    double refresh;           ///< send the pause again after this part of its duration
    weft_time_ps reaction_ps; ///< from the last bit of a pause frame to the stop; NEVER: weft_pfc_calc_reaction
    weft_time_ps watchdog_ps; ///< paused this long without a break while packets wait: a storm; never: off
    uint32_t watchdog_action; ///< enum weft_pfc_watchdog
    weft_time_ps restore_ps;  ///< no pause received for this long ends the storm
};
enum weft_pfc_lasts { WEFT_PFC_LASTS_QUANTA, WEFT_PFC_LASTS_UNTIL_RESUME };
enum weft_pfc_watchdog { WEFT_PFC_WATCHDOG_ALERT, WEFT_PFC_WATCHDOG_DROP, WEFT_PFC_WATCHDOG_FORWARD };
extern const struct weft_param_table weft_pfc_table;
extern const char *const weft_pfc_reaction_words[]; ///< for a time that may be left to weft_pfc_calc_reaction
/// `configured`, unless that is WEFT_TIME_NEVER: then what IEEE 802.3 allows at this rate.
weft_time_ps weft_pfc_calc_reaction(weft_time_ps configured, weft_rate_bps rate);

/// What a frame costs on the wire of the ports that send it; the same at switches and NICs.
struct weft_wire_conf {
    weft_bytes overhead_bytes; ///< preamble and gap of each frame
    weft_bytes pause_bytes;    ///< frame of a pause
    uint32_t serialisation;    ///< enum weft_serialisation
};
enum weft_serialisation { WEFT_SERIALISATION_EXACT, WEFT_SERIALISATION_WHOLE_NS };
extern const struct weft_param_table weft_wire_table;
/// Whether it is that of IEEE 802.3.
static inline bool weft_wire_is_standard(const struct weft_wire_conf *c) {
    return c->overhead_bytes == WEFT_WIRE_OVERHEAD && c->pause_bytes == WEFT_FRAME_MIN &&
           c->serialisation == WEFT_SERIALISATION_EXACT;
}
/// Time on the wire of `time`, without rounding of bytes.
static inline weft_time_ps weft_wire_round(const struct weft_wire_conf *c, weft_time_ps time) {
    return c->serialisation == WEFT_SERIALISATION_WHOLE_NS ? time - time % 1000 : time;
}

enum weft_forwarding { WEFT_STORE_AND_FORWARD, WEFT_CUT_THROUGH };

/// By what a switch tells a frame's priority.
enum weft_trust { WEFT_TRUST_DSCP, WEFT_TRUST_PCP };

struct weft_switch_conf {
    const char *chip;           ///< its class of hardware (weft/hardware.h)
    weft_time_ps processing_ps; ///< fixed delay from the last bit received to the buffer
    double clock_ppm;           ///< how much the box's clock is off, at most
    uint32_t forwarding;        ///< enum weft_forwarding
    uint64_t packet_rate;       ///< packets a second of the chip at most; 0: no limit
    uint64_t pipes;             ///< parts of the chip that share it
    uint64_t fabric_patience;   ///< see switch.c; 0: without end
    double fabric_speedup;      ///< how much faster than its line an input feeds the crossbar (IQ, VOQ)
    struct weft_model_conf queueing, arbiter, scheduler, buffer, aqm, route;
    uint8_t aqm_priorities; ///< priorities under AQM
    uint32_t trust;         ///< enum weft_trust
    uint8_t dscp_map[64];
    uint64_t pcp_map[WEFT_PRIORITIES];
    struct weft_pfc_conf pfc;
    struct weft_wire_conf wire;
    uint32_t preset; ///< of weft_switch_table
    struct weft_model_conf sfc, retry, credit;
    bool sfc_proxy; ///< turns source flow control messages to hosts that do not understand them into pause frames
};
extern const struct weft_param_table weft_switch_table;

/// The priority of an arriving frame: by its code point, or by its tag, which carries the priority of the last hop.
static inline uint32_t weft_switch_priority(const struct weft_switch_conf *c, const struct weft_packet *p) {
    return (__builtin_expect(c->trust == WEFT_TRUST_PCP, 0) ? (uint32_t)c->pcp_map[p->priority]
                                                            : c->dscp_map[p->dscp]) &
           7u;
}

/// Which queue pairs a source flow control message pauses: the one it names, all to the same destination host, or all
/// of the same priority.
enum weft_sfc_scope { WEFT_SFC_FLOW, WEFT_SFC_DESTINATION, WEFT_SFC_PRIORITY };

/// How a NIC chooses UDP source ports: drawn per queue pair, drawn once per pair of hosts, or numbered per queue pair.
enum weft_source_port { WEFT_SOURCE_PORT_QUEUE_PAIR, WEFT_SOURCE_PORT_HOST_PAIR, WEFT_SOURCE_PORT_NUMBERED };

/// How host h of several equal networks attaches: one NIC per network, or one NIC with a port in each, chosen per queue
/// pair or per packet.
enum weft_planes { WEFT_PLANES_SEPARATE, WEFT_PLANES_QUEUE_PAIR, WEFT_PLANES_PACKET };

/// When a new rate takes effect: at once (the remaining wait is rescaled) or after the next packet.
enum weft_pace_change { WEFT_PACE_AT_ONCE, WEFT_PACE_NEXT_PACKET };

/// What a queue pair sends in its turn: a packet, or the rest of its message.
enum weft_arbitration { WEFT_ARBITRATE_PACKETS, WEFT_ARBITRATE_MESSAGES };

/// RDMA in UDP over IPv4, or behind a global route header in Ethernet.
enum weft_roce { WEFT_ROCE_V2, WEFT_ROCE_V1 };

struct weft_host_conf {
    const char *nic;            ///< its class of hardware (weft/hardware.h)
    uint64_t mtu_bytes;         ///< payload of a full packet
    weft_time_ps processing_ps; ///< from the last bit received to the NIC's reaction
    double clock_ppm;           ///< how much the NIC's clock is off, at most
    double jitter;              ///< deviation of the logarithm of a message's latency
    weft_time_ps stall_ps;      ///< mean, of a message that stalls
    double stall_chance;        ///< of a message
    double idle; ///< share of the time in which a NIC with data to send does not send, stall_ps at a time
    struct weft_model_conf transport, cc, scheduler, retry, credit;
    weft_bytes window_bytes;            ///< payload in flight of a queue pair at most; 0: none
    uint64_t dscp[WEFT_PRIORITIES];     ///< that packets of each priority are sent with
    weft_time_ps send_latency_ps;       ///< from posting until the first bit may leave
    weft_time_ps receive_latency_ps;    ///< from the last bit until the host sees the data
    weft_time_ps completion_latency_ps; ///< from that of the acknowledgement until the host sees the completion
    weft_time_ps post_cost_ps;          ///< of the host's thread, per request
    weft_time_ps pcie_round_trip_ps;    ///< of a fetch on demand
    weft_rate_bps pcie_rate_bps;        ///< of payload that the NIC fetches; 0: never the bottleneck
    uint64_t packet_rate;               ///< most data packets a second; 0: no limit
    weft_time_ps work_request_ps;       ///< that one takes
    weft_time_ps work_request_qp_ps;    ///< from one of a queue pair to its next
    weft_rate_bps drain_rate_bps;       ///< of the host behind the NIC (PCIe); 0: never the bottleneck
    weft_time_ps launch_ps;             ///< median, of a collective that finds its communicator idle
    double launch_skew;                 ///< of the logarithm
    weft_time_ps drain_slow_every_ps, drain_slow_ps; ///< its slow phases: period, never: none; length
    weft_rate_bps drain_slow_bps;                    ///< its rate in a slow phase
    weft_rate_bps drain_slow_below_bps;              ///< no slow phase if the NIC sends at this rate or more
    weft_bytes rx_buffer_bytes, rx_xoff_bytes, rx_xon_bytes;
    weft_bytes rx_resume_bytes;   ///< after a discard, nothing is accepted above this
    bool rx_cnp;                  ///< data that finds more than rx_xoff_bytes counts as marked
    uint32_t roce;                ///< enum weft_roce
    uint64_t vlan;                ///< that frames are tagged with; 0: none
    bool ecn;                     ///< data packets are sent ECN-capable
    uint32_t source_port;         ///< enum weft_source_port
    uint32_t pace_change;         ///< enum weft_pace_change
    uint32_t arbitration;         ///< enum weft_arbitration
    weft_bytes data_header_bytes; ///< of a data packet; 0: those of RoCE
    weft_bytes ack_bytes;         ///< frame of an ACK or NAK; 0: that of RoCE
    weft_bytes cnp_bytes;         ///< frame of a CNP; 0: that of RoCE
    uint32_t preset;              ///< of weft_host_table
    struct weft_wire_conf wire;
    struct weft_pfc_conf pfc;
    bool sfc;                ///< understands source flow control messages
    uint32_t sfc_scope;      ///< enum weft_sfc_scope
    uint32_t planes;         ///< enum weft_planes
    uint64_t plane_timeouts; ///< timeouts in a row after which a queue pair moves to the next plane
};
/// Whether its frames have sizes or a wire of their own.
static inline bool weft_host_has_own_frames(const struct weft_host_conf *c) {
    return !weft_wire_is_standard(&c->wire) || c->data_header_bytes || c->ack_bytes || c->cnp_bytes;
}
extern const struct weft_param_table weft_host_table;

/// Whether something about such hosts is drawn: how far clocks are off, how long messages and launches take.
static inline bool weft_host_jitters(const struct weft_host_conf *c) {
    return c->clock_ppm > 0 || c->jitter > 0 || c->stall_ps || (c->launch_ps && c->launch_skew > 0);
}

/// Its data packets collect telemetry.
static inline bool weft_host_collects(const struct weft_host_conf *c) {
    return c->cc.model && ((const struct weft_cc_ops *)c->cc.model->ops)->telemetry_bytes;
}

/// Room for telemetry in each of its frames; 0: they collect none.
static inline uint32_t weft_host_telemetry_bytes(const struct weft_host_conf *c) {
    if (!weft_host_collects(c)) return 0;
    return (uint32_t)((const struct weft_cc_ops *)c->cc.model->ops)->telemetry_bytes(c->cc.conf);
}

/// What the host's frames have more than those of untagged RoCEv2, whose sizes are in packet.h.
static inline uint32_t weft_host_framing_bytes(const struct weft_host_conf *c) {
    return (c->roce == WEFT_ROCE_V1 ? WEFT_FRAME_GRH : 0u) + (c->vlan ? WEFT_FRAME_TAG : 0u) +
           weft_host_telemetry_bytes(c);
}

/// LLDP with DCBX, IEEE 802.1AB and 802.1Q clause 38; the same at switches and NICs. What is said of PFC is
/// pfc.priorities, what is said of bandwidth follows from the scheduler.
enum weft_dcbx_version { WEFT_DCBX_VERSION_IEEE, WEFT_DCBX_VERSION_CEE, WEFT_DCBX_VERSION_BOTH };
struct weft_dcbx_conf {
    bool enabled, willing;
    uint32_t version; ///< enum weft_dcbx_version
    weft_time_ps interval_ps, ttl_ps;
    uint64_t capability; ///< priorities that can have PFC at once
    const char *apps;    ///< see weft_dcbx_apps_parse
};
extern const struct weft_param_table weft_dcbx_table;
