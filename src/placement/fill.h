// SPDX-License-Identifier: Apache-2.0
// What the strategies share.
#pragma once

#include "weft/placement.h"

/// Puts units in order into racks in order: racks with most free servers first, ties by position. Slots of a rack in
/// order.
void weft__placement_packed(const struct weft_placement_problem *p, struct weft_arena *arena, uint32_t *ret_slot);

/// The numbers 0..n-1 sorted by room[i] descending, ties ascending.
void weft__by_room(const uint32_t *room, uint32_t n, uint32_t *ret_order);
