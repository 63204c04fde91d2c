// SPDX-License-Identifier: Apache-2.0
// What somebody claims about the variants of a scenario, in figures, so that a run can say whether it holds.
//
//   claims:
//     - text: "SFC improves the victims"
//       source: "SFC simulation, part 5, case 1"
//       that: pfc+sfc.victims.fct.mean < pfc.victims.fct.mean * 90%
//     - text: "more buffer always helps"
//       that: large.victims.fct.mean < small.victims.fct.mean and small.counters.pfc_xoff_frames > 0
//       expected: no
//       reason: PFC is not triggered in either
//       cases: "2.*,3"
//     - text: "marking keeps the queue short"
//       that: ecn.counters.queue_bytes_max < pfc.counters.queue_bytes_max * 50%
//       without: {switch.aqm: none}
//       seeds: {at_least: 6, reason: "two flows in three meet by hash"}
//     - {text: "it is shorter in the mean", that: a.g.fct.mean < b.g.fct.mean, seeds: {mean: 1..8}}
//     - text: "cells are faster"
//       that: dsf.g.fct.max < roce.g.fct.max
//       bands: [interface_node.processing, host.nic, {devices.0.switch.processing: meta_ctsw}]
//       in_band: turns
//
// `bands` are values of hardware that the claim can hang on: each becomes low, typical and high (verify --bands), and
// `in_band` is what must come of it.
//
// `without` is what must break a claim: with these settings laid over every variant that it names it must not hold. A
// claim that says `toothless` and why is exempt: arithmetic, an identity; so is a `definition`, which repeats what the
// scenario is built of. A control is a claim about a mechanism asked
// of a network without it: it must not hold, and that is no finding.
//
// An expression has comparisons (< <= > >= == !=, several in a chain; "a ~ b within 10%"), joined by `and` and `or`,
// over sums and products (+ - * /, between blanks) of numbers, quantities with their unit and metrics; parentheses
// group. A metric is a variant's name, a dot, and the path of a number in that run's JSON: pfc.counters.cnp. For
// pfc.groups.victims.fct_ps.mean, pfc.victims.fct.mean will do. pfc.topo.hosts is what `weft topo --json` says of the
// variant; likewise plan.pfc, plan.sfc, plan.dsf, place, workload and trace-control. A part with odd characters stands
// in double quotes. In a file without variants the name falls away. In a file with cases the variant may go without its
// case: the claim is then made of each case (or of those that `cases` names by a shell pattern). Times compare with
// times only, sizes with sizes, rates with rates.
#pragma once

#include "weft/scenario.h"

/// UNKNOWN: of what is no result, which the run says.
enum weft_claim_dimension {
    WEFT_CLAIM_NUMBER,
    WEFT_CLAIM_TIME,
    WEFT_CLAIM_BYTES,
    WEFT_CLAIM_RATE,
    WEFT_CLAIM_TRUTH,
    WEFT_CLAIM_UNKNOWN
};

/// Whose JSON a metric is in.
enum weft_claim_from {
    WEFT_CLAIM_FROM_RUN,
    WEFT_CLAIM_FROM_TOPO,
    WEFT_CLAIM_FROM_PLAN_PFC,
    WEFT_CLAIM_FROM_PLAN_SFC,
    WEFT_CLAIM_FROM_PLAN_DSF,
    WEFT_CLAIM_FROM_GOODPUT,
    WEFT_CLAIM_FROM_ADVISE,
    WEFT_CLAIM_FROM_WHY_JOBS, ///< weft why --jobs
    WEFT_CLAIM_FROM_PLACE,
    WEFT_CLAIM_FROM_WORKLOAD,
    WEFT_CLAIM_FROM_TRACE_CONTROL,
    WEFT_CLAIM_FROMS
};
/// As it stands in a metric: "plan.pfc"; of a run "".
extern const char *const weft_claim_from_names[WEFT_CLAIM_FROMS];

/// A metric where it stands in the expression.
struct weft_claim_metric {
    uint32_t variant; ///< of the file
    enum weft_claim_from from;
    uint32_t at, length; ///< in `that`
    enum weft_claim_dimension dimension;
    uint32_t parts;    ///< of its path in that JSON
    const char **part; ///< {"groups", "victims", "fct_ps", "mean"}
};

struct weft_claim_node; ///< of an expression
/// A value of hardware that a claim can hang on.
struct weft_claim_band {
    const char *path;     ///< "switch.processing"; "host.nic": every value of the class
    const char *hardware; ///< class that has the band; "": the one that the scenario names
    const char *value[3]; ///< as the file says them, low first; NULL: the class has them
    uint32_t values;      ///< 3: low, typical, high; 2: low, high
    const char **with;    ///< settings, "path=value", that go with each of the values: headroom for a longer delay
    uint32_t withs;
    struct weft_place place;
};
/// A claim's verdict over its bands, the worst of them: the same result at each value; another result at some; another
/// only because hosts take longer than the effect; the result at none of the values.
enum weft_claim_in_band {
    WEFT_CLAIM_IN_BAND_UNKNOWN,
    WEFT_CLAIM_IN_BAND_HOLDS,
    WEFT_CLAIM_IN_BAND_TURNS,
    WEFT_CLAIM_IN_BAND_HIDDEN,
    WEFT_CLAIM_IN_BAND_IDEAL,
    WEFT_CLAIM_IN_BANDS
};
extern const char *const weft_claim_in_band_names[WEFT_CLAIM_IN_BANDS + 1]; ///< "holds"; ends with NULL
extern const char *const weft_claim_in_band_texts[WEFT_CLAIM_IN_BANDS];     ///< "holds in the band"
extern const char *const weft_claim_in_band_plurals[WEFT_CLAIM_IN_BANDS];   ///< "hold in the band"
/// How it is judged over seeds. Each: with each of them; at least: with so many; mean: with the means of its metrics.
enum weft_claim_seeds { WEFT_CLAIM_SEEDS_EACH, WEFT_CLAIM_SEEDS_AT_LEAST, WEFT_CLAIM_SEEDS_MEAN };
struct weft_claim {
    const char *text, *source, *that, *reason;
    const char *toothless;  ///< why nothing can break it; "": something can
    const char *definition; ///< what of the scenario or model it repeats; "": nothing
    const char *checks;     ///< statements of sources that it checks, by their names; "": none
    const char *cases;      ///< pattern over cases
    const char *case_name;  ///< the case it is made of; "": it names its variants in full
    bool expected;          ///< false: known not to hold, for the reason given
    bool control;           ///< must not hold
    enum weft_claim_seeds seeds;
    uint32_t at_least, of;    ///< of WEFT_CLAIM_SEEDS_AT_LEAST: 6 of 8
    const char *seeds_reason; ///< of WEFT_CLAIM_SEEDS_AT_LEAST: why not each
    const uint64_t *own_seed; ///< of WEFT_CLAIM_SEEDS_MEAN: the seeds that the file names
    uint32_t own_seeds;       ///< 0: the file names none
    uint32_t withouts;
    const char **without; ///< settings, "path=value", that must break it
    struct weft_place without_place;
    uint32_t bands, in_band; ///< in_band: what is expected, enum weft_claim_in_band
    const struct weft_claim_band *band;
    struct weft_place place; ///< of `that`
    uint32_t metrics;
    struct weft_claim_metric *metric; ///< in the order in which they stand
    const struct weft_claim_node *root;
};

/// The claims of a file, one a case where they are made of each, in `arena`; none: *ret_n is 0. What is wrong with one
/// is an error with its place; whether its metrics exist only a run can say.
enum weft_status weft_claims_new(const struct weft_scenario_file *file, struct weft_arena *arena,
                                 struct weft_claim **ret_claim, uint32_t *ret_n, struct weft_error *ret_error);
/// A metric without a variant in front: victims.fct.mean. False: it is no path.
bool weft_claim_metric_parse(const char *text, struct weft_arena *arena, struct weft_claim_metric *ret_metric);
/// Does it hold with these values, one for each metric, in ps, bytes or bit/s? A comparison with NAN does not.
bool weft_claim_holds(const struct weft_claim *claim, const double *value);
/// Is it meant to hold?
static inline bool weft_claim_is_to_hold(const struct weft_claim *claim) {
    return claim->expected && !claim->control;
}
/// With how many of so many seeds the claim has to turn out as expected; WEFT_CLAIM_SEEDS_MEAN is one judgement: 1.
uint32_t weft_claim_seeds_needed(const struct weft_claim *claim, uint32_t seeds);
/// Whether `seeds` seeds can judge the claim: a mean needs two, "at least 6 of 8" needs enough that one must hold.
bool weft_claim_is_judged(const struct weft_claim *claim, uint32_t seeds);
/// A claim and what came of it.
struct weft_claim_result {
    const struct weft_claim *claim;
    double *value; ///< of each metric; NAN: it has none
    bool holds;
};

/// The expression with values in place of metrics: "612us < 900us x 90%". In `arena`.
const char *weft_claim_filled(const struct weft_claim *claim, const double *value, struct weft_arena *arena);
