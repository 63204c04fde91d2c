// SPDX-License-Identifier: Apache-2.0
// weft bench: the engine's own benchmarks. Each run is a process of its own, so that its peak memory is its own.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "simulation.h"
#include "weft/follow.h"

#include "base/json.h"
#include "base/units.h"

static const char *runs_text = "3", *k_text, *threads_text = "1,2", *size_text;
static const char *save_path, *compare_path;
static bool record, followed;

static const struct weft_cli_option own_options[] = {
    {"k", "LIST",
     "engine: ports of a switch of the fat tree (default 16,32: 1024 and 8192 hosts); dsf: RDSWs (default 32: 1024 "
     "hosts); aquila: pods (default 48: 1152 hosts); te: racks of 16 hosts (default 8,16,32,64,128,256)",
     &k_text, NULL},
    {"threads", "LIST", "worker threads (default 1,2)", &threads_text, NULL},
    {"runs", "N", "runs of each; the median is shown (default 3)", &runs_text, NULL},
    {"size", "SIZE", "payload of each flow (default: engine 2MiB, others 4096B)", &size_text, NULL},
    {"record", NULL, "events are recorded, as by weft run --out", NULL, &record},
    {"follow", NULL, "all flows are followed, as by weft why --slowest", NULL, &followed},
    {"save", "FILE", "write the figures to FILE, as JSON", &save_path, NULL},
    {"compare", "FILE", "show the ratio to figures saved before", &compare_path, NULL},
    {0},
};

static const struct weft_cli_command command = {
    .name = "bench",
    .operands = "engine|uet|dsf|aquila|te|fast-forward",
    .about =
        "Measures packet-hops per CPU second: a k-ary fat tree, 200G, 150 ns links, 4096 B payload, a permutation\n"
        "of line-rate flows, ECMP, static ingress buffers with PFC, ECN, DCQCN, an ACK for every data packet. A\n"
        "packet-hop is a packet of any kind crossing one link. uet: the same with Ultra Ethernet.\n"
        "dsf and aquila: cell-hops in an L1 zone of a DSF, 32 hosts of 400G at each RDSW under 40 FDSWs of 4\n"
        "virtual devices, all to all; or in an Aquila Clique of 576 TiNs, 25G from each of two hosts to any.\n"
        "te: CPU seconds that the controller of traffic engineering takes to place all demands of an AI zone.\n"
        "fast-forward: time saved by run.fast_forward on a set of jobs, beside full runs\n"
        "(docs/fast-forward-results.md; the last job takes long).",
    .accept = WEFT_CLI_SET | WEFT_CLI_QUIET,
    .answer = &weft__answer_bench,
    .operands_min = 1,
    .operands_max = 1,
    .option = own_options,
};

/// DCQCN's and WRED's parameters are those for 25G in HPCC's configuration (Alibaba, SIGCOMM 2019), times 8 for 200G.
static const char engine_text[] = "name: bench-engine\n"
                                  "topology: {kind: fat_tree, rate: 200Gbps, delay: 150ns}\n"
                                  "switch:\n"
                                  "  pfc: {reaction: 300ns}\n"
                                  "  buffer: {kind: static, size: 800KB, xoff: 750KB, xon: 730KB}\n"
                                  "  aqm: {kind: wred, min: 800KB, max: 3200KB, max_probability: 20%}\n"
                                  "host:\n"
                                  "  pfc: {reaction: 300ns}\n"
                                  "  cc: {kind: dcqcn, additive_increase: 400Mbps, hyper_increase: 800Mbps}\n"
                                  "workload: [{kind: permutation}]\n";
/// The same fabric with Ultra Ethernet: oblivious spraying, NSCC, trimming, no PFC. Thresholds are 0.2, 0.8 and 1 times
/// the bandwidth-delay product for 5 us.
static const char uet_text[] = "name: bench-uet\n"
                               "topology: {kind: fat_tree, rate: 200Gbps, delay: 150ns}\n"
                               "switch:\n"
                               "  pfc: {priorities: none}\n"
                               "  buffer: {kind: static, size: 800KB, xoff: 750KB, xon: 730KB}\n"
                               "  aqm: {kind: trim, min: 25KB, max: 100KB, depth: 125KB, mark_at: arrival}\n"
                               "host: {preset: uet, cc: {kind: nscc, base_rtt: 5us}}\n"
                               "workload: [{kind: permutation}]\n";
static const char dsf_text[] = "name: bench-dsf\n"
                               "topology: {kind: dsf_l1_zone, hosts_per_rdsw: 32}\n"
                               "switch: {buffer: {kind: dynamic, total: 12GiB, alpha: 2}}\n"
                               "workload: [{kind: all_to_all}]\n";

/// 500 servers load the paper's Clique to half its capacity with reads of 4 KB (Aquila, NSDI 2022, section 5.1). Here
/// all servers do, for so long that the Clique is loaded almost all the time, and its setup (0.2 s) hardly counts.
static const char aquila_text[] = "name: bench-aquila\n"
                                  "topology: {kind: dragonfly}\n"
                                  "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"
                                  "workload: [{kind: poisson, load: 50%, duration: 100us}]\n";

static const struct benchmark {
    const char *name, *scenario;
    const char *k_path, *k, *size; ///< what k sets, and the defaults
    const char *hop;
} benchmarks[] = {
    {"engine", engine_text, "topology.k", "16,32", "2MiB", "packet"},
    {"uet", uet_text, "topology.k", "16,32", "2MiB", "packet"},
    {"dsf", dsf_text, "topology.rdsws", "32", "4096B", "cell"},
    {"aquila", aquila_text, "topology.pods", "48", "4096B", "cell"},
};
enum { BENCHMARKS = sizeof benchmarks / sizeof *benchmarks };
static const struct benchmark *benchmark;

/// What a run reports. A plain struct, because it goes through a pipe.
struct figures {
    bool ok;
    uint32_t hosts, threads;
    uint64_t hops, digest, ecn_marked, pauses, cnps;
    double wall_s, cpu_s, peak_rss_bytes, phase_s[WEFT_PHASE_COUNT];
};

static double rate_of(const struct figures *f) {
    return (double)f->hops / f->cpu_s;
}

static struct figures measure_k(const struct weft_cli_options *options, const char *k, uint32_t threads,
                                struct weft_error *error) {
    char topology[64], size[64];
    snprintf(topology, sizeof topology, "%s=%s", benchmark->k_path, k);
    snprintf(size, sizeof size, "workload.0.size=%s", size_text ? size_text : benchmark->size);
    uint32_t settings = 2 + options->settings;
    const char **setting = weft_arena_alloc(options->arena, settings, sizeof *setting);
    setting[0] = topology;
    setting[1] = size;
    memcpy(&setting[2], options->setting, options->settings * sizeof *setting);
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *file = NULL;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    struct figures f = {.threads = threads};
    enum weft_status status = weft_scenario_file_parse("bench", benchmark->scenario, strlen(benchmark->scenario),
                                                       setting, settings, &file, error);
    if (!status) status = weft_cli_simulation_init(&s, file, 0, error);
    if (!status) {
        WEFT_ENDS(weft_follow_free) struct weft_follow follow = {0}; // all flows
        struct weft_sim_options how = {
            .threads = threads, .profile = true, .record = record, .follow = followed ? &follow : NULL};
        status = weft_simulate(s.scenario, s.topology, s.workload, &how, &s.outcome, error);
    }
    if (!status) {
        const struct weft_outcome *o = s.outcome;
        f.ok = true;
        f.hosts = s.topology->hosts;
        f.hops = o->cell_hops ? o->cell_hops : o->packet_hops;
        f.digest = o->digest;
        f.cnps = o->cnps;
        f.wall_s = o->wall_s;
        f.cpu_s = o->cpu_s;
        f.peak_rss_bytes = (double)o->peak_rss_bytes;
        memcpy(f.phase_s, o->phase_s, sizeof f.phase_s);
        const struct weft_counters sum = weft_outcome_counters(o);
        f.ecn_marked = sum.ecn_marked;
        f.pauses = sum.pfc_tx_xoff;
    }
    return f;
}

struct measurement {
    const struct weft_cli_options *options;
    const char *k;
    uint32_t threads;
    struct figures figures;
};

static enum weft_status measure_guarded(void *context, struct weft_error *ret_error) {
    struct measurement *m = context;
    m->figures = measure_k(m->options, m->k, m->threads, ret_error);
    return ret_error->status;
}

/// Runs measure() in a child process, which has its own guard.
static enum weft_status measure_apart(const struct weft_cli_options *o, const char *k, uint32_t threads,
                                      struct figures *ret_figures) {
    int pipe_end[2];
    if (pipe(pipe_end)) return WEFT_ERROR_SYSTEM;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct measurement m = {o, k, threads, {0}};
        struct weft_error error = {0};
        if (weft_memory_guard(weft_memory_current(), measure_guarded, &m, &error)) weft_cli_fail(&error);
        bool written = write(pipe_end[1], &m.figures, sizeof m.figures) == (ssize_t)sizeof m.figures;
        _exit(m.figures.ok && written ? 0 : error.status ? (int)error.status : 1);
    }
    close(pipe_end[1]);
    bool ok = child > 0 && read(pipe_end[0], ret_figures, sizeof *ret_figures) == (ssize_t)sizeof *ret_figures;
    close(pipe_end[0]);
    int how = 0;
    if (child > 0) waitpid(child, &how, 0);
    if (ok && ret_figures->ok) return WEFT_OK;
    return WIFEXITED(how) && WEXITSTATUS(how) ? (enum weft_status)WEXITSTATUS(how) : WEFT_ERROR_SYSTEM;
}

static int by_rate(const void *a, const void *b) {
    double x = rate_of(a), y = rate_of(b);
    return (x > y) - (x < y);
}

static void add_figures(struct weft_bench_answer *answer, const struct figures *f) {
    struct weft_bench_run run = weft_bench_run();
    bool cells = !strcmp(benchmark->hop, "cell");
    run.hosts = f->hosts;
    run.threads = f->threads;
    run.digest = weft_arena_format(answer->arena, "%016llx", (unsigned long long)f->digest);
    *(cells ? &run.cell_hops : &run.packet_hops) = f->hops;
    *(cells ? &run.cell_rate : &run.packet_rate) = rate_of(f);
    run.wall_s = f->wall_s;
    run.cpu_s = f->cpu_s;
    run.peak_rss_bytes = f->peak_rss_bytes;
    run.peak_rss_bytes_per_host = f->peak_rss_bytes / f->hosts;
    run.pauses = f->pauses;
    run.ecn_marked = f->ecn_marked;
    run.cnps = f->cnps;
    run.phase = weft_arena_alloc(answer->arena, WEFT_PHASE_COUNT, sizeof *run.phase);
    for (; run.phases < WEFT_PHASE_COUNT; run.phases++)
        run.phase[run.phases] = (struct weft_bench_phase){weft_phase_names[run.phases], f->phase_s[run.phases]};
    weft_bench_add(answer, run);
}

static void print_figures(const struct figures *f, const struct weft_bench_saved *saved) {
    printf("%5u hosts %2u thread%s  %6.2f M %s-hops per CPU second  (%.1f M in %.2f s wall, %.2f s CPU)  %5.1f KiB a "
           "host\n",
           f->hosts, f->threads, f->threads == 1 ? " " : "s", rate_of(f) * 1e-6, benchmark->hop, (double)f->hops * 1e-6,
           f->wall_s, f->cpu_s, f->peak_rss_bytes / f->hosts / 1024);
    printf("      ");
    for (unsigned p = 0; p < WEFT_PHASE_COUNT; p++)
        printf("  %s %.0f%%", weft_phase_names[p], 100 * f->phase_s[p] / f->wall_s / f->threads);
    printf("  (%s, %s, %s; digest %016llx)\n", weft__counted(f->pauses, "pause").text,
           weft__counted(f->ecn_marked, "mark").text, weft__counted(f->cnps, "CNP").text,
           (unsigned long long)f->digest);
    const struct weft_bench_saved_run *before = weft_bench_saved_find(saved, f->hosts, f->threads);
    if (before)
        printf("        %.2f times the saved hops per CPU second, %.2f times its wall time%s\n",
               rate_of(f) / before->hops_per_cpu_s, f->wall_s / before->wall_s,
               before->hops == (double)f->hops ? "" : " (not the same work: hops differ)");
}

/// Two threads compared with one, where both were measured.
static void print_speedups(const struct figures *f, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            if (f[i].hosts == f[j].hosts && f[i].threads == 1 && f[j].threads > 1)
                printf("%5u hosts: %s take 1/%.2f of the wall time of one%s\n", f[i].hosts,
                       weft__counted(f[j].threads, "thread").text, f[i].wall_s / f[j].wall_s,
                       f[i].digest == f[j].digest ? "" : "  DIGESTS DIFFER");
}

enum { MEASURED_MAX = 64, RUNS_MAX = 100 };

static void write_answer(FILE *file, const void *answer) {
    struct weft__json j = {.file = file};
    weft_answer_json(&j, &weft__answer_bench, answer);
    putc('\n', file);
}

static int bench_all(const struct weft_cli_options *o, uint64_t runs, const struct weft_bench_saved *saved) {
    uint64_t threads;
    static struct figures measured[MEASURED_MAX];
    uint32_t n = 0;
    char ks[128], *k_rest = ks;
    snprintf(ks, sizeof ks, "%s", k_text ? k_text : benchmark->k);
    for (char *k; (k = strsep(&k_rest, ","));) {
        char ts[128], *t_rest = ts;
        snprintf(ts, sizeof ts, "%s", threads_text);
        for (char *t; (t = strsep(&t_rest, ","));) {
            if (!weft_cli_number("threads", t, 1, 64, &threads)) return WEFT_ERROR_INPUT;
            if (n == MEASURED_MAX) break;
            struct figures run[RUNS_MAX];
            for (uint64_t r = 0; r < runs; r++) {
                enum weft_status status = measure_apart(o, k, (uint32_t)threads, &run[r]);
                if (status) return (int)status;
            }
            qsort(run, runs, sizeof *run, by_rate);
            measured[n] = run[runs / 2];
            if (!weft_cli_is_raw(o)) print_figures(&measured[n], saved);
            fflush(stdout);
            n++;
        }
    }
    if (!weft_cli_is_raw(o)) print_speedups(measured, n);
    struct weft_bench_answer answer = {.bench = benchmark->name, .runs_each = runs, .arena = o->arena};
    for (uint32_t i = 0; i < n; i++)
        add_figures(&answer, &measured[i]);
    struct weft_error error = {0};
    enum weft_status status = weft_bench_tell(o, &answer, &error);
    FILE *file = save_path && !status ? weft__file_open(save_path, "w") : NULL;
    if (file) write_answer(file, &answer);
    if (save_path && !status && (!file || fclose(file)))
        status = weft_error_set(&error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s'", save_path);
    return status ? weft_cli_fail(&error) : WEFT_OK;
}

int weft_cli_bench(int argc, char **argv) {
    struct weft_cli_options o;
    struct weft_bench_saved saved = {0};
    struct weft_error error = {0};
    int status = weft_cli_parse(&command, argc, argv, &o);
    uint64_t runs;
    if (status == WEFT_CLI_GO && !weft_cli_number("runs", runs_text, 1, RUNS_MAX, &runs)) status = WEFT_ERROR_INPUT;
    if (status == WEFT_CLI_GO && !strcmp(o.operand[0], "te")) status = weft_cli_bench_te(&o, k_text, runs);
    if (status == WEFT_CLI_GO && !strcmp(o.operand[0], "fast-forward")) status = weft_cli_bench_fast_forward(&o);
    for (unsigned i = 0; status == WEFT_CLI_GO && i < BENCHMARKS; i++)
        if (!strcmp(o.operand[0], benchmarks[i].name)) benchmark = &benchmarks[i];
    if (status == WEFT_CLI_GO && !benchmark) {
        fprintf(stderr,
                "weft: no benchmark '%s'; there are 'engine', 'uet', 'dsf', 'aquila', 'te' and 'fast-forward'\n",
                o.operand[0]);
        status = WEFT_ERROR_INPUT;
    }
    if (status == WEFT_CLI_GO && save_path && weft_cli_can_write_file("--save", save_path, &o, &error))
        status = weft_cli_fail(&error);
    if (status == WEFT_CLI_GO && compare_path &&
        weft_bench_saved_read(compare_path, benchmark->name, benchmark->hop, o.arena, &saved, &error))
        status = weft_cli_fail(&error);
    if (status == WEFT_CLI_GO) status = bench_all(&o, runs, &saved);
    return status;
}
