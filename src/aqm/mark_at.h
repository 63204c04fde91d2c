// SPDX-License-Identifier: Apache-2.0
// Which depth of its queue decides whether a packet is marked.
#pragma once

#include "weft/aqm.h"

enum { WEFT__MARK_AT_ARRIVAL, WEFT__MARK_AT_DEPARTURE };
static const char *const weft__mark_at_names[] = {"arrival", "departure", NULL};

/// Its row for a model's table; T must have it as member `mark_at`.
#define WEFT__MARK_AT_ROW(T, dflt)                                                                                     \
    WEFT_CHOICE(T, mark_at, "mark_at", dflt, weft__mark_at_names,                                                      \
                "mark by the depth that a packet finds, or by the depth that it leaves behind")
