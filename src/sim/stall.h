// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_SIM_STALL_H
#define WEFT_SIM_STALL_H

#include "box/network.h"

/// Returns a text of who waits for whom, in the outcome's arena.
char *weft__network_explain_stall(const struct weft__network *net);

#endif
