// SPDX-License-Identifier: Apache-2.0
// Time of a Clique: one primary clock, distributed along a tree of GNet links by TimeSync ordered sets, in hardware.
// Source: Gibson et al., "Aquila", NSDI'22, appendix B; what it leaves open: src/control/clique/timesync.c.
#pragma once

#include "weft/clique.h"

struct weft_timesync_conf {
    weft_time_ps interval_ps, step_ps, wait_max_ps, chip_ps, threshold_ps, holdover_ps, software_ps, for_ps, gather_ps,
        jump_ps;
    double load, damaged;
    uint64_t drift_ppb; ///< of an oscillator, at most, either way
    uint64_t outputs, delay_samples, invalid_max, seeds;
};
struct weft_param_table;
extern const struct weft_param_table weft_timesync_table;

/// A TimeSync ordered set, as it is on the wire.
struct weft_timesync_message {
    int64_t time_ps;
    bool valid; ///< status: the sender's clock follows the primary
};
/// The hardware of a TiN. Its clock showed `shown_ps` at `set_ps`, and runs at (1 + drift_ppb/1e9).
struct weft_timesync_clock {
    int64_t shown_ps;
    weft_time_ps set_ps, synced_ps; ///< synced: when it last took over a time; WEFT_TIME_NEVER: not yet
    int32_t drift_ppb;
    int64_t delay_ps; ///< of the channel it listens to, as measured
    bool acquiring;   ///< the next valid message is taken over whatever its difference
    bool failed;      ///< signalled
    uint32_t invalid; ///< messages since the last valid one
};
enum weft_timesync_answer { WEFT_TIMESYNC_TAKEN, WEFT_TIMESYNC_IGNORED, WEFT_TIMESYNC_FAILURE };

/// What the clock shows at `now`.
int64_t weft_timesync_read(const struct weft_timesync_clock *c, weft_time_ps now);
/// What it says on a link where it sends `held_ps` after `now`: the time of transmission, to half a step.
struct weft_timesync_message weft_timesync_send(const struct weft_timesync_clock *c,
                                                const struct weft_timesync_conf *conf, weft_time_ps now,
                                                weft_time_ps held_ps, bool primary);
enum weft_timesync_answer weft_timesync_on_message(struct weft_timesync_clock *c, const struct weft_timesync_conf *conf,
                                                   weft_time_ps now, struct weft_timesync_message message);
/// Delay of a channel from `delay_samples` round trips counted in steps; `phase(context)` is in [0, 1).
int64_t weft_timesync_measure(const struct weft_timesync_conf *conf, weft_time_ps delay_ps, double (*phase)(void *),
                              void *context);

enum weft_timesync_what {
    WEFT_TIMESYNC_LINK_DOWN,
    WEFT_TIMESYNC_LINK_UP,
    WEFT_TIMESYNC_JUMP, ///< the clock of a TiN is off by `jump_ps` from now on
};
struct weft_timesync_event {
    weft_time_ps time_ps;
    enum weft_timesync_what what;
    uint32_t which; ///< link or TiN
    int64_t jump_ps;
};
/// What came of an event.
struct weft_timesync_outcome {
    uint32_t signalled;       ///< TiNs that signalled failure, or whose port did
    uint32_t moved;           ///< listen to another neighbour since
    weft_time_ps restored_ps; ///< until the last of them followed again; 0: none did
    weft_time_ps error_ps;    ///< the largest until the next event
};
/// TiNs of a depth in the tree.
struct weft_timesync_depth {
    uint32_t tins;
    uint64_t samples;
    double mean_ps, deviation_ps;            ///< of the error, with its sign
    weft_time_ps p50_ps, p99_ps, max_ps;     ///< of its size, at any time
    weft_time_ps fresh_p50_ps, fresh_max_ps; ///< right after a message
    weft_time_ps bound_ps;                   ///< at any time, without failures
};
struct weft_timesync_result {
    uint32_t primary, depths;
    struct weft_timesync_depth *depth;     ///< [depths] of all seeds
    uint64_t messages, ignored;            ///< of all seeds
    weft_time_ps delay_error_ps;           ///< of a measured channel, the largest
    struct weft_timesync_outcome *outcome; ///< [events] of the first seed
};
/// Times of events count from the first message of the primary. In `arena`.
struct weft_timesync_result *weft_timesync_run(const struct weft_clique *c, const struct weft_timesync_conf *conf,
                                               const struct weft_timesync_event *event, uint32_t events, uint64_t seed,
                                               struct weft_arena *arena);
