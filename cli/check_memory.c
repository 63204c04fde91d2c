// SPDX-License-Identifier: Apache-2.0
// Estimates the memory and CPU time of a run. A child process starts the run and stops after one second of CPU time. By
// then all state is allocated and queues have their usual length, so the remaining work is proportional to the
// remaining payload. Very large all-to-alls are not started: their memory is computed from their connections.
#include "check_memory.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stream.h"
#include "weft/memory.h"

enum {
    TRIED_FLOWS_MAX = 1 << 21, ///< of those that are counted; about 2.5 GB
    HOST_BYTES = 9 << 10,      ///< with its part of the switches; measured: 8 to 10 KiB
};
#define TRIAL_CPU_S 1.0

struct trial {
    const struct weft_cli_options *o;
    const struct weft_scenario_file *file;
    uint32_t variant;
    double start_s, begun_s; ///< CPU time at the start of the process, and at the start of the simulation
    struct weft_check_estimate estimate;
};

static bool go_on(void *context, const struct weft_progress *now) {
    struct trial *t = context;
    if (t->begun_s <= 0) t->begun_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID);
    return weft__clock_s(CLOCK_PROCESS_CPUTIME_ID) - t->begun_s < TRIAL_CPU_S;
}

/// How much of the run's work is done: by payload, or by time if that ends it first.
static double part_of(const struct weft_cli_simulation *s) {
    const struct weft_outcome *o = s->outcome;
    weft_bytes delivered = 0;
    for (uint32_t f = 0; f < o->flows; f++)
        delivered += o->flow[f].delivered_bytes;
    double part = s->workload->bytes ? (double)delivered / (double)s->workload->bytes : 0;
    weft_time_ps until = s->scenario->run.until_ps;
    double time = until == WEFT_TIME_NEVER ? 0 : (double)o->sim_time_ps / (double)until;
    return part > time ? part : time;
}

static void take_trial(struct trial *t, const struct weft_cli_simulation *s) {
    struct weft_check_estimate *e = &t->estimate;
    const struct weft_outcome *o = s->outcome;
    double hops = (double)(o->cell_hops ? o->cell_hops : o->packet_hops);
    bool ended = o->end != WEFT_END_INTERRUPTED;
    double part = ended ? 1 : part_of(s);
    double made_s = ended ? 0 : t->begun_s - t->start_s,
           ran_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID) - t->start_s - made_s;
    e->by = ended ? "run" : "trial";
    e->hops_per_cpu_s = hops > 0 && ran_s > 0 ? hops / ran_s : NAN;
    e->packet_hops = part > 0 && !o->cell_hops ? hops / part : NAN;
    e->cell_hops = part > 0 && o->cell_hops ? hops / part : NAN;
    e->cpu_s = part > 0 ? made_s + ran_s / part : NAN;
    double series = (double)weft_memory_bytes_max(WEFT_MEMORY_SERIES);
    e->peak_rss_bytes = o->peak_rss_bytes + (part > 0 ? (uint64_t)(series * (1 / part - 1)) : 0);
}

static enum weft_status try_run(struct trial *t, struct weft_error *ret_error) {
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    t->start_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID);
    enum weft_status status = weft_cli_simulation_init(&s, t->file, t->variant, ret_error);
    if (status) return status;
    struct weft_sim_options how = {.threads = t->o->threads, .on_progress = go_on, .context = t};
    status = weft_simulate(s.scenario, s.topology, s.workload, &how, &s.outcome, ret_error);
    if (status == WEFT_ERROR_INPUT || status == WEFT_ERROR_SYSTEM || !s.outcome)
        return status ? status : WEFT_ERROR_SYSTEM;
    take_trial(t, &s);
    return WEFT_OK;
}

/// Memory of the connections of all-to-alls, with everything that both ends keep for each.
static void compute_connections(struct weft_check_estimate *e, const struct weft_cli_simulation *s) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *e = (struct weft_check_estimate){
        .by = "connections", .packet_hops = NAN, .cell_hops = NAN, .cpu_s = NAN, .hops_per_cpu_s = NAN};
    e->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024 + (uint64_t)s->topology->hosts * HOST_BYTES +
                        s->workload->counted_flows * weft_simulation_connection_bytes();
}

static enum weft_status estimate_run(void *context, struct weft_error *ret_error) {
    struct trial *t = context;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    enum weft_status status = weft_cli_simulation_count(&s, t->file, t->variant, ret_error);
    if (status) return status;
    bool many = s.workload->counted_flows > TRIED_FLOWS_MAX;
    if (many) compute_connections(&t->estimate, &s);
    return many ? WEFT_OK : try_run(t, ret_error);
}

/// Pages of files, mostly of the program itself. A forked process has only those that it has used since.
static uint64_t file_bytes(void) {
    char line[128];
    unsigned long kilobytes = 0;
    FILE *file = weft__file_open("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssFile: %lu", &kilobytes) == 1) break;
    if (file) fclose(file);
    return (uint64_t)kilobytes * 1024;
}

/// Runs in the child process; the parent has already reported errors in the scenario.
static void work_in_child(struct trial *t, int pipe, uint64_t file_before) {
    struct weft_error error = {0};
    enum weft_status status = weft_memory_guard(weft_memory_current(), estimate_run, t, &error);
    uint64_t file = file_bytes();
    if (!status && strcmp(t->estimate.by, "connections") != 0 && file < file_before)
        t->estimate.peak_rss_bytes += file_before - file;
    if (!status && write(pipe, &t->estimate, sizeof t->estimate) != (ssize_t)sizeof t->estimate) _exit(1);
    _exit(0);
}

enum weft_status weft_cli_estimate(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                   uint32_t variant, const struct weft_check_estimate **ret,
                                   struct weft_error *ret_error) {
    struct weft_check_estimate *e = weft_arena_alloc(o->arena, 1, sizeof *e);
    struct trial t = {.o = o, .file = file, .variant = variant};
    uint64_t file_before = file_bytes();
    int end[2];
    if (pipe(end)) return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "no pipe can be made");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) work_in_child(&t, end[1], file_before);
    close(end[1]);
    *ret = child > 0 && read(end[0], e, sizeof *e) == (ssize_t)sizeof *e ? e : NULL;
    close(end[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return WEFT_OK;
}
