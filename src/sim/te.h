// SPDX-License-Identifier: Apache-2.0
// The controller of centralised traffic engineering: a node of the engine beside those of the topology, which meets the
// switches by messages only. At the end of every interval switches report; a collector's delay later the controller
// computes a plan for all (weft/cspf.h), with the links that it knows to be in service; a programming delay later the
// plan is in force in every switch.
#ifndef WEFT_SIM_TE_H
#define WEFT_SIM_TE_H

#include "box/network.h"

/// One if switches of the scenario have such a route model; NULL. Before the engine is started.
struct weft__te *weft__te_new(struct weft__network *net);
/// The least time from a message to its effect; never without a controller.
weft_time_ps weft__te_lookahead(const struct weft__te *te);
/// For a switch, which is still to be made; NULL: none.
const struct weft__te_agent *weft__te_agent(const struct weft__te *te, uint32_t sw);
/// Its node is `node`; the devices are made.
void weft__te_start(struct weft__te *te, uint32_t node);
/// What it did, into the outcome.
void weft__te_collect(const struct weft__te *te, struct weft_outcome *outcome);
void weft__te_free(struct weft__te *te);

#endif
