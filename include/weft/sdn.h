// SPDX-License-Identifier: Apache-2.0
// The controller of a Clique: routing engine, network information base (NIB), flow manager, switch front-end and the
// firmware of TiNs, with the messages between them. Source: Gibson et al., "Aquila", NSDI'22, section 4; what it leaves
// open: src/control/clique/sdn.c.
#pragma once

#include "weft/gnet_routes.h"

enum weft_sdn_ordering {
    WEFT_SDN_SEQUENCED, ///< batches of the routing engine one after the other, groups before flows
    WEFT_SDN_GROUPS,    ///< everything in one batch, groups before flows
    WEFT_SDN_NONE,      ///< everything at once in any order
};
struct weft_sdn_conf {
    weft_time_ps detect_ps, latency_ps, nib_write_ps, nib_ps, call_ps, settle_ps, compute_ps, rpc_ps, op_ps, reboot_ps,
        connect_ps, read_ps, ibr_ps;
    weft_bytes sram_bytes, firmware_bytes, rpc_bytes, op_bytes;
    uint64_t outstanding, rate, shards, check_tins;
    uint32_t ordering; ///< enum weft_sdn_ordering
    bool nsf;
};
struct weft_param_table;
extern const struct weft_param_table weft_sdn_table;

enum weft_sdn_what {
    WEFT_SDN_LINKS,   ///< links go down or up: link[], up
    WEFT_SDN_CUT,     ///< the controller loses its session with a TiN
    WEFT_SDN_HEAL,    ///< it may connect again
    WEFT_SDN_REBOOT,  ///< firmware of a TiN starts again
    WEFT_SDN_CORRUPT, ///< an entry of a TiN becomes another
    WEFT_SDN_DCN,     ///< a TiN's link to the datacenter network goes down or up; tin WEFT_NONE: something beyond it
};
struct weft_sdn_event {
    weft_time_ps time_ps;
    enum weft_sdn_what what;
    uint32_t tin;
    bool up;
    const uint32_t *link; ///< LINKS: of the topology
    uint32_t links;
};
/// Messages between the controller's applications, the firmware of TiNs and the datacenter network: name, sender,
/// receiver, content. "exits" are routes out of the Clique.
#define WEFT_SDN_MESSAGES(X)                                                                                           \
    X(PORT_STATUS, port_status, "TiN", "front-end", "a port is down or up")                                            \
    X(PORT_WRITE, port_write, "front-end", "NIB", "ports")                                                             \
    X(PORT_NOTICE, port_notice, "NIB", "routing engine", "ports")                                                      \
    X(BATCH_WRITE, batch_write, "routing engine", "NIB", "a batch of flows and groups, or exits")                      \
    X(BATCH_NOTICE, batch_notice, "NIB", "flow manager", "a batch of flows and groups, or exits")                      \
    X(PROGRAM, program, "flow manager", "front-end", "sorted writes for a TiN")                                        \
    X(RPC, rpc, "front-end", "TiN", "writes, as many as fit")                                                          \
    X(ANSWER, answer, "TiN", "front-end", "they are in registers")                                                     \
    X(PROGRAMMED, programmed, "front-end", "flow manager", "a TiN is programmed")                                      \
    X(RESULT_WRITE, result_write, "flow manager", "NIB", "a TiN is programmed")                                        \
    X(RESULT_NOTICE, result_notice, "NIB", "routing engine", "a TiN is programmed")                                    \
    X(CONNECT, connect, "front-end", "TiN", "a session, and: what do registers hold")                                  \
    X(REGISTERS, registers, "TiN", "front-end", "what registers hold")                                                 \
    X(SPINE_STATUS, spine_status, "spine", "IBR controller", "a link of the datacenter is down or up")                 \
    X(EXIT_WRITE, exit_write, "IBR controller", "NIB", "exits by its share of the spines")                             \
    X(EXIT_NOTICE, exit_notice, "NIB", "routing engine", "exits by its share of the spines")
enum weft_sdn_message_kind {
#define X(kind, name, from, to, what) WEFT_SDN_##kind,
    WEFT_SDN_MESSAGES(X)
#undef X
        WEFT_SDN_MESSAGE_KINDS
};
struct weft_sdn_message_info {
    const char *name, *from, *to, *what;
};
extern const struct weft_sdn_message_info weft_sdn_message_info[WEFT_SDN_MESSAGE_KINDS];
struct weft_sdn_message {
    weft_time_ps sent_ps, arrives_ps;
    enum weft_sdn_message_kind kind;
    uint32_t who;   ///< TiN, or IBR controller, that it is from, to or about; WEFT_NONE: none
    uint32_t event; ///< after which it was sent
};
/// Messages of a kind after an event. Times: since the event, when the first and the last arrive.
struct weft_sdn_sent {
    uint64_t n;
    weft_time_ps first_ps, last_ps;
};

/// What came of an event before the next.
struct weft_sdn_outcome {
    weft_time_ps noticed_ps, computed_ps, done_ps; ///< since the event; 0: no such step
    uint32_t batches, tins;                        ///< tins: programmed
    uint64_t flows, groups;                        ///< of the routing engine, by class of ports; groups come and go
    uint64_t writes, rpcs;                         ///< of entries and groups in TiNs
    struct weft_sdn_sent sent[WEFT_SDN_MESSAGE_KINDS];
    uint64_t cut_pairs;  ///< TiNs that a cell to another might not reach any more, right after the event
    uint64_t left_pairs; ///< the same when all is done
    uint64_t holes; ///< times that a write did that to two TiNs that shall have a way: a black hole of a transition
    weft_time_ps restored_ps; ///< since the event, when the last such pair was well again; 0: there was none
    uint64_t repaired;        ///< entries and groups found other than meant, when a session was made again
    weft_time_ps session_ps;  ///< CUT, REBOOT: without a session
    double lost_ps;           ///< DCN: of what leaves the Clique, in time of all of it
};
/// Sizes of the state, as section 4.2 counts it.
struct weft_sdn_counts {
    uint64_t ip_addresses, ip_flows, ip_indexed; ///< one flow an address and TiN; one a subnet and TiN
    uint64_t gnet_naive, gnet_classes;           ///< one a port, or class of ports, VC, destination and TiN
    uint64_t gnet_flows, gnet_entries;           ///< of these those that lead somewhere: by class; by port
    uint64_t gnet_escapes;                       ///< the same for the two escape VCs, which no port tells apart
    uint64_t groups;                             ///< distinct sets of ports that flows name, of all TiNs
};
struct weft_sdn_result {
    struct weft_sdn_outcome *outcome; ///< [events]
    struct weft_sdn_counts counts;
    weft_bytes sram_most, rpc_most;         ///< in a TiN: firmware and RPCs; an RPC
    uint64_t overflows;                     ///< RPCs for which there was no memory
    const struct weft_sdn_message *message; ///< [messages] in the order in which they were sent
    uint32_t messages, messages_lost;       ///< lost: with the session that they belonged to
    bool checked;                           ///< every write was followed by a walk over all that it may change
    bool tampered; ///< registers were lost or changed, not by a write: then batches promise nothing
};

struct weft_sdn;
/// Everything is programmed when it begins. What it is given must outlive it.
struct weft_sdn *weft_sdn_new(const struct weft_topology *t, const struct weft_dragonfly *f,
                              const struct weft_gnet_conf *gnet, const struct weft_sdn_conf *conf, uint64_t seed);
void weft_sdn_free(struct weft_sdn *s);
/// In `arena`. Events by time.
struct weft_sdn_result *weft_sdn_run(struct weft_sdn *s, const struct weft_sdn_event *event, uint32_t events,
                                     struct weft_arena *arena);
/// Entries and groups in TiNs that are not what the NIB means them to be.
uint64_t weft_sdn_differences(const struct weft_sdn *s);
/// Counted from the tables. `ports` of a cell switch, of these so many for endpoints.
struct weft_sdn_counts weft_sdn_count(const struct weft_gnet_routes *r, uint64_t ports, uint64_t endpoints);
