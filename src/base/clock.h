// SPDX-License-Identifier: Apache-2.0
// Clocks of the machine, not of the simulation.
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t weft__wall_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}
/// Seconds of a clock such as CLOCK_MONOTONIC or CLOCK_PROCESS_CPUTIME_ID.
static inline double weft__clock_s(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
