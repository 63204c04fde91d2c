// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SIM_EVENTS_H
#define WEFT_SIM_EVENTS_H

#include "box/network.h"

/// Merges the records of all nodes and their causes into the outcome. Call it when the devices have finished.
void weft__network_collect_events(struct weft__network *net);

#endif
