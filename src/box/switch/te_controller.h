// SPDX-License-Identifier: Apache-2.0
// The controller of centralised traffic engineering: a node of the engine besides those of the topology, which
// communicates with switches only by messages. At the end of every interval switches report; a collector's delay later
// the controller computes a plan for all (weft/cspf.h), with the links that it knows to be in service; a programming
// delay later the plan is in force in every switch. Ethernet switches with such a route model share it.
#pragma once

#include "box/box.h"
#include "box/switch/te.h"

struct weft__te;
extern const struct weft__shared weft__te_shared;
/// For a switch that is still to be made; NULL: none.
const struct weft__te_agent *weft__te_agent(const struct weft__te *te, uint32_t sw);
