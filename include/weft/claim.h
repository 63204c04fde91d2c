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
//
// An expression has comparisons (< <= > >= == !=, several in a chain; "a ~ b within 10%"), joined by `and` and `or`,
// over sums and products (+ - * /, between blanks) of numbers, quantities with their unit and metrics; parentheses
// group. A metric is a variant's name, a dot, and the path of a number in that run's JSON: pfc.counters.cnp. For
// pfc.groups.victims.fct_ps.mean, pfc.victims.fct.mean will do. A part with odd characters stands in double quotes. In
// a file without variants the name falls away. In a file with cases the variant may go without its case: the claim is
// then made of each case (or of those that `cases` names by a shell pattern). Times compare with times only, sizes with
// sizes, rates with rates.
#ifndef WEFT_CLAIM_H
#define WEFT_CLAIM_H

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

/// A metric where it stands in the expression.
struct weft_claim_metric {
    uint32_t variant;    ///< of the file
    uint32_t at, length; ///< in `that`
    enum weft_claim_dimension dimension;
    uint32_t parts;    ///< of its path in the JSON of a run
    const char **part; ///< {"groups", "victims", "fct_ps", "mean"}
};

struct weft_claim_node; ///< of an expression
/// Some: it is known to hold with some seeds and not with others, so that either is as expected of one run.
enum weft_claim_seeds { WEFT_CLAIM_SEEDS_ALL, WEFT_CLAIM_SEEDS_SOME };
struct weft_claim {
    const char *text, *source, *that, *reason;
    const char *cases;       ///< pattern over cases
    const char *case_name;   ///< the case it is made of; "": it names its variants in full
    bool expected;           ///< false: known not to hold, for the reason given
    uint32_t seeds;          ///< enum weft_claim_seeds
    struct weft_place place; ///< of `that`
    uint32_t metrics;
    struct weft_claim_metric *metric; ///< in the order in which they stand
    const struct weft_claim_node *root;
};

/// The claims of a file, one a case where they are made of each, in `arena`; none: *ret_n is 0. What is wrong with one
/// is an error with its place; whether its metrics exist only a run can say.
enum weft_status weft_claims_new(const struct weft_scenario_file *file, struct weft_arena *arena,
                                 struct weft_claim **ret_claim, uint32_t *ret_n, struct weft_error *ret_error);
/// Does it hold with these values, one for each metric, in ps, bytes or bit/s? A comparison with NAN does not.
bool weft_claim_holds(const struct weft_claim *claim, const double *value);
/// A claim and what came of it.
struct weft_claim_result {
    const struct weft_claim *claim;
    double *value; ///< of each metric; NAN: it has none
    bool holds;
};

/// The expression with values in place of metrics: "612us < 900us x 90%". In `arena`.
const char *weft_claim_filled(const struct weft_claim *claim, const double *value, struct weft_arena *arena);

#endif
