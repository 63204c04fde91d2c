// SPDX-License-Identifier: Apache-2.0
// Buffer accounting of a switch, seen from the ingress side (per input port and priority, the "priority group"),
// because that is whom PFC pauses. Egress depth, where ECN looks, is counted by the switch itself.
#ifndef WEFT_BUFFER_H
#define WEFT_BUFFER_H

#include "weft/model.h"

enum weft_buffer_answer {
    WEFT_BUFFER_OK,   ///< accepted (on admit), or nothing to say (on release)
    WEFT_BUFFER_XOFF, ///< accepted, and the priority group is above its XOFF threshold
    WEFT_BUFFER_XON,  ///< on release or review: at or below the resume threshold, or nothing of it is in the way
    WEFT_BUFFER_DROP, ///< not accepted: no room (for a lossless group: headroom exhausted)
};

/// What a lossless port and priority may count on, whatever the others hold; with several lossless priorities, the one
/// that gets least. Without any: of a lossy one, which has no headroom.
struct weft_buffer_plan {
    weft_bytes xoff_bytes;     ///< it is paused above this, if it alone is congested
    weft_bytes headroom_bytes; ///< from the packet on that had it paused, it takes at least this
    char text[192];            ///< both, in the words of the parameters
    char headroom_text[96];    ///< where the headroom comes from, likewise
};

/// The link of a port, for models that go by it.
struct weft_buffer_port {
    weft_rate_bps rate_bps, host_rate_bps; ///< of the link; of the slowest link of a host
    weft_time_ps delay_ps;
};

/// What a port and priority holds, where a model counts for each of them alone.
struct weft_buffer_group {
    uint32_t level, level_max;
};

/// Thresholds that are the same for every port and priority and do not move.
struct weft_buffer_fixed {
    uint32_t size_bytes, xoff_bytes, xon_bytes;
};
#define WEFT_BUFFER_FIXED_MAX "4GB" ///< for rows: a group's level is 32 bits

/// Counts so many bytes in the group.
static inline void weft_buffer_count_level(struct weft_buffer_group *g, uint32_t level) {
    if (level > g->level_max) g->level_max = level;
}

static inline enum weft_buffer_answer weft_buffer_fixed_admit(const struct weft_buffer_fixed *fixed,
                                                              struct weft_buffer_group *g, uint32_t bytes,
                                                              bool lossless) {
    if (g->level + bytes > fixed->size_bytes) return WEFT_BUFFER_DROP;
    g->level += bytes;
    weft_buffer_count_level(g, g->level);
    return g->level > fixed->xoff_bytes && lossless ? WEFT_BUFFER_XOFF : WEFT_BUFFER_OK;
}

static inline enum weft_buffer_answer weft_buffer_fixed_release(const struct weft_buffer_fixed *fixed,
                                                                struct weft_buffer_group *g, uint32_t bytes,
                                                                bool lossless) {
    g->level -= bytes;
    return g->level <= fixed->xon_bytes && lossless ? WEFT_BUFFER_XON : WEFT_BUFFER_OK;
}

struct weft_buffer_ops {
    bool
        by_output; ///< it counts at outputs too, so only a switch that knows a packet's output when it comes can use it
    /// Required. Does the configuration fit a switch with so many ports, and can frames of `frame_bytes` be admitted at
    /// all? NULL, or why not (in `text`): bad input.
    const char *(*fit)(const void *conf, uint32_t ports, uint8_t lossless_mask, uint32_t frame_bytes, char *text,
                       size_t size);
    /// Optional, all three or none: ports differ by their links. As fit, once that is satisfied; and told after init.
    const char *(*fit_ports)(const void *conf, const struct weft_buffer_port *port, uint32_t ports,
                             uint8_t lossless_mask, char *text, size_t size);
    void (*set_port)(void *state, const void *conf, uint32_t port, const struct weft_buffer_port *link);
    /// Whether they make a difference with this configuration.
    bool (*by_port)(const void *conf);
    /// Required. For a configuration that fits.
    void (*plan)(const void *conf, uint32_t ports, uint8_t lossless_mask, struct weft_buffer_plan *ret_plan);
    /// Required. The most bytes of a lossy priority that one input port can hold for one output, when the switch holds
    /// nothing else. Models that go by links take the port's.
    weft_bytes (*lossy_most)(const void *conf, const struct weft_buffer_port *port, uint32_t ports,
                             uint8_t lossless_mask, uint32_t priority);
    size_t (*state_size)(const void *conf, uint32_t ports);                             ///< required
    void (*init)(void *state, const void *conf, uint32_t ports, uint8_t lossless_mask); ///< required
    /// Optional, both or neither: admit and release are weft_buffer_fixed_admit and _release of a group that is the
    /// port and priority's own, by thresholds that do not move, so a box may do that itself. After init `keep_at` has
    /// the groups kept at `first`, a port's port_stride bytes after that before it, a priority's priority_stride.
    void (*fixed)(const void *conf, struct weft_buffer_fixed *ret_fixed);
    void (*keep_at)(void *state, struct weft_buffer_group *first, size_t port_stride, size_t priority_stride);
    /// Required, hot. A packet of `bytes` for the port `out` wants in at (port, priority). `out` is WEFT_NONE
    /// where `by_output` is false and the box has none.
    enum weft_buffer_answer (*admit)(void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority,
                                     uint32_t bytes);
    /// Required, hot. It left. XON is answered whenever the level is at or below the resume threshold.
    enum weft_buffer_answer (*release)(void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority,
                                       uint32_t bytes);
    /// Optional, hot. (port, priority) will be asked about soon: bring it into the cache.
    void (*prefetch)(const void *state, uint32_t port, uint32_t priority);
    /// Required. How it stands now: XOFF above the XOFF threshold, XON at or below the resume threshold, OK between.
    enum weft_buffer_answer (*review)(const void *state, const void *conf, uint32_t port, uint32_t priority);
    /// Required. From now on so many priorities are lossless at the port; what is held stays, in headroom too.
    void (*set_lossless)(void *state, const void *conf, uint32_t port, uint8_t lossless_mask);
    weft_bytes (*level)(const void *state, const void *conf, uint32_t port, uint32_t priority); ///< required
    /// Required: what a packet for `out` may have at most to be admitted without XOFF.
    weft_bytes (*room)(const void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority);
    /// Required: the highest level (port, priority) has had.
    weft_bytes (*level_max)(const void *state, const void *conf, uint32_t port, uint32_t priority);
    /// Required. NULL, or which invariant is broken (sum of groups = pool used, ...).
    const char *(*check)(const void *state, const void *conf);
    weft_model_still *still; ///< optional
};

#endif
