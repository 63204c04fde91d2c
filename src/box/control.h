// SPDX-License-Identifier: Apache-2.0
// Events of a box in the control plane of its fabric, `control: {events: [...]}`, and its other parts of the
// section `control`. The readers of both use this and need to know no kind of box.
#pragma once

#include "weft/control.h"

struct weft__box_control {
    const char *one, *several;   ///< in messages: "a TiN", "TiNs"
    uint32_t whats;              ///< 1 << enum weft_control_what: events of a single box
    const char *expected;        ///< text for errors: these events, and those of several boxes
    const char *const *sections; ///< sections of `control` that it reads; the last is NULL
};

/// For a kind of node; NULL: it does not take part in a control plane.
const struct weft__box_control *weft__box_control_of(uint32_t kind);
