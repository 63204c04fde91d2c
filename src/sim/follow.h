// SPDX-License-Identifier: Apache-2.0
// Flows that are followed (weft/follow.h): nodes are told what to keep, and afterwards asked for it.
#ifndef WEFT_SIM_FOLLOW_H
#define WEFT_SIM_FOLLOW_H

#include "box/network.h"
#include "weft/follow.h"

/// Before ports are connected. `follow` NULL: nothing is followed.
void weft__follow_start(struct weft__network *net, struct weft_follow *follow);
/// Hands the logs over to what was asked for.
void weft__follow_collect(struct weft__network *net);
/// Those that were not handed over.
void weft__follow_free(struct weft__network *net);

#endif
