// SPDX-License-Identifier: Apache-2.0
// The 90% intervals of estimated runs (weft/estimate.h). The file of such a run keeps both ends as parts of its times,
// and the names of the groups whose times they hold for.
#include <string.h>

#include "sweep/cells.h"

#define LOW "estimate low"
#define HIGH "estimate high"
#define GROUP "estimate group "

struct weft_sweep_kept *weft__sweep_keep_interval(const struct weft_estimate *e, struct weft_arena *arena,
                                                  uint32_t *ret_n) {
    struct weft_sweep_kept *kept = weft_arena_alloc(arena, e->times + 2, sizeof *kept);
    double makespan = e->calibrated && e->makespan_ps ? (double)e->makespan_ps : (double)NAN;
    kept[0] = (struct weft_sweep_kept){LOW, (double)e->low_ps / makespan};
    kept[1] = (struct weft_sweep_kept){HIGH, (double)e->high_ps / makespan};
    *ret_n = 2;
    for (uint32_t i = 0; i < e->times; i++)
        if (e->time[i].high_ps && !strcmp(e->time[i].what, "group"))
            kept[(*ret_n)++] = (struct weft_sweep_kept){weft_arena_format(arena, GROUP "%s", e->time[i].name), 1};
    return kept;
}

bool weft_sweep_run_part(const struct weft_sweep_run *run, double *ret_low, double *ret_high) {
    const double *low = weft_sweep_run_kept(run, LOW), *high = weft_sweep_run_kept(run, HIGH);
    *ret_low = low ? *low : (double)NAN;
    *ret_high = high ? *high : (double)NAN;
    return low && high;
}

/// Whether the estimate gives a metric an interval: times of iterations and collectives, and of the slowest flow of a
/// group that no pause may hold back.
static bool has_interval(const struct weft_sweep_results *r, const struct weft_sweep_run *run,
                         const struct weft_sweep_metric *m, struct weft_arena *arena) {
    static const char *const of_jobs[] = {"iteration_ps", "iteration_max_ps", "time_ps"};
    const char *column = m->column == WEFT_NONE ? "" : r->column[m->column].name;
    if (!strcmp(column, "fct_ps_max"))
        return m->group && weft_sweep_run_kept(run, weft_arena_format(arena, GROUP "%s", m->group));
    if (!strncmp(column, "jobs_", 5))
        column += 5;
    else if (m->path.parts && (!strcmp(m->path.part[0], "jobs") || !strcmp(m->path.part[0], "collectives")))
        column = m->path.part[m->path.parts - 1];
    else
        return false;
    bool is = false;
    for (unsigned i = 0; i < sizeof of_jobs / sizeof *of_jobs; i++)
        is |= !strcmp(column, of_jobs[i]);
    return is;
}

struct weft_sweep_interval weft_sweep_interval_of(const struct weft_sweep_results *r, uint32_t point,
                                                  const struct weft_sweep_metric *m) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft_sweep_interval sum = {.estimated = false};
    for (uint32_t k = 0; k < r->sweep->seeds; k++) {
        const struct weft_sweep_run *run = weft__sweep_run_at(r, point, k);
        double low, high, value = weft_sweep_run_value(run, m);
        sum.estimated |= weft_sweep_run_part(run, &low, &high);
        bool has = has_interval(r, run, m, arena);
        sum.low += has ? value * low : (double)NAN;
        sum.high += has ? value * high : (double)NAN;
    }
    sum.low /= r->sweep->seeds;
    sum.high /= r->sweep->seeds;
    return sum;
}

bool weft_sweep_may_be_equal(const struct weft_sweep_interval *a, double mean_a, const struct weft_sweep_interval *b,
                             double mean_b) {
    double low_a = a->estimated ? a->low : mean_a, high_a = a->estimated ? a->high : mean_a;
    double low_b = b->estimated ? b->low : mean_b, high_b = b->estimated ? b->high : mean_b;
    return !(low_a > high_b || low_b > high_a); // NAN: not calibrated, so nothing is told
}

bool weft__sweep_is_of_packets(const char *table, const char *name) {
    static const char *const of_packets[] = {"out_of_order", "execution", "round_trip"};
    bool is = strcmp(table, "groups") && strcmp(table, "jobs") && strcmp(table, "collectives");
    for (unsigned i = 0; i < sizeof of_packets / sizeof *of_packets; i++)
        is |= !strncmp(name, of_packets[i], strlen(of_packets[i]));
    return is;
}
