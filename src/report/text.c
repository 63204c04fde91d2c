// SPDX-License-Identifier: Apache-2.0
#include "text.h"
#include "report/text.h"

#include <math.h>
#include <string.h>

enum { TEXT = 32 };

struct weft__unit weft__text_unit(double largest_ps) {
    static const struct weft__unit units[] = {{"ns", 1e3, 1}, {"us", 1e6, 2}, {"ms", 1e9, 3}, {"s", 1e12, 4}};
    unsigned u = largest_ps > 0 ? 0 : 1;
    while (u < 3 && largest_ps >= 1e4 * units[u].ps)
        u++;
    return units[u];
}

const char *weft__text_time(char *text, struct weft__unit unit, double time_ps) {
    if (isfinite(time_ps))
        snprintf(text, TEXT, "%.*f", unit.decimals, time_ps / unit.ps);
    else
        snprintf(text, TEXT, "-");
    return text;
}

const char *weft__text_ratio(char *text, double ratio) {
    if (isfinite(ratio))
        snprintf(text, TEXT, "%.2f", ratio);
    else
        snprintf(text, TEXT, "-");
    return text;
}

void weft_report_stall(FILE *file, const struct weft_outcome *outcome) {
    const char *text = outcome->stall ? outcome->stall : "";
    size_t n = strlen(text);
    fprintf(file, "%s%s", text, n && text[n - 1] == '\n' ? "" : "\n");
}

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
