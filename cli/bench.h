// SPDX-License-Identifier: Apache-2.0
// Benchmarks that are not one scenario by size and threads.
#ifndef WEFT_CLI_BENCH_H
#define WEFT_CLI_BENCH_H

#include "simulation.h"

/// CPU time of a round of traffic engineering, for each of a list of racks; NULL: the default. The exit status.
int weft_cli_bench_te(const struct weft_cli_options *options, const char *k, uint64_t runs);

/// What run.fast_forward gives for a set of jobs, beside runs in full. The exit status.
int weft_cli_bench_fast_forward(const struct weft_cli_options *options);

#endif
