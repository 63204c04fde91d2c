// SPDX-License-Identifier: Apache-2.0
// Statistics of flow groups.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "report/text.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PLACES = (64 + DIGIT_BITS - 1) / DIGIT_BITS, COMPARED_MAX = 2048 };

/// Maps doubles to integers in the same order, and back.
static uint64_t key_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}
static double value_of(uint64_t key) {
    uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/// count[place][digit] becomes the position where numbers with that digit begin, in the order of digits; false: there
/// is only one digit.
static bool find_begins(uint32_t *count, size_t n) {
    uint32_t begin = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        uint32_t here = count[d];
        if (here == n) return false;
        count[d] = begin;
        begin += here;
    }
    return true;
}

/// Millions of flows are sorted digit by digit, which takes a tenth of the time of a comparison sort.
static void sort_values(double *value, size_t n) {
    if (n <= COMPARED_MAX) {
        qsort(value, n, sizeof *value, weft__by_double);
        return;
    }
    uint32_t(*count)[DIGITS] = weft_memory_new(WEFT_MEMORY_RESULT, PLACES, sizeof *count);
    uint64_t *key = weft_memory_new(WEFT_MEMORY_RESULT, 2 * n, sizeof *key), *from = key, *to = key + n;
    for (size_t i = 0; i < n; i++) {
        from[i] = key_of(value[i]);
        for (unsigned p = 0; p < PLACES; p++)
            count[p][from[i] >> p * DIGIT_BITS & (DIGITS - 1)]++;
    }
    for (unsigned p = 0; p < PLACES; p++) {
        if (!find_begins(count[p], n)) continue;
        for (size_t i = 0; i < n; i++)
            to[count[p][from[i] >> p * DIGIT_BITS & (DIGITS - 1)]++] = from[i];
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    for (size_t i = 0; i < n; i++)
        value[i] = value_of(from[i]);
    weft_memory_free(WEFT_MEMORY_RESULT, key, 2 * n * sizeof *key);
    weft_memory_free(WEFT_MEMORY_RESULT, count, PLACES * sizeof *count);
}

static double nearest_rank(const double *sorted, size_t n, size_t percent) {
    return sorted[(n * percent + 99) / 100 - 1];
}

struct weft_quantiles weft__quantiles(double *value, size_t n) {
    if (!n) return (struct weft_quantiles){NAN, NAN, NAN, NAN, NAN};
    sort_values(value, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += value[i];
    return (struct weft_quantiles){
        .mean = sum / (double)n,
        .p50 = nearest_rank(value, n, 50),
        .p95 = nearest_rank(value, n, 95),
        .p99 = nearest_rank(value, n, 99),
        .max = value[n - 1],
    };
}

bool weft__report_is_of_job(const struct weft_workload *w, uint32_t group) {
    for (uint32_t j = 0; j < w->jobs; j++)
        if (w->job[j].group == group) return true;
    return false;
}

struct weft_group_stats *weft_report_groups(const struct weft_run *run, struct weft_arena *arena) {
    const struct weft_workload *w = run->workload;
    const struct weft_outcome *outcome = run->outcome;
    struct weft_group_stats *group = weft_arena_alloc(arena, w->groups, sizeof *group);
    WEFT_FREED size_t *next =
        weft_memory_new(WEFT_MEMORY_RESULT, w->groups, sizeof *next); // in `fct`, flows sorted by group
    WEFT_FREED double *fct = weft_memory_new(WEFT_MEMORY_RESULT, w->flows, sizeof *fct);
    WEFT_FREED double *slowdown = weft_memory_new(WEFT_MEMORY_RESULT, w->flows, sizeof *slowdown);
    for (uint32_t f = 0; f < w->flows; f++) {
        if (w->flow[f].rma) continue;
        struct weft_group_stats *g = &group[w->flow[f].group];
        weft_bytes delivered = outcome->flow[f].delivered_bytes;
        if (!g->count++ || delivered < g->delivered_bytes_min) g->delivered_bytes_min = delivered;
        if (delivered > g->delivered_bytes_max) g->delivered_bytes_max = delivered;
        g->delivered_bytes += delivered;
        g->bytes += w->flow[f].bytes;
        g->out_of_order += outcome->flow[f].out_of_order;
        g->out_of_order_placed += outcome->flow[f].out_of_order_placed;
        g->finished += outcome->flow[f].end_ps != WEFT_TIME_NEVER;
    }
    for (uint32_t g = 1; g < w->groups; g++)
        next[g] = next[g - 1] + group[g - 1].finished;
    for (uint32_t f = 0; f < w->flows; f++) {
        const struct weft_flow_outcome *o = &outcome->flow[f];
        if (o->end_ps == WEFT_TIME_NEVER || w->flow[f].rma) continue;
        size_t at = next[w->flow[f].group]++;
        fct[at] = (double)(o->end_ps - o->start_ps);
        slowdown[at] = o->ideal_ps ? fct[at] / (double)o->ideal_ps : NAN;
    }
    for (uint32_t g = 0; g < w->groups; g++) {
        size_t first = next[g] - group[g].finished;
        group[g].name = w->group[g];
        group[g].fct_ps = weft__quantiles(fct + first, group[g].finished);
        group[g].slowdown = weft__quantiles(slowdown + first, weft__report_is_of_job(w, g) ? 0 : group[g].finished);
        weft__report_rma_group(run, g, &group[g]);
    }
    return group;
}
