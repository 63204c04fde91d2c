// SPDX-License-Identifier: Apache-2.0
// A stretch of a run that is taken over instead of run (docs/fast-forward.md). The engine's clock stands still
// meanwhile: what was counted since a mark is counted again, in proportion; scheduled beginnings come nearer; and times
// noted later exceed the clock by the skipped time.
#pragma once

#include "box/box.h"
#include "skip/program_skip.h"
#include "weft/histogram.h"

/// What a run has skipped so far, and where its counts are.
struct weft__skips {
    struct weft__network *net;
    struct weft_fast_forward_outcome *outcome;
    weft_time_ps skipped_ps;
    struct weft_histogram **histogram; ///< histograms that programs, queue pairs and boxes count in
    uint32_t histograms;
    uint64_t audits; ///< left: stretches still to be run in full for comparison
};

/// All counts at a point in time.
struct weft__mark {
    struct weft_arena *arena; ///< NULL: none
    weft_time_ps time_ps;     ///< including skipped time
    struct weft__tally tally;
    struct weft_counters *port; ///< by port, then priority: counters_at
    struct weft_flow_outcome *flow;
    weft_bytes *delivered; ///< [qps]
    struct weft__program_mark *program;
    struct weft_histogram *waits; ///< [histograms]
    weft_bytes *server;           ///< [2 * hosts]
    struct weft__mark_counts {
        uint64_t *count; ///< in the order of the box's each_count
        uint32_t n;
    } * box; ///< [nodes]: their own counts
};

/// The factor times / of.
struct weft__ratio {
    uint64_t times, of;
};

/// Call it before a run.
void weft__skips_init(struct weft__skips *s, struct weft__network *net);

/// `now`: by the engine's clock. weft__mark_free frees it and may be called for a mark that was never taken.
void weft__mark_take(const struct weft__skips *s, weft_time_ps now, struct weft__mark *ret);
void weft__mark_free(struct weft__mark *m);

/// Takes a mark at `now` as if what was counted between two other marks had been counted from it on.
void weft__mark_take_again(const struct weft__skips *s, weft_time_ps now, const struct weft__mark *from,
                           const struct weft__mark *to, struct weft__mark *ret);

/// Counts what was counted since the mark again: ports, drops, packets, waits, and the counters of flows besides their
/// bytes. All times noted so far are corrected.
void weft__skips_repeat(struct weft__skips *s, const struct weft__mark *before, struct weft__ratio ratio);

/// Whether, since the mark, something was paused or dropped, or a sender was told of a mark.
bool weft__skips_met_congestion(const struct weft__skips *s, const struct weft__mark *before);

/// When, by the engine's clock, the first scheduled beginning is due, or the run's end.
weft_time_ps weft__skips_next_start(const struct weft__skips *s);

/// That much time has passed.
void weft__skips_pass(struct weft__skips *s, weft_time_ps time);

/// The relative difference.
double weft__skips_difference(weft_time_ps a, weft_time_ps b);

/// An audited stretch has been run, and ended now.
void weft__skips_judge(struct weft__skips *s, double error);
