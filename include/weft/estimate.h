// SPDX-License-Identifier: Apache-2.0
// What a run would give, in seconds instead of hours: data flows like a fluid, and nothing is sent packet by packet.
// The same scenario, network, routes and workload as a run has; ranks take the same steps. An estimate is an outcome
// like that of a run (weft/outcome.h), as far as it goes: times of flows, operations, iterations and jobs; bytes that
// ports send. What a fluid cannot show is refused by name: see docs/estimate.md.
#pragma once

#include "weft/result.h"
#include "weft/sim.h"

/// What was estimated, as a time that an interval goes with.
struct weft_estimate_time {
    const char *what; ///< "job", "iteration", "collective", "group", "first token", "later token"
    const char *name;
    uint32_t job;    ///< WEFT_NONE: of no job
    uint64_t number; ///< of the iteration; of the collective among those of its iteration
    uint64_t count;  ///< of a group: its flows; of a job: its ranks; of a collective: the group's size
    weft_bytes bytes;
    weft_time_ps time_ps, low_ps, high_ps; ///< low, high: 0: not calibrated
    weft_time_ps mean_ps, p99_ps;          ///< of a group: of its flows; of tokens: of its requests; else 0
    bool derived;                          ///< it follows from other times, and has no interval of its own
    bool scattered; ///< of a group: its flows begin at several times, and the slowest need not end last: never
                    ///< calibrated
    bool unpaused;  ///< of a group: PFC may hold it back behind others, which is not in its times: never calibrated
};

/// A link that carries data, in one direction; or links that packets share evenly, as one of them.
struct weft_estimate_link {
    const char *name, *from, *to; ///< of the port, and of the layers at its ends
    double rate_bps, utilisation; ///< of the makespan
    weft_bytes bytes;
    uint32_t flows; ///< queue pairs that were active there at once, the most
};

/// All links from one layer to another.
struct weft_estimate_layer {
    const char *from, *to;
    uint32_t links, used;
    double mean, max; ///< utilisation
};

/// Two queue pairs, or more, that cross one of the busiest links.
struct weft_estimate_sharer {
    const char *link, *group, *src, *dst;
    uint32_t qp;
    weft_bytes bytes;
};

struct weft_estimate {
    const char *scenario;
    const char *mechanism, *kind; ///< by which intervals are found
    uint64_t seed;
    weft_time_ps makespan_ps, low_ps, high_ps;
    uint32_t hosts;
    bool calibrated; ///< else low and high are 0
    double cpu_s;
    uint64_t events, changes; ///< changes: of levels of links
    uint32_t times, links, layers, sharers;
    struct weft_estimate_time *time;
    struct weft_estimate_link *link; ///< the busiest, in order
    struct weft_estimate_layer *layer;
    struct weft_estimate_sharer *sharer;
    struct weft_outcome *outcome;
};
extern const struct weft_answer weft__answer_estimate;

struct weft_estimate_options {
    const char *calibration; ///< a file; NULL: that of the installation
    uint32_t links;          ///< how many of the busiest; 0: 10
    double tolerance;        ///< of rates, relative; 0: exact for few flows, 1% for many
    bool messages;           ///< rings step by step, never as one flow
};

/// WEFT_ERROR_INPUT: what cannot be estimated, with its place. The rows are in `arena`; weft_estimate_free frees the
/// outcome.
enum weft_status weft_estimate_run(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                   const struct weft_workload *workload, const struct weft_estimate_options *options,
                                   struct weft_arena *arena, struct weft_estimate **ret_estimate,
                                   struct weft_error *ret_error);
void weft_estimate_free(struct weft_estimate *estimate);
