// SPDX-License-Identifier: Apache-2.0
// Benchmarks that do not run the simulator.
#ifndef WEFT_CLI_BENCH_H
#define WEFT_CLI_BENCH_H

#include "simulation.h"

/// CPU time of a round of traffic engineering, for each of a list of racks; NULL: the default. The exit status.
int weft_cli_bench_te(const struct weft_cli_options *options, const char *k, uint64_t runs);

#endif
