// SPDX-License-Identifier: Apache-2.0
// Which priorities are lossless at which port: the same at all ports, until DCBX agrees on a different set at one.
#pragma once

#include <string.h>

#include "base/units.h"
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

// The rule for every buffer with fixed levels: XON is not above XOFF, and XOFF not above the size.
/// NULL, or what is wrong, in `text`.
static inline const char *weft__levels_check(weft_bytes buffer, weft_bytes xoff, weft_bytes xon, char *text,
                                             size_t size) {
    const char *wrong = weft__bytes_above("xoff", xoff, "size", buffer, text, size);
    return wrong ? wrong : weft__bytes_above("xon", xon, "xoff", xoff, text, size);
}
