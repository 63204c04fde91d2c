// SPDX-License-Identifier: Apache-2.0
// Whether an interface node may be reached by others.
//
// Source: FBOSS, computeActualSwitchDrainState (fboss/agent/Utils.cpp): an actual state beside the requested one.
// Difference: FBOSS starts drained and joins when its links are up; a run starts with all links up and joined.
#include "weft/control.h"

const char *const weft_drain_names[] = {"UNDRAINED", "DRAINED", "DRAINED_DUE_TO_ASIC_ERROR"};

enum weft_drain weft_drain_next(enum weft_drain actual, bool to_drain, uint32_t links_up,
                                const struct weft_reach_conf *conf) {
    if (to_drain) return WEFT_DRAINED; // even an error: only this ends it
    switch (actual) {
    case WEFT_UNDRAINED:
        return links_up < conf->min_remain ? WEFT_DRAINED : WEFT_UNDRAINED;
    case WEFT_DRAINED:
        return links_up >= conf->min_join ? WEFT_UNDRAINED : WEFT_DRAINED;
    default:
        return actual;
    }
}
