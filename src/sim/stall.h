// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>

#include "box/network.h"

/// Returns a text of who waits for whom, in the outcome's arena.
char *weft__network_explain_stall(const struct weft__network *net);

/// Writes why nothing moves, as far as it is known.
void weft__stall_causes(FILE *text, const struct weft__network *net);
