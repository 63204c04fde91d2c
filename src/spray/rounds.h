// SPDX-License-Identifier: Apache-2.0
// Values in rounds: each once per round, in an order that is drawn for each round. See rounds.c.
#pragma once

#include "weft/spray.h"

struct weft__rounds {
    struct weft_random random;
    uint32_t index, mix; ///< of the next value, which is index XOR mix
};

void weft__rounds_start(struct weft__rounds *r, const struct weft_random *random, uint32_t values);
void weft__rounds_begin(struct weft__rounds *r, uint32_t values);

static inline uint32_t weft__rounds_value(const struct weft__rounds *r) {
    return r->index ^ r->mix;
}
static inline void weft__rounds_step(struct weft__rounds *r, uint32_t values) {
    if (__builtin_expect(++r->index == values, 0)) weft__rounds_begin(r, values);
}
