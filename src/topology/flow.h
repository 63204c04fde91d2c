// SPDX-License-Identifier: Apache-2.0
// Maximum flow on a small directed graph.
#pragma once

#include "weft/types.h"

struct weft__flow;
struct weft__flow *weft__flow_new(uint32_t nodes);
void weft__flow_free(struct weft__flow *f);
/// `back`: capacity of the other direction.
void weft__flow_connect(struct weft__flow *f, uint32_t from, uint32_t to, uint64_t capacity, uint64_t back);
/// Call it once per graph. The sum of capacities out of `source` must fit in 64 bits.
uint64_t weft__flow_max(struct weft__flow *f, uint32_t source, uint32_t sink);
