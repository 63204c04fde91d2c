// SPDX-License-Identifier: Apache-2.0
// Congestion marks, and how receivers answer them.

#include "box/sums.h"

#include "base/units.h"

static const struct weft_result_column columns[] = {
    WEFT__SUM(ecn_marked, "ecn_marked", COUNT, "packets marked CE", .compared = "ECN marks"),
    WEFT_RESULT_NAMED(struct weft_outcome, cnps, "cnp", COUNT, "congestion notification packets sent by receivers",
                      .was = "cnps", .compared = "CNPs"),
};

static void print_ecn(FILE *file, const struct weft_run *run) {
    fprintf(file, "ECN    %s marked; %s sent\n",
            weft__counted(weft_outcome_counters(run->outcome).ecn_marked, "packet").text,
            weft__counted(run->outcome->cnps, "CNP").text);
}

const struct weft__sums weft__sums_ecn = {WEFT_RESULT_COLUMNS(columns), .always = true, .print = print_ecn};
