// SPDX-License-Identifier: Apache-2.0
// Why a job may be slow on its network, as far as its scenario can say: suspected causes, each with the change of the
// scenario that removes it and the setting that would do so in a real cluster. What a change gains only runs can say:
// weft advise. Which causes: reports of users of DeepEP (github.com/deepseek-ai/DeepEP, issues 82, 254, 336, 650, pull
// requests 130, 611), Rajasekaran et al., "CASSINI", NSDI 2024, for shifts in time.
#pragma once

#include "weft/statistics.h"
#include "weft/types.h"

struct weft_answer;
struct weft_fit_row;
struct weft_scenario;
struct weft_topology;
struct weft_tree;
struct weft_workload;

struct weft_cause {
    const char *name;   ///< "hash_collisions"
    const char *detail; ///< where the scenario has it: "switch.route: ecmp"
    const char *patch;  ///< what is laid over the scenario to remove it: lines of YAML, `host.cc: none`
    const char *at_switch, *at_nic, *in_nccl; ///< settings that remove it; "": none there
    uint32_t choice; ///< causes of one number, unless 0, are values of one setting, of which only one can hold
};
struct weft_causes_conf {
    uint32_t job;          ///< of the workload
    weft_time_ps alone_ps; ///< an iteration of the job without the others; 0: there are none, and nothing is shifted
};
/// The causes that the scenario can have, in `arena`. `tree`: what the variant says, unchecked.
struct weft_cause *weft_causes_find(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, const struct weft_tree *tree,
                                    const struct weft_causes_conf *conf, struct weft_arena *arena, uint32_t *ret_n);

/// One or two causes removed, or all of them: [seeds] iterations beside those of the scenario as it is.
struct weft_removal {
    uint32_t cause[2]; ///< WEFT_NONE: no second one; both: all that were found
    double time_ps;    ///< mean; NAN: no run of it gave one
    double gain, half; ///< share of the iteration that it saves, and half of its 95% interval (NAN: one seed)
    bool noise;        ///< the interval leaves in 0
    bool ran;
};
/// From times with and without, paired by seed.
void weft_removal_judge(struct weft_removal *r, const double *base, const double *time, uint32_t seeds,
                        struct weft_arena *arena);
/// The pair that takes the least time; NULL: none gave one.
const struct weft_removal *weft_removal_best_pair(const struct weft_removal *removal, uint32_t n);

/// A cause with its place.
struct weft_cause_rank {
    uint32_t cause;
    const struct weft_removal *alone; ///< removed alone
    double after;                     ///< what removing it gains once those above it are removed; NAN: not run
};
/// The order of causes. First the one that gains most alone, then by what each gains once that is removed; but if two
/// that hide one another together gain clearly more than the first with any other, these two come first. Of the causes
/// of one name (shifts in time) only the best has a place. [*ret_n] in `arena`.
struct weft_cause_rank *weft_causes_rank(const struct weft_cause *cause, uint32_t causes,
                                         const struct weft_removal *removal, uint32_t removals,
                                         struct weft_arena *arena, uint32_t *ret_n);

struct weft_cause_row {
    uint32_t rank;
    struct weft_cause cause;
    double gain, half, after, time_ps;
    bool noise;
};
struct weft_cause_pair {
    const char *first, *second;
    double gain, half, time_ps;
};
struct weft_advise_answer {
    const char *scenario, *variant, *job;
    const char *log;           ///< NULL: none was given
    double measured_ps;        ///< its sizes that are the job; NAN
    const char *log_verdict;   ///< how far that is from what is simulated, and whether a cause explains it
    double base_ps, base_half; ///< an iteration as it is
    double alone_ps;           ///< without the other jobs; NAN: there are none
    double all_ps;             ///< with all causes removed that were found; NAN: not run
    uint32_t seeds, runs;
    bool cut; ///< the budget ended before all pairs had run
    const char *verdict;
    struct weft_cause_row *row;
    struct weft_cause_pair *pair;
    const struct weft_fit_row *size; ///< of the log, without outliers
    uint32_t rows, pairs, sizes;
};
extern const struct weft_answer weft__answer_advise;
