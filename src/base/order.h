// SPDX-License-Identifier: Apache-2.0
// Orders of plain values, for qsort and bsearch, and the lesser and the greater of two.
#pragma once

#include <stdint.h>

static inline int weft__by_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
static inline int weft__by_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static inline uint64_t weft__lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static inline uint64_t weft__greater(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}
/// Saturating product, for counts from the user.
static inline uint64_t weft__times(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
