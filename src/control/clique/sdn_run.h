// SPDX-License-Identifier: Apache-2.0
// A Clique with its controller, between weft_sdn_new and weft_sdn_free.
#pragma once

#include "control/agenda.h"
#include "control/clique/sdn_plan.h"
#include "control/clique/sdn_walk.h"
#include "weft/random.h"

enum weft__sdn_kind { WEFT__SDN_GROUP_ADD, WEFT__SDN_FLOW, WEFT__SDN_GROUP_DEL, WEFT__SDN_EGRESS };
/// A write to a TiN.
struct weft__sdn_op {
    uint32_t kind, column, row, group; ///< row: of the programmed tables; EGRESS: group is the event's number + 1
    bool last;                         ///< last of its RPC
};

/// What is due besides the arrival of messages, whose kinds come first.
enum {
    WEFT__SDN_DUE_EVENT = WEFT_SDN_MESSAGE_KINDS,
    WEFT__SDN_DUE_PORT,    ///< the firmware notices that a port is down or up
    WEFT__SDN_DUE_SPINE,   ///< a spine notices it
    WEFT__SDN_DUE_COMPUTE, ///< reports are gathered
    WEFT__SDN_DUE_SOLVED,
    WEFT__SDN_DUE_EXITS, ///< an inter-block routing controller has finished
    WEFT__SDN_DUE_WRITE,
    WEFT__SDN_DUE_CONNECT,
    WEFT__SDN_DUE_BOOTED,
    WEFT__SDN_DUE_SEND, ///< the rate limit allows it
};
#define WEFT__SDN_NO_SESSION UINT64_MAX ///< data of items that do not end with the session of a TiN

/// What the flow manager may ask of the front-end for a TiN.
enum { WEFT__SDN_BATCH, WEFT__SDN_EXITS, WEFT__SDN_ASKED };

/// The session of a TiN at the switch front-end, and its firmware.
struct weft__sdn_session {
    struct weft__sdn_op *op;                         ///< [capacity] from confirmed on
    uint32_t n, capacity;                            ///< n: sorted by the flow manager
    uint32_t given, sent, there, written, confirmed; ///< each is at most the previous one; given: to the front-end
    uint32_t rpcs, life;                             ///< RPCs in flight; sessions so far
    bool connected, rebooting, allowed;
    bool asked[WEFT__SDN_ASKED]; ///< not all confirmed yet
    bool writing;
    weft_time_ps next_ps, lost_ps; ///< by the rate limit; when the session was lost
    bool *present, *expected;      ///< [groups capacity]: in the TiN; after everything sent is written
    uint32_t presents;             ///< their size
    uint32_t *refs;                ///< [presents]: flows of the NIB that refer to the group
    uint32_t egress, egress_sent;  ///< version of the egress paths: written; sent
};

/// What is written, recorded for runs.
struct weft__sdn_record {
    weft_time_ps time_ps;
    uint32_t tin;
    struct weft__sdn_op op;
};
/// A solution for which all TiNs have been programmed, without a report meanwhile.
struct weft__sdn_solved {
    weft_time_ps time_ps;
    struct weft_gnet_routes *routes;
};
struct weft__sdn_recorder {
    struct weft__sdn_record *record;
    uint32_t n, capacity;
    struct weft__sdn_solved *solved;
    uint32_t solveds, solved_capacity;
    struct weft_gnet_routes *routes; ///< of the plan being made or programmed
    struct weft__sdn_before {        ///< state of a TiN before the first write; NULL: nothing was written
        uint32_t *entry;             ///< [columns * rows]
        bool *present;               ///< [presents]
        uint32_t presents;
    } * before;       ///< [tins]
    uint32_t columns; ///< then
};

struct weft_sdn {
    const struct weft_topology *t;
    const struct weft_dragonfly *f;
    const struct weft_gnet_conf *gnet;
    const struct weft_sdn_conf *conf;
    struct weft_arena *arena;
    struct weft__sdn_wiring *wiring;
    struct weft__sdn_columns columns;
    struct weft__sdn_groups groups;
    struct weft__sdn_tables meant;     ///< the NIB's, by class
    struct weft__sdn_tables expected;  ///< at the switch front-end: after everything sent is written
    struct weft__sdn_tables tables;    ///< in the TiNs
    struct weft__sdn_session *session; ///< [tins]
    struct weft_random random;
    struct weft__agenda agenda;
    uint32_t (*end)[2];            ///< [links] TiNs
    bool *down, *reported, *known; ///< [links]: real state; as known to the front-end, and to the routing engine
    uint64_t *up_known, *up_real, *up_before; ///< [tins]: ports of the plan; real ones; before the last change
    // routing engine
    bool *kept; ///< [tins * tins], by destination and source: the plan has a path; NULL: not needed
    struct weft__sdn_plan plan;
    uint32_t batch, waiting;          ///< the current batch, 0: none; TiNs that it waits for
    bool gathering, stale;            ///< a computation is due; something was reported since the plan was made
    uint32_t egress_down, egress_all; ///< TiNs without and with a link to the DCN
    uint32_t *exits;                  ///< [events]: shares of new exits that have arrived
    bool *programmed;                 ///< [tins]: since the event
    // where results of the event go
    struct weft_sdn_outcome *now_outcome, none;
    const struct weft_sdn_event *event;
    struct weft_sdn_outcome *outcome;
    uint32_t now_event;
    weft_time_ps event_ps;
    struct weft_sdn_result *result;
    struct weft_sdn_message *message; ///< [message_capacity]
    uint32_t message_capacity;
    // walks over the links of the plan, and over the existing links
    struct weft__sdn_walk walk_known, walk_real;
    bool **present; ///< [tins]
    uint64_t lost_pairs;
    struct weft__sdn_recorder *recorder; ///< NULL: not recorded
};

/// Notes something of the session of a TiN, unless it is lost before.
void weft__sdn_note(struct weft_sdn *s, weft_time_ps time, uint32_t kind, uint32_t tin, uint32_t what);
/// A message; one that is lost with the session of a TiN; one about a port, which belongs to the session if it is from
/// the TiN.
void weft__sdn_tell(struct weft_sdn *s, weft_time_ps now, enum weft_sdn_message_kind kind, weft_time_ps takes,
                    uint32_t who, uint32_t what);
void weft__sdn_tell_tin(struct weft_sdn *s, weft_time_ps now, enum weft_sdn_message_kind kind, weft_time_ps takes,
                        uint32_t tin, uint32_t what);
void weft__sdn_tell_port(struct weft_sdn *s, weft_time_ps now, enum weft_sdn_message_kind kind, weft_time_ps takes,
                         uint32_t tin, uint32_t link, bool down);
/// A write into the NIB, with what its subscriber must know; the write has arrived.
void weft__sdn_publish(struct weft_sdn *s, weft_time_ps now, enum weft_sdn_message_kind write, uint32_t who,
                       uint32_t what, uint32_t round);
void weft__sdn_at_nib(struct weft_sdn *s, const struct weft__due *write);
void weft__sdn_keep_messages(struct weft_sdn *s, struct weft_arena *arena);
void weft__sdn_messages_deinit(struct weft_sdn *s);

/// An item due at the front-end or in the firmware of a TiN.
void weft__sdn_at_front_end(struct weft_sdn *s, const struct weft__due *due);
void weft__sdn_lose_session(struct weft_sdn *s, weft_time_ps now, uint32_t tin);
/// The controller tries to connect again and again, at times of its own.
void weft__sdn_try_to_connect(struct weft_sdn *s, weft_time_ps now, uint32_t tin);
void weft__sdn_reboot(struct weft_sdn *s, weft_time_ps now, uint32_t tin);

/// Compares the intended state of a TiN with its registers and queues the differences before everything else to be
/// sent. Returns how many writes that takes.
uint32_t weft__sdn_reconcile(struct weft_sdn *s, uint32_t tin);
/// Makes room for numbers of groups.
void weft__sdn_session_grow(struct weft_sdn *s, uint32_t tin);
void weft__sdn_queue(struct weft_sdn *s, uint32_t tin, struct weft__sdn_op op);
/// The writes of a batch, for all TiNs, in the flow manager's order; they go to the front-end.
void weft__sdn_sort_batch(struct weft_sdn *s, weft_time_ps now, uint32_t first, uint32_t end);
/// The last writes queued for a TiN go to the front-end.
void weft__sdn_ask(struct weft_sdn *s, weft_time_ps now, uint32_t tin, uint32_t what, uint32_t ops);
/// In the arena of `s`, and freed with it. Call it before weft_sdn_run.
struct weft__sdn_recorder *weft__sdn_record(struct weft_sdn *s);
/// Called before something is written.
void weft__sdn_note_write(struct weft_sdn *s, weft_time_ps now, uint32_t tin, struct weft__sdn_op op);
/// A plan has been made, and owns the routes from now on; it is programmed.
void weft__sdn_note_plan(struct weft_sdn *s, struct weft_gnet_routes *routes);
void weft__sdn_note_solved(struct weft_sdn *s, weft_time_ps now);
void weft__sdn_recorder_deinit(struct weft_sdn *s);
/// A write at a TiN takes effect.
void weft__sdn_write(struct weft_sdn *s, weft_time_ps now, uint32_t tin, struct weft__sdn_op op);
/// Something other than a write has changed the entries or groups of a TiN.
void weft__sdn_look(struct weft_sdn *s, weft_time_ps now, uint32_t tin);
/// Ports of `up_known` or `up_real` have changed; gives their previous state.
void weft__sdn_look_at_ports(struct weft_sdn *s, weft_time_ps now, struct weft__sdn_walk *walk, const uint64_t *before);
