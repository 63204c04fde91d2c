// SPDX-License-Identifier: Apache-2.0
#include "spray/rounds.h"

#include <inttypes.h>

void weft__rounds_begin(struct weft__rounds *r, uint32_t values) {
    r->index = 0;
    r->mix = (uint32_t)weft_random_below(&r->random, values);
}

void weft__rounds_start(struct weft__rounds *r, const struct weft_random *random, uint32_t values) {
    r->random = *random;
    weft__rounds_begin(r, values);
}

const char *weft__spray_check(const void *conf, char *text, size_t size) {
    uint64_t values = ((const struct weft__spray_conf *)conf)->values;
    if (!(values & (values - 1))) return NULL;
    return WEFT_SAY(text, size, "values (%" PRIu64 ") is not a power of 2", values);
}
