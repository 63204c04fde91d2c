// SPDX-License-Identifier: Apache-2.0
// Arithmetic of rates in whole bit/s, shared by both reaction points of DCQCN.
#pragma once

#include "weft/types.h"

static inline weft_rate_bps weft__rate_lesser(weft_rate_bps a, weft_rate_bps b) {
    return a < b ? a : b;
}

/// Halfway to the target, rounded up, so that a rate 1 bit/s below its target reaches it.
static inline weft_rate_bps weft__rate_halfway(weft_rate_bps rate, weft_rate_bps target) {
    return (target + rate + 1) / 2;
}

/// The rate reduced by this part, but at least `least`.
static inline weft_rate_bps weft__rate_cut(weft_rate_bps rate, double part, weft_rate_bps least) {
    weft_rate_bps cut = rate - (weft_rate_bps)((double)rate * part);
    return cut > least ? cut : least;
}
