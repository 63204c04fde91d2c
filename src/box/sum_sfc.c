// SPDX-License-Identifier: Apache-2.0
// Source flow control. Reports nothing if it was not in use.
#include <inttypes.h>

#include "box/sums.h"

#include "base/units.h"

static weft_time_ps paused_ps(const struct weft_outcome *outcome) {
    weft_time_ps sum = 0;
    for (uint32_t f = 0; f < outcome->flows; f++)
        sum += outcome->flow[f].sfc_paused_ps;
    return sum;
}
WEFT_RESULT_VALUE(paused_value, weft_result_whole(true, paused_ps(c->run->outcome)))

static const struct weft_result_column columns[] = {
    WEFT__SUM(sfc_sent, "sfc_messages", COUNT, "source flow control messages made by switches",
              .compared = "SFC messages"),
    WEFT__SUM(sfc_received, "sfc_received", COUNT, "source flow control messages that reached NICs"),
    WEFT__SUM(sfc_suppressed, "sfc_suppressed", COUNT,
              "source flow control messages not made because it was too soon after another"),
    WEFT__SUM(sfc_proxied, "sfc_proxied", COUNT, "source flow control messages turned into pause frames"),
    WEFT_RESULT_CALL(paused_value, "sfc_paused_ps", TIME,
                     "time that source flow control paused flows, summed over flows", .compared = "SFC flows paused"),
};

static void print_sfc(FILE *file, const struct weft_run *run) {
    const struct weft_counters sum = weft_outcome_counters(run->outcome);
    char text[64];
    if (!sum.sfc_sent) return;
    weft_format_time(paused_ps(run->outcome), text, sizeof text);
    fprintf(file, "SFC    %s sent, %" PRIu64 " turned into pause frames", weft__counted(sum.sfc_sent, "message").text,
            sum.sfc_proxied);
    if (sum.sfc_suppressed) fprintf(file, ", %" PRIu64 " too soon and not sent", sum.sfc_suppressed);
    fprintf(file, "; flows paused for %s in all\n", text);
}

const struct weft__sums weft__sums_sfc = {WEFT_RESULT_COLUMNS(columns), .print = print_sfc};
