// SPDX-License-Identifier: Apache-2.0
// FSDB among the interface nodes of a DSF fabric: each subscribes to the state of every other (system ports,
// interfaces, IPv6 neighbours), and forwards to hosts behind it by that state. A subscription is a function of
// the messages it receives, with the time as an argument. Source: FBOSS (DsfSubscriber, DsfSubscription); differences:
// src/control/dsf/fsdb.c.
#pragma once

#include "weft/random.h"

struct weft_arena;

struct weft_fsdb_conf {
    weft_time_ps connect_timeout_ps, receive_timeout_ps, heartbeat_ps, chunk_timeout_ps, hold_ps, retry_ps;
    weft_time_ps latency_ps, serve_ps, publish_ps, detect_ps;
    uint64_t system_ports, interfaces, neighbours; ///< of an interface node
    bool cold_start;                               ///< time 0 is the start of all nodes, which know nothing
};
struct weft_param_table;
extern const struct weft_param_table weft_fsdb_table;

enum weft_fsdb_state {
    WEFT_FSDB_IDLE,       ///< until it tries again
    WEFT_FSDB_CONNECTING, ///< asked; no answer yet
    WEFT_FSDB_SYNCING,    ///< connected; the whole state is to come
    WEFT_FSDB_CONNECTED,
};
/// What is known of the other node.
enum weft_fsdb_data {
    WEFT_FSDB_NOTHING,
    WEFT_FSDB_LIVE,
    WEFT_FSDB_HELD,  ///< the session is lost; kept for the graceful restart hold time
    WEFT_FSDB_STALE, ///< its neighbours are flushed, its system ports and interfaces marked stale
};
struct weft_fsdb_subscription {
    enum weft_fsdb_state state;
    enum weft_fsdb_data data;
    weft_time_ps deadline_ps; ///< of the state
    weft_time_ps hold_ps;     ///< until when data are held
    uint32_t version;         ///< of the other's state, last received
};

/// Forwards to hosts behind the other node.
static inline bool weft_fsdb_knows(const struct weft_fsdb_subscription *s) {
    return s->data == WEFT_FSDB_LIVE || s->data == WEFT_FSDB_HELD;
}

/// The subscription wants to connect: the caller does it, and tells how it went. All functions return whether so.
/// What is known of the other node from before is kept for the graceful restart hold time.
bool weft_fsdb_start(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now);
void weft_fsdb_on_connected(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now);
/// The whole state of the other at first, changes later; a heartbeat: the version it had.
void weft_fsdb_on_state(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now,
                        uint32_t version);
/// Refused, closed or reset by the other.
void weft_fsdb_on_disconnected(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now);
/// Something may be due.
bool weft_fsdb_on_time(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now);
/// When on_time is to be called next.
weft_time_ps weft_fsdb_due(const struct weft_fsdb_subscription *s);

/// What happens to nodes.
enum weft_fsdb_what {
    WEFT_FSDB_CRASH,   ///< its agent stops; its sessions are reset
    WEFT_FSDB_RESTART, ///< it runs again, and knows nothing
    WEFT_FSDB_CUT,     ///< nodes of `side` and the others no longer reach each other, and no session is closed
    WEFT_FSDB_HEAL,
    WEFT_FSDB_MOVE, ///< a host moves from `node` to `to`
};
struct weft_fsdb_event {
    weft_time_ps time_ps;
    enum weft_fsdb_what what;
    uint32_t node, to;
    const bool *side; ///< [nodes]
};
/// What came of an event before the next.
struct weft_fsdb_outcome {
    uint32_t lost, established, flushed; ///< sessions lost and made; nodes whose neighbours a node flushed
    weft_time_ps lost_last_ps, established_last_ps, flushed_last_ps; ///< times of the last; 0: none
    uint32_t told;                                                   ///< MOVE: nodes that know where the host is now
    weft_time_ps told_last_ps;
    uint64_t connects, states, changes; ///< messages: attempts, whole states, changes
};
/// For the data plane: from then on `node` forwards to hosts behind `of`, or no longer.
struct weft_fsdb_change {
    weft_time_ps time_ps;
    uint32_t node, of;
    bool known;
};
struct weft_fsdb_result {
    uint64_t sessions; ///< that there are when all is well
    double heartbeats_per_s;
    uint64_t objects;           ///< that a node keeps of others
    weft_time_ps first_full_ps; ///< from a start of all nodes at once to all sessions
    uint64_t first_messages;
    struct weft_fsdb_outcome *outcome; ///< [events]
    uint32_t changes;
    struct weft_fsdb_change *change; ///< by time, counted as those of events are
};
/// Starts all nodes, and runs events. Time 0 of events is when all subscriptions are in sync (conf->cold_start: when
/// nodes start without any state). In `arena`.
struct weft_fsdb_result *weft_fsdb_run(const struct weft_fsdb_conf *conf, uint32_t nodes,
                                       const struct weft_fsdb_event *event, uint32_t events, uint64_t seed,
                                       struct weft_arena *arena);
