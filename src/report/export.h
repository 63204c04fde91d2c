// SPDX-License-Identifier: Apache-2.0
// What the files of other simulators have in common.
#ifndef WEFT_REPORT_EXPORT_H
#define WEFT_REPORT_EXPORT_H

#include "weft/report.h"

/// A number for each node, no two alike: of a host the number that its name ends with, or its index if two hosts have
/// one number; of a switch likewise its own number if all nodes have different ones, or else the numbers after the
/// hosts'. In `arena`.
const uint32_t *weft__export_numbers(const struct weft_topology *topology, struct weft_arena *arena);
/// Flows whose last byte is acknowledged, by the time of that. In `arena`.
const uint32_t *weft__export_acked(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n);

void weft__export_hpcc_fct(FILE *file, const struct weft_run *run);
void weft__export_hpcc_pfc(FILE *file, const struct weft_run *run);
void weft__export_htsim(FILE *file, const struct weft_run *run);

#endif
