// SPDX-License-Identifier: Apache-2.0
// Results of a disaggregated scheduled fabric.
#include <math.h>

#include "weft/result.h"

static bool has_dsf(const struct weft_run *run) {
    return run->outcome->dsf;
}

/// Part 0 is the outcome, part 1 its distributions.
static bool next_dsf(struct weft_result_cursor *c) {
    c->part[0] = c->run->outcome->dsf;
    c->part[1] = c->run->outcome->dsf->seen;
    return !c->at++;
}

static struct weft_result_value hops_rate(struct weft_result_cursor *c) {
    const struct weft_outcome *o = c->run->outcome;
    double rate = o->cpu_s > 0 ? (double)o->dsf->cell_hops / o->cpu_s : (double)NAN;
    return (struct weft_result_value){.known = isfinite(rate), .real = rate};
}

static const struct weft_result_column columns[] = {
#define X(field, type, help) WEFT_RESULT(struct weft_dsf_outcome, field, type, help),
    WEFT_DSF_COUNTERS(X) WEFT_DSF_WATERMARKS(X)
#undef X
        WEFT_RESULT_CALL(hops_rate, "cell_hops_per_cpu_s", REAL, "cell hops a second of processor time", .unit = "1/s"),
#define X(field, type, of, help)                                                                                       \
    WEFT_RESULT_HISTOGRAM(1, struct weft_dsf_histograms, field, #field, type, help, .unit = of),
    WEFT_DSF_HISTOGRAMS(X)
#undef X
};
const struct weft_result_table weft__results_dsf = {
    .name = "dsf",
    .shape = WEFT_RESULT_OBJECT,
    .row = "the DSF boxes of a run: sums and the most at any one; percentiles are off by 0.4% at most",
    WEFT_RESULT_COLUMNS(columns),
    .next = next_dsf,
    .present = has_dsf,
};
