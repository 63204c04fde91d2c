// SPDX-License-Identifier: Apache-2.0
// Remote memory access onto the network: clients, and the connections of those that go by software.
#ifndef WEFT_SIM_RMA_H
#define WEFT_SIM_RMA_H

#include "box/network.h"
#include "box/tin/tin_rma.h"

struct weft__rma_run {
    struct weft__rmas all;
    struct weft__rma_client ***client; ///< of an entry: its clients, where they are
    struct weft__rma_host **host;      ///< of a host; NULL: neither client nor server of software
    struct weft__rma_stats **stats;    ///< [entry * workers + worker]; NULL: no client there
};

/// When the queue pairs are made. NULL: there is none.
struct weft__rma_run *weft__rma_new(struct weft__network *net);
/// Pieces of work beyond the queue pairs, of which those of remote memory access are none: the number is to be added.
uint64_t weft__rma_work_count(const struct weft__network *net);
struct weft__rma_host *weft__rma_host_of(const struct weft__network *net, uint32_t host);
/// Clients of 1RMA at a TiN, and its hosts, into the setup, in `arena`. False: there is no 1RMA.
bool weft__rma_at_tin(const struct weft__network *net, uint32_t node, struct weft_arena *arena,
                      struct weft__tin_rma_setup *ret_setup);
/// When it is known which worker runs which node.
void weft__rma_start(struct weft__network *net);
void weft__rma_collect(struct weft__network *net);
void weft__rma_free(struct weft__network *net);

#endif
