// SPDX-License-Identifier: Apache-2.0
// Which priorities are lossless at which port: the same at all ports, until DCBX agrees on a different set at one.
#pragma once

#include <string.h>

#include "weft/types.h"

struct weft__lossless {
    uint8_t same;     ///< at all ports, while `of_port` is NULL
    uint8_t *of_port; ///< [ports]
    uint8_t *room;    ///< for of_port
    uint32_t ports;
};

static inline bool weft__is_lossless(const struct weft__lossless *l, uint32_t port, uint32_t priority) {
    uint8_t mask = __builtin_expect(l->of_port != NULL, 0) ? l->of_port[port] : l->same;
    return mask >> priority & 1;
}

static inline void weft__lossless_set(struct weft__lossless *l, uint32_t port, uint8_t mask) {
    if (!l->of_port) {
        l->of_port = l->room;
        memset(l->of_port, l->same, l->ports);
    }
    l->of_port[port] = mask;
}
