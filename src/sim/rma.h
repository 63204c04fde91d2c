// SPDX-License-Identifier: Apache-2.0
// Maps remote memory access onto the network: clients, and the connections of those implemented in software.
#pragma once

#include "box/network.h"
#include "transport/rma.h"

/// Call it when the queue pairs exist. NULL: there is none.
struct weft__rma_run *weft__rma_new(struct weft__network *net);
/// Pieces of work beyond the queue pairs, to be added; the queue pairs of remote memory access do not count as work.
uint64_t weft__rma_work_count(const struct weft__network *net);
/// Call it when it is known which worker runs which node.
void weft__rma_start(struct weft__network *net);
void weft__rma_collect(struct weft__network *net);
void weft__rma_free(struct weft__network *net);
