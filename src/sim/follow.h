// SPDX-License-Identifier: Apache-2.0
// Flows that are followed (weft/follow.h): ports are told what to keep, and afterwards asked for it.
#ifndef WEFT_SIM_FOLLOW_H
#define WEFT_SIM_FOLLOW_H

#include "box/network.h"
#include "weft/follow.h"

/// Before ports are connected. `follow` NULL: nothing is followed.
void weft__follow_start(struct weft__network *net, struct weft_follow *follow);
/// What this port is to keep; NULL: nothing.
struct weft__follow *weft__follow_port(const struct weft__network *net, uint32_t port);
/// Into what was asked for, in the outcome's arena.
void weft__follow_collect(struct weft__network *net);
void weft__follow_free(struct weft__network *net);

#endif
