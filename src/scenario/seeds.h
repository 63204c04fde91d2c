// SPDX-License-Identifier: Apache-2.0
// Lists of seeds (weft_seeds_parse), for those who read some in another form.
#pragma once

#include "weft/sweep.h"

/// Reads a whole number and moves *at behind it; false: there is none.
bool weft__seed_read(const char **at, uint64_t *ret);
/// Adds a seed to a list with room for WEFT_SWEEP_SEEDS_MAX; false: the list is full or has the seed.
bool weft__seed_add(uint64_t *seed, uint32_t *seeds, uint64_t added);
