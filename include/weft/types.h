// SPDX-License-Identifier: Apache-2.0
// Quantities of the simulator. Time is integer picoseconds, rates are bits per second, sizes are bytes.
// There is no floating-point time anywhere; "never" is the largest time.
#ifndef WEFT_TYPES_H
#define WEFT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_VERSION "0.1.0"

typedef uint64_t weft_time_ps;
typedef uint64_t weft_rate_bps;
typedef uint64_t weft_bytes;

#define WEFT_TIME_NEVER UINT64_MAX
#define WEFT_PS_PER_NS UINT64_C(1000)
#define WEFT_PS_PER_US UINT64_C(1000000)
#define WEFT_PS_PER_MS UINT64_C(1000000000)
#define WEFT_PS_PER_S UINT64_C(1000000000000)
#define WEFT_NONE UINT32_MAX ///< "no such node / port / link / host / flow"

/// IEEE 802.1Q: eight priorities everywhere.
#define WEFT_PRIORITIES 8u

#endif
