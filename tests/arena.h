// SPDX-License-Identifier: Apache-2.0
// An arena for each group of tests, and nothing left over when they are done. Include after cmocka.
#pragma once

#include "own_memory.h"

static struct weft_arena *arena;

static int set_up(void **state) {
    if (open_memory(state)) return -1;
    arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    return 0;
}

static int tear_down(void **state) {
    weft_arena_free(arena);
    assert_int_equal(weft_memory_bytes(WEFT_MEMORY_SCENARIO), 0); // errors included
    return close_memory(state);
}
