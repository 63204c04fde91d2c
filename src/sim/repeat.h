// SPDX-License-Identifier: Apache-2.0
// A stretch of a run that is taken over instead of run (docs/fast-forward.md). The engine's clock stands still while it
// passes: what was counted since a mark is counted again, in proportion; what begins at its time is so much nearer; and
// a time that is noted later is so much later than the clock says.
#ifndef WEFT_SIM_REPEAT_H
#define WEFT_SIM_REPEAT_H

#include "box/box.h"
#include "sim/run.h"
#include "weft/histogram.h"

/// What a run has skipped so far, and where it counts.
struct weft__skips {
    struct weft__network *net;
    struct weft_fast_forward_outcome *outcome;
    weft_time_ps skipped_ps;
    struct weft_histogram **histogram; ///< what programs, queue pairs and boxes count in
    uint32_t *group;                   ///< [histograms]: those of one group are of several workers, and make one
    uint32_t histograms, groups;
    uint64_t audits; ///< left: stretches to be run in full, to compare
};

/// All that had been counted at a time.
struct weft__mark {
    struct weft_arena *arena; ///< NULL: none
    weft_time_ps time_ps;     ///< what had been skipped included
    struct weft__tally tally;
    struct weft_counters *port; ///< [ports * WEFT_PRIORITIES]
    struct weft_flow_outcome *flow;
    weft_bytes *delivered; ///< [qps]
    struct weft__program_mark *program;
    struct weft_histogram *waits; ///< [histograms]
    weft_bytes *server;           ///< [2 * hosts]
    struct weft__mark_counts {
        uint64_t *count; ///< in the order of the box's each_count
        uint32_t n;
    } * box; ///< [nodes]: what they count themselves
};

/// So many times what is counted in such a part of it.
struct weft__ratio {
    uint64_t times, of;
};

/// Before a run.
void weft__skips_init(struct weft__skips *s, struct weft__network *net);

/// `now`: by the engine's clock. Freed by weft__mark_free, which may be told of one that was never taken.
void weft__mark_take(const struct weft__skips *s, weft_time_ps now, struct weft__mark *ret);
void weft__mark_free(struct weft__mark *m);

/// Each number of it that adds up, but for those of histograms and boxes; always in the same order.
void weft__mark_each(const struct weft__skips *s, struct weft__mark *m, weft__on_count *on_count, void *context);
struct weft__numbers {
    uint64_t *number;
    size_t n;
};
/// The same as a list, in `arena`.
struct weft__numbers weft__mark_numbers(const struct weft__skips *s, const struct weft__mark *m,
                                        struct weft_arena *arena);
/// The k-th count of a box; 0 if there was none yet.
uint64_t weft__mark_count_in(const struct weft__mark_counts *mark, uint32_t k);
/// What was counted between two times.
void weft__histogram_add_between(struct weft_histogram *h, const struct weft_histogram *from,
                                 const struct weft_histogram *to);

/// A mark at `now` of which it is said that from it on was counted what was counted between two others.
void weft__mark_take_again(const struct weft__skips *s, weft_time_ps now, const struct weft__mark *from,
                           const struct weft__mark *to, struct weft__mark *ret);

/// What was counted since the mark is counted again: ports, drops, packets, waits, and what flows count besides their
/// bytes. All times noted so far become true.
void weft__skips_repeat(struct weft__skips *s, const struct weft__mark *before, struct weft__ratio ratio);

/// Since the mark something was paused or dropped, or a sender was told of a mark.
bool weft__skips_met_congestion(const struct weft__skips *s, const struct weft__mark *before);

/// When, by the engine's clock, the first of what waits for its time begins, or the run is to end.
weft_time_ps weft__skips_next_start(const struct weft__skips *s);

/// So much time has passed.
void weft__skips_pass(struct weft__skips *s, weft_time_ps time);

/// Relative.
double weft__skips_difference(weft_time_ps a, weft_time_ps b);

/// An audited stretch has been run, and ended then.
void weft__skips_judge(struct weft__skips *s, double error);

#endif
