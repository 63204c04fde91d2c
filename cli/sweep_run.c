// SPDX-License-Identifier: Apache-2.0
// Runs a sweep: each run is a process that writes its own file.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "processes.h"
#include "sweep.h"

const char *sweep_run_name(const struct sweep *s, uint32_t run) {
    return weft_sweep_run_name(s->plan, run / s->plan->seeds, s->r.run[run].seed, s->o->arena);
}

/// An estimate has the times of a run, and nothing of what packets meet: counters stay 0.
static enum weft_status estimate_run(struct weft_cli_simulation *sim, struct weft_arena *arena,
                                     struct weft_sweep_came *ret_came, struct weft_error *ret_error) {
    struct weft_estimate *e = NULL;
    WEFT_TRY(weft_estimate_run(sim->scenario, sim->topology, sim->workload, &(struct weft_estimate_options){0}, arena,
                               &e, ret_error));
    ret_came->estimate = e;
    ret_came->run = (struct weft_run){
        .scenario = sim->scenario, .topology = sim->topology, .workload = sim->workload, .outcome = e->outcome};
    return WEFT_OK;
}

/// Runs in its own process, or with other estimates: errors are printed there, for the parent to read.
static int run_point(void *context, uint32_t i) {
    const struct sweep *s = context;
    uint32_t run = s->own[i], point = run / s->plan->seeds;
    struct weft_cli_options options = *s->o;
    options.out = NULL;
    options.quiet = options.json = true;
    struct weft_error error = {0};
    struct weft_cli_simulation sim = {0};
    struct weft_follow ranks = {.ranks = true};
    struct weft_sweep_came came = {.estimate = NULL};
    const struct weft_follow *followed = NULL;
    const struct weft_scenario_file *file = weft_sweep_file(s->plan, point, run % s->plan->seeds, s->o->arena);
    enum weft_status status = weft_cli_simulation_init(&sim, file, s->plan->point[point].variant, &error);
    if (!status) {
        sim.scenario->capture.ports = ""; // all points would write the same file
        if (s->follows_ranks && s->follows_ranks(s, run, sim.workload)) {
            ranks.flow = weft_arena_alloc(s->o->arena, sim.workload->flows + 1, sizeof *ranks.flow); // none
            followed = sim.follow = &ranks;
        }
        status = sweep_is_fluid(s, run) ? estimate_run(&sim, s->o->arena, &came, &error)
                                        : weft_cli_simulation_run(&sim, &options, "", &came.run, &error);
    }
    if (!status || status == WEFT_ERROR_STALL) {
        struct weft_error writing = {0};
        came.state = status ? WEFT_SWEEP_STALLED : WEFT_SWEEP_DONE;
        if (s->keep) came.kept = s->keep(s, run, file, &came, followed, &came.keeps);
        if (weft_sweep_record(s->record[run], &came, s->r.metric, s->r.metrics, &writing)) {
            error = writing;
            status = writing.status;
        }
    }
    if (error.status) weft_cli_fail(&error);
    weft_estimate_free((struct weft_estimate *)came.estimate);
    if (sweep_is_fluid(s, run)) weft_cli_simulation_deinit(&sim);
    return (int)status;
}

static bool is_short(void *context, uint32_t i) {
    const struct sweep *s = context;
    return sweep_is_fluid(s, s->own[i]);
}

/// The last text that a run printed: why it failed.
static const char *why_failed(const struct sweep *s, const struct weft_cli_ended *ended) {
    struct weft_arena *arena = s->o->arena;
    size_t size;
    if (ended->signal == SIGALRM && s->timeout_ps) {
        return weft_arena_format(arena, "it took longer than %s (--timeout)", weft__short_time(s->timeout_ps).text);
    }
    char *text = weft_cli_printed(ended->err, arena, &size);
    while (size && text[size - 1] == '\n')
        text[--size] = 0;
    char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    if (!strncmp(line, "weft: ", 6)) line += 6;
    if (ended->signal && !*line) return weft_arena_format(arena, "ended by %s", strsignal(ended->signal));
    if (ended->signal) return weft_arena_format(arena, "ended by %s: %s", strsignal(ended->signal), line);
    return *line ? line : "it ended early";
}

/// A failed run writes its failure to its file, so that --merge sees it.
static void on_end(void *context, uint32_t i, const struct weft_cli_ended *ended) {
    struct sweep *s = context;
    uint32_t run = s->own[i];
    struct weft_error error = {0};
    if (ended->status && ended->status != WEFT_ERROR_STALL) {
        const char *message = why_failed(s, ended);
        bool refused = sweep_is_fluid(s, run) && ended->status == WEFT_ERROR_INPUT;
        if (refused) s->refused[run] = true;
        if (!refused || !s->falls_back) {
            fprintf(stderr, "weft: %s failed: %s\n", sweep_run_name(s, run), message);
            s->failed = true;
        }
        if (weft_sweep_record_failure(s->record[run], message, ended->status == WEFT_ERROR_CONSERVATION, &error))
            weft_cli_fail(&error);
        sweep_load(s, run);
        s->r.run[run].state = WEFT_SWEEP_FAILED; // even if that could not be written
        s->r.run[run].message = message;
        return;
    }
    sweep_load(s, run);
}

static bool is_done(void *context, uint32_t i) {
    struct sweep *s = context;
    return !sweep_is_due(s, s->own[i]);
}

/// Runs of one point cost the same.
static double cost_of(void *context, uint32_t i) {
    const struct sweep *s = context;
    return s->cost[s->own[i] / s->plan->seeds];
}

enum weft_status sweep_packets_read(const char *text, struct sweep_packets *ret, struct weft_error *ret_error) {
    char why[128], *end;
    uint64_t time = 0;
    if (!text) return WEFT_OK;
    unsigned long runs = strtoul(text, &end, 10);
    bool number = *text >= '0' && *text <= '9' && !*end;
    if ((number && runs > WEFT_SWEEP_RUNS_MAX) ||
        (!number && !weft__quantity_parse(WEFT__TIME, text, &time, why, sizeof why)))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--packets"},
                           "'%s' is not understood; expected a number of runs, or a time such as 600s", text);
    ret->runs_left = number ? (uint32_t)runs : UINT32_MAX;
    ret->seconds_left = number ? INFINITY : (double)time / (double)WEFT_PS_PER_S;
    return WEFT_OK;
}

bool sweep_packets_take(struct sweep *s, struct sweep_packets *left, uint32_t point) {
    if (!s->fluid[point] || left->runs_left < s->plan->seeds) return false;
    double seconds = sweep_cost_of(s, point) * s->plan->seeds;
    if (left->seconds_left < seconds) return false;
    left->runs_left -= s->plan->seeds;
    left->seconds_left -= seconds;
    s->fluid[point] = false;
    return true;
}

void sweep_estimate(struct sweep *s) {
    s->fluid = weft_arena_alloc(s->o->arena, s->plan->points, sizeof *s->fluid);
    s->refused = weft_arena_alloc(s->o->arena, (size_t)s->plan->points * s->plan->seeds, sizeof *s->refused);
    for (uint32_t p = 0; p < s->plan->points; p++)
        s->fluid[p] = true;
}

enum weft_status sweep_run(struct sweep *s, uint32_t jobs, struct weft_error *ret_error) {
    struct weft_cli_processes p = {.name = "weft sweep",
                                   .runs = s->owned,
                                   .at_a_time = jobs,
                                   .quiet = s->o->quiet,
                                   .timeout_ps = s->timeout_ps,
                                   .cost = cost_of,
                                   .is_done = is_done,
                                   .work = run_point,
                                   .is_short = is_short,
                                   .on_end = on_end,
                                   .context = s};
    enum weft_status status = weft_cli_processes_run(&p, ret_error);
    s->interrupted = p.interrupted;
    for (uint32_t i = 0; i < s->plan->points * s->plan->seeds; i++) { // those that equal another one
        struct weft_sweep_run before = s->r.run[i];
        if (s->share.tasks > 1 || !sweep_is_due(s, i)) continue;
        sweep_load(s, i);
        bool unwritten = before.state == WEFT_SWEEP_FAILED && s->r.run[i].state == WEFT_SWEEP_MISSING;
        if (unwritten) s->r.run[i] = before; // the disk took neither its figures nor its failure
    }
    return status;
}
