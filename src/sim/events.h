// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "box/network.h"

/// Merges the records of all nodes and their causes into the outcome. Call it when the devices have finished.
void weft__network_collect_events(struct weft__network *net);
