// SPDX-License-Identifier: Apache-2.0
// Remote memory access in the table of a run and among groups.
#ifndef WEFT_REPORT_RMA_H
#define WEFT_REPORT_RMA_H

#include "weft/report.h"

/// Operations as a group: count, finished, bytes and times of them. False: the group is one of flows.
bool weft__report_rma_group(const struct weft_run *run, uint32_t group, struct weft_group_stats *ret);
/// Bits of values a second, of all clients, over the time in which they begin operations.
double weft__report_rma_throughput(const struct weft_run *run, uint32_t entry);
void weft__report_rma_table(FILE *file, const struct weft_run *run);

#endif
