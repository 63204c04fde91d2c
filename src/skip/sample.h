// SPDX-License-Identifier: Apache-2.0
// A sample of a job's operations runs in packets; the rest takes as long as these say (docs/sampling.md). See sample.c
// for which run, and sample_estimate.c for what they say.
#pragma once

#include "box/network.h"

/// What runs in packets or is left out, whole: an operation with the computing before it, or an iteration.
struct weft__sample_unit {
    uint32_t turn, turn_end; ///< of the only stage; of whole iterations: none
    uint32_t op;             ///< with its collective
    uint32_t iteration;      ///< of its round
    uint32_t class;
    bool last;  ///< of its iteration
    bool first; ///< among the first of its class in an iteration, which warm up
    double compute_ps, bound_ps;
};

struct weft__sample {
    const struct weft__network *net;
    const struct weft_job *job;
    bool whole;             ///< units are iterations
    uint32_t rounds, units; ///< a round is an iteration if that is long, else all of them; units: of a round
    uint32_t period;        ///< units that are drawn together: a layer
    struct weft__sample_unit *unit;
    uint32_t classes;
    uint32_t *class_op; ///< [classes]: an operation of the class
    double *part;       ///< [classes]: of a full sample that the class gets; 1, unless it is rare
    bool *runs;         ///< [rounds * units]
    bool *passes;       ///< [iterations * ops], for programs
};

static inline uint32_t weft__sample_iteration(const struct weft__sample *s, uint32_t round, uint32_t unit) {
    return round + s->unit[unit].iteration; // one of the two is 0
}

/// Whether a scenario with run.sample can be sampled, as far as its network and work tell.
enum weft_status weft__sample_check(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, struct weft_error *ret_error);
/// For a scenario with run.sample, before the engine runs: chooses what runs, and tells the programs. NULL: without it.
/// `ranks`: over several processes; `checkpoints`: it is saved.
enum weft_status weft__sample_start(struct weft__network *net, bool ranks, bool checkpoints,
                                    struct weft__sample **ret_sample, struct weft_error *ret_error);
/// The outcome of the job is collected, by the engine's clock: fills in what was left out, and its intervals. Does
/// nothing if the job has not finished.
void weft__sample_collect(const struct weft__sample *s);
/// Whether the interval is as narrow as run.sample.until_interval asks, or nothing more could make it so.
bool weft__sample_suffices(const struct weft_outcome *outcome, const struct weft_scenario *scenario);
