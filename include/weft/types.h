// SPDX-License-Identifier: Apache-2.0
// Quantities of the simulator. Time is integer picoseconds, rates are bits per second, sizes are bytes.
// There is no floating-point time anywhere; "never" is the largest time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_VERSION "0.2.0"

/// What the shared library exports; all else in it is hidden.
#define WEFT_API __attribute__((visibility("default")))

typedef uint64_t weft_time_ps;
typedef uint64_t weft_rate_bps;
typedef uint64_t weft_bytes;

#define WEFT_TIME_NEVER UINT64_MAX
#define WEFT_PS_PER_NS UINT64_C(1000)
#define WEFT_PS_PER_US UINT64_C(1000000)
#define WEFT_PS_PER_MS UINT64_C(1000000000)
#define WEFT_PS_PER_S UINT64_C(1000000000000)
/// Simulated time ends here, after 100 days: no duration that a user gives is longer, so that one more than now fits.
#define WEFT_TIME_MAX (8640000 * WEFT_PS_PER_S)
#define WEFT_NONE UINT32_MAX ///< "no such node / port / link / host / flow"

/// IEEE 802.1Q: eight priorities everywhere.
#define WEFT_PRIORITIES 8u

/// Their sum; never if that is more than the largest time.
static inline weft_time_ps weft_time_plus(weft_time_ps a, weft_time_ps b) {
    return a > WEFT_TIME_NEVER - b ? WEFT_TIME_NEVER : a + b;
}

/// What was computed as a real number, WEFT_TIME_MAX at most.
static inline weft_time_ps weft_time_of_real(double time_ps) {
    return time_ps < (double)WEFT_TIME_MAX ? (weft_time_ps)time_ps : WEFT_TIME_MAX;
}

/// So many bytes at a rate above 0, rounded down, WEFT_TIME_MAX at most.
static inline weft_time_ps weft_time_of_bytes(weft_bytes bytes, weft_rate_bps rate_bps) {
    const uint64_t bit_ps = 8 * WEFT_PS_PER_S;
    if (bytes <= UINT64_MAX / bit_ps) return bytes * bit_ps / rate_bps;
    __extension__ unsigned __int128 time = bytes;
    time = time * bit_ps / rate_bps;
    return time < WEFT_TIME_MAX ? (weft_time_ps)time : WEFT_TIME_MAX;
}
