// SPDX-License-Identifier: Apache-2.0
// The interface nodes whose system ports and neighbours an interface node knows: FSDB, as used by the data plane. It
// forwards nothing towards others.
#pragma once

#include "weft/control.h"

struct weft__known_change {
    weft_time_ps time_ps;
    uint32_t of; ///< number of the interface node
    bool known;
};
struct weft__known {
    uint64_t *unknown; ///< [ins], one bit each
    const struct weft__known_change *change;
    uint32_t left; ///< future changes left
};

/// Must be called in the order of times.
static inline bool weft__known_at(struct weft__known *k, weft_time_ps now, uint32_t in) {
    for (; k->left && k->change->time_ps <= now; k->change++, k->left--) {
        uint64_t bit = UINT64_C(1) << (k->change->of % 64), *word = &k->unknown[k->change->of / 64];
        *word = k->change->known ? *word & ~bit : *word | bit;
    }
    return !(k->unknown[in / 64] >> (in % 64) & 1);
}
