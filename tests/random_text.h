// SPDX-License-Identifier: Apache-2.0
// Random scenarios: a text being written, and the values drawn for it.
#pragma once

#include <stdio.h>

#include "weft/random.h"

struct text {
    FILE *file;
    struct weft_random random;
};

/// Below n.
static inline uint64_t draw(struct text *t, uint64_t n) {
    return weft_random_u64(&t->random) % n;
}

/// `choice`: up to a NULL.
static inline const char *one_of(struct text *t, const char *const *choice) {
    uint64_t n = 0;
    while (choice[n])
        n++;
    return choice[draw(t, n)];
}
#define ONE_OF(t, ...) one_of(t, (const char *const[]){__VA_ARGS__, NULL})
