// SPDX-License-Identifier: Apache-2.0
// What boxes count and sample in each worker. The engine stores and sums the counts; their meaning is defined here.
#pragma once

#include "engine/side.h"
#include "weft/outcome.h"

enum weft__count {
    // shown during a run
    WEFT__COUNT_PACKET_HOPS,
    WEFT__COUNT_PAYLOAD_BYTES, ///< new data at receivers
    WEFT__COUNT_FLOWS_DONE,
    // the others
    WEFT__COUNT_CELL_HOPS, ///< hops of cells in DSFs and Cliques
    WEFT__COUNT_CNPS,
    WEFT__COUNT_DROPS, ///< + enum weft_drop
    WEFT__COUNT_DROP_BYTES = WEFT__COUNT_DROPS + WEFT_DROPS,
    WEFT__COUNTS = WEFT__COUNT_DROP_BYTES + WEFT_DROPS
};
_Static_assert((int)WEFT__COUNTS <= (int)WEFT__COUNTS_MAX, "the engine keeps as many");
_Static_assert((int)WEFT__COUNT_FLOWS_DONE < (int)WEFT__COUNTS_SHOWN, "and tells of the first while a run lasts");

/// `what`: enum weft__count.
static inline void weft__count(struct weft__worker *w, uint32_t what, uint64_t n) {
    w->tally.count[what] += n;
}

/// Counts bytes of a packet that is dropped elsewhere, where the drop itself is counted.
static inline void weft__count_lost_bytes(struct weft__worker *w, enum weft_drop reason, uint32_t bytes) {
    weft__count(w, WEFT__COUNT_DROP_BYTES + reason, bytes);
    w->tally.dropped_bytes += bytes;
}

/// A packet ends here: its record, if it has one, is freed.
static inline void weft__count_drop(struct weft__worker *w, enum weft_drop reason, const struct weft_packet *packet) {
    weft__count(w, WEFT__COUNT_DROPS + reason, 1);
    weft__count_lost_bytes(w, reason, packet->bytes);
    if (__builtin_expect(packet->side, 0)) weft__side_release(w, packet);
}

/// When nodes take samples: every `interval_ps`, or with `most` (even) every `interval_ps` to begin with, and at twice
/// the distance whenever so many distances have passed. Those at the last distance, most / 2 to `most` of them, are
/// spread evenly over the run, however long it is.
struct weft__sampling {
    weft_time_ps interval_ps; ///< 0: none are taken
    uint32_t most;
};
static inline weft_time_ps weft__sampling_interval(const struct weft__sampling *s, weft_time_ps now) {
    weft_time_ps interval = s->interval_ps;
    while (s->most && now / interval >= s->most)
        interval *= 2;
    return interval;
}
static inline weft_time_ps weft__sampling_next(const struct weft__sampling *s, weft_time_ps now) {
    return now + weft__sampling_interval(s, now);
}

/// The samples taken at the nodes of a worker. Their tx_bytes are all that was sent until then.
struct weft__samples {
    struct weft_sample *sample;
    uint64_t n, capacity;
    struct weft__sampling sampling;
};

/// Gives each worker its own samples.
void weft__samples_init(struct weft__engine *engine, const struct weft__sampling *sampling);
void weft__samples_deinit(struct weft__engine *engine);
/// Leaves out those that the distance at `now` has none of.
void weft__samples_thin(struct weft__samples *samples, weft_time_ps now);
void weft__sample_add(struct weft__worker *w, const struct weft_sample *sample);
static inline struct weft__samples *weft__samples_of(const struct weft__worker *w) {
    return w->notes;
}
