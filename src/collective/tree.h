// SPDX-License-Identifier: Apache-2.0
// The two binary trees over servers: a server that has children in one is a leaf in the other. Source: Sanders, Speck,
// Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35 (2009).
#pragma once

#include "weft/collective.h"

struct weft__tree_place {
    uint32_t up, down[WEFT_STEP_PEERS]; ///< WEFT_NONE: none, and none after it
};
/// The place of a server in the first tree of so many, or in the second.
struct weft__tree_place weft__server_tree(uint32_t servers, uint32_t server, bool second);
