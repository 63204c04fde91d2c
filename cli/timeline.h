// SPDX-License-Identifier: Apache-2.0
// What the parts of `weft timeline` share.
#ifndef WEFT_CLI_TIMELINE_H
#define WEFT_CLI_TIMELINE_H

#include <stdio.h>

#include "base/json.h"
#include "base/stream.h"
#include "base/units.h"
#include "weft/timeline.h"

struct timeline_view {
    struct weft_timeline t;
    FILE *out;
    uint32_t limit;   ///< siblings shown; 0: all
    bool classified;  ///< say which queues first packets joined
    const bool *keep; ///< [events]; NULL: all
    struct weft_arena *arena;
};

/// Texts of quantities, with three significant digits, and of places; each is written to `text`, which is returned.
enum { TIMELINE_TEXT = 160 };
const char *timeline_time(weft_time_ps time, char *text);     ///< a point in time: "63.105us"
const char *timeline_duration(weft_time_ps time, char *text); ///< "3.01us"
const char *timeline_priorities(uint64_t mask, char *text);   ///< "3,4", "none"
const char *timeline_bytes(weft_bytes bytes, char *text);
const char *timeline_port(const struct timeline_view *v, uint32_t port, const char *to,
                          char *text);                                               ///< "leaf-0/4 to x"
const char *timeline_flow(const struct timeline_view *v, uint32_t flow, char *text); ///< "flow 3, host-3 to host-4"

/// The description of an event, without its time.
void timeline_event_text(const struct timeline_view *v, uint32_t id, FILE *file);
void timeline_event_json(const struct timeline_view *v, uint32_t id, struct weft__json *j);
/// The queue pairs that fill a congested queue: "flow 2, a to b (50%), ..."; nothing if none is known.
void timeline_filled_by(const struct timeline_view *v, uint32_t congested, FILE *file);

/// Whether it is an XOFF of a NIC's receive buffer, not of a switch.
static inline bool timeline_is_host(const struct timeline_view *v, uint32_t id) {
    const struct weft_event *e = &v->t.event[id - 1];
    return e->kind == WEFT_EVENT_XOFF && e->more == WEFT_NONE;
}

void timeline_print_story(const struct timeline_view *v, const struct weft_story *root);
/// The events below `parent`, as members of an array, parents first.
void timeline_story_json(const struct timeline_view *v, const struct weft_story *parent, struct weft__json *j);
/// Every event, below its cause.
void timeline_print_events(const struct timeline_view *v);

/// Why a port was paused at `time` (never: its longest pause), or why it was not.
enum weft_status timeline_why(const struct timeline_view *v, uint32_t port, uint32_t priority, weft_time_ps time,
                              bool json, struct weft_error *ret_error);
enum weft_status timeline_why_not(const struct timeline_view *v, uint32_t port, uint32_t priority, bool json,
                                  struct weft_error *ret_error);

#endif
