// SPDX-License-Identifier: Apache-2.0
// Remote memory access in the table of a run and among groups.
#pragma once

#include "weft/report.h"

/// Operations as a group: their count, finished ones, bytes and times. False: it is a group of flows.
bool weft__report_rma_group(const struct weft_run *run, uint32_t group, struct weft_group_stats *ret);
/// Bits of values per second, over all clients, during the time in which they start operations.
double weft__report_rma_throughput(const struct weft_run *run, uint32_t entry);
void weft__report_rma_table(FILE *file, const struct weft_run *run);
