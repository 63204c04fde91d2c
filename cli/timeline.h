// SPDX-License-Identifier: Apache-2.0
// What the parts of `weft timeline` share.
#pragma once

#include <stdio.h>

#include "base/stream.h"
#include "base/units.h"
#include "weft/result.h"
#include "weft/timeline.h"

/// Pauses of one place that have the same cause.
struct timeline_reason {
    const char *by, *because_of; ///< ports: that sent the frames, NULL: its record is incomplete; where the causes end
    const char *root_kind;       ///< of the event where they end: "congested", "xoff", ...; NULL: unknown
    uint32_t by_port, root_port, root, times;
    weft_time_ps total_ps;
};
enum { TIMELINE_REASONS_MAX = 16 };

/// Why a port was paused.
struct timeline_why {
    const char *port;
    uint32_t priority, pauses, reasons;
    weft_time_ps paused_ps, duration_ps; ///< of all pauses, and of the chosen one
    struct timeline_reason *reason;      ///< [reasons]: most paused time first
    const struct weft_pause *chosen;
};

/// Why it was not.
struct timeline_why_not {
    const char *port, *peer_port, *reason, *text; ///< reason: a word for programs
    uint32_t priority;
    weft_bytes ingress_bytes_max;
};

/// A recorded run and the question about it: the subject of the answer.
struct timeline_view {
    struct weft_timeline t;
    FILE *out;
    uint32_t limit;                 ///< siblings shown; 0: all
    bool classified;                ///< say which queues first packets joined
    const bool *keep;               ///< [events]; NULL: all
    const struct weft_story *root;  ///< NULL: --why, --why-not
    bool story, events;             ///< which of the lists the answer has
    const struct timeline_why *why; ///< NULL: not asked
    const struct timeline_why_not *why_not;
    weft_time_ps at_ps; ///< --at; never: the longest pause is asked for
    struct weft_arena *arena;
};

extern const struct weft_answer weft__answer_timeline;

/// Places in words, for one expression: timeline_port(v, 3, "to").text.
struct timeline_text {
    char text[160];
};
struct timeline_text timeline_priorities(uint64_t mask);                                          ///< "3,4", "none"
struct timeline_text timeline_port(const struct timeline_view *v, uint32_t port, const char *to); ///< "leaf-0/4 to x"
struct timeline_text timeline_flow(const struct timeline_view *v, uint32_t flow); ///< "flow 3, host-3 to host-4"

/// The description of an event, without its time.
void timeline_event_text(const struct timeline_view *v, uint32_t id, FILE *file);
/// The queue pairs that fill a congested queue: "flow 2, a to b (50%), ..."; nothing if none is known.
void timeline_filled_by(const struct timeline_view *v, uint32_t congested, FILE *file);

/// Whether it is an XOFF of a NIC's receive buffer, not of a switch.
static inline bool timeline_is_host(const struct timeline_view *v, uint32_t id) {
    const struct weft_event *e = &v->t.event[id - 1];
    return e->kind == WEFT_EVENT_XOFF && e->more == WEFT_NONE;
}

void timeline_print_story(const struct timeline_view *v, const struct weft_story *root);
/// Every event, below its cause.
void timeline_print_events(const struct timeline_view *v);

/// Why a port was paused at `time` (never: its longest pause), or why it was not: v->why or v->why_not.
enum weft_status timeline_find_why(struct timeline_view *v, uint32_t port, uint32_t priority, weft_time_ps time,
                                   struct weft_error *ret_error);
void timeline_find_why_not(struct timeline_view *v, uint32_t port, uint32_t priority);
void timeline_print_why(const struct timeline_view *v);
