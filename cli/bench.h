// SPDX-License-Identifier: Apache-2.0
// Benchmarks other than one scenario by size and threads.
#pragma once

#include "simulation.h"
#include "weft/result.h"

/// What one measurement found. A number that a benchmark does not have is WEFT_NONE, WEFT_TIME_NEVER or NAN.
struct weft_bench_run {
    const char *job, *mode, *refused, *to, *digest;
    uint32_t hosts, threads;
    uint64_t demands, entries, packet_hops, cell_hops, pauses, ecn_marked, cnps;
    uint64_t iterations, operations, steps, packets;
    double wall_s, cpu_s, packet_rate, cell_rate, peak_rss_bytes, peak_rss_bytes_per_host;
    double estimate, events_ratio, cpu_ratio, mean_error, p99_error;
    uint8_t same_digest; ///< UINT8_MAX: it was not compared
    struct weft_bench_phase {
        const char *name;
        double seconds;
    } * phase;
    uint32_t phases;
};
struct weft_bench_run weft_bench_run(void); ///< without any number
struct weft_bench_answer {
    const char *bench;
    uint64_t runs_each; ///< WEFT_TIME_NEVER: once
    struct weft_bench_run *run;
    uint32_t runs;
    struct weft_arena *arena;
};
extern const struct weft_answer weft__answer_bench;
void weft_bench_add(struct weft_bench_answer *answer, struct weft_bench_run run);
/// Gives the answer, once all was measured.
enum weft_status weft_bench_tell(const struct weft_cli_options *options, const struct weft_bench_answer *answer,
                                 struct weft_error *ret_error);

/// CPU time of a round of traffic engineering, for each of a list of racks; NULL: the default. Returns the exit status.
int weft_cli_bench_te(const struct weft_cli_options *options, const char *k, uint64_t runs);

/// What run.fast_forward saves for a set of jobs, compared with full runs. Returns the exit status.
int weft_cli_bench_fast_forward(const struct weft_cli_options *options);

/// Figures written by --save. Numbers as in JSON.
struct weft_bench_saved {
    struct weft_bench_saved_run {
        double hosts, threads, hops, hops_per_cpu_s, wall_s; ///< all above 0
    } * run;
    uint32_t runs;
};
/// Reads those of the benchmark `name`, which counts packet hops or cell hops; in the arena.
enum weft_status weft_bench_saved_read(const char *path, const char *name, const char *hop, struct weft_arena *arena,
                                       struct weft_bench_saved *ret, struct weft_error *ret_error);
/// NULL: there is none with these numbers of hosts and threads.
const struct weft_bench_saved_run *weft_bench_saved_find(const struct weft_bench_saved *saved, uint32_t hosts,
                                                         uint32_t threads);
