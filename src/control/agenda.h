// SPDX-License-Identifier: Apache-2.0
// Due items, in the order of time and, at the same time, of insertion: the event loop for the agents of a control
// plane.
#pragma once

#include "weft/types.h"

struct weft__due {
    weft_time_ps time_ps;
    uint64_t sequence; ///< the agenda's
    uint32_t kind;     ///< the rest is the caller's
    uint32_t who, what, round;
    uint64_t data;
};

struct weft__agenda {
    struct weft__due *heap;
    uint32_t n, capacity;
    uint64_t noted;
};

void weft__agenda_note(struct weft__agenda *agenda, struct weft__due due);
/// Removes the first item due at `until` or before; false: there is none.
bool weft__agenda_take(struct weft__agenda *agenda, weft_time_ps until, struct weft__due *ret);
void weft__agenda_deinit(struct weft__agenda *agenda);
