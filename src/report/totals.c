// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

uint64_t weft__report_drops(const struct weft_outcome *outcome) {
    uint64_t sum = 0;
    for (unsigned d = 0; d < WEFT_DROPS; d++)
        sum += outcome->drops[d];
    return sum;
}

bool weft_report_interrupted(const struct weft_run *run, uint32_t runs) {
    for (uint32_t r = 0; r < runs; r++)
        if (run[r].outcome->end == WEFT_END_INTERRUPTED) return true;
    return false;
}

const char *weft__report_end_name(enum weft_end end) {
    static const char *const names[] = {[WEFT_END_DONE] = "done",
                                        [WEFT_END_UNTIL] = "until",
                                        [WEFT_END_INTERRUPTED] = "interrupted",
                                        [WEFT_END_STALL] = "stall",
                                        [WEFT_END_TIME] = "time"};
    return names[end];
}
