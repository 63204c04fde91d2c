// SPDX-License-Identifier: Apache-2.0
// Credit of links (CBFC). Reports nothing if no link used credit.
#include "base/units.h"
#include "box/sums.h"

static const struct weft_result_column columns[] = {
    WEFT__SUM(credit_wait_ps, "credit_wait_ps", TIME,
              "time that ports lacked credit of their link for a frame of a priority (CBFC), summed over both",
              .compared = "CBFC ports waited"),
};

static void print_credit(FILE *file, const struct weft_run *run) {
    weft_time_ps waited = weft_outcome_counters(run->outcome).credit_wait_ps;
    if (!waited) return;
    fprintf(file, "CBFC   the links' credit: ports waited for %s in all\n", weft__short_time(waited).text);
}

const struct weft__sums weft__sums_credit = {WEFT_RESULT_COLUMNS(columns), .print = print_credit};
