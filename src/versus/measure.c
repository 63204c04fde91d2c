// SPDX-License-Identifier: Apache-2.0
// What a versus keeps from a run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "report/text.h"
#include "weft/versus.h"

const char *const weft_versus_measure_names[WEFT_VERSUS_MEASURED] = {
#define X(e, name, unit, help) name,
    WEFT_VERSUS_MEASURES(X)
#undef X
};
const char *const weft_versus_units[WEFT_VERSUS_MEASURED] = {
#define X(e, name, unit, help) unit,
    WEFT_VERSUS_MEASURES(X)
#undef X
};
const char *const weft_versus_helps[WEFT_VERSUS_MEASURED] = {
#define X(e, name, unit, help) help,
    WEFT_VERSUS_MEASURES(X)
#undef X
};

const char *const weft_versus_why_notes[WEFT_VERSUS_WHY_NOTED] = {
#define X(e, text) text,
    WEFT_VERSUS_WHY_NOTES(X)
#undef X
};

/// Nearest rank, as in the table of groups; NAN if there is no value.
static double percentile_of(const double *sorted, uint32_t n, double p) {
    if (!n) return NAN;
    uint32_t rank = (uint32_t)ceil(p * n - 1e-9);
    return sorted[rank ? rank - 1 : 0];
}

/// Whether a flow's completion time counts.
static bool counts_flow(const struct weft_run *run, uint32_t flow) {
    return !run->workload->flow[flow].rma;
}
static bool is_finished(const struct weft_run *run, uint32_t flow) {
    return counts_flow(run, flow) && run->outcome->flow[flow].end_ps != WEFT_TIME_NEVER;
}
static double fct_of(const struct weft_run *run, uint32_t flow) {
    const struct weft_flow_outcome *o = &run->outcome->flow[flow];
    return (double)(o->end_ps - o->start_ps);
}
static bool is_victim(const struct weft_run *run, uint32_t flow) {
    return !strncmp(run->workload->group[run->workload->flow[flow].group], "victim", 6);
}

static void measure_flows(const struct weft_run *run, double *value, struct weft_arena *arena) {
    uint32_t flows = run->workload->flows, n = 0, slowed = 0, victims = 0, unfinished = 0;
    double *time = weft_arena_alloc(arena, flows + 1, sizeof *time), of_victims = 0, again = 0;
    double *slow = weft_arena_alloc(arena, flows + 1, sizeof *slow);
    for (uint32_t f = 0; f < flows; f++) {
        const struct weft_flow_outcome *o = &run->outcome->flow[f];
        again += (double)o->packets_again;
        unfinished += counts_flow(run, f) && !is_finished(run, f);
        if (!is_finished(run, f)) continue;
        time[n++] = fct_of(run, f);
        if (!o->ideal_ps || o->ideal_ps == WEFT_TIME_NEVER) continue;
        slow[slowed++] = fct_of(run, f) / (double)o->ideal_ps;
        if (is_victim(run, f)) of_victims += slow[slowed - 1], victims++;
    }
    qsort(time, n, sizeof *time, weft__by_double);
    qsort(slow, slowed, sizeof *slow, weft__by_double);
    value[WEFT_VERSUS_P50] = percentile_of(time, n, 0.5);
    value[WEFT_VERSUS_P99] = percentile_of(time, n, 0.99);
    value[WEFT_VERSUS_P999] = percentile_of(time, n, 0.999);
    value[WEFT_VERSUS_SLOWDOWN] = percentile_of(slow, slowed, 0.99);
    value[WEFT_VERSUS_VICTIMS] = victims ? of_victims / victims : NAN;
    value[WEFT_VERSUS_UNFINISHED] = unfinished;
    value[WEFT_VERSUS_AGAIN] = again;
}

uint32_t weft_versus_last_flow(const struct weft_run *run) {
    uint32_t last = WEFT_NONE;
    for (uint32_t f = 0; f < run->workload->flows; f++)
        if (is_finished(run, f) &&
            (last == WEFT_NONE || run->outcome->flow[f].end_ps > run->outcome->flow[last].end_ps))
            last = f;
    return last;
}

static weft_time_ps first_start(const struct weft_run *run) {
    weft_time_ps first = WEFT_TIME_NEVER;
    for (uint32_t f = 0; f < run->workload->flows; f++)
        if (run->outcome->flow[f].start_ps < first) first = run->outcome->flow[f].start_ps;
    return first;
}

/// The time of an iteration of a job; a schedule has no iterations, so all of it.
static double job_time(const struct weft_run *run, uint32_t k) {
    struct weft_job_stats job = weft_report_job(run, k);
    if (!isnan(job.iteration_ps) || job.end_ps == WEFT_TIME_NEVER) return job.iteration_ps;
    return (double)(job.end_ps - run->workload->job[k].start_ps);
}

uint32_t weft_versus_slowest_job(const struct weft_run *run) {
    uint32_t slowest = WEFT_NONE;
    for (uint32_t k = 0; k < run->workload->jobs; k++) {
        if (isnan(job_time(run, k))) return WEFT_NONE; // a job that has not finished an iteration is not fast
        if (slowest == WEFT_NONE || job_time(run, k) > job_time(run, slowest)) slowest = k;
    }
    return slowest;
}

uint32_t weft_versus_longest_iteration(const struct weft_run *run, uint32_t job) {
    const struct weft_job_outcome *o = &run->outcome->job[job];
    weft_time_ps before = run->workload->job[job].start_ps, most = 0;
    uint32_t longest = 0;
    for (uint32_t i = 0; !run->workload->job[job].schedule && i < o->iterations; i++) {
        if (o->iteration_end_ps[i] == WEFT_TIME_NEVER) break;
        if (o->iteration_end_ps[i] - before > most) most = o->iteration_end_ps[i] - before, longest = i;
        before = o->iteration_end_ps[i];
    }
    return longest;
}

static double time_of(const struct weft_run *run) {
    uint32_t job = weft_versus_slowest_job(run);
    double most = job == WEFT_NONE ? (double)NAN : job_time(run, job);
    uint32_t last = run->workload->jobs ? WEFT_NONE : weft_versus_last_flow(run);
    if (last == WEFT_NONE) return most;
    return (double)(run->outcome->flow[last].end_ps - first_start(run));
}

/// For flows that had to retransmit after the first link failed under traffic. NAN: none failed, or such a flow has not
/// finished.
static double recovery_of(const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    weft_time_ps start = first_start(run), last;
    uint32_t e = 0;
    while (e < t->events && (t->event[e].up || t->event[e].time_ps < start))
        e++;
    if (e == t->events) return NAN;
    last = t->event[e].time_ps;
    for (uint32_t f = 0; f < run->workload->flows; f++) {
        const struct weft_flow_outcome *o = &run->outcome->flow[f];
        if (!o->packets_again || !counts_flow(run, f)) continue;
        if (o->end_ps == WEFT_TIME_NEVER) return NAN;
        if (o->end_ps > last) last = o->end_ps;
    }
    return (double)(last - t->event[e].time_ps);
}

/// Over all collectives, weighted by their duration.
static double busbw_of(const struct weft_run *run) {
    double bytes = 0, time = 0;
    for (uint32_t k = 0; k < run->workload->jobs; k++)
        for (uint32_t i = 0; i < run->workload->job[k].ops; i++) {
            const struct weft_job_op *op = &run->workload->job[k].op[i];
            if (!op->name || !op->times) continue;
            struct weft_collective_stats s = weft_report_collective(run, k, i);
            if (!(s.time_ps > 0) || !(s.busbw > 0)) continue;
            bytes += s.busbw * 1e-9 * s.time_ps;
            time += s.time_ps;
        }
    return time > 0 ? bytes / time : NAN;
}

/// Those that send or receive.
static uint32_t hosts_used(const struct weft_run *run, struct weft_arena *arena) {
    bool *used = weft_arena_alloc(arena, run->topology->hosts, sizeof *used);
    uint32_t n = 0;
    for (uint32_t f = 0; f < run->workload->flows; f++)
        used[run->workload->flow[f].src] = used[run->workload->flow[f].dst] = true;
    for (uint32_t h = 0; h < run->topology->hosts; h++)
        n += used[h];
    return n;
}

static void count_packets(const struct weft_run *run, double *value) {
    const struct weft_counters sum = weft_outcome_counters(run->outcome);
    value[WEFT_VERSUS_PAUSES] = (double)sum.pfc_tx_xoff;
    value[WEFT_VERSUS_PAUSED] = (double)sum.paused_ps;
    value[WEFT_VERSUS_MARKS] = (double)sum.ecn_marked;
    value[WEFT_VERSUS_DROPS] = (double)weft__report_drops(run->outcome);
}

/// A fluid meets no pauses, marks or drops: that there were none is not known.
static void forget_packets(double *value) {
    static const enum weft_versus_measure of_packets[] = {WEFT_VERSUS_PAUSES, WEFT_VERSUS_PAUSED, WEFT_VERSUS_MARKS,
                                                          WEFT_VERSUS_DROPS, WEFT_VERSUS_AGAIN};
    for (unsigned i = 0; i < sizeof of_packets / sizeof *of_packets; i++)
        value[of_packets[i]] = NAN;
}

struct weft_sweep_kept *weft_versus_measure(const struct weft_run *run, bool estimated, struct weft_arena *arena,
                                            uint32_t *ret_n) {
    struct weft_sweep_kept *kept = weft_arena_alloc(arena, WEFT_VERSUS_MEASURED + 2, sizeof *kept);
    double value[WEFT_VERSUS_MEASURED];
    measure_flows(run, value, arena);
    value[WEFT_VERSUS_TIME] = time_of(run);
    value[WEFT_VERSUS_RECOVERY] = recovery_of(run);
    value[WEFT_VERSUS_BUSBW] = busbw_of(run);
    if (estimated)
        forget_packets(value);
    else
        count_packets(run, value);
    for (uint32_t i = 0; i < WEFT_VERSUS_MEASURED; i++)
        kept[i] =
            (struct weft_sweep_kept){weft_arena_format(arena, "versus %s", weft_versus_measure_names[i]), value[i]};
    kept[WEFT_VERSUS_MEASURED] = (struct weft_sweep_kept){"versus " WEFT_VERSUS_HOSTS_USED, hosts_used(run, arena)};
    weft_time_ps until = run->scenario->run.until_ps;
    kept[WEFT_VERSUS_MEASURED + 1] =
        (struct weft_sweep_kept){"versus " WEFT_VERSUS_UNTIL, until == WEFT_TIME_NEVER ? (double)NAN : (double)until};
    *ret_n = WEFT_VERSUS_MEASURED + 2;
    return kept;
}

static void sum_parts(struct weft_sweep_kept *kept, const struct weft_why_part *part, uint32_t parts) {
    for (uint32_t i = 0; i < parts; i++)
        kept[part[i].kind].value += (double)part[i].time_ps;
}

struct weft_sweep_kept *weft_versus_why(const struct weft_why *why, const struct weft_why_iteration *iteration,
                                        enum weft_versus_why_note note, struct weft_arena *arena, uint32_t *ret_n) {
    struct weft_sweep_kept *kept = weft_arena_alloc(arena, WEFT_WHYS + 2, sizeof *kept);
    uint32_t n = 0;
    if (why || iteration) {
        for (; n < WEFT_WHYS; n++)
            kept[n] = (struct weft_sweep_kept){weft_arena_format(arena, "versus %s", weft_why_names[n]), 0};
        kept[n++] = (struct weft_sweep_kept){"versus " WEFT_VERSUS_OF_ITERATION, iteration ? 1 : 0};
    }
    if (why) sum_parts(kept, why->part, why->parts);
    for (uint32_t i = 0; iteration && i < iteration->steps; i++)
        sum_parts(kept, iteration->step[i].part, iteration->step[i].parts);
    kept[n++] = (struct weft_sweep_kept){"versus " WEFT_VERSUS_WHY_NOTE, note};
    *ret_n = n;
    return kept;
}
