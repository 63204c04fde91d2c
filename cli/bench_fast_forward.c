// SPDX-License-Identifier: Apache-2.0
// weft bench fast-forward: what each mode of run.fast_forward skips in a set of jobs, how much faster the run is, and
// how far its times differ from those of the full run.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "weft/memory.h"

#include "base/order.h"
#include "base/units.h"

#define CLOS "topology: {kind: leaf_spine, leaves: 8, spines: 8, hosts_per_leaf: 8, rate: 400Gbps, delay: 500ns}\n"
#define RAILS "topology: {kind: leaf_spine, leaves: 8, spines: 8, hosts_per_leaf: 32, rate: 400Gbps, delay: 500ns}\n"
#define BUFFER                                                                                                         \
    "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}, aqm: {kind: wred, min: 100KB, max: 400KB}}\n"
#define SERVERS "server: {gpus: 8, cabling: rail}, "
#define ALONE(collective) "workload: [{kind: job, " SERVERS "operations: [{collective: " collective "}]}]\n"

/// GPT-3 13B (arXiv 2005.14165, table 2.1: 40 layers, width 5120, sequence 2048, batch 1 M tokens) on 128 GPUs: tensor
/// parallel 8, in a server; 2 stages; 8 replicas. A GPU has 13e9 / 16 parameters, reduced in bf16. Layers of a
/// microbatch are one operation: 20 layers, 4 all-reduces of 2048 x 5120 x 2 B each. 64 sequences of a replica, one at
/// a time: 6 x 13e9 / 2 x 2048 FLOP over 8 GPUs at 156 TFLOPS (half of an A100's peak; assumed).
#define GPT_13B                                                                                                        \
    "topology: {kind: leaf_spine, leaves: 8, spines: 8, hosts_per_leaf: 16, rate: 400Gbps, delay: 500ns}\n" BUFFER     \
    "workload: [{kind: job, iterations: 10, " SERVERS "dimensions: [tp:8, pp:2, dp:8], operations: ["                  \
    "{compute: 64ms, collective: all_reduce_ring, size: 1678MB, over: tp, times: 64},"                                 \
    "{collective: send_recv, size: 21MB, over: pp, times: 64},"                                                        \
    "{collective: {kind: all_reduce_ring, channels: 4}, size: 1625MB, over: dp}]}]\n"

static const struct example {
    const char *name, *scenario;
} examples[] = {
    {"ring all-reduce of 1 GiB, 256 GPUs, rails",
     RAILS BUFFER ALONE("{kind: all_reduce_ring, channels: 8}, size: 1GiB")},
    {"the same with DCQCN",
     RAILS BUFFER "host: {cc: dcqcn}\n" ALONE("{kind: all_reduce_ring, channels: 8}, size: 1GiB")},
    {"the same with Swift",
     RAILS BUFFER "host: {cc: swift}\n" ALONE("{kind: all_reduce_ring, channels: 8}, size: 1GiB")},
    {"tree all-reduce of 256 MiB, 64 GPUs", CLOS BUFFER ALONE("{kind: all_reduce_tree, channels: 8}, size: 256MiB")},
    {"ring all-gather of 256 MiB, 64 GPUs, ECMP", CLOS BUFFER
     "workload: [{kind: job, server: {gpus: 8}, operations: [{collective: {kind: all_gather, channels: 8}, size: "
     "256MiB}]}]\n"},
    {"all-to-all of 64 MiB, 64 GPUs", CLOS BUFFER ALONE("all_to_all, size: 64MiB")},
    {"permutation of 64 MiB, 64 hosts, DCQCN",
     CLOS BUFFER "host: {cc: dcqcn}\nworkload: [{kind: permutation, size: 64MiB}]\n"},
    {"permutation of 64 MiB, 64 hosts of one switch, no congestion control",
     "topology: {kind: single, hosts: 64, rate: 400Gbps, delay: 500ns}\n" BUFFER
     "workload: [{kind: permutation, size: 64MiB}]\n"},
    {"GPT-3 13B, 10 iterations, 128 GPUs", GPT_13B},
};

/// The set for which errors are reported: each workload on each network under each congestion control.
struct part {
    const char *name, *text;
};
static const struct part networks[] = {
    {"Clos", "topology: {kind: leaf_spine, leaves: 4, spines: 4, hosts_per_leaf: 8, rate: 400Gbps, delay: 500ns}\n"},
    {"AI zone", "topology: {kind: ai_zone, racks: 4, gpus_per_rack: 8, uplinks: 8}\n"},
    {"DSF", "topology: {kind: dsf_l1_zone, rdsws: 4, fdsws: 4, hosts_per_rdsw: 8, rails: 1}\n"},
};
static const struct part hosts[] = {
    {"PFC", ""},
    {"DCQCN", "host: {cc: dcqcn}\n"},
    {"Swift", "host: {cc: swift}\n"},
};
#define JOB(operations) "workload: [{kind: job, ranks: 32, iterations: 8, operations: [" operations "]}]\n"
static const struct part workloads[] = {
    {"permutation", "workload: [{kind: permutation, size: 32MiB}]\n"},
    {"incast", "workload: [{kind: incast, sources: host-8..15, dst: host-0, size: 8MiB}]\n"},
    {"all-reduce", JOB("{compute: 100us, collective: all_reduce_ring, size: 8MB}")},
    {"all-to-all", JOB("{compute: 100us, collective: all_to_all, size: 4MB}")},
    {"MoE", JOB("{compute: 50us, collective: {kind: all_to_all_v, skew: 2}, size: 1MB}, "
                "{compute: 50us, collective: all_reduce_ring, size: 512KB}")},
    {"Llama", JOB("{compute: 100us, collective: all_gather, size: 2MB, overlap: on, times: 4}, "
                  "{compute: 200us, collective: reduce_scatter, size: 2MB, overlap: on, times: 4}")},
};

/// Figures of a run.
struct figures {
    struct weft_fast_forward_outcome skipped;
    uint64_t events, digest;
    double cpu_s;
    double mean_ps, p99_ps; ///< of iterations or, without a job, of flows
    char refused[160];
};

/// Lists the times of iterations of the first job, or of flows, in order.
static uint32_t list_times(const struct weft_outcome *o, weft_time_ps *ret) {
    weft_time_ps before = 0;
    if (!o->jobs) {
        for (uint32_t i = 0; i < o->flows; i++)
            ret[i] = o->flow[i].end_ps - o->flow[i].start_ps;
        return o->flows;
    }
    for (uint32_t i = 0; i < o->job[0].iterations; before = o->job[0].iteration_end_ps[i++])
        ret[i] = o->job[0].iteration_end_ps[i] - before;
    return o->job[0].iterations;
}

static void tell_times(const struct weft_outcome *o, struct figures *f) {
    uint32_t most = o->jobs ? o->job[0].iterations : o->flows;
    WEFT_FREED weft_time_ps *time = weft_memory_new(WEFT_MEMORY_RESULT, most, sizeof *time);
    uint32_t n = list_times(o, time);
    qsort(time, n, sizeof *time, weft__by_u64);
    for (uint32_t i = 0; i < n; i++)
        f->mean_ps += (double)time[i] / n;
    f->p99_ps = (double)time[(uint64_t)n * 99 / 100];
}

static enum weft_status run_mode(const char *text, const char *mode, struct figures *ret, struct weft_error *error) {
    char setting[64];
    snprintf(setting, sizeof setting, "run.fast_forward=%s", mode);
    const char *settings[] = {setting};
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *file = NULL;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    *ret = (struct figures){0};
    WEFT_TRY(weft_scenario_file_parse("bench", text, strlen(text), settings, 1, &file, error));
    WEFT_TRY(weft_cli_simulation_init(&s, file, 0, error));
    struct weft_sim_options how = {.threads = 1};
    WEFT_TRY(weft_simulate(s.scenario, s.topology, s.workload, &how, &s.outcome, error));
    const struct weft_fast_forward_outcome *skipped = s.outcome->fast_forward;
    if (skipped) ret->skipped = *skipped;
    if (skipped && skipped->refused) snprintf(ret->refused, sizeof ret->refused, "%s", skipped->refused);
    ret->events = s.outcome->events;
    ret->digest = s.outcome->digest;
    ret->cpu_s = s.outcome->cpu_s;
    tell_times(s.outcome, ret);
    return WEFT_OK;
}

static void add_figures(struct weft_bench_answer *answer, const char *name, const char *mode, const struct figures *off,
                        const struct figures *on) {
    struct weft_bench_run run = weft_bench_run();
    run.job = weft_arena_text(answer->arena, name);
    run.mode = mode;
    run.refused = on->refused[0] ? weft_arena_text(answer->arena, on->refused) : NULL;
    run.iterations = on->skipped.iterations;
    run.operations = on->skipped.operations;
    run.steps = on->skipped.steps;
    run.packets = on->skipped.packets;
    run.estimate = on->skipped.error;
    run.events_ratio = (double)off->events / (double)on->events;
    run.cpu_ratio = off->cpu_s / on->cpu_s;
    run.mean_error = on->mean_ps / off->mean_ps - 1;
    run.p99_error = on->p99_ps / off->p99_ps - 1;
    run.same_digest = on->digest == off->digest;
    weft_bench_add(answer, run);
}

static void print_mode(const char *mode, const struct figures *off, const struct figures *on) {
    printf("  %-7s events / %-5.1f CPU / %-5.1f mean %+.4f %%, p99 %+.4f %%%s", mode,
           (double)off->events / (double)on->events, off->cpu_s / on->cpu_s, 100 * (on->mean_ps / off->mean_ps - 1),
           100 * (on->p99_ps / off->p99_ps - 1), on->digest == off->digest ? ", same digest" : "");
    if (on->refused[0])
        printf("\n          nothing was skipped: %s\n", on->refused);
    else
        printf("; skipped %s, %s, %s, %s\n", weft__counted(on->skipped.iterations, "iteration").text,
               weft__counted(on->skipped.operations, "operation").text, weft__counted(on->skipped.steps, "step").text,
               weft__counted(on->skipped.packets, "packet").text);
}

enum { EXACT_S_MAX = 60 }; ///< for anything that takes longer in full, only steady runs

static enum weft_status run_example(const struct example *e, bool raw, struct weft_bench_answer *answer,
                                    struct weft_error *error) {
    static const char *const modes[] = {"exact", "steady"};
    struct figures off, on;
    WEFT_TRY(run_mode(e->scenario, "off", &off, error));
    if (!raw) printf("%s: %.1f M events, %.2f s of CPU\n", e->name, 1e-6 * (double)off.events, off.cpu_s);
    for (size_t m = off.cpu_s > EXACT_S_MAX; m < 2; m++) {
        WEFT_TRY(run_mode(e->scenario, modes[m], &on, error));
        add_figures(answer, e->name, modes[m], &off, &on);
        if (!raw) print_mode(modes[m], &off, &on);
        fflush(stdout);
    }
    return WEFT_OK;
}

// --- the table of errors -------------------------------------------------------------------------------------------

enum {
    WORKLOADS = sizeof workloads / sizeof *workloads,
    NETWORKS = sizeof networks / sizeof *networks,
    HOSTS = sizeof hosts / sizeof *hosts,
    REASONS_MAX = 8,
};

/// Why nothing was skipped, in order of appearance.
struct reasons {
    char text[REASONS_MAX][sizeof((struct figures *)0)->refused];
    uint32_t n;
};

static uint32_t number_of(struct reasons *r, const char *text) {
    uint32_t i = 0;
    while (i < r->n && strcmp(r->text[i], text) != 0)
        i++;
    if (i == r->n && r->n < REASONS_MAX) snprintf(r->text[r->n++], sizeof *r->text, "%s", text);
    return i + 1;
}

static void print_cell(struct reasons *reasons, const struct figures *off, const struct figures *on) {
    if (on->refused[0])
        printf(" nothing skipped (%" PRIu32 ") |", number_of(reasons, on->refused));
    else
        printf(" %.1f, %+.3f %%, %+.3f %% |", (double)off->events / (double)on->events,
               100 * (on->mean_ps / off->mean_ps - 1), 100 * (on->p99_ps / off->p99_ps - 1));
    fflush(stdout);
}

static enum weft_status run_cell(const struct part *w, const struct part *n, const struct part *h,
                                 struct weft_bench_answer *answer, struct figures *off, struct figures *on,
                                 struct weft_error *error) {
    bool ethernet = strcmp(n->name, "DSF") != 0;
    char text[1024], name[64];
    snprintf(text, sizeof text, "%s%s%s%s", n->text, ethernet ? BUFFER : "", h->text, w->text);
    snprintf(name, sizeof name, "%s, %s, %s", w->name, h->name, n->name);
    WEFT_TRY(run_mode(text, "off", off, error));
    WEFT_TRY(run_mode(text, "steady", on, error));
    add_figures(answer, name, "steady", off, on);
    return WEFT_OK;
}

/// In Markdown, for docs/fast-forward-results.md.
static enum weft_status run_set(bool raw, struct weft_bench_answer *answer, struct weft_error *error) {
    struct reasons reasons = {.n = 0};
    if (!raw) printf("| workload | network |");
    for (size_t h = 0; h < HOSTS && !raw; h++)
        printf(" %s |", hosts[h].name);
    if (!raw) puts("\n|---|---|---|---|---|");
    for (size_t i = 0; i < (size_t)WORKLOADS * NETWORKS; i++) {
        const struct part *w = &workloads[i / NETWORKS], *n = &networks[i % NETWORKS];
        if (!raw) printf("| %s | %s |", w->name, n->name);
        for (size_t h = 0; h < HOSTS; h++) {
            struct figures off, on;
            WEFT_TRY(run_cell(w, n, &hosts[h], answer, &off, &on, error));
            if (!raw) print_cell(&reasons, &off, &on);
        }
        if (!raw) putchar('\n');
    }
    if (!raw) putchar('\n');
    for (uint32_t i = 0; i < reasons.n && !raw; i++)
        printf("%" PRIu32 ". %s\n", i + 1, reasons.text[i]);
    if (!raw) putchar('\n');
    return WEFT_OK;
}

int weft_cli_bench_fast_forward(const struct weft_cli_options *options) {
    struct weft_error error = {0};
    struct weft_bench_answer answer = {.bench = "fast-forward", .runs_each = WEFT_TIME_NEVER, .arena = options->arena};
    bool raw = weft_cli_is_raw(options);
    enum weft_status status = run_set(raw, &answer, &error);
    for (size_t i = 0; !status && i < sizeof examples / sizeof *examples; i++)
        status = run_example(&examples[i], raw, &answer, &error);
    if (!status) status = weft_bench_tell(options, &answer, &error);
    return status ? weft_cli_fail(&error) : 0;
}
