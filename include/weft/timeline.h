// SPDX-License-Identifier: Apache-2.0
// The story that the events of a run tell (weft/event.h): which pause was caused by which, and the same events summed
// up as a tree that people can read. Ids are those of events, from 1.
#pragma once

#include "weft/error.h"
#include "weft/outcome.h"

/// A priority of a port from PAUSED to RESUMED, and its place in the pause-propagation tree.
struct weft_pause {
    uint32_t event, resumed; ///< resumed: 0 if it lasts
    uint32_t xoff;           ///< what its first frame was sent for; 0: unknown
    uint32_t by;             ///< the port that sent the frame; WEFT_NONE: unknown
    uint32_t frames;         ///< received with a time above 0
    uint32_t parent;         ///< the pause that filled that ingress buffer, by its place in the list, or WEFT_NONE
    uint32_t depth;          ///< pauses above it
    uint32_t root; ///< id where the chain of causes ends: what is congested, or an XOFF without a cause, a message; 0
};
/// All pauses among `n` events in their order, `ports` numbered from 0. In `arena`.
struct weft_pause *weft_pauses_list(const struct weft_event *event, uint32_t n, uint32_t ports,
                                    struct weft_arena *arena, uint32_t *ret_pauses);

/// X(enumerator, name, meaning)
#define WEFT_STORIES(X)                                                                                                \
    X(FLOW, "flow", "a flow from start to finish")                                                                     \
    X(CLASSIFIED, "classified", "a DSCP's first packet at an egress queue")                                            \
    X(QUEUE, "queue", "an egress queue above WRED's thresholds, marking, or holding up an ingress buffer")             \
    X(PAUSE, "pause", "an ingress buffer above XOFF and the pauses of the peer")                                       \
    X(RATE, "rate", "CNPs for a flow and what congestion control makes of them")                                       \
    X(SFC, "sfc", "messages to the source of a flow to pause")                                                         \
    X(DROP, "drop", "packets dropped")                                                                                 \
    X(STORM, "storm", "a PFC storm")                                                                                   \
    X(LINK, "link", "a link that goes down and up")                                                                    \
    X(AGREEMENT, "agreement", "a port's lossless priorities, as agreed with its neighbour")                            \
    X(CELLS, "cells", "cells lost")                                                                                    \
    X(RMA, "rma", "1RMA requests handed back to software, of a host")                                                  \
    X(PURGE, "purge", "a VOQ emptied by the credit watchdog")                                                          \
    X(THROTTLE, "throttle", "a DSF interface node that grants credits more slowly")                                    \
    X(STOP, "stop", "a fabric link stopped by its far end")
enum weft_story_kind {
#define X(e, name, help) WEFT_STORY_##e,
    WEFT_STORIES(X)
#undef X
        WEFT_STORY_KINDS
};
extern const char *const weft_story_names[WEFT_STORY_KINDS];

/// Events of one sort at one place with one cause, summed up.
struct weft_story {
    enum weft_story_kind kind;
    uint32_t port;    ///< QUEUE: egress; PAUSE: the one above XOFF; STOP: the far end; else of the first event
    uint32_t paused;  ///< PAUSE: the peer; WEFT_NONE: no frame has come
    uint8_t priority; ///< or WEFT_EVENT_NO_PRIORITY
    uint8_t detail;   ///< of the first event
    uint32_t flow;    ///< FLOW, RATE; else of the first event
    uint32_t first;   ///< id of its first event
    uint32_t events;
    weft_time_ps from_ps, until_ps; ///< until: of the last event
    uint32_t times;                 ///< begun: pauses, drops, cuts, storms, downs, rises above WRED's min
    uint32_t over;                  ///< and ended
    weft_time_ps total_ps, longest_ps;
    weft_bytes bytes_max; ///< QUEUE, PAUSE: at an event; DROP, CELLS, PURGE: bytes
    uint64_t count; ///< PAUSE: frames; QUEUE: packets marked; DROP: packets; CELLS: cells; RATE: CNPs received; SFC:
                    ///< messages; AGREEMENT: priorities; PURGE: port without credit; THROTTLE: highest level
    // PAUSE
    uint32_t xoffs, by_time, ignored; ///< XOFFs; pauses that ended by time; frames that the peer did not obey
    // QUEUE
    weft_time_ps above_ps[WEFT_EVENT_THRESHOLDS], below_ps[WEFT_EVENT_THRESHOLDS]; ///< first and last; never
    weft_bytes threshold[WEFT_EVENT_THRESHOLDS];
    weft_time_ps marked_from_ps, marked_until_ps;
    uint32_t flows_marked;
    uint32_t congested, congestions; ///< id of the first; how many
    // RATE
    weft_rate_bps rate_bps, rate_bps_min, rate_bps_before; ///< last known, least, before the first cut
    uint32_t raises;
    struct weft_story *parent, *child, *last, *next; ///< children by the time of their first event
    struct weft_story *alike;                        ///< the one before with the same kind and place
};
/// The tree of those events that `keep` chooses ([n], by id - 1; NULL: all); the root itself holds no event. A chain of
/// causes that comes back to where it was (a cycle of pauses) is folded at that place. In `arena`.
struct weft_story *weft_story_new(const struct weft_event *event, uint32_t n, uint32_t ports, uint32_t flows,
                                  const bool *keep, struct weft_arena *arena);

/// A recorded run as weft_report_sqlite wrote it.
struct weft_timeline {
    const char *scenario, *variant;
    const char *const *variants_there; ///< [runs]: of all runs in the folder
    uint32_t runs;
    const char *stall; ///< who waits for whom at the end; "": the run did not stall
    weft_time_ps sim_time_ps;
    uint64_t unrecorded;
    weft_time_ps unrecorded_ps;
    uint32_t ports, flows, events, settings;
    struct weft_timeline_port {
        const char *name, *node, *peer; ///< peer: node at the other end
        uint32_t peer_port;
        weft_rate_bps rate_bps;
    } * port;
    struct weft_timeline_flow {
        const char *group, *src, *dst;
    } * flow;
    struct weft_event *event;       ///< `node` is not filled in
    struct weft_counters *counters; ///< by port, then priority: weft_timeline_at
    struct weft_timeline_setting {
        const char *path, *value;
    } * setting; ///< the configuration in force, by path
};
static inline struct weft_counters *weft_timeline_at(const struct weft_timeline *timeline, uint32_t port,
                                                     uint32_t priority) {
    return &timeline->counters[(size_t)port * WEFT_PRIORITIES + priority];
}
/// Reads DIR/results.sqlite. `variant`: NULL for the first run in it. In `arena`.
enum weft_status weft_timeline_read(const char *dir, const char *variant, struct weft_arena *arena,
                                    struct weft_timeline *ret_timeline, struct weft_error *ret_error);
/// The value in force at a node ("switch.buffer.xoff"), NULL if there is none.
const char *weft_timeline_setting(const struct weft_timeline *timeline, const char *node, const char *path);
