// SPDX-License-Identifier: Apache-2.0
// Of which interface nodes one knows the system ports and neighbours: FSDB, as the data plane obeys it. Towards others
// it forwards nothing.
#ifndef WEFT_BOX_DSF_DSF_KNOWN_H
#define WEFT_BOX_DSF_DSF_KNOWN_H

#include "weft/control.h"

struct weft__known_change {
    weft_time_ps time_ps;
    uint32_t of; ///< interface node, by its number
    bool known;
};
struct weft__known {
    uint64_t *unknown; ///< [ins] a bit each
    const struct weft__known_change *change;
    uint32_t left; ///< changes to come
};

/// Asked in the order of times.
static inline bool weft__known_at(struct weft__known *k, weft_time_ps now, uint32_t in) {
    for (; k->left && k->change->time_ps <= now; k->change++, k->left--) {
        uint64_t bit = UINT64_C(1) << (k->change->of % 64), *word = &k->unknown[k->change->of / 64];
        *word = k->change->known ? *word & ~bit : *word | bit;
    }
    return !(k->unknown[in / 64] >> (in % 64) & 1);
}

#endif
