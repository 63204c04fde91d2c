// SPDX-License-Identifier: Apache-2.0
// Buffer accounting of a switch by input port and priority (the "priority group"), because PFC pauses an input port's
// neighbour. Models may count the cells that frames occupy; the switch itself counts the depth of egress queues, by
// which ECN marks. A box calls admit for each frame that arrives and release with the same arguments when the frame
// leaves, sent or discarded.
#pragma once

#include "weft/model.h"

enum weft_buffer_answer {
    WEFT_BUFFER_OK,   ///< admit: accepted, at or below XOFF. release: above the resume threshold. review: between
    WEFT_BUFFER_XOFF, ///< accepted, and the priority group is above its XOFF threshold
    WEFT_BUFFER_XON,  ///< release, review: at or below the resume threshold, or none of what keeps it paused is its own
    WEFT_BUFFER_DROP, ///< not accepted: no room (for a lossless group: headroom exhausted)
};

/// Guarantees for a lossless port and priority, whatever the other groups hold; with several lossless priorities, those
/// of the priority with the smallest guarantee. Without lossless priorities: those of a lossy one, without headroom.
struct weft_buffer_plan {
    weft_bytes xoff_bytes;     ///< the group's level above which its neighbour is paused, if no other group holds bytes
    weft_bytes headroom_bytes; ///< bytes that the group accepts at least after its level has passed xoff_bytes
    uint32_t cell_bytes;       ///< packets occupy whole cells, in which all of this is counted; 0: their own bytes
    char text[192];            ///< both quantities, with the names of the parameters
    char headroom_text[96];    ///< the parameters that give the headroom
};

/// The link of a port, for models whose thresholds depend on links.
struct weft_buffer_port {
    weft_rate_bps rate_bps;      ///< rate of the link
    weft_rate_bps host_rate_bps; ///< rate of the slowest host link in the network
    weft_time_ps delay_ps;
};

/// Occupied bytes of one port and priority, and their maximum so far, for models that count each group separately.
struct weft_buffer_group {
    uint32_t level, level_max;
};

/// What a packet occupies in cells of this size; 0, 1: no more than its bytes.
static inline weft_bytes weft_buffer_occupied(weft_bytes cell_bytes, weft_bytes bytes) {
    return cell_bytes > 1 ? (bytes + cell_bytes - 1) / cell_bytes * cell_bytes : bytes;
}

/// Thresholds that are the same for every port and priority and do not move.
struct weft_buffer_fixed {
    uint32_t size_bytes, xoff_bytes, xon_bytes;
    uint32_t cell_bytes, cell_inverse; ///< inverse: 2^32 / cell_bytes, rounded up; 0: packets occupy their own bytes
};
static inline struct weft_buffer_fixed weft_buffer_fixed_of(weft_bytes size, weft_bytes xoff, weft_bytes xon,
                                                            weft_bytes cell) {
    uint32_t inverse = cell > 1 ? (uint32_t)(((UINT64_C(1) << 32) + cell - 1) / cell) : 0;
    return (struct weft_buffer_fixed){(uint32_t)size, (uint32_t)xoff, (uint32_t)xon, (uint32_t)cell, inverse};
}
/// weft_buffer_occupied without a division; exact for frames and cells below 2^16 B.
static inline uint32_t weft_buffer_fixed_occupied(const struct weft_buffer_fixed *fixed, uint32_t bytes) {
    if (__builtin_expect(!fixed->cell_inverse, 1)) return bytes;
    uint64_t cells = (uint64_t)(bytes + fixed->cell_bytes - 1) * fixed->cell_inverse >> 32;
    return (uint32_t)cells * fixed->cell_bytes;
}
#define WEFT_BUFFER_FIXED_MAX "4GB" ///< for rows: a group's level is 32 bits

/// Counts so many bytes in the group.
static inline void weft_buffer_count_level(struct weft_buffer_group *g, uint32_t level) {
    if (level > g->level_max) g->level_max = level;
}

static inline enum weft_buffer_answer weft_buffer_fixed_admit(const struct weft_buffer_fixed *fixed,
                                                              struct weft_buffer_group *g, uint32_t bytes,
                                                              bool lossless) {
    bytes = weft_buffer_fixed_occupied(fixed, bytes);
    if (g->level + bytes > fixed->size_bytes) return WEFT_BUFFER_DROP;
    g->level += bytes;
    weft_buffer_count_level(g, g->level);
    return g->level > fixed->xoff_bytes && lossless ? WEFT_BUFFER_XOFF : WEFT_BUFFER_OK;
}

static inline enum weft_buffer_answer weft_buffer_fixed_release(const struct weft_buffer_fixed *fixed,
                                                                struct weft_buffer_group *g, uint32_t bytes,
                                                                bool lossless) {
    g->level -= weft_buffer_fixed_occupied(fixed, bytes);
    return g->level <= fixed->xon_bytes && lossless ? WEFT_BUFFER_XON : WEFT_BUFFER_OK;
}

struct weft_buffer_ops {
    bool by_output; ///< the model counts bytes per output as well: the box must know a packet's output at admit
    /// Required, before init. NULL, or why a switch with `ports` ports cannot use the configuration, or could never
    /// admit a frame of `frame_bytes` (text in `text`): bad input.
    const char *(*fit)(const void *conf, uint32_t ports, uint8_t lossless_mask, uint32_t frame_bytes, char *text,
                       size_t size);
    /// Optional, all three or none, for models whose ports differ by their links. fit_ports: like fit, called after fit
    /// has succeeded. set_port: called for each port after init.
    const char *(*fit_ports)(const void *conf, const struct weft_buffer_port *port, uint32_t ports,
                             uint8_t lossless_mask, char *text, size_t size);
    void (*set_port)(void *state, const void *conf, uint32_t port, const struct weft_buffer_port *link);
    /// Whether the links of ports make a difference with this configuration.
    bool (*by_port)(const void *conf);
    /// Required. For a configuration that fits.
    void (*plan)(const void *conf, uint32_t ports, uint8_t lossless_mask, struct weft_buffer_plan *ret_plan);
    /// Optional: the headroom of a group at a port, where it goes by the link; else it is that of `plan`.
    weft_bytes (*headroom_at)(const void *conf, const struct weft_buffer_port *port);
    /// Required. The most bytes of a lossy priority that one input port can hold for one output, when the switch holds
    /// nothing else. Models that go by links take the port's.
    weft_bytes (*lossy_most)(const void *conf, const struct weft_buffer_port *port, uint32_t ports,
                             uint8_t lossless_mask, uint32_t priority);
    size_t (*state_size)(const void *conf, uint32_t ports);                             ///< required
    void (*init)(void *state, const void *conf, uint32_t ports, uint8_t lossless_mask); ///< required
    /// Optional, both or neither. The model has fixed thresholds and a group per port and priority: its admit and
    /// release are weft_buffer_fixed_admit and weft_buffer_fixed_release, so a box may call these instead. keep_at,
    /// called after init, makes the model keep its groups in the box's memory: that of port 0 and priority 0 at
    /// `first`, the next port's port_stride bytes later, the next priority's priority_stride bytes later.
    void (*fixed)(const void *conf, struct weft_buffer_fixed *ret_fixed);
    void (*keep_at)(void *state, struct weft_buffer_group *first, size_t port_stride, size_t priority_stride);
    /// Required, hot. A packet of `bytes` bytes has arrived at (port, priority) and will leave by the port `out`.
    /// Unless `by_output` is set, `out` may be WEFT_NONE. DROP changes nothing; any other answer counts the packet.
    enum weft_buffer_answer (*admit)(void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority,
                                     uint32_t bytes);
    /// Required, hot. A packet that admit has counted leaves the buffer. XON whenever the group's level is at or below
    /// the resume threshold, also if it was before.
    enum weft_buffer_answer (*release)(void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority,
                                       uint32_t bytes);
    /// Optional, hot. Prefetches the group's memory; admit or release will be called for the group soon.
    void (*prefetch)(const void *state, uint32_t port, uint32_t priority);
    /// Required. The group's state now: XOFF above the XOFF threshold, XON at or below the resume threshold, OK
    /// between.
    enum weft_buffer_answer (*review)(const void *state, const void *conf, uint32_t port, uint32_t priority);
    /// Required. Sets the lossless priorities of a port from now on. Bytes held stay counted, those in headroom too.
    void (*set_lossless)(void *state, const void *conf, uint32_t port, uint8_t lossless_mask);
    weft_bytes (*level)(const void *state, const void *conf, uint32_t port, uint32_t priority); ///< required
    /// Required: the largest packet, in bytes, for `out` that admit would answer with OK now.
    weft_bytes (*room)(const void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority);
    /// Required: the highest level (port, priority) has had.
    weft_bytes (*level_max)(const void *state, const void *conf, uint32_t port, uint32_t priority);
    /// Required. NULL, or which invariant is broken (sum of groups = pool used, ...).
    const char *(*check)(const void *state, const void *conf);
    weft_model_fingerprint *fingerprint; ///< optional
};
