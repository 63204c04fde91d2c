// SPDX-License-Identifier: Apache-2.0
// A sample of a job's operations runs in packets; the rest takes as long as these say (docs/sampling.md). See sample.c
// for which run, and sample_estimate.c for what they say.
#pragma once

#include "box/network.h"
#include "weft/random.h"

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
    // With run.sample.groups:
    bool *local;     ///< [ops]: the operation is within groups, and other groups leave it out
    bool *absent;    ///< [iterations * ops]: what ranks of groups that do not run pass
    uint32_t groups; ///< of ranks; 0: all ranks run
    uint32_t group_classes, groups_run;
    uint32_t *group_of; ///< [ranks]
    struct weft__sample_group {
        uint32_t rank, ranks, links, class; ///< rank: the first
        double bps;                         ///< of its links
        bool runs;
    } * group;
};

/// What the groups that ran say of all (those of the slowest class): in a unit, by unit.
struct weft__sample_groups {
    double all, ran;
    double *mean;                       ///< [units that ran and are local]: the mean of the groups
    double lasting, changing, of_means; ///< deviations: of a group from the mean, the same in all units; of a unit; of
                                        ///< the means of groups that ran
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
/// Draws groups of ranks (run.sample.groups). All ranks run, and s->groups is 0, where they are in one group, or whole
/// iterations are drawn.
void weft__sample_choose_groups(struct weft__sample *s, struct weft_random *random);
/// Whether a unit runs in some groups only.
bool weft__sample_is_local(const struct weft__sample *s, uint32_t unit);
/// False: there are no groups, or none of their units ran. Completes the outcome of operations that ran in some groups.
bool weft__sample_analyse_groups(const struct weft__sample *s, struct weft__sample_groups *ret);
/// After so many units, how much later than the mean the slowest of all groups is; and half of the 95% interval of its
/// time.
double weft__sample_slowest(const struct weft__sample_groups *groups, double units);
double weft__sample_groups_half(const struct weft__sample_groups *groups, double units);
/// The outcome of the job is collected, by the engine's clock: fills in what was left out, and its intervals. Does
/// nothing if the job has not finished.
void weft__sample_collect(const struct weft__sample *s);
/// Whether the interval is as narrow as run.sample.until_interval asks, or nothing more could make it so.
bool weft__sample_suffices(const struct weft_outcome *outcome, const struct weft_scenario *scenario);
