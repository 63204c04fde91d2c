// SPDX-License-Identifier: Apache-2.0
// What the files of other simulators share.
#pragma once

#include "weft/report.h"

/// A unique number for each node. A host has the number that its name ends with, or its index if two hosts have the
/// same number. A switch likewise has its own number if all nodes have different ones, or else numbers after those of
/// the hosts. In `arena`.
const uint32_t *weft__export_numbers(const struct weft_topology *topology, struct weft_arena *arena);
/// Flows whose last byte is acknowledged, sorted by that time. In `arena`.
const uint32_t *weft__export_acked(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n);

void weft__export_hpcc_fct(FILE *file, const struct weft_run *run);
void weft__export_hpcc_pfc(FILE *file, const struct weft_run *run);
void weft__export_htsim(FILE *file, const struct weft_run *run);
