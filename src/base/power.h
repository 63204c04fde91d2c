// SPDX-License-Identifier: Apache-2.0
// Powers with whole exponents, the same to the last bit on every machine (the C library's pow is not).
#pragma once

#include "weft/types.h"

/// base^n by squaring. Its relative error is about n roundings, as with step-by-step multiplication.
static inline double weft__power(double base, uint64_t n) {
    double result = 1;
    for (; n; n >>= 1, base *= base)
        if (n & 1) result *= base;
    return result;
}
