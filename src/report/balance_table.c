// SPDX-License-Identifier: Apache-2.0
// How links between layers were used, as text.
#include <inttypes.h>
#include <math.h>

#include "balance.h"
#include "text.h"

#include "base/units.h"

enum { TEXT = 64 };

/// Links between layers of switches, if there is a choice of them.
static void print_balance(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_balance *b = weft_report_balance(run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        char bytes[TEXT], most[TEXT], own[TEXT];
        if (b[i].links < 2 || !b[i].bytes) continue;
        weft_format_bytes(b[i].bytes, bytes, sizeof bytes);
        fprintf(file, "links  %s to %s, %s: %" PRIu32 " with %s, %" PRIu32 " idle; busiest %s times the mean",
                b[i].from, b[i].to, weft_balance_directions[b[i].direction], b[i].links, bytes, b[i].idle,
                weft__text_ratio(most, b[i].max_mean));
        if (isfinite(b[i].switch_max_mean))
            fprintf(file, ", within a switch %s", weft__text_ratio(own, b[i].switch_max_mean));
        fprintf(file, "; Jain %.3f\n", b[i].jain);
    }
}

/// Where flows may have met.
static void print_collisions(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_collisions *c = weft_report_collisions(run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        char most[TEXT];
        if (!c[i].flows || c[i].links < 2) continue;
        fprintf(file,
                "flows  %s to %s, %s: %" PRIu64 " on %s, %" PRIu32 " empty, %" PRIu32 " shared; most on one %" PRIu32,
                c[i].from, c[i].to, weft_balance_directions[c[i].direction], c[i].flows,
                weft__counted(c[i].links, "link").text, c[i].empty, c[i].shared, c[i].most);
        if (c[i].switches > 1)
            fprintf(file, ", %s in the mean of %s, of which %" PRIu32 " without a shared link",
                    weft__text_ratio(most, c[i].switch_most), weft__counted(c[i].switches, "switch").text, c[i].clear);
        putc('\n', file);
    }
}

static void print_load(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_load *l = weft_report_load(run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        char interval[TEXT], usual[TEXT], worst[TEXT];
        if (l[i].links < 2 || !l[i].active) continue;
        weft_format_time(run->scenario->run.sample_interval_ps, interval, sizeof interval);
        fprintf(file,
                "load   %s to %s, %s: utilisation of %s %.1f%% to %.1f%%, median %.1f%%, mean %.1f%%; in %s of %s the "
                "busiest %s times the mean (median; worst %s)\n",
                l[i].from, l[i].to, weft_balance_directions[l[i].direction], weft__counted(l[i].links, "link").text,
                100 * l[i].min, 100 * l[i].max, 100 * l[i].p50, 100 * l[i].mean,
                weft__counted(l[i].active, "interval").text, interval, weft__text_ratio(usual, l[i].max_mean_p50),
                weft__text_ratio(worst, l[i].max_mean_worst));
    }
}

void weft__report_balance_table(FILE *file, const struct weft_run *run) {
    print_balance(file, run);
    print_collisions(file, run);
    print_load(file, run);
}
