// SPDX-License-Identifier: Apache-2.0
// The path choice of a sender: the entropy value of each packet, which decides among equal-cost paths. A model numbers
// its values from 0; the transport replaces the low bits of the queue pair's entropy by the number, and reports to the
// model what happened to packets. A model owns no clock.
#pragma once

#include "weft/model.h"
#include "weft/packet.h"
#include "weft/random.h"

/// What happened to a packet.
enum weft_spray_news {
    WEFT_SPRAY_GOOD,   ///< acknowledged, and not marked
    WEFT_SPRAY_MARKED, ///< acknowledged, and marked
    WEFT_SPRAY_TRIMMED,
    WEFT_SPRAY_TIMEOUT,
};

/// Added to a value: the receiver must acknowledge this packet at once.
#define WEFT_SPRAY_ASK (UINT32_C(1) << 31)

enum { WEFT_SPRAY_VALUES_MAX = 1 << WEFT_PACKET_ENTROPY_BITS };

struct weft_spray_ops {
    /// Required; bytes of a queue pair's state, which the caller zeroes. It is a part of the transport's state of a
    /// sender, so the transport says what of it matters when a stretch of a run is skipped
    /// (weft_transport_ops.fingerprint_sender).
    size_t (*state_size)(const void *conf);
    uint32_t (*values)(const void *conf); ///< required; number of values: a power of 2
    /// Required, once per queue pair. A model that draws keeps a copy of the stream. `planes`: how many of the NIC's
    /// ports, each in its own network, the packets may use; at least 1.
    void (*start)(void *state, const void *conf, const struct weft_random *random, uint32_t planes);
    /// Required, hot. The value, below `values`, of the packet that leaves now by that plane; it may add
    /// WEFT_SPRAY_ASK.
    uint32_t (*next)(void *state, const void *conf, weft_time_ps now, uint32_t plane);
    /// Optional, hot. Reports what happened to a packet with that value.
    void (*news)(void *state, const void *conf, weft_time_ps now, uint32_t value, enum weft_spray_news what);
    /// Optional, for values that are bound to planes. A mask of the planes that the next packet may use, not 0.
    uint32_t (*planes)(const void *state);
    /// Required. NULL, or which invariant is broken.
    const char *(*check)(const void *state, const void *conf);
};

/// The beginning of the configuration of a model whose user sets the number of values; weft__spray_check refuses a
/// number that is no power of 2.
struct weft__spray_conf {
    uint64_t values;
};
#define WEFT__SPRAY_VALUES_ROW(count, help)                                                                            \
    WEFT_UINT(struct weft__spray_conf, values, "values", count, "1", "16384", help)
static inline uint32_t weft__spray_values(const void *conf) {
    return (uint32_t)((const struct weft__spray_conf *)conf)->values;
}
const char *weft__spray_check(const void *conf, char *text, size_t size);
