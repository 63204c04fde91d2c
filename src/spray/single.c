// SPDX-License-Identifier: Apache-2.0
// One value for all packets of a queue pair: its path is that of ECMP. Delivery in order (ROD) requires it.
#include "weft/spray.h"

static size_t single_state_size(const void *conf) {
    return 0;
}

static uint32_t single_values(const void *conf) {
    return 1;
}

static void single_start(void *state, const void *conf, const struct weft_random *random, uint32_t planes) {}

static uint32_t single_next(void *state, const void *conf, weft_time_ps now, uint32_t plane) {
    return 0;
}

static const char *single_check(const void *state, const void *conf) {
    return NULL;
}

const struct weft_model weft__spray_single =
    WEFT_MODEL_OF(SPRAY, "single", "one entropy value for all packets of a queue pair", "RFC 2992 (ECMP); the baseline",
                  &weft_no_params,
                  &(const struct weft_spray_ops){
                      .state_size = single_state_size,
                      .values = single_values,
                      .start = single_start,
                      .next = single_next,
                      .check = single_check,
                  });
