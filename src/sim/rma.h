// SPDX-License-Identifier: Apache-2.0
// Remote memory access onto the network: clients, and the connections of those that go by software.
#ifndef WEFT_SIM_RMA_H
#define WEFT_SIM_RMA_H

#include "box/network.h"
#include "transport/rma.h"

/// When the queue pairs are made. NULL: there is none.
struct weft__rma_run *weft__rma_new(struct weft__network *net);
/// Pieces of work beyond the queue pairs, of which those of remote memory access are none: the number is to be added.
uint64_t weft__rma_work_count(const struct weft__network *net);
/// When it is known which worker runs which node.
void weft__rma_start(struct weft__network *net);
void weft__rma_collect(struct weft__network *net);
void weft__rma_free(struct weft__network *net);

#endif
