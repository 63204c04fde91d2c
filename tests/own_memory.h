// SPDX-License-Identifier: Apache-2.0
// A memory for each group of tests, so that its figures can be looked at. Include after cmocka.
#pragma once

#include "weft/memory.h"

static inline int open_memory(void **state) {
    (void)state;
    struct weft_memory *memory = weft_memory_open();
    weft_memory_use(memory);
    return memory ? 0 : -1;
}

static inline int close_memory(void **state) {
    (void)state;
    weft_memory_close(weft_memory_use(NULL));
    return 0;
}
