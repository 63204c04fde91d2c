// SPDX-License-Identifier: Apache-2.0
// Statistics of flow groups.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rma.h"
#include "sizes.h"

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, COMPARED_MAX = 256 };

/// Bits that are in the order of the numbers.
static uint64_t key_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/// By the digit at `shift`; false: all have the same one.
static bool sort_digit(const double *from, double *to, size_t n, unsigned shift) {
    size_t begin[DIGITS + 1] = {0};
    for (size_t i = 0; i < n; i++)
        begin[(key_of(from[i]) >> shift) % DIGITS + 1]++;
    for (unsigned d = 0; d < DIGITS; d++)
        if (begin[d + 1] == n) return false;
    for (unsigned d = 0; d < DIGITS; d++)
        begin[d + 1] += begin[d];
    for (size_t i = 0; i < n; i++)
        to[begin[(key_of(from[i]) >> shift) % DIGITS]++] = from[i];
    return true;
}

/// Millions of flows are sorted digit by digit, which takes a tenth of the time of comparing them.
static void sort(double *value, size_t n) {
    if (n <= COMPARED_MAX) {
        qsort(value, n, sizeof *value, compare_doubles);
        return;
    }
    double *other = weft_memory_new(WEFT_MEMORY_RESULT, n, sizeof *other), *from = value, *to = other;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (!sort_digit(from, to, n, shift)) continue;
        double *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != value) memcpy(value, from, n * sizeof *value);
    weft_memory_free(WEFT_MEMORY_RESULT, other, n * sizeof *other);
}

static double nearest_rank(const double *sorted, size_t n, size_t percent) {
    return sorted[(n * percent + 99) / 100 - 1];
}

struct weft_quantiles weft__quantiles(double *value, size_t n) {
    if (!n) return (struct weft_quantiles){NAN, NAN, NAN, NAN, NAN};
    sort(value, n);
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

struct weft_group_stats *weft_report_groups(const struct weft_run *run, struct weft_arena *arena) {
    const struct weft_workload *w = run->workload;
    const struct weft_outcome *outcome = run->outcome;
    struct weft_group_stats *group = weft_arena_alloc(arena, w->groups, sizeof *group);
    size_t *next = weft_memory_new(WEFT_MEMORY_RESULT, w->groups, sizeof *next); // in `fct`, flows sorted by group
    double *fct = weft_memory_new(WEFT_MEMORY_RESULT, w->flows, sizeof *fct);
    double *slowdown = weft_memory_new(WEFT_MEMORY_RESULT, w->flows, sizeof *slowdown);
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
        group[g].slowdown = weft__quantiles(slowdown + first, group[g].finished);
        weft__report_rma_group(run, g, &group[g]);
    }
    weft_memory_free(WEFT_MEMORY_RESULT, slowdown, w->flows * sizeof *slowdown);
    weft_memory_free(WEFT_MEMORY_RESULT, fct, w->flows * sizeof *fct);
    weft_memory_free(WEFT_MEMORY_RESULT, next, w->groups * sizeof *next);
    return group;
}
