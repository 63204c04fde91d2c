// SPDX-License-Identifier: Apache-2.0
// Orders of structs and of plain values, for qsort and bsearch, and the lesser and the greater of two.
#pragma once

#include <stdint.h>
#include <string.h>

/// An order of structs: by the first key, and where that is equal by the next.
///
///   WEFT__ORDER(by_time, struct event, WEFT__UP(time_ps) ?: WEFT__TEXT(name) ?: WEFT__DOWN(bytes))
#define WEFT__ORDER(order, T, ...)                                                                                     \
    static int order(const void *a, const void *b) {                                                                   \
        const T *x = a, *y = b;                                                                                        \
        return __VA_ARGS__;                                                                                            \
    }
/// The same of an array of pointers to structs.
#define WEFT__ORDER_OF_POINTERS(order, T, ...)                                                                         \
    static int order(const void *a, const void *b) {                                                                   \
        const T *x = *(const T *const *)a, *y = *(const T *const *)b;                                                  \
        return __VA_ARGS__;                                                                                            \
    }
#define WEFT__UP(key) ((x->key > y->key) - (x->key < y->key))
#define WEFT__DOWN(key) ((x->key < y->key) - (x->key > y->key))
#define WEFT__TEXT(key) strcmp(x->key, y->key)
#define WEFT__PLACE ((x > y) - (x < y)) ///< of pointers into one array

/// The first number from `from` on, or `end`, for which a condition on `middle` does not hold that holds for all
/// before.
#define WEFT__FIRST_WITHOUT(from, end, ...)                                                                            \
    ({                                                                                                                 \
        __typeof__((end) + 0) low_ = (from), high_ = (end);                                                            \
        while (low_ < high_) {                                                                                         \
            __typeof__((end) + 0) middle = low_ + (high_ - low_) / 2;                                                  \
            if (__VA_ARGS__)                                                                                           \
                low_ = middle + 1;                                                                                     \
            else                                                                                                       \
                high_ = middle;                                                                                        \
        }                                                                                                              \
        low_;                                                                                                          \
    })

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
