// SPDX-License-Identifier: Apache-2.0
// Benchmarks other than one scenario by size and threads.
#ifndef WEFT_CLI_BENCH_H
#define WEFT_CLI_BENCH_H

#include "simulation.h"

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

#endif
