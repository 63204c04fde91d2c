// SPDX-License-Identifier: Apache-2.0
// Rounds of a window: a round ends when everything in flight at its start has been acknowledged.
#pragma once

#include "weft/cc.h"

/// `left_bytes`: bytes to be acknowledged until the round ends; 0 at first. True: this acknowledgement ends it, and the
/// next one begins.
static inline bool weft__round_ends(weft_bytes *left_bytes, const struct weft_cc_fact *fact) {
    if (fact->bytes < *left_bytes) {
        *left_bytes -= fact->bytes;
        return false;
    }
    *left_bytes = fact->flight_bytes;
    return true;
}
