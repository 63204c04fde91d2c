// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SIM_EVENTS_H
#define WEFT_SIM_EVENTS_H

#include "box/network.h"

/// The records of all nodes, merged and their causes joined, into the outcome. When the devices have finished.
void weft__network_collect_events(struct weft__network *net);

#endif
