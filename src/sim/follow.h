// SPDX-License-Identifier: Apache-2.0
// Followed flows (weft/follow.h): tells nodes what to keep, and collects it afterwards.
#pragma once

#include "box/network.h"
#include "weft/follow.h"

/// Call it before ports are connected. `follow` NULL: nothing is followed.
void weft__follow_start(struct weft__network *net, struct weft_follow *follow);
/// Hands the logs over to the caller's `follow`.
void weft__follow_collect(struct weft__network *net);
/// Frees logs that were not handed over.
void weft__follow_free(struct weft__network *net);
