// SPDX-License-Identifier: Apache-2.0
// The path choice of a sender: which entropy value each of its packets has, and so which of the equal-cost paths it
// takes. A model numbers its values from 0; the transport puts a number in the place of the low bits of the queue
// pair's own entropy. It is told what came of packets and owns no clock.
#ifndef WEFT_SPRAY_H
#define WEFT_SPRAY_H

#include "weft/model.h"
#include "weft/packet.h"
#include "weft/random.h"

/// What came of a packet.
enum weft_spray_news {
    WEFT_SPRAY_GOOD,   ///< acknowledged, and not marked
    WEFT_SPRAY_MARKED, ///< acknowledged, and marked
    WEFT_SPRAY_TRIMMED,
    WEFT_SPRAY_TIMEOUT,
};

/// With a value: the receiver is to answer this very packet.
#define WEFT_SPRAY_ASK (UINT32_C(1) << 31)

enum { WEFT_SPRAY_VALUES_MAX = 1 << WEFT_PACKET_ENTROPY_BITS };

struct weft_spray_ops {
    /// Required; of a queue pair, zeroed at first. It is a part of the transport's state of a sender, so the transport
    /// says what of it matters when a stretch of a run is to be skipped (weft_transport_ops.still_sender).
    size_t (*state_size)(const void *conf);
    uint32_t (*values)(const void *conf); ///< required; how many there are: a power of 2
    /// Required. Keeps a copy of the stream if it draws. `planes`: ports of the NIC, in as many networks, that packets
    /// of the queue pair may take; at least 1.
    void (*start)(void *state, const void *conf, const struct weft_random *random, uint32_t planes);
    /// Required, hot. The value of a packet that leaves now by that plane, below `values`, and perhaps WEFT_SPRAY_ASK.
    uint32_t (*next)(void *state, const void *conf, weft_time_ps now, uint32_t plane);
    /// Optional, hot. What came of a packet with that value.
    void (*news)(void *state, const void *conf, weft_time_ps now, uint32_t value, enum weft_spray_news what);
    /// Optional: its values are bound to planes. A bit for each plane that the next packet may take; one at least.
    uint32_t (*planes)(const void *state);
    /// Required. NULL, or which invariant is broken.
    const char *(*check)(const void *state, const void *conf);
};

/// How a model's configuration begins that is told how many values there are: a power of 2, as the check says.
struct weft__spray_conf {
    uint64_t values;
};
#define WEFT__SPRAY_VALUES_ROW(count, help)                                                                            \
    WEFT_UINT(struct weft__spray_conf, values, "values", count, "1", "16384", help)
static inline uint32_t weft__spray_values(const void *conf) {
    return (uint32_t)((const struct weft__spray_conf *)conf)->values;
}
const char *weft__spray_check(const void *conf, char *text, size_t size);

#endif
