// SPDX-License-Identifier: Apache-2.0
// Marks of congestion, and what receivers answer to them.
#include <inttypes.h>

#include "box/sums.h"

static const struct weft_result_column columns[] = {
    WEFT__SUM(ecn_marked, "ecn_marked", COUNT, "packets marked CE", .compared = "ECN marks"),
    WEFT_RESULT_NAMED(struct weft_outcome, cnps, "cnp", COUNT, "congestion notification packets sent by receivers",
                      .was = "cnps", .compared = "CNPs"),
};

static void print(FILE *file, const struct weft_run *run) {
    fprintf(file, "ECN    %" PRIu64 " packets marked; %" PRIu64 " CNPs sent\n",
            weft_outcome_counters(run->outcome).ecn_marked, run->outcome->cnps);
}

const struct weft__sums weft__sums_ecn = {WEFT_RESULT_COLUMNS(columns), .always = true, .print = print};
