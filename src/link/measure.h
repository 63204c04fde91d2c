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
static inline uint8_t weft__sampling_doublings(const struct weft__sampling *s, weft_time_ps now) {
    uint8_t doublings = 0;
    while (s->most && now / (s->interval_ps << doublings) >= s->most)
        doublings++;
    return doublings;
}
static inline weft_time_ps weft__sampling_next(const struct weft__sampling *s, weft_time_ps now) {
    return now + (s->interval_ps << weft__sampling_doublings(s, now));
}

/// Steps of all ports at the sampling's distances; each port's are thinned when it is sampled.
struct weft__film {
    struct weft__sampling sampling; ///< most 0: there is no film
    struct weft_film_step *step;    ///< [ports][most]
    uint8_t *doublings;             ///< [ports] of the distance, so far
};
/// Thins the steps of a port for a distance of first * 2^doublings.
void weft__film_thin(struct weft__film *film, uint32_t port, uint8_t doublings);

/// The samples taken at the nodes of a worker. Their tx_bytes are all that was sent until then.
struct weft__samples {
    struct weft_sample *sample;
    uint64_t n, capacity;
    struct weft__film *film; ///< takes them instead; NULL: none
};

/// Gives each worker its own samples.
void weft__samples_init(struct weft__engine *engine, struct weft__film *film);
void weft__samples_deinit(struct weft__engine *engine);
void weft__sample_add(struct weft__worker *w, const struct weft_sample *sample);
static inline const struct weft__samples *weft__samples_of(const struct weft__worker *w) {
    return w->notes;
}
